"""Whitening: every problem becomes prior N(0, I), unit noise, arms b with offsets o.

Factor Sigma0 = F F' and write theta = mu0 + F z, z ~ N(0, I). With b_a = F'a / sigma and
o_a = a'mu0 / sigma, a reward divided by sigma is o_a + b_a'z + N(0, 1).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastes.kernels.arms import Arms, empty_arms, store_rows, transform_rows
from fastes.memory import require
from fastes.validation import Floats

_CHUNK = 16_384  # rows transformed at a time: the arms are never held twice more than this
_LARGEST = 1e75  # b'S b and its square must stay far from overflow


@dataclass(frozen=True, eq=False)
class Canonical:
    """A problem as the kernels see it.

    Attributes
    ----------
    arms : Arms
        b and o, in tiles.
    rank : int
        r, the length of z.
    factor : float, (d,) array, (d, r) array or None
        F: a multiple of the identity, a diagonal, a matrix. None where only the arms' values
        were factored, because they span fewer dimensions than theta has.
    """

    arms: Arms
    rank: int
    factor: float | Floats | None


def canonicalise(
    actions: Floats, prior_mean: Floats, prior_cov: float | Floats, noise: float
) -> Canonical:
    """Return the canonical form of a problem whose parts have been validated."""
    K, d = actions.shape
    rank = max(1, int(np.count_nonzero(prior_cov))) if np.ndim(prior_cov) == 1 else d
    # The prior of the arms' values is all that matters. Where it is the smaller matrix, it is
    # factored instead of Sigma0: a Gaussian-process bandit.
    if K < rank or (K == rank and np.ndim(prior_cov) == 2):
        return _from_values(actions, prior_mean, prior_cov, noise)
    factor = _factor(prior_cov)
    rank = np.shape(factor)[1] if np.ndim(factor) == 2 else rank
    arms = _allocate(K, rank)
    for first in range(0, K, _CHUNK):
        rows = actions[first : first + _CHUNK].copy()
        with np.errstate(over="ignore", invalid="ignore"):  # `_store` refuses what overflowed
            b = _whiten(rows, factor, noise)
        _store(arms, first, b, _offsets(rows, prior_mean, noise))
    return Canonical(arms, rank, factor)


def lift(canonical: Canonical, actions: Floats, prior_cov: float | Floats, noise: float) -> Floats:
    """Return U = Cov(theta, z), d x r: theta = mu0 + U z up to what no arm can tell.

    Where Sigma0 was factored, U is F. Where the arms' values were, z = B^+ (A theta - A mu0) /
    sigma with B the rows b, and U is the regression of theta on it.
    """
    factor, d = canonical.factor, actions.shape[1]
    require(f"the coordinates of {d:,} dimensions", 3 * 8 * d * canonical.rank)
    if factor is None:
        tiles = canonical.arms.tiles
        B = tiles.transpose(0, 2, 1).reshape(-1, canonical.rank)[: len(actions)]
        weighted = actions.T @ np.linalg.pinv(B).T / noise
        return prior_cov @ weighted if np.ndim(prior_cov) == 2 else (weighted.T * prior_cov).T
    if isinstance(factor, float):
        return factor * np.eye(d)
    if factor.ndim == 1:
        return np.diag(factor)[:, _kept(factor)]
    return factor


def _kept(diagonal: Floats) -> NDArray[np.int64]:
    """Return the coordinates with a variance, or one without if there are none."""
    return np.flatnonzero(diagonal) if diagonal.any() else np.array([0])


def _whiten(rows: Floats, factor: float | Floats, noise: float) -> Floats:
    """Return b = F'a / sigma for every row a."""
    if isinstance(factor, float):
        return rows * (factor / noise)
    if factor.ndim == 1:
        kept = _kept(factor)
        return rows[:, kept] * (factor[kept] / noise)
    b = np.empty((len(rows), factor.shape[1]))
    transform_rows(rows, factor, 1.0 / noise, b)
    return b


