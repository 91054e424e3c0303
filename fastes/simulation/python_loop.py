"""The loop in Python, for custom agents: the same theta, arms and noise as the compiled loop.

Rewards and regret are equal to those of the compiled loop, to the bit.
"""

from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.agents.own import OwnAgent, OwnAgentError, OwnState, failed
from fastes.checks.arrays import Floats
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.drifting import follow_theta
from fastes.kernels.loop.environment import draw_variates
from fastes.kernels.loop.live import Live, observe
from fastes.kernels.rewards.interface import reward_of
from fastes.kernels.streams.philox import source
from fastes.simulation.batch import RunContext, Slice, slices
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import BatchState
from fastes.simulation.stages import stage_of_run


def run_own_agent(
    context: RunContext, runs: range, counts: NDArray[np.int64], saved: BatchState | None = None
) -> Iterator[Slice]:
    """Do a run of a custom agent, as `run_batch` does for compiled agents.

    There is no saved state: that of a custom agent is not accessible.
    """
    e, (run,), known = context.experiment, runs, context.partial
    agent: Any = context.agent
    origin = source(e.seed, run)
    played = _Played(e, agent, run)
    belief = _Belief(e, agent, run)
    row, total = known.rows(runs).start, np.zeros(1)

    def step_to(t: int, stop: int) -> int:
        variates = np.empty(min(stop - t, played.stage.most_steps))
        draw_variates(played.stage.environment, origin, t, variates)
        (means, rewards), stop = played.steps(t, variates), t + len(variates)
        arms = played.stage.numbers()
        np.add.at(counts, arms[arms < len(counts)], 1)
        known.actions[row, t:stop] = arms[: known.actions.shape[1]]
        known.rewards[row, t:stop] = rewards[: known.rewards.shape[1]]
        if e.probe_times is not None:
            belief.observe(arms, rewards)
        # Summed in the same order as in the compiled loop.
        regret = np.cumsum(np.append(total, played.stage.best() - means))
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
        t, state = moment, OwnState(belief.state.belief, played.player)
        if e.drift is not None:
            follow_theta(played.stage.environment, origin, t)
        means = played.stage.environment.means
        found = probe(e.bandit, agent, state, origin, t, means, e.samples)
        for room, value in zip(known.measurements or (), found, strict=True):
            room[row, i] = value
    yield from slices(t, e.T, step_to, capture, total)


class _Played:
    """One run of a custom agent."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self.stage = stage_of_run(e, agent, run)
        self.player = agent.started(e.bandit, e.seed, run)
        self._agent, self._run = agent, run
        self._sigma, self._delay = e.bandit.rewards.unit, e.world.delay
        self._late: deque[tuple[Any, float]] = deque()  # plays with delayed rewards

    def steps(self, t: int, variates: Floats) -> tuple[Floats, Floats]:
        """Let the agent play from step t on, one step for each random number of `variates`.

        Return the mean rewards and the rewards, in units of the noise.
        """
        act, learn, take = self.player.act, self.player.observe, self.stage.take
        late, delay, sigma = self._late, self._delay, self._sigma
        law, means, rewards = self.stage.environment.law, [], []
        reward_by_law = reward_of.body_of(type(law))
        offered, method = self.stage.offered(t, len(variates)), "act"
        try:
            for i, variate in enumerate(variates.tolist()):
                choice = act() if offered is None else act(offered[i])
                seen, mean = take(choice, i)
                reward = reward_by_law(law, mean, variate)
                means.append(mean)
                rewards.append(reward)
                late.append((seen, sigma * reward))
                if len(late) > delay:
                    method = "observe"
                    learn(*late.popleft())
                    method = "act"
        except OwnAgentError:
            raise
        except Exception as error:
            when = f"at step {t + len(means) - (method == 'observe')} of run {self._run}"
            raise failed(self._agent, method, error, when) from error
        return np.array(means), np.array(rewards)


class _Belief:
    """The posterior given the rewards that a custom agent has observed, on fixed arms."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self._source, self._delay = source(e.seed, run), e.world.delay
        self.state = agent.initial_state(
            e.bandit.K, e.bandit.rank, self._source, rewards=e.bandit.rewards
        )
        actions = FixedActions(e.bandit.canonical.arms)
        count, row = np.zeros(1, np.int64), np.empty(e.bandit.rank)
        self._box = boxed(Live(self.state, actions, None, self._source, count, row))
        self._arms, self._rewards = np.empty(0, np.int64), np.empty(0)

    def observe(self, arms: NDArray[np.int64], rewards: Floats) -> None:
        """Add plays, and take in those whose rewards have been observed."""
        self._arms = np.append(self._arms, arms)
        self._rewards = np.append(self._rewards, rewards)
        n = max(0, len(self._arms) - self._delay)
        observe(self._box, self._arms[:n], self._rewards[:n])
        self._arms, self._rewards = self._arms[n:], self._rewards[n:]
