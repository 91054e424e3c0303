"""Each step a uniform subset of a fixed pool is on offer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.fixed import KnownArms
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastes.actions.action_set import Parts
    from fastes.actions.families import RandomArms
    from fastes.checks.arrays import Floats


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Subset(KnownArms):
    """At every step, `size` arms of a fixed pool, any set of that size as likely as any other.

    Arms are known by their numbers in the pool.

    Parameters
    ----------
    pool : (n, d) array_like or RandomArms
        All arms, one a row; or random ones by their numbers.
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

    size: int

    def __init__(self, pool: ArrayLike | RandomArms, size: int) -> None:
        n = self._keep("pool", pool, "arms by features, at least 1 by 1")
        most = numbers.integer("the number of arms in the pool", n, 1, MAX_SIZE)
        object.__setattr__(self, "size", numbers.integer("size", size, 1, most))

    def __repr__(self) -> str:
        return f"Subset({self.size} of {self.counted_arms} arms, d={self.d})"

    @property
    def pool(self) -> Floats:
        """All arms, one a row."""
        return self.known_arms

    @property
    def K(self) -> int:
        """How many are on offer."""
        return self.size

    @property
    def words(self) -> str:
        """What is on offer."""
        return f"of a pool of {self.counted_arms:,}, drawn every step"

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the pool and the size."""
        import numpy as np

        return {"set_pool": np.asarray(self.pool), "set_size": np.array(self.size)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the set of this pool and size."""
        return cls(parts["set_pool"], int(parts["set_size"]))

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many are kept of each arm in the pool, and of a subset, a table too."""
        return self.counted_arms * (rank + 1) + 6 * self.size

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the pool, and room for a subset."""
        from fastes.kernels.actions.subset import subset_actions

        return subset_actions(*canonical.rows_and_offsets(), self.size)

    def environment(self, actions: Any, run: Any) -> Any:
        """Return what each arm of the pool pays."""
        from fastes.kernels.loop.environment import pool_environment

        known = run.canonical
        means = run.means(known.arms, lambda: self.pool)
        return pool_environment(means, actions.chosen, known.rank, run.law(), run.late())

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the rows of these numbers."""
        return [self.pool[chosen] for chosen in recorded]
