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
    from fastes.checks.arrays import Floats

_SMALLEST_VALUE = 1e-30
"""How many noise standard deviations some value on a ball must reach, if not all are 0.

Far below, squares of parameters would be lost, and choices be random.
"""

_ROUNDING = 1e-9  # by which a vector may be longer than the radius


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
    chosen_by: ClassVar[str] = "vector"
    live: ClassVar[bool] = True
    K: ClassVar[None] = None  # infinitely many

    d: int
    radius: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", numbers.integer("d", self.d, 1, MAX_SIZE))
        object.__setattr__(self, "radius", numbers.between("radius", self.radius, 1e-200, 1e200))

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

    def check_values(self, largest: float) -> None:
        """Raise ValueError where rounding would choose."""
        if 0.0 < largest < _SMALLEST_VALUE:
            raise ValueError(
                f"the arms' values on a ball must be 0 or reach {_SMALLEST_VALUE:g} noise standard "
                f"deviations, got {largest:g}: the noise is too large for them"
            )

    def check_plays(self, label: str, scores: str) -> None:
        """Raise ValueError where an agent asks for the score of each arm."""
        if scores == "information":
            raise ValueError(
                f"agent {label} does not play on a Ball, got {self}: "
                "each of its arms is the best with probability zero"
            )
        if scores == "any":
            raise ValueError(f"{label} scores one arm after the other: a ball has too many")

    def search_bytes(self, scores: str, rank: int) -> int:
        """Return the memory of `search`."""
        from fastes.kernels.search.ball_search import spectrum

        return 8 * self.d + (spectrum.nbytes(self.d, rank) if scores == "quadratic" else 0)

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the ball, and room for one arm."""
        from fastes.kernels.actions.ball import ball_actions

        radius = math.ldexp(self.radius, -self.exponent)
        return ball_actions(radius, canonical.whitening(self.exponent))

    def environment(self, actions: Any, run: Any) -> Any:
        """Return what pays: the best arm is the same at every step."""
        from fastes.kernels.actions.ball import largest_value
        from fastes.kernels.loop.environment import vector_environment

        z = run.z()
        best = largest_value(actions, z)
        return vector_environment(actions.arms, z, best, run.law(), run.late())

    def search(self, actions: Any, scores: str) -> Any:
        """Return what computes the best arm, unless it is drawn at random."""
        from fastes.kernels.search.ball_search import ball_search

        return None if scores == "none" else ball_search(actions, scores == "quadratic")

    @property
    def vectors(self) -> str:
        """What `act` of an agent in Python must return, in a few words."""
        return f"a vector of norm at most {self.radius:g}"

    def placed(self, vector: Floats) -> Floats | None:
        """Return a vector in the kernel's unit, or None where it is too long."""
        import numpy as np

        scaled: Floats = np.ldexp(vector, -self.exponent)
        longest = math.ldexp(self.radius, -self.exponent) * (1 + _ROUNDING)
        return scaled if np.linalg.norm(scaled) <= longest else None

    def played(self, actions: Any) -> Floats:
        """Return the vector that a kernel chose."""
        import numpy as np

        return np.ldexp(actions.scratch.a, self.exponent)
