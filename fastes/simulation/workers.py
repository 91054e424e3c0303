"""Threads that do the runs of an experiment, and stand still when asked to."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from fastes.checks import memory
from fastes.simulation.batch import RunContext, run_batch
from fastes.simulation.partial_result import BatchState
from fastes.simulation.progress import Progress

_REPORT_SECONDS = 0.1
_STOP_SECONDS = 2.0
_KEPT_BYTES = 2**30


class CheckpointWriter(Protocol):
    """Who keeps what is in the ledgers."""

    def due(self) -> bool:
        """Tell whether it is time to write."""

    def write(self) -> None:
        """Write it all."""


class Batch(NamedTuple):
    """Runs to do together, from their beginning or from where they stand."""

    runs: range
    standing: BatchState | None


def run_all(
    job: RunContext,
    assignments: Iterable[Batch],
    workers: int,
    progress: Callable[[Progress], None] | None,
    keeper: CheckpointWriter | None,
) -> None:
    """Do what is assigned on `workers` threads, and bring the ledger up to date.

    The calling thread only waits, reports and keeps, so that Ctrl-C reaches it at once. The
    threads are daemons: one that is still compiling does not keep a stopped program alive.
    """
    crew = WorkerPool(job, list(assignments), workers, keeper is not None)
    rest = crew.rest
    try:
        for worker in range(workers):
            threading.Thread(target=crew.work, args=(worker,), daemon=True).start()
        # Not thread.join: interrupted, it takes a thread that works for one that has ended.
        while not rest.all_left(_REPORT_SECONDS):
            if progress is not None:
                progress(crew.progress())
            if keeper is not None and keeper.due() and rest.all_here(_REPORT_SECONDS):
                if not crew.failures:
                    crew.settle()
                    keeper.write()
                rest.over()
        if progress is not None:
            progress(crew.progress())
    except (KeyboardInterrupt, SystemExit):
        crew.stop.set()
        rest.over()
        stopped = crew.begun() and rest.all_left(_STOP_SECONDS)
        # Of a run that failed, the state may be ahead of what stands in the ledger.
        if keeper is not None and stopped and not crew.failures:
            crew.settle()
            keeper.write()
        raise
    finally:
        crew.stop.set()
        rest.over()
    if crew.failures:
        raise crew.failures[0]
    crew.settle()


class WorkerPool:
    """What the threads that do the runs of a job share."""

    def __init__(self, job: RunContext, assignments: list[Batch], workers: int, keep: bool) -> None:
        ledger, T = job.ledger, job.experiment.T
        self.job = job
        self.stop = threading.Event()
        self.rest = PausePoint(workers)
        self.failures: list[BaseException] = []
        self._lock = threading.Lock()
        self._waiting = assignments[::-1]
        self._standing: list[Callable[[], BatchState] | None] = [None] * workers
        # What each thread has done, and what was done before.
        self._steps = np.zeros(workers, np.int64)
        self._regret = np.zeros(workers)
        self._counts = np.zeros((workers, len(ledger.counts)), np.int64)
        self._counts_before = ledger.counts
        begun = sum(len(each.runs) * each.standing.t for each in assignments if each.standing)
        self._steps_before = begun + T * int(ledger.done.sum())
        # States of runs that are done are of use to extend them, if all are there.
        self._keep = keep and sum(len(each.runs) for each in ledger.finished) == ledger.done.sum()
        self._kept_bytes = sum(map(_size, ledger.finished))
        self._most_kept_bytes = min(_KEPT_BYTES, memory.available_bytes() // 4)

    def work(self, worker: int) -> None:
        """Do assignments until there are none, or somebody says stop."""
        try:
            while not self.stop.is_set():
                with self._lock:
                    if not self._waiting:
                        return
                    runs, stored = self._waiting.pop()
                    self._standing[worker] = None if stored is None else partial(_itself, stored)
                for done in run_batch(self.job, runs, self._counts[worker], stored):
                    self._steps[worker] += done.steps
                    self._regret[worker] += done.regret
                    self._standing[worker] = done.standing
                    self.rest.here()
                    if self.stop.is_set():
                        return
                with self._lock:
                    self._finish(worker, runs)
        except BaseException as failure:
            self.failures.append(failure)
            self.stop.set()
        finally:
            self.rest.leave()

    def _finish(self, worker: int, runs: range) -> None:
        ledger = self.job.ledger
        ledger.done[ledger.rows(runs)] = True
        last, self._standing[worker] = self._standing[worker], None
        if self._keep and last is not None:
            final = last()
            size = _size(final)
            # Those of the last runs take no room that another run needs.
            if not self._waiting or self._kept_bytes + size <= self._most_kept_bytes:
                ledger.finished.append(final)
                self._kept_bytes += size
            else:
                ledger.finished.clear()
                self._keep = False

    def begun(self) -> bool:
        """Tell whether there is anything to keep: not while all are compiling still."""
        return bool(self.job.ledger.done.any()) or any(self._standing)

    def settle(self) -> None:
        """Bring the ledger up to date, while no thread works. Twice is as good as once."""
        ledger = self.job.ledger
        begun = [each() for each in self._standing if each is not None]
        ledger.in_progress = begun + [each.standing for each in self._waiting if each.standing]
        ledger.counts = self._counts_before + self._counts.sum(axis=0)
        ledger.seconds = self.job.seconds()

    def progress(self) -> Progress:
        """Return how far the runs are."""
        e, steps = self.job.experiment, int(self._steps.sum())
        mean = float(self._regret.sum()) * e.bandit.noise / max(1, steps)
        total = e.T * len(self.job.ledger.runs)
        return Progress(self._steps_before + steps, total, mean, e.agent.name)


def _itself(standing: BatchState) -> BatchState:
    return standing


def _size(standing: BatchState) -> int:
    """Return about how many bytes a standing takes; an array of any size takes a hundred more."""
    return sum(part.nbytes + 100 for state in standing.states for part in state.values())


class PausePoint:
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
