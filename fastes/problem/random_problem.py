"""The problem of a setting: random arms by their numbers, or a problem that was given whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.actions import Ball, Fresh, Redrawn, Subset
from fastes.actions.families import FAMILIES, RandomArms
from fastes.checks import numbers
from fastes.checks.parameters import Parameter

if TYPE_CHECKING:
    from fastes.actions import ActionSet
    from fastes.problem.bandit import LinearBandit

BALL = "ball"
"""In the place of a family: all vectors of norm at most 1."""

PARAMETERS = {
    "arms": Parameter(
        f"{', '.join((*FAMILIES, BALL))}.", "choice", "sphere", choices=(*FAMILIES, BALL)
    ),
    "redraw": Parameter(
        "When random arms are drawn again.", "choice", "never", choices=("never", "run", "step")
    ),
    "available": Parameter(
        "How many of the arms are on offer at a step, drawn uniformly; 0 is all.", "integer", 0
    ),
    "K": Parameter("Number of arms.", "integer", 100, minimum=1),
    "d": Parameter("Dimension.", "integer", 10, minimum=1),
    "prior_mean": Parameter("Mean of theta.", "number", 0.0),
    "prior_cov": Parameter("Variance of theta.", "number", 1.0),
    "noise": Parameter("Standard deviation of a reward.", "number", 1.0),
}


class RandomProblem(NamedTuple):
    """What is to be known of a random problem, but for its seed."""

    arms: str
    redraw: str
    available: int
    K: int
    d: int
    prior_mean: float
    prior_cov: float
    noise: float

    def check(self) -> None:
        """Raise ValueError unless there is such a problem."""
        numbers.positive("noise", self.noise)
        numbers.nonnegative("prior_cov", self.prior_cov)
        if self.arms == "basis" and self.K != self.d:
            raise ValueError(
                f"basis arms are the d unit vectors: K must equal d, got {self.K} and {self.d}"
            )
        if self.redraw != "never" and self.available:
            raise ValueError(
                "available arms are some of a fixed pool: leave out redraw, or available"
            )
        if self.redraw != "never" or self.arms == BALL:
            self.action_set()
        if self.available > self.K:
            raise ValueError(f"available must be at most K={self.K}, got {self.available}")

    def action_set(self) -> ActionSet:
        """Return the action set of a problem whose arms are drawn again, or are a ball."""
        if self.arms == BALL:
            if self.redraw != "never" or self.available:
                raise ValueError("all arms of a ball are on offer: leave out redraw and available")
            return Ball(self.d)
        return (Redrawn if self.redraw == "run" else Fresh)(self.K, self.d, self.arms)

    def bandit(self, seed: int, **belief: Any) -> LinearBandit:
        """Return the problem of a seed, with its own belief or with arrays in its place."""
        from fastes.problem.bandit import LinearBandit

        self.check()
        own = {"prior_mean": self.prior_mean, "prior_cov": self.prior_cov, "noise": self.noise}
        belief = {**own, **belief}
        if self.redraw != "never" or self.arms == BALL:
            return LinearBandit(self.action_set(), **belief)
        fixed = LinearBandit.random(self.K, self.d, self.arms, **belief, seed=seed)
        if self.available == 0:
            return fixed
        return LinearBandit(Subset(fixed.actions, self.available), **belief)

    def parts(self, seed: int) -> dict[str, Any]:
        """Return the `parts` of that problem, without drawing it where that is possible."""
        import numpy as np

        if self.redraw != "never" or self.arms == BALL or self.available:
            return self.bandit(seed).parts(drawn_again=True)
        belief = {"prior_mean": self.prior_mean, "prior_cov": self.prior_cov, "noise": self.noise}
        parts = {name: np.array(value) for name, value in belief.items()}
        return parts | RandomArms(self.arms, self.K, self.d, seed).parts()

    @property
    def axes(self) -> dict[str, Any]:
        """Its value on every axis of a study."""
        return {**self._asdict(), "K": None if self.arms == BALL else self.K}


class GivenProblem(NamedTuple):
    """A problem that is the same in all settings of a study."""

    given: LinearBandit

    @property
    def K(self) -> int:
        """Number of arms on offer, or 1 where they are not counted."""
        return self.given.K or 1

    @property
    def d(self) -> int:
        """Dimension."""
        return self.given.d

    def bandit(self, seed: int) -> LinearBandit:
        """Return the problem, whatever the seed."""
        return self.given

    def parts(self, seed: int) -> dict[str, Any]:
        """Return its `parts`."""
        return self.given.parts(drawn_again=True)

    @property
    def axes(self) -> dict[str, Any]:
        """Its value on the axes of a study that it has."""
        return {"arms": "given", "K": self.given.K, "d": self.d, "noise": self.given.noise}
