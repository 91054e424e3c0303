"""Runs of a simulation, one alone or several in step, in slices of a fraction of a second."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents.states import Arrays
from fastes.checks.arrays import Floats
from fastes.kernels.agents.interface import needs_capacity
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.ensembles.deferred import with_capacity
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.environment import Environment, draw_means
from fastes.kernels.loop.lockstep import advance_lockstep, advance_sequence, lockstep_workspace
from fastes.kernels.loop.record import Record, record
from fastes.kernels.loop.states import set_state, stack_states, state_at
from fastes.kernels.search.certificate import retake_snapshot, snapshot_due
from fastes.kernels.streams.philox import Source, source
from fastes.problem.whitening import mean_rewards
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import BatchState, PartialResult
from fastes.simulation.shared_update import SharedUpdate

_SLICE_SECONDS = 0.1


class RunContext(NamedTuple):
    """Runs to do, and where to write what becomes of them."""

    experiment: Experiment
    ledger: PartialResult
    team: SharedUpdate | None
    seconds: Callable[[], float]  # spent on them so far, compiling apart


class Slice(NamedTuple):
    """What was done in a fraction of a second."""

    steps: int
    regret: float
    standing: Callable[[], BatchState]  # where the runs stand now; to be called before they go on


def run_batch(
    job: RunContext, runs: range, counts: NDArray[np.int64], standing: BatchState | None = None
) -> Iterator[Slice]:
    """Do runs, in step if there are several, from their beginning or from where they stand.

    Adds to `counts` how often each arm was played. No bit depends on which runs go together.
    """
    doing = _run_alone if len(runs) == 1 else _run_many
    return doing(job, runs, counts, standing)


def _run_alone(
    job: RunContext, runs: range, counts: NDArray[np.int64], standing: BatchState | None
) -> Iterator[Slice]:
    e, run = job.experiment, runs[0]
    arms, origin = e.bandit.canonical.arms, source(e.seed, run)
    agent = _state(e, run, standing and standing.states[0])
    environment = state_at(_environments(e, runs), 0)
    row = run - job.ledger.runs.start
    kept = record(e.times, job.ledger.regret[row], counts)
    t = 0
    if standing is not None:
        t = standing.t
        kept.total[:] = standing.totals
        kept.cursor[:] = np.searchsorted(e.times, t, side="right")
    work = e.agent.workspace(arms)
    forward = advance if job.team is None else job.team.advance

    def proceed(t: int, stop: int) -> int:
        nonlocal agent
        reached = forward(agent, arms, environment, kept, origin, work, t, stop)
        if reached < stop:
            if snapshot_due(work):
                retake_snapshot(work, agent, arms)
            elif needs_capacity(agent):
                agent = with_capacity(agent)
            else:
                raise _failed(run, reached)
        return int(reached)

    def stand(t: int) -> BatchState:
        return BatchState(runs, t, kept.total.copy(), [e.agent.pack(agent)])

    if e.probe_times is not None:
        from fastes.theory.probe import probe

        for i, moment in enumerate(e.probe_times.tolist()):
            if moment < t:
                continue
            yield from _slices(t, moment, proceed, stand, kept.total)
            t = moment
            seen = probe(e.bandit, e.agent, agent, origin, t, environment.means, e.samples)
            for room, figure in zip(job.ledger.measurements or (), seen, strict=True):
                room[row, i] = figure
    yield from _slices(t, e.T, proceed, stand, kept.total)


def _run_many(
    job: RunContext, runs: range, counts: NDArray[np.int64], standing: BatchState | None
) -> Iterator[Slice]:
    e, n = job.experiment, len(runs)
    arms = e.bandit.canonical.arms
    sources = Source(
        np.full(n, e.seed, np.uint64), np.arange(runs.start, runs.stop, dtype=np.uint64)
    )
    environments = _environments(e, runs)
    state = _state(e, runs[0], standing and standing.states[0])
    agents = stack_states(state, n)
    if standing is None:
        set_state(agents, slice(n), state)  # runs that go together begin alike
    else:
        for i, (run, stored) in enumerate(zip(runs, standing.states, strict=True)):
            set_state(agents, i, _state(e, run, stored))
    del state  # or one more would stay
    records = Record(
        times=np.tile(e.times, (n, 1)),
        regret=job.ledger.regret[job.ledger.rows(runs)],
        counts=np.zeros((n, len(counts)), np.int64),
        total=np.zeros((n, 1)),
        cursor=np.zeros((n, 1), np.int64),
    )
    t = 0
    if standing is not None:
        t = standing.t
        records.total[:, 0] = standing.totals
        records.cursor[:] = np.searchsorted(e.times, t, side="right")
    in_step = e.agent.in_step(arms.K, e.bandit.rank, e.T)
    work: Any = lockstep_workspace(arms, n) if in_step else e.agent.workspace(arms)
    lost = np.full(1, -1)

    def proceed(t: int, stop: int) -> int:
        forward = advance_lockstep if in_step else advance_sequence
        reached = forward(agents, arms, environments, records, sources, work, lost, t, stop)
        if reached < stop:
            raise _failed(runs[lost[0]], reached)
        return int(reached)

    before = counts.copy()

    def hand_over_counts() -> None:
        np.add(before, records.counts.sum(axis=0), out=counts)  # twice is as good as once

    def stand(t: int) -> BatchState:
        hand_over_counts()
        states = [e.agent.pack(state_at(agents, i)) for i in range(n)]
        return BatchState(runs, t, records.total[:, 0].copy(), states)

    yield from _slices(t, e.T, proceed, stand, records.total)
    hand_over_counts()


def _state(e: Experiment, run: int, stored: Arrays | None) -> Any:
    """Return the agent's state at the beginning of a run, or where it stood."""
    K, r, origin = e.bandit.K, e.bandit.rank, source(e.seed, run)
    if stored is None:
        return e.agent.initial_state(K, r, origin, e.T)
    return e.agent.unpack(stored, e.bandit.canonical.arms, r, origin, e.T)


