"""What a run needs from its action set: arms on offer, rewards, search; also for custom agents.

See fastes/actions/action_set.py.
"""

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents.agent import Agent
from fastes.agents.own import OwnAgent, OwnAgentError
from fastes.agents.search import workspace_on
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.numbers import shown
from fastes.kernels.loop.own import offered_means, vector_means
from fastes.kernels.streams.philox import source
from fastes.problem.bandit import Bandit
from fastes.simulation.experiment import Experiment
from fastes.simulation.run import Run

_MOST_STEPS = 4096  # per block, to bound memory
_MOST_NUMBERS = 1 << 20  # of arms on offer, per block


class Offers(NamedTuple):
    """Arms on offer, environment and search of a run, for its loop."""

    actions: Any  # a kernel's action set
    environment: Any
    work: Any  # the search for the best arm


def offers_of_run(e: Experiment, agent: Agent, run: int, search: str) -> Offers:
    """Return the offers of one run; `search` is the search method if arms recur."""
    given = e.bandit.action_set
    actions = given.kernel_actions(e.bandit.canonical, e.seed, run)
    environment = given.environment(actions, Run(e, run))
    return Offers(actions, environment, workspace_on(agent, given, actions, search))


def run_failure(bandit: Bandit, run: int, step: int) -> Exception:
    """Return the error of a run that could not choose an arm at a step."""
    fault = bandit.action_set.fault(step)
    if fault:
        return ValueError(fault)
    return FloatingPointError(f"run {run} failed numerically at step {step}: {bandit.rewards.lost}")


class Stage:
    """A run's interface to a custom agent, a block of steps at a time: arms by number."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self._agent, self._run, self._set = agent, Run(e, run), e.bandit.action_set
        self._bandit, self._source = e.bandit, source(e.seed, run)
        self._actions, self.environment, _ = offers_of_run(e, agent, run, "none")
        self.most_steps = _MOST_STEPS  # per block
        self._arms: list[int] = []
        self._begin(e)

    def _begin(self, e: Experiment) -> None:
        self._means: Any = self.environment.means.tolist()

    def offered(self, t: int, n: int) -> Sequence[Floats] | None:
        """Begin the block of steps t, ..., t + n - 1. Return the rows of each, if they change."""
        self._first, self._arms = t, []
        return None

    def take(self, choice: Any, i: int) -> tuple[Any, float]:
        """Play the agent's choice at the i-th step of the block, or raise OwnAgentError.

        Return the arm as the agent observes it, and its mean reward in units of the noise.
        """
        arm = choice
        if type(arm) is not int or not 0 <= arm < len(self._means):
            arm = self._checked(arm, len(self._means), i)
        self._arms.append(arm)
        return arm, self._means[arm]

    def numbers(self) -> NDArray[np.int64]:
        """Return the recorded numbers of the arms played in the block."""
        return np.array(self._arms, np.int64)

    def best(self) -> Floats:
        """Return the largest mean reward on offer at each step of the block."""
        return np.full(len(self._arms), self.environment.best)

    def _checked(self, arm: Any, K: int, i: int) -> int:
        """Return an arm as a Python int, or raise OwnAgentError."""
        try:
            number = operator.index(arm)
        except TypeError:
            number = -1
        if not 0 <= number < K:
            raise self._refused(f"an integer from 0 to {K - 1}, got {arm!r}", i)
        return number

    def _refused(self, what: str, i: int) -> OwnAgentError:
        when = f"at step {self._first + i} of run {self._run.run}"
        return OwnAgentError(f"{self._agent.label}: act() must return {what} {when}")


class _BlockStage(Stage):
    """Mean rewards that change from step to step, computed for a block of steps; arms by number."""

    def _begin(self, e: Experiment) -> None:
        self._K = e.bandit.K
        most = _MOST_NUMBERS // (self._K * self._numbers_of_arm)
        self.most_steps = max(1, min(_MOST_STEPS, most))

    @property
    def _numbers_of_arm(self) -> int:
        return 2

    def offered(self, t: int, n: int) -> Sequence[Floats] | None:
        shape = (n, self._K)
        self._first, self._arms = t, []
        self._means, self._best = np.empty(shape), np.empty(n)
        self._numbers = np.empty(shape, np.int64)
        found = (self._means, self._best, self._numbers)
        offered_means(self._actions, self.environment, self._source, t, *found)
        if not np.isfinite(self._means).all():
            wrong = int(np.argmin(np.isfinite(self._means).all(axis=1)))
            raise run_failure(self._bandit, self._run.run, t + wrong)
        return None

    def take(self, choice: Any, i: int) -> tuple[Any, float]:
        arm = self._checked(choice, self._K, i)
        self._arms.append(arm)
        return arm, float(self._means[i, arm])

    def best(self) -> Floats:
        return self._best


class _RowStage(_BlockStage):
    """Rows on offer at every step, chosen by index."""

    @property
    def _numbers_of_arm(self) -> int:
        return self._bandit.d + 2

    def offered(self, t: int, n: int) -> Sequence[Floats] | None:
        super().offered(t, n)
        self._rows = self._set.rows_on_offer(self._run, t, self._numbers)
        return self._rows

    def take(self, choice: Any, i: int) -> tuple[Floats, float]:
        arm = self._checked(choice, self._K, i)
        self._arms.append(arm)
        # A copy, so that an agent that keeps it does not keep all rows on offer alive.
        return self._rows[i][arm].copy(), float(self._means[i, arm])

    def numbers(self) -> NDArray[np.int64]:
        return self._numbers[np.arange(len(self._arms)), self._arms]


class _VectorStage(Stage):
    """A set of vectors, chosen by value."""

    def _begin(self, e: Experiment) -> None:
        self._bests: list[float] = []

    def offered(self, t: int, n: int) -> None:
        self._first, self._bests = t, []

    def take(self, choice: Any, i: int) -> tuple[Floats, float]:
        try:
            vector = arrays.array("act()", choice)
        except (TypeError, ValueError):
            vector = np.empty(0)
        placed = self._set.placed(vector) if vector.shape == (self._set.d,) else None
        if placed is None:
            what = f"{self._set.d} numbers, {self._set.vectors}, got {shown(choice)}"
            raise self._refused(what, i)
        t = self._first + i
        mean, best = vector_means(self._actions, self.environment, self._source, t, placed)
        self._bests.append(best)
        return vector, mean

    def numbers(self) -> NDArray[np.int64]:
        return np.empty(0, np.int64)

    def best(self) -> Floats:
        return np.array(self._bests)


_STAGES: dict[str, type[Stage]] = {"number": Stage, "row": _RowStage, "vector": _VectorStage}


def stage_of_run(e: Experiment, agent: OwnAgent, run: int) -> Stage:
    """Return the stage of a run of a custom agent."""
    chosen_by = e.bandit.action_set.chosen_by
    if chosen_by == "number" and e.drift is not None:
        return _BlockStage(e, agent, run)
    return _STAGES[chosen_by](e, agent, run)
