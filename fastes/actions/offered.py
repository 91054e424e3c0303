"""Whatever the caller of a live agent offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastes.actions.action_set import Parts


@dataclass(frozen=True)
class Offered(ActionSet):
    """For live agents only: ``act(actions)`` is given the arms on offer, other ones at each call.

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
    def words(self) -> str:
        """What is on offer."""
        return "what is offered"

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the dimension."""
        import numpy as np

        return {"set_sizes": np.array([self.d])}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the set of this dimension."""
        (d,) = parts["set_sizes"].tolist()
        return cls(d)
