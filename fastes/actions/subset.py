"""A uniformly random subset of a fixed pool at each step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.families import few_arms
from fastes.actions.fixed import KnownArms
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from fastes.actions.action_set import Arrays
    from fastes.actions.families import RandomArms
    from fastes.checks.arrays import Floats


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Subset(KnownArms):
    """At every step, a uniformly random subset of `size` arms of a fixed pool.

    Arms are numbered as in the pool.

    Parameters
    ----------
    pool : (n, d) array_like or RandomArms
        All arms, one a row; or random ones.
    size : int
        Number of arms on offer at a step.

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
        """Number of arms on offer."""
        return self.size

    @property
    def text(self) -> str:
        """A short description."""
        return f"of a pool of {self.counted_arms:,}, drawn every step"

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the pool and the size."""
        import numpy as np

        return {"set_pool": np.asarray(self.pool), "set_size": np.array(self.size)}

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of this pool and size."""
        return cls(saved["set_pool"], int(saved["set_size"]))

    def small(self) -> Subset:
        """Return a subset of few arms."""
        arms = few_arms()
        return Subset(arms, arms.K // 2)

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many are kept for the pool, and for a subset and its table."""
        return self.counted_arms * (rank + 1) + 6 * self.size

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the pool, with space for a subset."""
        from fastes.kernels.actions.subset import subset_actions

        return subset_actions(*canonical.rows_and_offsets(), self.size)

    def environment(self, actions: Any, run: Any) -> Any:
        """Return the rewards of the arms of the pool."""
        return run.pool_environment(actions.chosen, lambda: self.pool)

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the rows of these numbers."""
        return [self.pool[chosen] for chosen in recorded]
