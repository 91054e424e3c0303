"""Random arms that are drawn again: for every run, or for every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fastes.actions.action_set import ActionSet, checked_sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastes.actions.action_set import Parts
    from fastes.checks.arrays import Floats

FAMILIES = ("sphere", "gaussian", "uniform")
"""On the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d; as kernels number them."""


@dataclass(frozen=True)
class Drawn(ActionSet):
    """K random arms in R^d: what `Redrawn` and `Fresh` share."""

    K: int
    d: int
    arms: str = "sphere"

    def __post_init__(self) -> None:
        K, d = checked_sizes(self.K, self.d)
        object.__setattr__(self, "K", K)
        object.__setattr__(self, "d", d)
        if self.arms not in FAMILIES:
            raise ValueError(f"arms must be one of {', '.join(FAMILIES)}, got {self.arms!r}")

    @property
    def arms_on_offer(self) -> int:
        """K."""
        return self.K

    @property
    def dimension(self) -> int:
        """d."""
        return self.d

    @property
    def longest(self) -> float:
        """1, or ten times the typical length of a normal row."""
        return 10.0 if self.arms == "gaussian" else 1.0

    @property
    def family(self) -> int:
        """The number of the family in the kernel."""
        return FAMILIES.index(self.arms)

    def parts(self) -> dict[str, NDArray[Any]]:
        """Return the sizes and the family."""
        import numpy as np

        return {"set_sizes": np.array([self.K, self.d]), "set_family": np.array(self.arms)}

    @classmethod
    def from_parts(cls, parts: Parts) -> Self:
        """Return the set of these sizes and this family."""
        K, d = parts["set_sizes"].tolist()
        return cls(K, d, str(parts["set_family"]))

    def rows(self, seed: int, run: int, t: int) -> Floats:
        """Return the arms on offer at step t of a run, one a row: those of step 0 for a whole run.

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
    """K random arms that are drawn anew for every run, and stay for all its steps.

    Most published experiments do this: the mean over runs is also one over sets of arms.

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

    @property
    def words(self) -> str:
        """What is on offer."""
        return f"redrawn every run, {self.arms}"


@dataclass(frozen=True)
class Fresh(Drawn):
    """K random arms that are drawn anew at every step.

    Parameters are those of `Redrawn`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit(fastes.actions.Fresh(K=20, d=5))
    >>> fastes.simulate(bandit, fastes.EnsembleSampling(M=10), T=100, runs=20).label
    'ES, M=10'
    """

    kind: ClassVar[str] = "fresh"

    @property
    def words(self) -> str:
        """What is on offer."""
        return f"fresh every step, {self.arms}"
