"""The ball: infinitely many arms."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastes.actions.action_set import Parts


@dataclass(frozen=True)
class Ball(ActionSet):
    """Every vector of at most this norm: the best one is radius * theta / norm(theta).

    Parameters
    ----------
    d : int
        Dimension.
    radius : float
        The largest norm of an arm, from 1e-200 to 1e200.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit(fastes.actions.Ball(d=10))
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=64), T=100, runs=20).label
    'ES, M=64'
    """

    kind: ClassVar[str] = "ball"

    d: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", numbers.integer("d", self.d, 1, MAX_SIZE))
        object.__setattr__(self, "radius", numbers.between("radius", self.radius, 1e-200, 1e200))

    @property
    def arms_on_offer(self) -> None:
        """Infinitely many."""
        return None

    @property
    def dimension(self) -> int:
        """d."""
        return self.d

    @property
    def longest(self) -> float:
        """The radius."""
        return self.radius

    @property
    def exponent(self) -> int:
        """The e for which radius / 2^e is from 1 to 2: the unit of length of kernels is 2^e."""
        return math.frexp(self.radius)[1] - 1

    @property
    def words(self) -> str:
        """What is on offer."""
        return "the ball" if self.radius == 1 else f"the ball of radius {self.radius:g}"

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return dimension and radius."""
        import numpy as np

        return {"set_sizes": np.array([self.d]), "set_radius": np.array(self.radius)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the ball of this dimension and radius."""
        (d,) = parts["set_sizes"].tolist()
        return cls(d, float(parts["set_radius"]))
