"""A problem with random arms, by its numbers: what studies vary and the command line asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from fastes.actions.families import FAMILIES
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
