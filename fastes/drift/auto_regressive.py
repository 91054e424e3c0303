"""Theta that moves at every step and returns to its mean."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.checks import numbers
from fastes.drift.drift import Drift

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from fastes.checks.arrays import Floats


@dataclass(frozen=True)
class AutoRegressive(Drift):
    """Theta moves at every step and returns to the mean m of the truth's prior.

    theta' - m = rho (theta - m) + sqrt(1 - rho^2) n, with n from N(0, the prior's covariance). If
    theta of step 0 is drawn from the prior, so is theta of every step; the correlation of two of
    them, n steps apart, is rho^n.

    Parameters
    ----------
    rho : float
        From -1 to 1. With 1 theta stays as it is; with 0 it is drawn anew at every step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> truth = fastes.Truth(drift=fastes.drift.AutoRegressive(0.999))
    >>> truth.path(bandit, T=3, seed=1).round(2)
    array([[-0.48,  2.24],
           [-0.45,  2.22],
           [-0.43,  2.31]])
    """

    kind: ClassVar[str] = "ar"

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", numbers.between("rho", self.rho, -1.0, 1.0))

    @property
    def text(self) -> str:
        """ar and rho."""
        return f"{self.kind}:{self.rho!r}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return rho."""
        import numpy as np

        return {"rho": np.array(self.rho)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of this rho."""
        return cls(float(saved["rho"]))

    def kernel(self, place: Any, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift

        scale = math.sqrt((1.0 - self.rho) * (1.0 + self.rho))
        scratch = np.zeros(place.normals), np.zeros(len(place.prior.value.mean))
        return drift.AutoRegressive(place.prior, self.rho, scale, *scratch)

    def longest(self, place: Any, first: Floats) -> float:
        """Return the norm of theta of step 0 and of a rare draw, together."""
        return place.length(first) + place.reach
