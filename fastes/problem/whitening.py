"""Whitening: transform a problem to prior N(0, I), unit noise, arms b with offsets o.

Factor Sigma0 = F F' and write theta = mu0 + F z, z ~ N(0, I). With b_a = F'a / sigma and
o_a = a'mu0 / sigma, a reward divided by sigma is o_a + b_a'z + N(0, 1).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.kernels.actions.arms import Arms, empty_arms, store_rows, transform_rows
from fastes.kernels.actions.whitening import Whitening
from fastes.problem.factorisation import covariance_root, distinct_rows

CHUNK = 16_384  # rows transformed at a time, to bound memory
# Limits of the prior standard deviation and of the mean of an arm's value, in units of the noise.
# Beyond, rounding errors of a covariance matrix would affect choices.
LARGEST_SPREAD = 1e6
LARGEST_VALUE = 1e9


@dataclass(frozen=True, eq=False)
class Canonical:
    """A problem in the form that kernels use.

    Attributes
    ----------
    arms : Arms or None
        b and o, in tiles; None if arms are not known in advance.
    rank : int
        r, the length of z.
    factor : float, (d,) array, (d, r) array or None
        F: a multiple of the identity, a diagonal, a matrix. None if there are fewer arms than
        dimensions: then the covariance of the arms' values is factored instead.
    prior_mean, noise : (d,) array, float
        mu0 and sigma.
    """

    arms: Arms | None
    rank: int
    factor: float | Floats | None
    prior_mean: Floats
    noise: float

    @property
    def limits(self) -> Floats:
        """The largest |b|^2 and |o| of an offered arm, for kernels."""
        return np.array([LARGEST_SPREAD**2, LARGEST_VALUE])

    def rows_and_offsets(self) -> tuple[Floats, Floats]:
        """Return b (K x r) and o (K) as new arrays, one arm per row."""
        assert self.arms is not None
        b = self.arms.tiles.transpose(0, 2, 1).reshape(-1, self.rank)[: self.arms.K]
        return np.ascontiguousarray(b), self.arms.offsets.ravel()[: self.arms.K].copy()

    def stored(self, rows: Floats) -> Arms:
        """Return the canonical arms of rows, (K, d)."""
        assert self.factor is not None  # None only if arms are known
        arms = empty_arms(len(rows), self.rank)
        offsets = arm_values(rows, self.prior_mean, self.noise)
        store_rows(arms, 0, whiten_rows(rows, self.factor, self.noise), offsets)
        return arms

    def whitening(self, exponent: int = 0) -> Whitening:
        """Return the change of coordinates, for kernels, of arms in units of 2^exponent."""
        factor, d, r = self.factor, len(self.prior_mean), self.rank
        none, mean = np.empty((0, r)), np.ldexp(self.prior_mean / self.noise, exponent)
        assert factor is not None  # None only if arms are known
        scaled = np.empty(np.shape(factor))
        np.ldexp(np.divide(factor, self.noise, out=scaled), exponent, out=scaled)
        if isinstance(factor, float):
            return Whitening(np.full(d, scaled), np.arange(d), none, mean)
        if factor.ndim == 1:
            kept = kept_coordinates(factor)
            return Whitening(scaled[kept], kept, none, mean)
        return Whitening(np.empty(0), np.empty(0, np.int64), scaled, mean)


def rank_of(factor: float | Floats, d: int) -> int:
    """Return the number of nonzero columns of a root of a covariance, at least 1."""
    if np.ndim(factor) == 2:
        return np.shape(factor)[1]
    return max(1, int(np.count_nonzero(factor))) if np.ndim(factor) == 1 else d


def widest(factor: float | Floats) -> float:
    """Return the largest standard deviation in any direction, the spectral norm of F."""
    return float(np.linalg.norm(factor, 2) if np.ndim(factor) == 2 else np.max(factor))


def canonicalise(
    actions: Floats, prior_mean: Floats, prior_cov: float | Floats, noise: float
) -> Canonical:
    """Return the canonical form of a validated problem."""
    K, d = actions.shape
    factor = covariance_root(prior_cov)
    rank = rank_of(factor, d)
    if K < rank:
        return _from_values(actions, prior_mean, factor, noise)
    arms = _allocate(K, rank)
    for first in range(0, K, CHUNK):
        rows = actions[first : first + CHUNK].copy()
        b = whiten_rows(rows, factor, noise)
        store_rows(arms, first, b, arm_values(rows, prior_mean, noise))
    return Canonical(arms, rank, factor, prior_mean, noise)


def pack_canonical(canonical: Canonical) -> dict[str, NDArray[np.float64]]:
    """Return arrays from which `unpack_canonical` restores the coordinates; {} if not needed.

    They are needed where LAPACK computed them: another library, or other threads, may round
    differently.
    """
    factor = canonical.factor
    if factor is not None and np.ndim(factor) < 2:
        return {}
    if canonical.arms is None:
        return {"factor": np.asarray(factor)}
    packed = dict(zip("bo", canonical.rows_and_offsets(), strict=True))
    return packed if factor is None else {**packed, "factor": np.asarray(factor)}


def unpack_canonical(packed: Mapping[str, NDArray[Any]], own: Canonical) -> Canonical:
    """Return `own` with the packed coordinates in place of those computed here, or raise."""
    if not packed:
        return own
    if own.arms is None:
        root = np.array(packed["factor"], np.float64)
        if root.shape != getattr(own.factor, "shape", ()):
            raise ValueError("the coordinates of the arms do not fit the problem")
        return replace(own, factor=root)
    b, o = np.array(packed["b"], np.float64, order="C"), np.array(packed["o"], np.float64)
    factor = None if own.factor is None else np.array(packed["factor"], np.float64)
    fits = b.shape == (own.arms.K, own.rank) and o.shape == (own.arms.K,)
    if not fits or (factor is not None and factor.shape != getattr(own.factor, "shape", ())):
        raise ValueError("the coordinates of the arms do not fit the problem")
    _check_spread(b)
    check_size("the arms' mean rewards", o, LARGEST_VALUE)
    arms = _allocate(*b.shape)
    store_rows(arms, 0, b, o)
    return replace(own, arms=arms, factor=factor)


def to_user_coordinates(
    canonical: Canonical, actions: Floats, prior_cov: float | Floats, noise: float
) -> Floats:
    """Return U = Cov(theta, z), d x r: theta = mu0 + U z up to what no reward depends on.

    If Sigma0 was factored, U is F. If the arms' values were, z = B^+ (A theta - A mu0) / sigma
    with rows b in B, and U is the regression of theta on z.
    """
    factor, d = canonical.factor, actions.shape[1]
    require(f"the coordinates of {d:,} dimensions", 3 * 8 * d * canonical.rank)
    if factor is None:
        weighted = actions.T @ np.linalg.pinv(canonical.rows_and_offsets()[0]).T / noise
        return prior_cov @ weighted if np.ndim(prior_cov) == 2 else (weighted.T * prior_cov).T
    if isinstance(factor, float):
        return factor * np.eye(d)
    if factor.ndim == 1:
        return np.diag(factor)[:, kept_coordinates(factor)]
    return factor


def kept_coordinates(diagonal: Floats) -> NDArray[np.int64]:
    """Return the coordinates with positive variance, or the first if there are none."""
    return np.flatnonzero(diagonal) if diagonal.any() else np.array([0])


def whiten_rows(rows: Floats, factor: float | Floats, noise: float) -> Floats:
    """Return b = F'a / sigma for each row a, or raise ValueError if it is too large."""
    with np.errstate(over="ignore", invalid="ignore"):  # inf and nan are refused below
        if isinstance(factor, float):
            b = rows * (factor / noise)
        elif factor.ndim == 1:
            kept = kept_coordinates(factor)
            b = rows[:, kept] * (factor[kept] / noise)
        else:
            b = np.empty((len(rows), factor.shape[1]))
            transform_rows(rows, factor, 1.0 / noise, b)
    _check_spread(b)
    return np.ascontiguousarray(b)


