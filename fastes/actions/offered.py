"""Arms that the caller of a live agent passes at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastes.actions.action_set import Arrays


@dataclass(frozen=True)
class Offered(ActionSet):
    """For live agents only: ``act(actions)`` takes the arms on offer, different ones at each call.

    Parameters
    ----------
    d : int
        Dimension of an arm.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit(fastes.actions.Offered(d=2))
    >>> agent = fastes.ThompsonSampling().start(bandit, seed=1)
    >>> rows = [[1.0, 0.0], [0.6, 0.8]]
    >>> chosen = agent.act(rows)
    >>> agent.observe(rows[chosen], reward=0.3)
    >>> agent.observations
    1
    """

    kind: ClassVar[str] = "offered"
    simulated: ClassVar[bool] = False
    live: ClassVar[bool] = True
    K: ClassVar[None] = None  # as many as the caller offers

    d: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "d", numbers.integer("d", self.d, 1, MAX_SIZE))

    @property
    def longest(self) -> float:
        """Not known yet: rows are checked when they are offered."""
        return 0.0

    @property
    def text(self) -> str:
        """A short description."""
        return "offered by the caller"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the dimension."""
        import numpy as np

        return {"set_sizes": np.array([self.d])}

    def small(self) -> Offered:
        """Return the set in R^2."""
        return Offered(2)

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of this dimension."""
        (d,) = saved["set_sizes"].tolist()
        return cls(d)
