"""What an own agent plays on: what it is offered, what its choices mean, and what they pay."""

import operator
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.agents.own import OwnAgent, OwnAgentError
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.numbers import shown
from fastes.kernels.loop.own import offered_means, vector_means
from fastes.kernels.states.stack import state_at
from fastes.kernels.streams.philox import source
from fastes.simulation.batch import environments_of, run_failure
from fastes.simulation.experiment import Experiment
from fastes.simulation.offers import offers_of_run

_MOST_STEPS = 4096  # at once, so that what is kept of each takes little room
_MOST_NUMBERS = 1 << 20  # of arms on offer, likewise
_ROUNDING = 1e-9  # by which a vector may be longer than the radius


class Stage(Protocol):
    """What one run of an own agent plays on, several steps at a time."""

    environment: Any  # the kernel's
    most_steps: int  # at once

    def offered(self, t: int, n: int) -> Sequence[Floats] | None:
        """Begin the steps t, ..., t + n - 1. Return the rows on offer at each, if they change."""

    def take(self, choice: Any, i: int) -> tuple[Any, float]:
        """Play what the agent chose at the i-th of them, or raise OwnAgentError.

        Return what it is to observe it by, and its mean reward in units of the noise.
        """

    def numbers(self) -> NDArray[np.int64]:
        """Return the numbers that the arms played are recorded by."""

    def best(self) -> Floats:
        """Return the largest mean reward on offer at each of the steps."""


def stage_of_run(e: Experiment, agent: OwnAgent, run: int) -> Stage:
    """Return what a run of an own agent plays on."""
    if e.bandit.action_set is None:
        return _FixedStage(e, agent, run)
    return (_BallStage if isinstance(e.bandit.actions, Ball) else _OfferedStage)(e, agent, run)


class _FixedStage:
    """All arms of a fixed set, by their numbers."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self.environment = state_at(environments_of(e, range(run, run + 1)), 0)
        self.most_steps = _MOST_STEPS
        self._means, self._agent, self._run = self.environment.means.tolist(), agent, run
        self._arms: list[int] = []

    def offered(self, t: int, n: int) -> None:
        self._first, self._arms = t, []

    def take(self, choice: Any, i: int) -> tuple[int, float]:
        arm = choice
        if type(arm) is not int or not 0 <= arm < len(self._means):
            arm = _checked_arm(self._agent, arm, len(self._means), self._first + i, self._run)
        self._arms.append(arm)
        return arm, self._means[arm]

    def numbers(self) -> NDArray[np.int64]:
        return np.array(self._arms, np.int64)

    def best(self) -> Floats:
        return np.full(len(self._arms), self.environment.best)


class _OfferedStage:
    """Rows that are offered at every step, of which one is chosen by its place among them."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self._e, self._agent, self._run = e, agent, run
        self._actions, self.environment, _ = offers_of_run(e, agent, run, "none")
        self._K, self._source = e.bandit.K, source(e.seed, run)
        self.most_steps = max(1, min(_MOST_STEPS, _MOST_NUMBERS // (self._K * (e.bandit.d + 2))))
        self._arms: list[int] = []

    def offered(self, t: int, n: int) -> list[Floats]:
        shape = (n, self._K)
        self._first, self._arms = t, []
        self._means, self._best = np.empty(shape), np.empty(n)
        self._numbers = np.empty(shape, np.int64)
        rest = (self._source, t, self._means, self._best, self._numbers)
        offered_means(self._actions, self.environment, *rest)
        if not np.isfinite(self._means).all():
            wrong = int(np.argmin(np.isfinite(self._means).all(axis=1)))
            raise run_failure(self._e.bandit, self._run, t + wrong)
        self._rows = self._rows_on_offer(t, n)
        return self._rows

    def _rows_on_offer(self, t: int, n: int) -> list[Floats]:
        given, seed = self._e.bandit.actions, self._e.seed
        if isinstance(given, Redrawn):
            return [arrays.frozen(given.rows(seed, self._run, 0))] * n
        if isinstance(given, Fresh):
            return [given.rows(seed, self._run, step) for step in range(t, t + n)]
        if isinstance(given, Subset):
            return [given.pool[chosen] for chosen in self._numbers]
        assert isinstance(given, Given)
        steps = (step % len(given.array) for step in range(t, t + n))
        return [np.asarray(given.array[step], np.float64) for step in steps]

    def take(self, choice: Any, i: int) -> tuple[Floats, float]:
        arm = _checked_arm(self._agent, choice, self._K, self._first + i, self._run)
        self._arms.append(arm)
        # A copy: an agent that keeps its rows does not keep all that were on offer.
        return self._rows[i][arm].copy(), float(self._means[i, arm])

    def numbers(self) -> NDArray[np.int64]:
        return self._numbers[np.arange(len(self._arms)), self._arms]

    def best(self) -> Floats:
        return self._best


class _BallStage:
    """A ball, of which any vector is chosen."""

    def __init__(self, e: Experiment, agent: OwnAgent, run: int) -> None:
        self._agent, self._run, self._d = agent, run, e.bandit.d
        self._ball = e.bandit.actions
        self._actions, self.environment, _ = offers_of_run(e, agent, run, "none")
        self.most_steps = _MOST_STEPS
        self._best: list[float] = []

    def offered(self, t: int, n: int) -> None:
        self._first, self._best = t, []

    def take(self, choice: Any, i: int) -> tuple[Floats, float]:
        try:
            vector = arrays.array("act()", choice)
        except (TypeError, ValueError):
            vector = np.empty(0)
        scaled = np.ldexp(vector, -self._ball.exponent)
        longest = self._actions.radius * (1 + _ROUNDING)
        if vector.shape != (self._d,) or np.linalg.norm(scaled) > longest:
            raise OwnAgentError(
                f"{self._agent.label}: act() must return {self._d} numbers, a vector of norm at "
                f"most {self._ball.radius:g}, got {shown(choice)} at step {self._first + i} "
                f"of run {self._run}"
            )
        mean, best = vector_means(self._actions, self.environment, scaled)
        self._best.append(best)
        return vector, mean

    def numbers(self) -> NDArray[np.int64]:
        return np.empty(0, np.int64)

    def best(self) -> Floats:
        return np.array(self._best)


def _checked_arm(agent: OwnAgent, arm: Any, K: int, t: int, run: int) -> int:
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
