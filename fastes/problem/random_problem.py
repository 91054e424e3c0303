"""The problem of a setting: a random problem by its parameters, or a given bandit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.actions import Ball, Fixed, Fresh, Redrawn, Subset
from fastes.actions.families import FAMILIES, random_arms
from fastes.checks import numbers
from fastes.checks.parameters import Parameter
from fastes.problem.bandits import REWARDS, bandit_class
from fastes.problem.sizes import ProblemSizes, problem_bytes

if TYPE_CHECKING:
    from fastes.actions import ActionSet
    from fastes.problem.bandit import Bandit

BALL = "ball"
"""Instead of a family: all vectors of norm at most 1."""

PARAMETERS = {
    "arms": Parameter(
        f"{', '.join((*FAMILIES, BALL))}.", "choice", "sphere", choices=(*FAMILIES, BALL)
    ),
    "redraw": Parameter(
        "When random arms are redrawn.", "choice", "never", choices=("never", "run", "step")
    ),
    "available": Parameter(
        "Arms on offer at a step, a uniformly random subset; 0: all.", "integer", 0
    ),
    "K": Parameter("Number of arms.", "integer", 100, minimum=1),
    "d": Parameter("Dimension.", "integer", 10, minimum=1),
    "prior_mean": Parameter("Mean of theta.", "number", 0.0),
    "prior_cov": Parameter("Variance of theta.", "number", 1.0),
    "noise": Parameter("Standard deviation of a reward.", "number", 1.0),
    "rewards": Parameter(
        "Reward law: real numbers, 0 or 1, or counts.", "choice", "gaussian", choices=REWARDS
    ),
}


class RandomProblem(NamedTuple):
    """The parameters of a random problem, except its seed."""

    arms: str
    redraw: str
    available: int
    K: int
    d: int
    prior_mean: float
    prior_cov: float
    noise: float
    rewards: str = "gaussian"

    def check(self) -> None:
        """Raise ValueError unless the parameters are valid together."""
        numbers.positive("noise", self.noise)
        if self.rewards != "gaussian" and self.noise != PARAMETERS["noise"].usual:
            raise ValueError(
                f"noise is about gaussian rewards, got {self.noise:g} for {self.rewards} rewards"
            )
        numbers.nonnegative("prior_cov", self.prior_cov)
        if self.arms != BALL:
            random_arms(self.arms, self.K, self.d, 0)
        if self.redraw != "never" and self.available:
            raise ValueError(
                "available chooses among fixed arms: leave out either redraw or available"
            )
        if self.arms == BALL and (self.redraw != "never" or self.available):
            raise ValueError("a ball always offers all its arms: leave out redraw and available")
        if self.available > self.K:
            raise ValueError(f"available must be at most K={self.K}, got {self.available}")
        self.action_set(0)

    def action_set(self, seed: int) -> ActionSet:
        """Return the action set of the problem of a seed; its arms are not drawn yet."""
        if self.arms == BALL:
            return Ball(self.d)
        if self.redraw != "never":
            return (Redrawn if self.redraw == "run" else Fresh)(self.K, self.d, self.arms)
        arms = random_arms(self.arms, self.K, self.d, seed)
        return Subset(arms, self.available) if self.available else Fixed(arms)

    def bandit(self, seed: int, **belief: Any) -> Bandit:
        """Return the problem of a seed; `belief` replaces prior_mean and prior_cov."""
        self.check()
        kind = bandit_class(self.rewards)
        own = {name: getattr(self, name) for name in kind.arguments}
        return kind(self.action_set(seed), **{**own, **belief})

    @property
    def sizes(self) -> ProblemSizes:
        """The sizes that determine the memory of its runs; the rank is an upper bound."""
        actions, rewards = self.action_set(0), bandit_class(self.rewards).law()
        return ProblemSizes(actions, min(actions.counted_arms or self.d, self.d), False, rewards)

    @property
    def bytes(self) -> int:
        """Memory that the problem takes while it is constructed."""
        return problem_bytes(self.action_set(0).counted_arms, self.d, drawn=True)

    def arrays(self, seed: int) -> dict[str, Any]:
        """Return the arrays of the problem of a seed, without drawing arms if possible."""
        import numpy as np

        from fastes.problem.bandit import saved_belief

        actions = self.action_set(seed)
        if not actions.fixed:
            return self.bandit(seed).arrays(drawn_again=True)
        belief = saved_belief(bandit_class(self.rewards), self.rewards, self).items()
        return {name: np.array(value) for name, value in belief} | actions.saved(True)

    @property
    def axes(self) -> dict[str, Any]:
        """Its value on each axis of a study."""
        return {**self._asdict(), "K": None if self.arms == BALL else self.K}


class GivenProblem(NamedTuple):
    """A given bandit, the same in all settings of a study."""

    given: Bandit

    @property
    def K(self) -> int:
        """Number of arms on offer, or 1 if it is infinite."""
        return self.given.K or 1

    @property
    def d(self) -> int:
        """Dimension."""
        return self.given.d

    @property
    def sizes(self) -> ProblemSizes:
        """The sizes that determine the memory of its runs."""
        return self.given.sizes

    @property
    def bytes(self) -> int:
        """Memory of a second copy: tasks construct the problem from its description."""
        return problem_bytes(self.given.action_set.counted_arms, self.d, drawn=False)

    def bandit(self, seed: int) -> Bandit:
        """Return the problem; the seed is ignored."""
        return self.given

    def arrays(self, seed: int) -> dict[str, Any]:
        """Return its arrays."""
        return self.given.arrays(drawn_again=True)

    @property
    def axes(self) -> dict[str, Any]:
        """Its value on those axes of a study that apply."""
        law = self.given.rewards
        sizes = {"arms": "given", "K": self.given.K, "d": self.d}
        return {**sizes, "noise": law.facts.get("noise"), "rewards": law.name}
