"""The world of a simulation: how the truth differs from the agents' belief."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from fastes.checks import numbers
from fastes.checks.parameters import Parameter
from fastes.drift.text import OPTION, drift_of_text, option_text
from fastes.problem.truth import LAWS, Truth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastes.problem.bandit import Bandit

PARAMETERS = {
    "truth_prior_mean": Parameter("True mean of theta.", "number", None),
    "truth_prior_cov": Parameter("True variance of theta.", "number", None, minimum=0),
    "truth_noise": Parameter("True standard deviation of a reward.", "number", None, minimum=0),
    "noise_law": Parameter("Distribution of the noise.", "choice", "normal", choices=LAWS),
    "truth_drift": Parameter(
        f"How theta changes: {OPTION}; steps count from 0.", "text", None, read=option_text
    ),
    "delay": Parameter("Delay of rewards, in steps.", "integer", 0, maximum=numbers.MAX_STEPS),
}
"""Parameters of the world that are single values, for studies and the command line."""

_TRUTH = {
    "truth_prior_mean": "prior_mean",
    "truth_prior_cov": "prior_cov",
    "truth_noise": "noise",
    "noise_law": "noise_law",
    "truth_drift": "drift",
}
"""Those of `Truth`, with its attributes."""

_OTHERS = {name: each for name, each in PARAMETERS.items() if name not in _TRUTH}
"""Those that are fields of `World` and facts of a result."""


@dataclass(frozen=True)
class World:
    """How the world differs from what agents believe. Its fields are arguments of `simulate`."""

    truth: Truth | None = None  # None: as agents believe
    delay: int = 0  # of rewards, in steps

    def __post_init__(self) -> None:
        if not (self.truth is None or isinstance(self.truth, Truth)):
            got = numbers.shown(self.truth)
            raise TypeError(f"truth must be a Truth such as Truth(noise=2), got {got}")
        for name, each in _OTHERS.items():
            object.__setattr__(self, name, each.checked(name, getattr(self, name)))

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Return the world of a value for each parameter; priors may also be arrays."""
        given = {attribute: values[name] for name, attribute in _TRUTH.items()}
        if given["drift"] is not None:
            given["drift"] = drift_of_text("drift", given["drift"])
        truth = Truth(**given)
        return cls(truth, **{name: values[name] for name in _OTHERS})

    @property
    def values(self) -> dict[str, Any]:
        """The values from which `of` makes it."""
        truth = self.truth or Truth()
        said = {name: getattr(truth, attribute) for name, attribute in _TRUTH.items()}
        said["truth_drift"] = None if truth.drift is None else truth.drift.text
        return {**said, **self._others}

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of a result; equal only for equal worlds."""
        return {"truth": (self.truth or Truth()).text, **self._others}

    @property
    def _others(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OTHERS}

    def fitted(self, bandit: Bandit) -> Self:
        """Return it without a truth that equals the belief; raise if the truth does not fit."""
        if self.truth is None:
            return self
        self.truth.check(bandit)
        return replace(self, truth=None) if self.truth.is_belief(bandit) else self

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return arrays from which `from_arrays`, given the facts too, makes an equal world."""
        return {} if self.truth is None else self.truth.arrays()

    @classmethod
    def from_arrays(cls, facts: Mapping[str, Any], saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the world of these facts and `arrays`, or raise."""
        others = {name: facts[name] for name in _OTHERS if name in facts}
        return cls(Truth.from_arrays(saved) if saved else None, **others)


AS_BELIEVED = World()
