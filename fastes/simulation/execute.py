"""Execution of the runs of one agent, from a partial to a complete result."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext

import numpy as np

from fastes.agents.agent import Agent
from fastes.checks.memory import require
from fastes.kernels.jit.events import compilation_timer
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret
from fastes.results.result import Result
from fastes.simulation.batch import RunContext
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import PartialResult
from fastes.simulation.plan import RunPlan
from fastes.simulation.progress import Progress
from fastes.simulation.shared_update import SharedUpdate
from fastes.simulation.workers import Batch, CheckpointWriter, run_batches

_BATCH_BYTES = 240  # of a waiting batch


def execute(
    experiment: Experiment,
    agent: Agent,
    partial: PartialResult,
    plan: RunPlan,
    *,
    progress: Callable[[Progress], None] | None = None,
    writer: CheckpointWriter | None = None,
    stop: Callable[[], bool] | None = None,
) -> None:
    """Do the remaining runs of a partial result, as planned.

    Ends early once `stop` returns True. The partial result holds completed runs and the state of
    the others; `writer` writes it from time to time.
    """
    before, began = partial.seconds, time.perf_counter()
    sharing = SharedUpdate(plan.sharing) if plan.sharing else nullcontext()
    with compilation_timer() as compiling, sharing as shared_update:

        def note_time() -> None:
            partial.seconds = before + time.perf_counter() - began - compiling()

        context = RunContext(experiment, agent, partial, plan, shared_update)
        timed = None if writer is None else _Timed(writer, note_time)
        left = int((~partial.done).sum())
        require(f"the list of {left:,} runs", _BATCH_BYTES * -(-left // plan.batch))
        batches = list(_batches(partial, plan.batch))
        try:
            run_batches(context, batches, plan.workers, progress, timed, stop)
        finally:
            note_time()


class _Timed:
    """A checkpoint writer that updates the elapsed time before it writes."""

    def __init__(self, writer: CheckpointWriter, note_time: Callable[[], None]) -> None:
        self.due = writer.due
        self._write, self._note_time = writer.write, note_time

    def write(self) -> None:
        """Update the elapsed time, and write."""
        self._note_time()
        self._write()


def _batches(partial: PartialResult, size: int) -> Iterator[Batch]:
    """Yield the remaining work in batches of at most this size, started runs first."""
    begun = np.zeros_like(partial.done)
    for saved in partial.in_progress:
        begun[partial.rows(saved.runs)] = True
        if len(saved.runs) <= size:
            yield Batch(saved.runs, saved)
        else:
            yield from (Batch(each.runs, each) for each in saved.one_by_one())
    left = np.flatnonzero(~partial.done & ~begun) + partial.runs.start
    for stretch in np.split(left, np.flatnonzero(np.diff(left) > 1) + 1):
        for i in range(0, len(stretch), size):
            together = stretch[i : i + size]
            yield Batch(range(int(together[0]), int(together[-1]) + 1), None)


def result_of(experiment: Experiment, agent: Agent, partial: PartialResult, threads: int) -> Result:
    """Return the result of the completed runs, of which there must be at least one."""
    e, found, done = experiment, None, partial.done
    if e.probe_times is not None:
        from fastes.theory.constants import constants_beside

        known = constants_beside(e.bandit, e.seed)
        measured = Measurements(*(each[done] for each in partial.measurements or ()))
        found = Diagnostics(e.probe_times, e.samples, measured, known)
    numbers = np.flatnonzero(done) + partial.runs.start
    most = max(e.bandit.action_set.counted_arms, e.bandit.K or 1)
    actions = partial.actions[done].astype(np.min_scalar_type(most - 1))
    return Result(
        e.configuration(agent, len(numbers), threads, partial.seconds),
        e.times,
        Regret(partial.regret[done] * e.bandit.rewards.unit),
        partial.counts,
        e.bandit,
        numbers,
        found,
        e.theta,
        actions if "actions" in e.keep else None,
        partial.rewards[done] * e.bandit.rewards.unit if "rewards" in e.keep else None,
        e.world,
    )
