"""Advance a batch of runs, in slices of a fraction of a second."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents.agent import Agent
from fastes.agents.search import renew_search, search_workspace
from fastes.checks.arrays import Floats
from fastes.files.guard import made_of
from fastes.kernels.agents.interface import needs_capacity, saved_arrays
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.drifting import follow_theta
from fastes.kernels.loop.lockstep import advance_lockstep, advance_sequence, lockstep_workspace
from fastes.kernels.loop.record import Record, record
from fastes.kernels.search.certificate import snapshot_due
from fastes.kernels.states.stack import set_state, stack_states, state_at
from fastes.kernels.streams.philox import Source, source
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import BatchState, PartialResult
from fastes.simulation.plan import RunPlan
from fastes.simulation.run import environments_of
from fastes.simulation.saved_environment import environment_arrays, fill_environment
from fastes.simulation.shared_update import SharedUpdate
from fastes.simulation.stages import offers_of_run, run_failure

_SLICE_SECONDS = 0.1


class RunContext(NamedTuple):
    """What all runs of an agent share."""

    experiment: Experiment
    agent: Agent
    partial: PartialResult  # written to
    plan: RunPlan
    shared_update: SharedUpdate | None


class Slice(NamedTuple):
    """The work of a fraction of a second."""

    steps: int
    regret: float
    capture: Callable[[], BatchState]  # returns the state; call before the runs continue


def run_batch(
    context: RunContext, runs: range, counts: NDArray[np.int64], saved: BatchState | None = None
) -> Iterator[Slice]:
    """Advance runs together, from the start or from a saved state.

    Adds the numbers of plays to `counts`. No bit depends on how runs are batched.
    """
    run = _run_alone if len(runs) == 1 else _run_many
    return run(context, runs, counts, saved)


def _run_alone(
    context: RunContext, runs: range, counts: NDArray[np.int64], saved: BatchState | None
) -> Iterator[Slice]:
    e, agent, run = context.experiment, context.agent, runs[0]
    origin = source(e.seed, run)
    actions, environment, work = offers_of_run(e, agent, run, context.plan.search)
    state = _state(e, agent, run, saved, actions.arms, environment)
    row = run - context.partial.runs.start
    known = context.partial
    kept = record(e.times, known.regret[row], counts, known.actions[row], known.rewards[row])
    t = 0
    if saved is not None:
        t = saved.t
        kept.total[:] = saved.totals
        kept.cursor[:] = np.searchsorted(e.times, t, side="right")
    forward = advance if context.shared_update is None else context.shared_update.advance

    def step_to(t: int, stop: int) -> int:
        nonlocal state
        reached = forward(state, actions, environment, kept, origin, work, t, stop)
        if reached < stop:
            if snapshot_due(work):
                renew_search(work, state, actions.arms)
            elif needs_capacity(state):
                state = agent.with_capacity(state)
            else:
                raise run_failure(e.bandit, run, reached)
        return int(reached)

    def capture(t: int) -> BatchState:
        arrays = saved_arrays(state) | environment_arrays(environment)
        return BatchState(runs, t, kept.total.copy(), [arrays])

    if e.probe_times is not None:
        from fastes.theory.probe import probe

        for i, moment in enumerate(e.probe_times.tolist()):
            if moment < t:
                continue
            yield from slices(t, moment, step_to, capture, kept.total)
            t = moment
            if e.drift is not None:
                follow_theta(environment, origin, t)
            found = probe(e.bandit, agent, state, origin, t, environment.means, e.samples)
            for room, value in zip(context.partial.measurements or (), found, strict=True):
                room[row, i] = value
    yield from slices(t, e.T, step_to, capture, kept.total)


def _run_many(
    context: RunContext, runs: range, counts: NDArray[np.int64], saved: BatchState | None
) -> Iterator[Slice]:
    e, agent, n = context.experiment, context.agent, len(runs)
    problem = e.bandit.canonical
    actions = e.bandit.action_set.kernel_actions(problem, e.seed, runs[0])  # equal for all runs
    sources = Source(
        np.full(n, e.seed, np.uint64), np.arange(runs.start, runs.stop, dtype=np.uint64)
    )
    environments = environments_of(e, runs, actions.arms, lambda: e.bandit.actions)
    state = _state(e, agent, runs[0], saved, actions.arms, state_at(environments, 0))
    states = stack_states(state, n)
    if saved is None and agent.starts_alike:
        set_state(states, slice(n), state)
    else:
        for i, run in enumerate(runs):
            environment = state_at(environments, i)
            set_state(states, i, _state(e, agent, run, saved, actions.arms, environment))
    del state  # free its memory
    rows = context.partial.rows(runs)
    records = Record(
        times=np.tile(e.times, (n, 1)),
        regret=context.partial.regret[rows],
        counts=np.zeros((n, len(counts)), np.int64),
        total=np.zeros((n, 1)),
        cursor=np.zeros((n, 1), np.int64),
        arms=context.partial.actions[rows],
        rewards=context.partial.rewards[rows],
    )
    t = 0
    if saved is not None:
        t = saved.t
        records.total[:, 0] = saved.totals
        records.cursor[:] = np.searchsorted(e.times, t, side="right")
    forward: Any = advance_sequence
    work = search_workspace(context.plan.search, actions.arms)
    if context.plan.mode == "lockstep":
        forward, work = advance_lockstep, lockstep_workspace(actions.arms, n)
    failed_run = np.full(1, -1)

    def step_to(t: int, stop: int) -> int:
        reached = forward(
            *(states, actions, environments, records, sources, work, failed_run, t, stop)
        )
        if reached < stop:
            raise run_failure(e.bandit, runs[failed_run[0]], reached)
        return int(reached)

    before = counts.copy()

    def add_counts() -> None:
        np.add(before, records.counts.sum(axis=0), out=counts)  # idempotent

    def capture(t: int) -> BatchState:
        add_counts()
        arrays = [
            saved_arrays(state_at(states, i)) | environment_arrays(state_at(environments, i))
            for i in range(n)
        ]
        return BatchState(runs, t, records.total[:, 0].copy(), arrays)

    yield from slices(t, e.T, step_to, capture, records.total)
    add_counts()


def _state(
    e: Experiment, agent: Agent, run: int, saved: BatchState | None, arms: Any, environment: Any
) -> Any:
    """Return the agent's initial state, or the saved one, whose environment is filled too."""
    r, learned = e.bandit.rank, (e.bandit.rewards, e.bandit.action_set.keys)
    if not e.bandit.action_set.arms_repeat:
        arms = None
    if saved is None:
        K = None if arms is None else arms.K
        return agent.initial_state(K, r, source(e.seed, run), e.T, *learned)
    stored = saved.states[run - saved.runs.start]
    with made_of("the checkpoint", "state"):
        fill_environment(environment, stored, saved.t)
        return agent.restored_state(stored, arms, r, e.T, *learned)


def slices(
    t: int,
    last: int,
    step_to: Callable[[int, int], int],
    capture: Callable[[int], BatchState],
    total: Floats,
) -> Iterator[Slice]:
    """Advance from step t to `last` in slices of about a tenth of a second.

    `step_to(t, stop)` returns the step reached; `total` holds the regret so far of each run.
    """
    length, regret = 1, float(total.sum())  # start small: a single step may take long
    while t < last:
        began = time.perf_counter()
        reached = step_to(t, min(last, t + length))
        elapsed = time.perf_counter() - began
        steps, so_far = reached - t, float(total.sum())
        yield Slice(len(total) * steps, so_far - regret, partial(capture, reached))
        t, regret = reached, so_far
        if steps > 0:
            # The first slice may include compilation: grow gradually.
            length = max(1, min(4 * length, int(steps * _SLICE_SECONDS / max(elapsed, 1e-9))))
