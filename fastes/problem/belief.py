"""Checks of means and covariances of theta."""

import numpy as np
from numpy.typing import ArrayLike

from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats


def checked_mean(name: str, value: ArrayLike, d: int) -> Floats:
    """Return a mean of length d, or raise; a single number is repeated."""
    mean = arrays.array(name, value)
    if mean.ndim == 0:
        return np.full(d, float(mean))
    if mean.shape != (d,):
        raise ValueError(f"{name} must be a number or have shape ({d},), got shape {mean.shape}")
    return mean


def checked_covariance(name: str, value: ArrayLike, d: int) -> float | Floats:
    """Return a covariance of valid shape, signs and symmetry, or raise."""
    covariance = arrays.array(name, value)
    if covariance.ndim == 0:
        return numbers.nonnegative(name, float(covariance))
    if covariance.shape not in ((d,), (d, d)):
        raise ValueError(
            f"{name} must be a number or have shape ({d},) or ({d}, {d}), "
            f"got shape {covariance.shape}"
        )
    variances = covariance if covariance.ndim == 1 else np.diag(covariance)
    if (variances < 0).any():
        worst = int(np.argmin(variances))
        raise ValueError(
            f"{name} must be positive semidefinite, got the variance {variances[worst]:g} "
            f"at [{worst}]"
        )
    if covariance.ndim == 2:
        sd = np.sqrt(variances)
        gap = np.abs(covariance - covariance.T)
        if (gap > 1e-10 * sd * sd[:, None]).any():
            i, j = (int(n) for n in np.unravel_index(np.argmax(gap), gap.shape))
            raise ValueError(
                f"{name} must be symmetric, got {covariance[i, j]:g} at [{i}, {j}] "
                f"and {covariance[j, i]:g} at [{j}, {i}]"
            )
        covariance = (covariance + covariance.T) / 2
    return arrays.frozen(covariance)
