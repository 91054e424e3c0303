"""Canonical coordinates of problems whose arms are not known in advance.

Only the prior is factored, theta = mu0 + F z; each arm is whitened when it is offered
(kernels/actions/whitening.py).
"""

import math

import numpy as np

from fastes.actions import ActionSet
from fastes.checks.arrays import Floats
from fastes.checks.numbers import shown
from fastes.problem.factorisation import covariance_root
from fastes.problem.whitening import (
    LARGEST_SPREAD,
    LARGEST_VALUE,
    Canonical,
    check_size,
    kept_coordinates,
    rank_of,
    widest,
)

_ROUNDING = 1e-14
"""Relative rounding error of a sum."""


def canonicalise_belief(
    actions: ActionSet, prior_mean: Floats, prior_cov: float | Floats, noise: float
) -> Canonical:
    """Return the canonical form of a problem without known arms."""
    factor = covariance_root(prior_cov)
    spread = largest_value(np.array([widest(factor)]), actions.longest, noise)
    check_size("the arms' values", np.array(spread), LARGEST_SPREAD)
    largest = largest_value(prior_mean, actions.longest, noise)
    check_size("the arms' mean rewards", np.array(largest), LARGEST_VALUE)
    actions.check_values(max(spread, largest))
    return Canonical(None, rank_of(factor, len(prior_mean)), factor, prior_mean, noise)


def length(vector: Floats) -> float:
    """Return the norm of a vector, without overflow or underflow of squares."""
    largest = float(np.max(np.abs(vector), initial=0.0))
    return largest * float(np.linalg.norm(vector / largest)) if largest > 0.0 else 0.0


def largest_value(theta: Floats, longest: float, noise: float) -> float:
    """Return |theta| longest / noise, without overflow or underflow of intermediate results."""
    (a, i), (b, j) = math.frexp(longest), math.frexp(noise)
    with np.errstate(over="ignore"):  # inf is refused by the caller
        return float(np.ldexp(length(theta) * (a / b), i - j))


def canonical_theta(canonical: Canonical, theta: Floats, prior_mean: Floats) -> Floats:
    """Return z with theta = mu0 + F z; ValueError if theta is outside the prior's support."""
    factor, gap = canonical.factor, theta - prior_mean
    assert factor is not None  # None only if arms are known
    if np.ndim(factor) == 2:
        matrix = np.asarray(factor)
        sd = np.linalg.norm(matrix, axis=1)
        unit = np.where(sd > 0.0, sd, 1.0)  # of each coordinate
        z = np.asarray(np.linalg.lstsq(matrix / unit[:, None], gap / unit, rcond=None)[0])
        left, reach = matrix @ z - gap, np.abs(matrix) @ np.abs(z)
    else:
        diagonal, left = np.array(np.broadcast_to(factor, gap.shape)), gap.copy()
        kept = kept_coordinates(diagonal)
        z = np.divide(gap[kept], diagonal[kept], out=np.zeros(len(kept)), where=diagonal[kept] > 0)
        left[kept] -= diagonal[kept] * z
        reach = np.abs(gap)
    rounded = _ROUNDING * (length(theta) + length(prior_mean) + length(reach))
    if length(left) > 1e-9 * length(gap) + rounded:
        raise ValueError(
            "theta must be in the support of the prior, whose covariance is singular, got "
            f"{shown(theta)}"
        )
    return z


def canonical_directions(canonical: Canonical, gaps: Floats) -> Floats:
    """Return G with F G = `gaps`, (d, n), whose columns are in the support of the prior."""
    factor, d = canonical.factor, len(gaps)
    assert factor is not None  # None only if arms are known
    if np.ndim(factor) == 2:
        matrix = np.asarray(factor)
        sd = np.linalg.norm(matrix, axis=1)
        unit = np.where(sd > 0.0, sd, 1.0)[:, None]  # of each coordinate
        return np.asarray(np.linalg.lstsq(matrix / unit, gaps / unit, rcond=None)[0])
    diagonal = np.array(np.broadcast_to(factor, d))
    kept = kept_coordinates(diagonal)
    sd = np.where(diagonal[kept] > 0.0, diagonal[kept], np.inf)
    return np.asarray(gaps[kept] / sd[:, None])
