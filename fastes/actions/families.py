"""Random families of arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.checks import numbers
from fastes.checks.numbers import MAX_SEED, MAX_SIZE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastes.checks.arrays import Floats

FAMILIES = ("sphere", "gaussian", "uniform", "basis")


def random_arms(family: str, K: Any, d: Any, seed: Any) -> RandomArms:
    """Return K random arms in R^d of a family, or raise ValueError."""
    K = numbers.integer("K", K, 1, MAX_SIZE)
    d = numbers.integer("d", d, 1, MAX_SIZE)
    seed = numbers.integer("seed", seed, 0, MAX_SEED)
    if family not in FAMILIES:
        raise ValueError(f"arms must be one of {', '.join(FAMILIES)}, got {family!r}")
    if family == "basis" and K != d:
        raise ValueError(f"basis arms are the d unit vectors: K must equal d, got {K} and {d}")
    return RandomArms(family, K, d, seed)


def few_arms() -> RandomArms:
    """Return the arms of `ActionSet.small`."""
    return random_arms("sphere", 8, 2, 0)


class RandomArms(NamedTuple):
    """K arms in R^d of a family (`LinearBandit.random`), not drawn yet."""

    family: str
    K: int
    d: int
    seed: int

    @property
    def shape(self) -> tuple[int, int]:
        """K and d, as the shape of the array that `draw` returns."""
        return self.K, self.d

    def draw(self) -> Floats:
        """Return the arms, one a row."""
        return _draw(*self)

    @property
    def text(self) -> str:
        """A short description."""
        return f"{self.family}, drawn with seed {self.seed}"

    def arrays(self) -> dict[str, Any]:
        """Return arrays from which `from_arrays` makes an equal object."""
        import numpy as np

        return {
            "arms_family": np.array(self.family),
            "arms_sizes": np.array([self.K, self.d], np.int64),
            "arms_seed": np.array(self.seed, np.uint64),
        }

    @classmethod
    def from_arrays(cls, saved: Mapping[str, Any]) -> RandomArms:
        """Return the arms of these `arrays`, or raise KeyError or ValueError."""
        family, (K, d) = str(saved["arms_family"]), saved["arms_sizes"].tolist()
        if family not in FAMILIES:
            raise ValueError(f"unknown family of arms {family!r}")
        return cls(family, K, d, int(saved["arms_seed"]))


def _draw(family: str, K: int, d: int, seed: int) -> Floats:
    import numpy as np

    if family == "basis":
        return np.eye(K)
    from fastes.kernels.streams.draws import fill_uniform_rows
    from fastes.kernels.streams.layout import ARMS
    from fastes.kernels.streams.normals import fill_normal_rows
    from fastes.kernels.streams.philox import source

    rows = np.empty((K, d))
    if family == "uniform":
        fill_uniform_rows(source(seed), ARMS, rows)
        rows -= 0.5
        rows *= 2 / np.sqrt(d)
        return rows
    fill_normal_rows(source(seed), ARMS, rows)
    rows /= np.sqrt(d) if family == "gaussian" else np.linalg.norm(rows, axis=1, keepdims=True)
    return rows
