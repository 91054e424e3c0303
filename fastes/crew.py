"""Threads that do the runs of an experiment, and stand still when asked to."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

import numpy as np

from fastes import memory
from fastes.experiment import Standing
from fastes.runs import Job, play

_REPORT_SECONDS = 0.1
_STOP_SECONDS = 2.0
_KEPT_BYTES = 2**30


class Progress(NamedTuple):
    """How far a simulation is.

    Attributes
    ----------
    steps, total : int
        Steps done, and to do, over all runs.
    regret_per_step : float
        Mean regret of the steps done since it began, or was resumed.
    agent : str
        The short name of the agent that plays.
    """

    steps: int
    total: int
    regret_per_step: float
    agent: str


class Keeper(Protocol):
    """Who keeps what is in the ledgers."""

    def due(self) -> bool:
        """Tell whether it is time to write."""

    def write(self) -> None:
        """Write it all."""


class Assignment(NamedTuple):
    """Runs to do together, from their beginning or from where they stand."""

    runs: range
    standing: Standing | None


def run_all(
    job: Job,
    assignments: Iterable[Assignment],
    workers: int,
    progress: Callable[[Progress], None] | None,
    keeper: Keeper | None,
) -> None:
    """Do what is assigned on `workers` threads, and bring the ledger up to date.

    The calling thread only waits, reports and keeps, so that Ctrl-C reaches it at once. The
    threads are daemons: one that is still compiling does not keep a stopped program alive.
    """
    experiment, ledger = job.experiment, job.ledger
    waiting = list(assignments)[::-1]
    total = experiment.T * len(ledger.runs)
    begun = sum(len(each.runs) * each.standing.t for each in waiting if each.standing)
    begun += experiment.T * int(ledger.done.sum())
    lock, stop, rest = threading.Lock(), threading.Event(), _Rest(workers)
    steps = np.zeros(workers, np.int64)
    regret = np.zeros(workers)
    counts = np.zeros((workers, experiment.bandit.K), np.int64)
    standing: list[Callable[[], Standing] | None] = [None] * workers
    failures: list[BaseException] = []
    kept = [sum(map(_size, ledger.finished))]
    most_kept = min(_KEPT_BYTES, memory.available_bytes() // 4)

    def work(worker: int) -> None:
        try:
            while not stop.is_set():
                with lock:
                    if not waiting:
                        return
                    runs, stored = waiting.pop()
                for slice_ in play(job, runs, counts[worker], stored):
                    steps[worker] += slice_.steps
                    regret[worker] += slice_.regret
                    standing[worker] = slice_.standing
                    rest.here()
                    if stop.is_set():
                        return
                with lock:
                    finish(worker, runs)
        except BaseException as failure:
            failures.append(failure)
            stop.set()
        finally:
            rest.leave()

    def finish(worker: int, runs: range) -> None:
        ledger.done[ledger.rows(runs)] = True
        last, standing[worker] = standing[worker], None
        if keeper is not None and last is not None:
            final = last()
            # States of runs done are of use to extend them, and those of the last take no room.
            if not waiting or kept[0] + _size(final) <= most_kept:
                ledger.finished.append(final)
                kept[0] += _size(final)

    def report() -> None:
        if progress is not None:
            done = int(steps.sum())
            mean = float(regret.sum()) * experiment.bandit.noise / max(1, done)
            progress(Progress(begun + done, total, mean, experiment.agent.name))

    def settle(unfinished: list[Assignment]) -> None:
        """Bring the ledger up to date, while no thread works."""
        ledger.in_progress = [each() for each in standing if each is not None]
        ledger.in_progress += [each.standing for each in unfinished if each.standing is not None]
        ledger.counts += counts.sum(axis=0)
        counts[:] = 0
        ledger.seconds = job.seconds()

    try:
        for worker in range(workers):
            threading.Thread(target=work, args=(worker,), daemon=True).start()
        # Not thread.join: interrupted, it takes a thread that works for one that has ended.
        while not rest.all_left(_REPORT_SECONDS):
            report()
            if keeper is not None and keeper.due() and rest.all_here(_REPORT_SECONDS):
                settle(waiting)
                keeper.write()
                rest.over()
        report()
    except (KeyboardInterrupt, SystemExit):
        stop.set()
        rest.over()
        if keeper is not None and rest.all_left(_STOP_SECONDS) and not failures:
            settle(waiting)
            keeper.write()
        raise
    finally:
        stop.set()
        rest.over()
    if failures:
        raise failures[0]
    settle([])


def _size(standing: Standing) -> int:
    """Return about how many bytes a standing takes; an array of any size takes a hundred more."""
    return sum(part.nbytes + 100 for state in standing.states for part in state.values())


class _Rest:
    """Where threads wait while another looks at what they have done."""

    def __init__(self, threads: int) -> None:
        self._changed = threading.Condition()
        self._working, self._resting, self._asked = threads, 0, False

    def here(self) -> None:
        """Rest, if it was asked for, until it is over."""
        with self._changed:
            if self._asked:
                self._resting += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._asked)
                self._resting -= 1

    def leave(self) -> None:
        """Say that this thread will not come again."""
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    def all_here(self, seconds: float) -> bool:
        """Ask for a rest. Tell whether all threads came to it in time."""
        with self._changed:
            self._asked = True
            return self._changed.wait_for(lambda: self._resting == self._working, seconds)

    def all_left(self, seconds: float) -> bool:
        """Tell whether all threads left in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._working == 0, seconds)

    def over(self) -> None:
        """Let all go on."""
        with self._changed:
            self._asked = False
            self._changed.notify_all()


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, unless the program has its own idea of it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
