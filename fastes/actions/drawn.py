"""Random arms that are redrawn for every run or every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet
from fastes.actions.families import few_arms
from fastes.checks import numbers
from fastes.checks.numbers import MAX_SIZE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastes.actions.action_set import Arrays
    from fastes.checks.arrays import Floats

FAMILIES = ("sphere", "gaussian", "uniform")
"""On the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d. In the kernel's order."""


@dataclass(frozen=True)
class Drawn(ActionSet):
    """K random arms in R^d: the common base of `Redrawn` and `Fresh`."""

    K: int
    d: int
    arms: str = "sphere"

    def __post_init__(self) -> None:
        K = numbers.integer("K", self.K, 1, MAX_SIZE)
        d = numbers.integer("d", self.d, 1, MAX_SIZE)
        if K * ((d + 1) // 2) > MAX_SIZE:  # lanes of the random generator
            raise ValueError(f"K d must be below 2^33 for redrawn arms, got {K} and {d}")
        object.__setattr__(self, "K", K)
        object.__setattr__(self, "d", d)
        if self.arms not in FAMILIES:
            raise ValueError(f"arms must be one of {', '.join(FAMILIES)}, got {self.arms!r}")

    @property
    def longest(self) -> float:
        """1, or ten times the typical norm of a normal row."""
        return 10.0 if self.arms == "gaussian" else 1.0

    @property
    def family(self) -> int:
        """The number of the family in the kernel."""
        return FAMILIES.index(self.arms)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sizes and the family."""
        import numpy as np

        return {"set_sizes": np.array([self.K, self.d]), "set_family": np.array(self.arms)}

    @classmethod
    def from_arrays(cls, saved: Arrays) -> Self:
        """Return the set of these sizes and this family."""
        K, d = saved["set_sizes"].tolist()
        return cls(K, d, str(saved["set_family"]))

    def small(self) -> Self:
        """Return a set of the same kind of few arms."""
        return type(self)(*few_arms().shape)

    def rows(self, seed: int, run: int, t: int) -> Floats:
        """Return the arms on offer at step t of a run, one a row. `Redrawn` uses those of step 0.

        Examples
        --------
        >>> import fastes
        >>> fastes.actions.Fresh(K=3, d=2).rows(seed=1, run=0, t=5).shape
        (3, 2)
        """
        import numpy as np

        from fastes.kernels.actions.fresh import draw_rows, tile_scratch
        from fastes.kernels.streams.philox import source

        rows = np.empty((self.K, self.d))
        draw_rows(source(seed, run), t, self.family, tile_scratch(self.d), rows)
        return rows


@dataclass(frozen=True)
class Redrawn(Drawn):
    """K random arms, redrawn for every run and the same at all its steps.

    Most published experiments do this: the mean over runs also averages over sets of arms.

    Parameters
    ----------
    K, d : int
        Number of arms and their dimension.
    arms : {"sphere", "gaussian", "uniform"}
        On the unit sphere; N(0, I/d); or uniform on [-1/sqrt(d), 1/sqrt(d)]^d.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit(fastes.actions.Redrawn(K=30, d=5, arms="uniform"))
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=20).label
    'TS'
    """

    kind: ClassVar[str] = "redrawn"
    arms_repeat: ClassVar[bool] = True

    @property
    def text(self) -> str:
        """A short description."""
        return f"redrawn every run, {self.arms}"

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many are needed while arms are made: their rows, whitened and checked."""
        return self.K * (self.d + 2 * rank)

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return the arms of a run."""
        from fastes.kernels.actions.offer import FixedActions

        return FixedActions(canonical.stored(self.rows(seed, run, 0)))

    def environment(self, actions: Any, run: Any) -> Any:
        """Return the rewards of the arms of a run."""
        return run.environment(actions.arms, lambda: self.rows(run.seed, run.run, 0))

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the same rows for every step."""
        from fastes.checks import arrays

        return [arrays.frozen(self.rows(run.seed, run.run, 0))] * len(recorded)


@dataclass(frozen=True)
class Fresh(Drawn):
    """K random arms, redrawn at every step.

    Parameters as for `Redrawn`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit(fastes.actions.Fresh(K=20, d=5))
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10), T=100, runs=20).label
    'ES, M=10'
    """

    kind: ClassVar[str] = "fresh"

    @property
    def text(self) -> str:
        """A short description."""
        return f"fresh every step, {self.arms}"

    def _numbers(self, rank: int, full: bool) -> int:
        """Return how many are kept for the whitening and for a tile of arms."""
        from fastes.kernels.arithmetic.tile_product import TILE

        return super()._numbers(rank, full) + TILE * (self.d + 2)

    def kernel_actions(self, canonical: Any, seed: int, run: int) -> Any:
        """Return space for the arms of a step."""
        from fastes.kernels.actions.fresh import fresh_actions

        return fresh_actions(self.K, self.family, canonical.whitening())

    def rows_on_offer(self, run: Any, t: int, recorded: Any) -> list[Floats]:
        """Return the rows of each step."""
        return [self.rows(run.seed, run.run, t + i) for i in range(len(recorded))]
