"""Roots of covariance matrices that keep equal rows equal to the bit."""

import math

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats


def distinct_rows(matrix: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows in order of appearance, and the index of each row among them."""
    places: dict[bytes, int] = {}
    # Adding zero maps -0.0 to 0.0.
    which = np.array([places.setdefault(row.tobytes(), len(places)) for row in matrix + 0.0])
    return matrix[np.unique(which, return_index=True)[1]], which


def pivoted_cholesky(matrix: Floats, name: str = "prior_cov") -> Floats:
    """Return F (n x r) with F F' = `matrix`, r its numerical rank, or raise ValueError.

    The matrix must be positive semidefinite up to rounding, after rows and columns are scaled to a
    unit diagonal. Equal rows of the matrix give equal rows of F.
    """
    from scipy.linalg import lapack

    n = len(matrix)
    scale = np.sqrt(np.diag(matrix))
    unit = np.where(scale > 0, scale, 1.0)
    correlation = matrix / unit / unit[:, None]
    lower, pivots, rank, _ = lapack.dpstrf(correlation, lower=1)
    rank = rank if correlation.any() else 0
    factor = np.zeros((n, max(1, rank)))
    factor[pivots - 1, :rank] = np.tril(lower)[:, :rank]
    # An indefinite matrix leaves a remainder.
    if np.max(np.abs(correlation - factor @ factor.T)) > 1e-10:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(
            f"{name} must be positive semidefinite, but its smallest eigenvalue is {smallest:g}"
        )
    _, same = distinct_rows(matrix)
    first = np.unique(same, return_index=True)[1]
    return factor[first[same]] * scale[first[same], None]


def covariance_root(prior_cov: float | Floats, name: str = "prior_cov") -> float | Floats:
    """Return F with F F' = Sigma_0: a multiple of the identity, a diagonal or a matrix."""
    if isinstance(prior_cov, float):
        return math.sqrt(prior_cov)
    return np.sqrt(prior_cov) if prior_cov.ndim == 1 else pivoted_cholesky(prior_cov, name)
