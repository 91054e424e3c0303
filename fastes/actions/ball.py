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

    from fastes.actions.action_set import Arrays
    from fastes.checks.arrays import Floats

_SMALLEST_VALUE = 1e-30
"""Least size of the largest value on a ball, in noise standard deviations, if not all are 0.

Far below, squares of parameters underflow and choices become random.
"""

_ROUNDING = 1e-9  # relative tolerance on the norm of a vector


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
        """The e with 1 <= radius / 2^e < 2: kernels measure length in units of 2^e."""
        return math.frexp(self.radius)[1] - 1

    @property
    def text(self) -> str:
        """A short description."""
        return "the ball" if self.radius == 1 else f"the ball of radius {self.radius:g}"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return dimension and radius."""
        import numpy as np

        return {"set_sizes": np.array([self.d]), "set_radius": np.array(self.radius)}

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the ball of this dimension and radius."""
        (d,) = saved["set_sizes"].tolist()
        return cls(d, float(saved["set_radius"]))

    def small(self) -> Ball:
        """Return the disc."""
        return Ball(2)

    def check_values(self, largest: float) -> None:
        """Raise ValueError if values are so small that rounding would decide."""
        if 0.0 < largest < _SMALLEST_VALUE:
            raise ValueError(
                f"the largest value on a ball must be 0 or at least {_SMALLEST_VALUE:g} noise "
                f"standard deviations, got {largest:g}: the noise is too large"
            )

    def check_plays(self, label: str, scores: str) -> None:
        """Raise ValueError if the agent needs the score of every arm."""
        if scores == "information":
            raise ValueError(
                f"{label} cannot play on {self}: each arm is optimal with probability zero"
            )
        if scores == "any":
            raise ValueError(f"{label} cannot play on {self}: it scores every arm in turn")

    def search_bytes(self, scores: str, rank: int) -> int:
        """Return the bytes of `search`."""
        from fastes.kernels.search.ball_search import spectrum

        return 8 * self.d + (spectrum.nbytes(self.d, rank) if scores == "quadratic" else 0)

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the ball, with space for one arm."""
        from fastes.kernels.actions.ball import ball_actions

        radius = math.ldexp(self.radius, -self.exponent)
        return ball_actions(radius, canonical.whitening(self.exponent))

    def environment(self, actions: Any, run: Any) -> Any:
        """Return the rewards; the best arm is in the direction of theta."""
        return run.vector_environment(actions)

    def search(self, actions: Any, scores: str) -> Any:
        """Return the search that computes the best arm; None if arms are drawn at random."""
        from fastes.kernels.search.ball_search import ball_search

        return None if scores == "none" else ball_search(actions, scores == "quadratic")

    @property
    def vectors(self) -> str:
        """What `act` of a Python agent must return."""
        return f"a vector of norm at most {self.radius:g}"

    def placed(self, vector: Floats) -> Floats | None:
        """Return a vector in the kernel's unit, or None if it is too long."""
        import numpy as np

        scaled: Floats = np.ldexp(vector, -self.exponent)
        longest = math.ldexp(self.radius, -self.exponent) * (1 + _ROUNDING)
        return scaled if np.linalg.norm(scaled) <= longest else None

    def played(self, actions: Any) -> Floats:
        """Return the vector that a kernel chose."""
        import numpy as np

        return np.ldexp(actions.scratch.a, self.exponent)
