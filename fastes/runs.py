"""Runs of a simulation, one alone or several in step, in slices of a fraction of a second."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents import Agent
from fastes.canonical import values
from fastes.diagnostics import Diagnostics
from fastes.kernels.agent import full
from fastes.kernels.arms import mean_rewards
from fastes.kernels.certificate import due, renew
from fastes.kernels.deferred import grown
from fastes.kernels.lockstep import advance_together, put, stack_of, together
from fastes.kernels.loop import Environment, Record, advance, record
from fastes.kernels.streams import THETA, Source, fill_normals, source
from fastes.kernels.tile_product import TILE
from fastes.problem import LinearBandit
from fastes.team import Team
from fastes.validation import Floats

_SLICE_SECONDS = 0.1


class Job(NamedTuple):
    """What all runs share."""

    bandit: LinearBandit
    agent: Agent
    T: int
    seed: int
    times: NDArray[np.int64]
    theta: Floats | None
    regret: Floats  # (runs, times): filled in by the runs
    team: Team | None
    watch: Diagnostics | None  # filled in by the runs


def play(job: Job, runs: range, counts: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
    """Do runs, in step if there are several. Yield the steps and the regret of each slice.

    Adds to `counts` how often each arm was played. No bit depends on which runs go together.
    """
    return _alone(job, runs[0], counts) if len(runs) == 1 else _in_step(job, runs, counts)


class _Beginning(NamedTuple):
    """What a run begins with."""

    agent: Any
    environment: Environment
    source: Source


def _beginning(job: Job, run: int) -> _Beginning:
    origin = source(job.seed, run)
    agent = job.agent.initial_state(job.bandit.K, job.bandit.rank, origin, job.T)
    return _Beginning(agent, _environment(job, run, origin), origin)


def _alone(job: Job, run: int, counts: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
    arms = job.bandit.canonical.arms
    agent, environment, origin = _beginning(job, run)
    kept = record(job.times, job.regret[run], counts)
    work = job.agent.workspace(arms)
    forward = advance if job.team is None else job.team.advance

    def proceed(t: int, stop: int) -> int:
        nonlocal agent
        reached = forward(agent, arms, environment, kept, origin, work, t, stop)
        if reached < stop:
            if due(work):
                renew(work, agent, arms)
            elif full(agent):
                agent = grown(agent)
            else:
                raise _lost(run, reached)
        return int(reached)

    if job.watch is None:
        yield from _slices(0, job.T, proceed, 1, kept.total)
        return
    from fastes.theory.look import look

    t = 0
    for i, time_of_look in enumerate(job.watch.t):
        yield from _slices(t, int(time_of_look), proceed, 1, kept.total)
        t = int(time_of_look)
        seen = look(job.bandit, job.agent, agent, origin, t, environment.means, job.watch.samples)
        for room, figure in zip(job.watch.per_run, seen, strict=True):
            room[run, i] = figure
    yield from _slices(t, job.T, proceed, 1, kept.total)


def _in_step(job: Job, runs: range, counts: NDArray[np.int64]) -> Iterator[tuple[int, float]]:
    arms, n = job.bandit.canonical.arms, len(runs)
    stack: Any = None
    for i, run in enumerate(runs):
        beginning = _beginning(job, run)
        stack = stack_of(beginning, n) if stack is None else stack
        put(stack, i, beginning)
        del beginning  # or two would be there at once
    agents, environments, sources = stack
    records = Record(
        times=np.tile(job.times, (n, 1)),
        regret=job.regret[runs.start : runs.stop],
        counts=np.zeros((n, len(counts)), np.int64),
        total=np.zeros((n, 1)),
        cursor=np.zeros((n, 1), np.int64),
    )
    work = together(arms, n)

    def proceed(t: int, stop: int) -> int:
        reached = advance_together(agents, arms, environments, records, sources, work, t, stop)
        if reached < stop:
            raise _lost(runs[work.lost[0]], reached)
        return int(reached)

    yield from _slices(0, job.T, proceed, n, records.total)
    counts += records.counts.sum(axis=0)


def _environment(job: Job, run: int, origin: Source) -> Environment:
    arms = job.bandit.canonical.arms
    if job.theta is not None:
        means = values(job.bandit.actions, job.theta[run % len(job.theta)], job.bandit.noise)
    else:
        z = np.empty(job.bandit.rank)
        fill_normals(origin, THETA, 0, z)
        means = np.empty(arms.K)
        mean_rewards(arms, z, np.empty(TILE), means)
    return Environment(means, float(means.max()))


def _slices(
    t: int, last: int, proceed: Callable[[int, int], int], runs: int, total: Floats
) -> Iterator[tuple[int, float]]:
    """Proceed from t to `last` in slices of about a tenth of a second.

    `proceed(t, stop)` returns the step it reached, and `total` holds the regret so far.
    """
    length, regret = 16, float(total.sum())
    while t < last:
        began = time.perf_counter()
        reached = proceed(t, min(last, t + length))
        elapsed = time.perf_counter() - began
        steps, so_far = reached - t, float(total.sum())
        yield runs * steps, so_far - regret
        t, regret = reached, so_far
        if steps > 0:
            # The first slice may have had to compile: grow step by step.
            length = max(1, min(4 * length, int(steps * _SLICE_SECONDS / max(elapsed, 1e-9))))


def _lost(run: int, step: int) -> FloatingPointError:
    return FloatingPointError(
        f"run {run} lost its posterior to rounding at step {step}: the arms' values are too "
        "many noise standard deviations apart"
    )