def _from_values(
    actions: Floats, prior_mean: Floats, prior_cov: float | Floats, noise: float
) -> Canonical:
    """Factor the covariance of the arms' values, A Sigma0 A' / sigma^2 (K x K).

    Equal arms must have equal rows b to the bit, which a factorisation does not promise: each
    distinct arm is factored once. Arms whose values have equal covariances are equal too.
    """
    K = len(actions)
    require(f"the covariance of {K:,} arms", 3 * 8 * K * K)
    if np.ndim(prior_cov) == 2:
        pivoted_cholesky(np.asarray(prior_cov))  # raises where the arms would hide a fault
    distinct, arm = _distinct_rows(actions)
    distinct = distinct / noise
    spread = distinct @ prior_cov if np.ndim(prior_cov) == 2 else distinct * prior_cov
    values = spread @ distinct.T
    values, value = _distinct_rows((values + values.T) / 2)
    factor = pivoted_cholesky(values[:, np.unique(value, return_index=True)[1]])
    b = factor[value[arm]]
    arms = _allocate(K, b.shape[1])
    _store(arms, 0, b, _offsets(actions.copy(), prior_mean, noise))
    return Canonical(arms, b.shape[1], None)


def _distinct_rows(matrix: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distinct rows in order of appearance, and which of them each row is."""
    places: dict[bytes, int] = {}
    # Adding zero gives both zeros one pattern of bits.
    which = np.array([places.setdefault(row.tobytes(), len(places)) for row in matrix + 0.0])
    return matrix[np.unique(which, return_index=True)[1]], which


def pivoted_cholesky(matrix: Floats, name: str = "prior_cov") -> Floats:
    """Return F (n x r) with F F' = `matrix`, r its numerical rank, or raise ValueError.

    Raises unless the matrix is positive semidefinite up to rounding.
    """
    from scipy.linalg import lapack

    n = len(matrix)
    scale = float(np.max(np.diag(matrix), initial=0.0))
    if scale <= 0.0 and not matrix.any():
        return np.zeros((n, 1))
    lower, pivots, rank, _ = lapack.dpstrf(matrix, lower=1)
    factor = np.zeros((n, max(1, rank)))
    factor[pivots - 1] = np.tril(lower)[:, : max(1, rank)]
    # An indefinite matrix leaves a remainder that no column accounts for.
    if scale <= 0.0 or np.max(np.abs(matrix - factor @ factor.T)) > 1e-10 * scale:
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        raise ValueError(
            f"{name} must be positive semidefinite, but its smallest eigenvalue is {smallest:g}"
        )
    return factor


def _factor(prior_cov: float | Floats) -> float | Floats:
    if isinstance(prior_cov, float):
        return math.sqrt(prior_cov)
    return np.sqrt(prior_cov) if prior_cov.ndim == 1 else pivoted_cholesky(prior_cov)


def _offsets(rows: Floats, prior_mean: Floats, noise: float) -> Floats:
    offsets = np.empty((len(rows), 1))
    transform_rows(rows, prior_mean[:, None].copy(), 1.0 / noise, offsets)
    return offsets[:, 0].copy()


def _allocate(K: int, rank: int) -> Arms:
    require(f"the arms of a problem with K={K:,} and rank {rank:,}", 8 * K * rank)
    return empty_arms(K, rank)


def _store(arms: Arms, first: int, b: Floats, offsets: Floats) -> None:
    largest = max(np.max(np.abs(b)), np.max(np.abs(offsets)))
    if not largest * math.sqrt(b.shape[1]) < _LARGEST:  # nan is refused too
        raise ValueError(
            "actions, prior_mean, prior_cov and noise must leave the arms' values within "
            f"{_LARGEST:g} noise standard deviations"
        )
    store_rows(arms, first, np.ascontiguousarray(b), offsets)