def _environments(e: Experiment, runs: range) -> Environment:
    """Return what pays in each run, as a stack."""
    bandit = e.bandit
    means = np.empty((len(runs), bandit.K))
    if e.theta is None:
        arms, z, seed = bandit.canonical.arms, np.empty(bandit.rank), np.uint64(e.seed)
        draw_means(arms, seed, np.uint64(runs.start), z, np.empty(TILE), means)
    else:
        for row, run in zip(means, runs, strict=True):
            row[:] = mean_rewards(bandit.actions, e.theta[run % len(e.theta)], bandit.noise)
    return Environment(means, means.max(axis=1))


def _slices(
    t: int,
    last: int,
    proceed: Callable[[int, int], int],
    stand: Callable[[int], BatchState],
    total: Floats,
) -> Iterator[Slice]:
    """Proceed from t to `last` in slices of about a tenth of a second.

    `proceed(t, stop)` returns the step it reached, and `total` holds the regret so far of
    every run.
    """
    length, regret = 1, float(total.sum())  # a single step may take long
    while t < last:
        began = time.perf_counter()
        reached = proceed(t, min(last, t + length))
        elapsed = time.perf_counter() - began
        steps, so_far = reached - t, float(total.sum())
        yield Slice(len(total) * steps, so_far - regret, partial(stand, reached))
        t, regret = reached, so_far
        if steps > 0:
            # The first slice may have had to compile: grow step by step.
            length = max(1, min(4 * length, int(steps * _SLICE_SECONDS / max(elapsed, 1e-9))))


def _failed(run: int, step: int) -> FloatingPointError:
    return FloatingPointError(
        f"run {run} lost its posterior to rounding at step {step}: the arms' values are too "
        "many noise standard deviations apart"
    )
