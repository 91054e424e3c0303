"""Worker threads that do batches of runs and pause for checkpoints."""

import threading
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from fastes.checks import memory
from fastes.simulation.batch import RunContext, run_batch
from fastes.simulation.partial_result import BatchState
from fastes.simulation.progress import Progress
from fastes.simulation.python_loop import run_own_agent

_REPORT_SECONDS = 0.1
_STOP_SECONDS = 2.0
_KEPT_BYTES = 2**30


class CheckpointWriter(Protocol):
    """Writes partial results to a file."""

    def due(self) -> bool:
        """Return whether it is time to write."""

    def write(self) -> None:
        """Write all partial results."""


class Batch(NamedTuple):
    """Runs to do together, from the start or from a saved state."""

    runs: range
    saved: BatchState | None


def run_batches(
    context: RunContext,
    batches: list[Batch],
    workers: int,
    progress: Callable[[Progress], None] | None = None,
    writer: CheckpointWriter | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Do batches on worker threads, and update the partial result.

    The calling thread only waits, reports and writes, so that it reacts to Ctrl-C immediately. It
    ends early, with runs in progress, once `stop` returns True. The threads are daemons: one that
    is compiling does not keep a stopped program alive.
    """
    pool = WorkerPool(context, batches, workers, writer is not None)
    pause = pool.pause_point
    try:
        for worker in range(workers):
            threading.Thread(target=pool.work, args=(worker,), daemon=True).start()
        # Not thread.join: after an interrupt it would regard a running thread as ended.
        while not pause.all_exited(_REPORT_SECONDS):
            if progress is not None:
                progress(pool.progress())
            if stop is not None and stop():
                pool.stop.set()
            if writer is not None and writer.due() and pause.all_paused(_REPORT_SECONDS):
                if not pool.failures:
                    pool.collect()
                    writer.write()
                pause.resume()
        if progress is not None:
            progress(pool.progress())
    except (KeyboardInterrupt, SystemExit):
        pool.stop.set()
        pause.resume()
        stopped = pool.has_begun() and pause.all_exited(_STOP_SECONDS)
        # The state of a failed run may be ahead of its record.
        if writer is None:
            pool.drop_unfinished()
        elif stopped and not pool.failures:
            pool.collect()
            writer.write()
        raise
    finally:
        pool.stop.set()
        pause.resume()
    if pool.failures:
        raise pool.failures[0]
    pool.collect()


class WorkerPool:
    """The shared state of the worker threads."""

    def __init__(self, context: RunContext, batches: list[Batch], workers: int, keep: bool) -> None:
        partial_result, T = context.partial, context.experiment.T
        self.context = context
        self._run = run_batch if context.agent.compiled else run_own_agent
        self.stop = threading.Event()
        self.pause_point = PausePoint(workers)
        self.failures: list[BaseException] = []
        self._lock = threading.Lock()
        self._waiting = batches[::-1]
        self._capture: list[Callable[[], BatchState] | None] = [None] * workers
        # Done by each thread, and before.
        self._steps = np.zeros(workers, np.int64)
        self._regret = np.zeros(workers)
        self._counts = np.zeros((workers, len(partial_result.counts)), np.int64)
        self._counts_before = partial_result.counts
        self._counts_finished = np.zeros_like(self._counts)
        begun = sum(len(each.runs) * each.saved.t for each in batches if each.saved)
        self._steps_before = begun + T * int(partial_result.done.sum())
        # Final states can be used to extend runs, if all of them are kept.
        finished = partial_result.finished
        self._keep = keep and sum(len(each.runs) for each in finished) == partial_result.done.sum()
        self._kept_bytes = sum(map(_size, finished))
        self._most_kept_bytes = min(_KEPT_BYTES, memory.available_bytes() // 4)

    def work(self, worker: int) -> None:
        """Do batches until none are left or `stop` is set."""
        try:
            while not self.stop.is_set():
                with self._lock:
                    if not self._waiting:
                        return
                    runs, saved = self._waiting.pop()
                    self._capture[worker] = None if saved is None else partial(_itself, saved)
                for done in self._run(self.context, runs, self._counts[worker], saved):
                    self._steps[worker] += done.steps
                    self._regret[worker] += done.regret
                    self._capture[worker] = done.capture
                    self.pause_point.wait()
                    if self.stop.is_set():
                        return
                with self._lock:
                    self._finish(worker, runs)
        except BaseException as failure:
            self.failures.append(failure)
            self.stop.set()
        finally:
            self.pause_point.exit()

    def _finish(self, worker: int, runs: range) -> None:
        partial_result = self.context.partial
        partial_result.done[partial_result.rows(runs)] = True
        last, self._capture[worker] = self._capture[worker], None
        self._counts_finished[worker] = self._counts[worker]
        if self._keep and last is not None:
            final = last()
            size = _size(final)
            # Memory for the last states is not needed by other runs.
            if not self._waiting or self._kept_bytes + size <= self._most_kept_bytes:
                partial_result.finished.append(final)
                self._kept_bytes += size
            else:
                partial_result.finished.clear()
                self._keep = False

    def has_begun(self) -> bool:
        """Return whether there is anything to save: not while all threads are still compiling."""
        return bool(self.context.partial.done.any()) or any(self._capture)

    def collect(self) -> None:
        """Update the partial result, while no thread works. Idempotent."""
        partial_result = self.context.partial
        begun = [capture() for capture in self._capture if capture is not None]
        partial_result.in_progress = begun + [each.saved for each in self._waiting if each.saved]
        partial_result.counts = self._counts_before + self._counts.sum(axis=0)

    def drop_unfinished(self) -> None:
        """Keep only completed runs in the partial result."""
        partial_result = self.context.partial
        partial_result.in_progress = []
        with self._lock:
            # A copy: threads may still write to the old one.
            partial_result.done = partial_result.done.copy()
            partial_result.counts = self._counts_before + self._counts_finished.sum(axis=0)

    def progress(self) -> Progress:
        """Return the progress of the runs."""
        e, steps = self.context.experiment, int(self._steps.sum())
        mean = float(self._regret.sum()) * e.bandit.rewards.unit / max(1, steps)
        total = e.T * len(self.context.partial.runs)
        done = self._steps_before + steps
        return Progress(self.context.agent.label, done, total, done, total, mean)


def _itself(state: BatchState) -> BatchState:
    return state


def _size(state: BatchState) -> int:
    """Return the approximate bytes of a state, with a hundred of overhead per array."""
    return sum(array.nbytes + 100 for arrays in state.states for array in arrays.values())


class PausePoint:
    """A point where worker threads pause while another thread reads their state."""

    def __init__(self, threads: int) -> None:
        self._changed = threading.Condition()
        self._working, self._paused, self._asked = threads, 0, False

    def wait(self) -> None:
        """If a pause was requested, wait until it is over."""
        with self._changed:
            if self._asked:
                self._paused += 1
                self._changed.notify_all()
                self._changed.wait_for(lambda: not self._asked)
                self._paused -= 1

    def exit(self) -> None:
        """Note that this thread has ended."""
        with self._changed:
            self._working -= 1
            self._changed.notify_all()

    def all_paused(self, seconds: float) -> bool:
        """Request a pause. Return whether all threads paused in time."""
        with self._changed:
            self._asked = True
            return self._changed.wait_for(lambda: self._paused == self._working, seconds)

    def all_exited(self, seconds: float) -> bool:
        """Return whether all threads exited in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._working == 0, seconds)

    def resume(self) -> None:
        """End the pause."""
        with self._changed:
            self._asked = False
            self._changed.notify_all()
