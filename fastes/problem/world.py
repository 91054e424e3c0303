"""The world of a simulation: what is true beside the belief, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from fastes.checks import numbers
from fastes.checks.parameters import Parameter
from fastes.problem.truth import LAWS, Truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastes.problem.bandit import Bandit

PARAMETERS = {
    "truth_prior_mean": Parameter("Mean of theta in truth.", "number", None),
    "truth_prior_cov": Parameter("Variance of theta in truth.", "number", None, minimum=0),
    "truth_noise": Parameter("Standard deviation of a reward in truth.", "number", None, minimum=0),
    "noise_law": Parameter("Law of the noise.", "choice", "normal", choices=LAWS),
    "delay": Parameter("Steps by which rewards are late.", "integer", 0, maximum=numbers.MAX_STEPS),
}
"""How the world may differ from the belief, where numbers say it: for studies and the command line.
"""

_TRUTH = {
    "truth_prior_mean": "prior_mean",
    "truth_prior_cov": "prior_cov",
    "truth_noise": "noise",
    "noise_law": "noise_law",
}
"""Those that say what the truth is, and the attributes of `Truth` that they are."""

_OTHERS = {name: each for name, each in PARAMETERS.items() if name not in _TRUTH}
"""Those that are fields of `World`, and facts of a result, themselves."""


@dataclass(frozen=True)
class World:
    """How the world differs from what agents believe. Its fields are arguments of `simulate`."""

    truth: Truth | None = None  # None: as agents believe
    delay: int = 0  # steps by which rewards are late

    def __post_init__(self) -> None:
        if not (self.truth is None or isinstance(self.truth, Truth)):
            got = numbers.shown(self.truth)
            raise TypeError(f"truth must be a Truth such as Truth(noise=2), got {got}")
        for name, each in _OTHERS.items():
            object.__setattr__(self, name, each.checked(name, getattr(self, name)))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the world of a value of each of the parameters; priors may be arrays too."""
        truth = Truth(**{attribute: values[name] for name, attribute in _TRUTH.items()})
        return cls(truth, **{name: values[name] for name in _OTHERS})

    @property
    def values(self) -> dict[str, Any]:
        """The values that it is `of`."""
        truth = self.truth or Truth()
        said = {name: getattr(truth, attribute) for name, attribute in _TRUTH.items()}
        return {**said, **self._others}

    @property
    def facts(self) -> dict[str, Any]:
        """What a result says of it; equal for equal worlds only."""
        return {"truth": (self.truth or Truth()).words, **self._others}

    @property
    def _others(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OTHERS}

    def fitted(self, bandit: Bandit) -> Self:
        """Return it without a truth that is what the bandit says, or raise where it cannot be."""
        if self.truth is None:
            return self
        self.truth.check(bandit)
        return replace(self, truth=None) if self.truth.is_belief(bandit) else self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that `from_arrays` makes the same world of, together with its facts."""
        return {} if self.truth is None else self.truth.arrays()

    @classmethod
    def from_arrays(cls, facts: Mapping[str, Any], parts: Mapping[str, NDArray[Any]]) -> Self:
        """Return the world of some facts and of `parts`, or raise."""
        others = {name: facts[name] for name in _OTHERS if name in facts}
        return cls(Truth.from_arrays(parts) if parts else None, **others)


AS_BELIEVED = World()
