"""Random families of arms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastes.checks.arrays import Floats

FAMILIES = ("sphere", "gaussian", "uniform", "basis")


def random_arms(K: int, d: int, family: str, seed: int) -> Floats:
    """Return K arms in R^d of a family (`LinearBandit.random`), one a row."""
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
