"""The loop in Python, for own agents: the same theta, arms and noise as the compiled loop.

What the arms pay that an own agent plays, and its regret, are to the bit what the compiled loop
would make of them.
"""

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.agents.own import OwnAgent, OwnAgentError, OwnState, Player, failed
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.loop.environment import draw_noise
from fastes.kernels.loop.live import observe
from fastes.kernels.loop.states import state_at
from fastes.kernels.streams.philox import source
from fastes.simulation.batch import RunContext, Slice, environments_of, slices
from fastes.simulation.partial_result import BatchState

_MOST_STEPS = 4096  # a call, so that what is kept of each step takes little room


def run_own_agent(
    context: RunContext, runs: range, counts: NDArray[np.int64], saved: BatchState | None = None
) -> Iterator[Slice]:
    """Do a run of an own agent, as `run_batch` does those of compiled agents.

    There is no saved state to go on from: what an own agent keeps is its own.
    """
    e, (run,), known = context.experiment, runs, context.partial
    agent: Any = context.agent
    origin, sigma = source(e.seed, run), e.bandit.noise
    environment = state_at(environments_of(e, runs), 0)
    means = environment.means.tolist()
    player = agent.started(e.bandit, e.seed, run)
    belief = agent.initial_state(e.bandit.K, e.bandit.rank, origin)
    row, total = known.rows(runs).start, np.zeros(1)
    actions = FixedActions(e.bandit.canonical.arms)

    def step_to(t: int, stop: int) -> int:
        noise = np.empty(min(stop - t, _MOST_STEPS))
        draw_noise(origin, t, noise)
        arms = np.array(_play(agent, player, means, noise.tolist(), sigma, t, run), np.int64)
        rewards, stop = environment.means[arms] + noise, t + len(noise)
        np.add.at(counts, arms, 1)
        known.actions[row, t:stop] = arms[: known.actions.shape[1]]
        known.rewards[row, t:stop] = rewards[: known.rewards.shape[1]]
        if e.probe_times is not None:
            observe(belief, actions, arms, rewards, origin, t, environment.row)
        # One step after the other, as the compiled loop adds them up.
        regret = np.cumsum(np.append(total, environment.best - environment.means[arms]))
        first, last = np.searchsorted(e.times, [t, stop], side="right")
        known.regret[row, first:last] = regret[e.times[first:last] - t]
        total[0] = regret[-1]
        return stop

    def capture(t: int) -> BatchState:
        return BatchState(runs, t, total.copy(), [{}])

    t = 0
    for i, moment in enumerate([] if e.probe_times is None else e.probe_times.tolist()):
        from fastes.theory.probe import probe

        yield from slices(t, moment, step_to, capture, total)
        t, state = moment, OwnState(belief.posterior, player)
        found = probe(e.bandit, agent, state, origin, t, environment.means, e.samples)
        for room, value in zip(known.measurements or (), found, strict=True):
            room[row, i] = value
    yield from slices(t, e.T, step_to, capture, total)


def _play(
    agent: OwnAgent,
    player: Player,
    means: list[float],
    noise: list[float],
    sigma: float,
    first: int,
    run: int,
) -> list[int]:
    """Let an own agent play as many steps as there is noise for. Return its arms."""
    act, learn, K = player.act, player.observe, len(means)
    arms: list[int] = []
    method = "act"
    try:
        for each in noise:
            arm = act()
            if type(arm) is not int or not 0 <= arm < K:
                arm = _checked(agent, arm, K, first + len(arms), run)
            method = "observe"
            learn(arm, sigma * (means[arm] + each))
            method = "act"
            arms.append(arm)
    except OwnAgentError:
        raise
    except Exception as error:
        raise failed(agent, method, error, f"at step {first + len(arms)} of run {run}") from error
    return arms


def _checked(agent: OwnAgent, arm: Any, K: int, t: int, run: int) -> int:
    """Return an arm as an integer of Python's, or raise OwnAgentError."""
    try:
        number = operator.index(arm)
    except TypeError:
        number = -1
    if not 0 <= number < K:
        raise OwnAgentError(
            f"{agent.label}: act() must return an integer from 0 to {K - 1}, got {arm!r} "
            f"at step {t} of run {run}"
        )
    return number