def _from_values(
    actions: Floats, prior_mean: Floats, factor: float | Floats, noise: float
) -> Canonical:
    """Whiten fewer arms than dimensions: b has at most K coordinates.

    The whitened arms B (K x r) are B = L Q with orthonormal rows Q, and rewards depend on z only
    through Q z: L replaces B. Equal arms must have equal rows to the bit, which a factorisation
    does not guarantee, so each distinct arm is factored once.
    """
    from scipy.linalg import qr

    distinct, arm = distinct_rows(actions)
    B = whiten_rows(distinct, factor, noise)
    R, pivots = qr(B.T, mode="r", pivoting=True)
    L = np.zeros((len(B), min(R.shape)))
    L[pivots] = R[: L.shape[1]].T
    sizes = np.abs(np.diag(R))
    rank = max(1, int(np.count_nonzero(sizes > 1e-14 * sizes[0])))
    b = np.ascontiguousarray(L[arm, :rank])
    _check_spread(b)
    arms = _allocate(len(actions), rank)
    store_rows(arms, 0, b, arm_values(actions, prior_mean, noise))
    return Canonical(arms, rank, None, prior_mean, noise)


def duplicate_counts(canonical: Canonical) -> NDArray[np.int64]:
    """Return for each arm how many arms have the same row and offset."""
    b, o = canonical.rows_and_offsets()
    _, which = distinct_rows(np.column_stack([o, b]))
    return np.bincount(which)[which]


def arm_values(actions: Floats, theta: Floats, noise: float) -> Floats:
    """Return the value of each arm under theta, in units of the noise."""
    out = np.empty((len(actions), 1))
    for first in range(0, len(actions), CHUNK):
        rows = actions[first : first + CHUNK].copy()
        transform_rows(rows, theta[:, None].copy(), 1.0 / noise, out[first : first + CHUNK])
    check_size("the arms' mean rewards", out, LARGEST_VALUE)
    return out[:, 0].copy()


def _check_spread(b: Floats) -> None:
    """Raise unless each |b|, the prior standard deviation of an arm's value, is within limits."""
    check_size("the arms' values", b, LARGEST_SPREAD)  # so that no square overflows
    check_size("the arms' values", np.sqrt(np.einsum("ij,ij->i", b, b)), LARGEST_SPREAD)


def check_size(what: str, numbers: Floats, limit: float) -> None:
    """Raise ValueError unless all numbers are within a limit, in units of the noise."""
    largest = np.max(np.abs(numbers), initial=0.0)
    if not largest <= limit:  # nan is refused too
        raise ValueError(
            f"{what} must be within {limit:g} noise standard deviations, got {largest:g}: "
            "the noise is too small"
        )


def _allocate(K: int, rank: int) -> Arms:
    require(
        f"the arms of a problem with K={K:,} and rank {rank:,}",
        empty_arms.nbytes(K, rank),
    )
    return empty_arms(K, rank)
