"""A normal law by its mean and a root of its covariance."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import axpy
from ..jit.decorators import entry, inlined
from ..streams.layout import OPTIMAL_ACTION, probe_counter
from ..streams.normals import fill_normals


class NormalLaw(NamedTuple):
    """N(mean, X'X)."""

    mean: np.ndarray  # (r,)
    root: np.ndarray  # (r, r): X, lower triangular


@inlined
def draw_normal(mean, X, normals, z):
    """z = mean + X'n, a draw for n ~ N(0, I) and X lower triangular; cost O(r^2).

    It runs along the rows of X, four at a time: what is beyond the diagonal is zero.
    """
    r = z.shape[0]
    for j in range(r):
        z[j] = mean[j]
    whole = r - r % 4
    for i in range(0, whole, 4):
        n0, n1, n2, n3 = normals[i], normals[i + 1], normals[i + 2], normals[i + 3]
        for j in range(i + 4):
            x = fma(n0, X[i, j], z[j])
            x = fma(n1, X[i + 1, j], x)
            x = fma(n2, X[i + 2, j], x)
            z[j] = fma(n3, X[i + 3, j], x)
    for i in range(whole, r):
        axpy(normals[i], X[i, : i + 1], z[: i + 1])


@entry
def draw_models(law, source, probe_index, normals, z):
    """z[i, :] = the i-th draw of a probe from a normal law; `normals` (r) is scratch."""
    for i in range(z.shape[0]):
        fill_normals(source, OPTIMAL_ACTION, probe_counter(probe_index, i), normals)
        draw_normal(law.mean, law.root, normals, z[i])
