"""Coordinates of problems whose arms are not known before they are offered.

Of such a problem the prior alone is factored: theta = mu0 + F z, and every arm is whitened when it
comes (kernels/actions/whitening.py).
"""

import numpy as np

from fastes.checks.arrays import Floats
from fastes.checks.numbers import shown
from fastes.kernels.actions.whitening import Whitening
from fastes.problem.factorisation import covariance_root
from fastes.problem.whitening import (
    LARGEST_SPREAD,
    LARGEST_VALUE,
    Canonical,
    check_size,
    kept_coordinates,
    rank_of,
)


def canonicalise_belief(
    longest: float, prior_mean: Floats, prior_cov: float | Floats, noise: float
) -> Canonical:
    """Return the canonical form of a problem whose arms are of at most this length."""
    factor = covariance_root(prior_cov)
    widest = float(np.linalg.norm(factor, 2) if np.ndim(factor) == 2 else np.max(factor))
    check_size("the arms' values", np.array(widest * longest / noise), LARGEST_SPREAD)
    largest = np.linalg.norm(prior_mean) * longest / noise
    check_size("the arms' mean rewards", np.array(largest), LARGEST_VALUE)
    return Canonical(None, rank_of(factor, len(prior_mean)), factor)


def kernel_whitening(canonical: Canonical, prior_mean: Floats, noise: float) -> Whitening:
    """Return the change of coordinates, for kernels."""
    factor, d, r = canonical.factor, len(prior_mean), canonical.rank
    none, mean = np.empty((0, r)), prior_mean / noise
    if isinstance(factor, float):
        return Whitening(np.full(d, factor / noise), np.arange(d), none, mean)
    assert factor is not None  # only where there are arms
    if factor.ndim == 1:
        kept = kept_coordinates(factor)
        return Whitening(factor[kept] / noise, kept, none, mean)
    matrix = np.ascontiguousarray(factor / noise)
    return Whitening(np.empty(0), np.empty(0, np.int64), matrix, mean)


def canonical_theta(canonical: Canonical, theta: Floats, prior_mean: Floats) -> Floats:
    """Return z with theta = mu0 + F z, or raise ValueError: the prior has no such theta."""
    factor, gap = canonical.factor, theta - prior_mean
    assert factor is not None  # only where there are arms
    if np.ndim(factor) == 2:
        z = np.asarray(np.linalg.lstsq(np.asarray(factor), gap, rcond=None)[0], np.float64)
        left = factor @ z - gap
    else:
        diagonal, left = np.array(np.broadcast_to(factor, gap.shape)), gap.copy()
        kept = kept_coordinates(diagonal)
        z = np.divide(gap[kept], diagonal[kept], out=np.zeros(len(kept)), where=diagonal[kept] > 0)
        left[kept] -= diagonal[kept] * z
    if np.linalg.norm(left) > 1e-9 * max(1.0, float(np.linalg.norm(gap))):
        raise ValueError(
            "theta must be possible under the prior, whose covariance is singular, where the "
            f"arms change, got {shown(theta)}"
        )
    return z
