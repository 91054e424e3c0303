"""The problem of a setting: random arms by their numbers, or a problem that was given whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.actions.families import FAMILIES, RandomArms
from fastes.checks import numbers
from fastes.checks.parameters import Parameter

if TYPE_CHECKING:
    from fastes.problem.bandit import LinearBandit

PARAMETERS = {
    "arms": Parameter(f"{', '.join(FAMILIES)}.", "choice", "sphere", choices=FAMILIES),
    "K": Parameter("Number of arms.", "integer", 100, minimum=1),
    "d": Parameter("Dimension.", "integer", 10, minimum=1),
    "prior_mean": Parameter("Mean of theta.", "number", 0.0),
    "prior_cov": Parameter("Variance of theta.", "number", 1.0),
    "noise": Parameter("Standard deviation of a reward.", "number", 1.0),
}


class RandomProblem(NamedTuple):
    """The arguments of `LinearBandit.random`, but for its seed."""

    arms: str
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

    def bandit(self, seed: int) -> LinearBandit:
        """Return the problem of a seed."""
        from fastes.problem.bandit import LinearBandit

        return LinearBandit.random(**self._asdict(), seed=seed)

    def parts(self, seed: int) -> dict[str, Any]:
        """Return the `parts` of that problem, without drawing it."""
        import numpy as np

        belief = {"prior_mean": self.prior_mean, "prior_cov": self.prior_cov, "noise": self.noise}
        parts = {name: np.array(value) for name, value in belief.items()}
        return parts | RandomArms(self.arms, self.K, self.d, seed).parts()

    @property
    def axes(self) -> dict[str, Any]:
        """Its value on every axis of a study."""
        return self._asdict()


class GivenProblem(NamedTuple):
    """A problem that is the same in all settings of a study."""

    given: LinearBandit

    @property
    def K(self) -> int:
        """Number of arms."""
        return self.given.K

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
        return {"arms": "given", "K": self.K, "d": self.d, "noise": self.given.noise}
