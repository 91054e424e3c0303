"""Each step a uniform subset of a fixed pool is on offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastes.actions.action_set import Parts
    from fastes.checks.arrays import Floats


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Subset(ActionSet):
    """At every step, `size` arms of a fixed pool, any set of that size as likely as any other.

    Arms are known by their numbers in the pool.

    Parameters
    ----------
    pool : (n, d) array_like
        All arms, one a row.
    size : int
        How many of them are on offer at a step.

    Examples
    --------
    >>> import fastes
    >>> pool = fastes.LinearBandit.random(K=1000, d=5).actions
    >>> bandit = fastes.LinearBandit(fastes.actions.Subset(pool, size=20))
    >>> result = fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=20)
    >>> len(result.counts)
    1000
    """

    kind: ClassVar[str] = "subset"
    numbered: ClassVar[bool] = True

    pool: Floats
    size: int

    def __init__(self, pool: ArrayLike, size: int) -> None:
        from fastes.checks import arrays

        rows = arrays.array("pool", pool)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(
                "pool must have two dimensions, arms by features, at least 1 by 1, "
                f"got shape {rows.shape}"
            )
        most = numbers.integer("the number of arms in the pool", len(rows), 1, MAX_SIZE)
        object.__setattr__(self, "pool", arrays.frozen(rows))
        object.__setattr__(self, "size", numbers.integer("size", size, 1, most))

    def __repr__(self) -> str:
        return f"Subset({self.size} of {len(self.pool)} arms, d={self.dimension})"

    @property
    def arms_on_offer(self) -> int:
        """How many are on offer."""
        return self.size

    @property
    def counted_arms(self) -> int:
        """All of the pool."""
        return len(self.pool)

    @property
    def dimension(self) -> int:
        """The length of an arm."""
        return self.pool.shape[1]

    @property
    def longest(self) -> float:
        """The length of the longest arm."""
        import numpy as np

        return float(np.linalg.norm(self.pool, axis=1).max())

    @property
    def words(self) -> str:
        """What is on offer."""
        return f"of a pool of {len(self.pool):,}, drawn every step"

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the pool and the size."""
        import numpy as np

        return {"set_pool": np.asarray(self.pool), "set_size": np.array(self.size)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the set of this pool and size."""
        return cls(parts["set_pool"], int(parts["set_size"]))
