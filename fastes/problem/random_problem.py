"""The problem of a setting: random arms by their numbers, or a problem that was given whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.actions import Ball, Fresh, Redrawn, Subset
from fastes.actions.families import FAMILIES, RandomArms, check_family
from fastes.checks import memory, numbers
from fastes.checks.parameters import Parameter
from fastes.problem.sizes import FIXED, ProblemSizes, problem_bytes

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
        if self.arms != BALL:
            check_family(self.arms, self.K, self.d)
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
        if self.available == 0:
            return LinearBandit.random(self.K, self.d, self.arms, **belief, seed=seed)
        memory.require(f"a pool of K={self.K:,} arms, d={self.d:,}", self.bytes)
        pool = RandomArms(self.arms, self.K, self.d, seed).draw()
        return LinearBandit(Subset(pool, self.available), **belief)

    @property
    def sizes(self) -> ProblemSizes:
        """What the memory of its runs depends on, its rank at most."""
        K, d = self.K, self.d
        if self.arms == BALL:
            return ProblemSizes("ball", None, d, d, 0)
        if self.redraw != "never":
            return ProblemSizes("redrawn" if self.redraw == "run" else "fresh", K, d, d, 0)
        if self.available:
            return ProblemSizes("subset", self.available, d, min(K, d), K)
        return ProblemSizes(FIXED, K, d, min(K, d), K)

    @property
    def bytes(self) -> int:
        """The memory that the problem itself takes while it is made."""
        drawn_once = self.redraw == "never" and self.arms != BALL
        return problem_bytes(self.K if drawn_once else 0, self.d)

    def parts(self, seed: int) -> dict[str, Any]:
        """Return the `parts` of that problem, without drawing it where that is possible."""
        import numpy as np

        if self.redraw != "never" or self.arms == BALL or self.available:
            return self.bandit(seed).parts(drawn_again=True)
        belief = {"prior_mean": self.prior_mean, "prior_cov": self.prior_cov, "noise": self.noise}
        parts = {name: np.array(value) for name, value in belief.items()}
        return parts | RandomArms(self.arms, self.K, self.d, seed).parts()

    @property
    def counted_arms(self) -> int:
        """How many arms have numbers that last."""
        return self.K if self.redraw == "never" and self.arms != BALL else 0

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

    @property
    def sizes(self) -> ProblemSizes:
        """What the memory of its runs depends on."""
        return self.given.sizes

    @property
    def bytes(self) -> int:
        """The memory of one more of it: tasks make the problem of a description."""
        return problem_bytes(self.given.counted_arms, self.d)

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
