"""Theta that turns in a plane."""

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
class Rotating(Drift):
    """Theta turns about the prior's mean, in the plane of its first two coordinates.

    theta_t - m = R(t angle) (theta_0 - m), where R(x) turns coordinate 1 towards coordinate 2 by
    the angle x; all others stay. With prior mean 0 and d = 2 theta moves on a circle about 0.

    Parameters
    ----------
    angle : float
        Of a step, in radians.

    Examples
    --------
    >>> import fastes, numpy as np
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> truth = fastes.Truth(drift=fastes.drift.Rotating(np.pi / 4))
    >>> truth.path(bandit, T=3, theta=[1.0, 0.0]).round(2)
    array([[1.  , 0.  ],
           [0.71, 0.71],
           [0.  , 1.  ]])
    """

    kind: ClassVar[str] = "rotating"
    least_d: ClassVar[int] = 2

    angle: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "angle", numbers.between("angle", self.angle, -math.pi, math.pi))

    @property
    def text(self) -> str:
        """rotating and the angle."""
        return f"{self.kind}:{self.angle!r}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the angle."""
        import numpy as np

        return {"angle": np.array(self.angle)}

    @classmethod
    def from_arrays(cls, saved: Mapping[str, NDArray[Any]]) -> Self:
        """Return the drift of this angle."""
        return cls(float(saved["angle"]))

    def kernel(self, place: Any, first: Floats) -> Any:
        """Return the kernel's drift."""
        import numpy as np

        from fastes.kernels.loop import drift

        along, across = np.zeros_like(first), np.zeros_like(first)
        along[:2] = first[:2] - place.mean[:2]
        across[:2] = -along[1], along[0]
        centre = first.copy()
        centre[:2] = place.mean[:2]
        turned = place.direction(along), place.direction(across)
        return drift.Rotating(place.point(centre), *turned, self.angle)

    def visited(self, mean: Floats) -> tuple[Floats, ...]:
        """Return two thetas in its plane."""
        import numpy as np

        axes = np.eye(2, len(mean))
        return tuple(mean + axes)

    def longest(self, place: Any, first: Floats) -> float:
        """Return the mean's norm and the distance of theta from it, together."""
        return place.length(place.mean) + place.length(first - place.mean)
