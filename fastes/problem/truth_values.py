"""The values of a truth: checked, compared, and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from fastes.checks.arrays import Floats


def truth_mean(value: ArrayLike) -> float | Floats:
    """Return the mean that a truth is given, checked."""
    from fastes.checks import arrays

    mean = arrays.array("truth's prior_mean", value)
    if mean.ndim > 1 or mean.size == 0:
        raise ValueError(f"truth's prior_mean must be a number or a vector, got shape {mean.shape}")
    return float(mean) if mean.ndim == 0 else arrays.frozen(mean)


def truth_covariance(value: ArrayLike) -> float | Floats:
    """Return the covariance that a truth is given, checked."""
    from fastes.checks import arrays
    from fastes.problem.belief import checked_covariance

    given = arrays.array("truth's prior_cov", value)
    if given.size == 0:
        raise ValueError(
            "truth's prior_cov must be a number, a vector or a square matrix, "
            f"got shape {given.shape}"
        )
    return checked_covariance("truth's prior_cov", given, len(given) if given.ndim else 1)


def truth_root(covariance: float | Floats) -> float | Floats:
    """Return F with F F' the covariance of a truth."""
    from fastes.problem.factorisation import covariance_root

    return covariance_root(covariance, "truth's prior_cov")


def equal_covariances(x: float | Floats, y: float | Floats) -> bool:
    """Return whether two covariances of one dimension are equal, whatever their shapes."""
    import numpy as np

    if np.ndim(x) == np.ndim(y) or 2 not in (np.ndim(x), np.ndim(y)):
        return bool(np.all(np.equal(x, y)))
    full, variances = (np.asarray(x), y) if np.ndim(x) == 2 else (np.asarray(y), x)
    diagonal = np.diag(full)
    is_diagonal = np.count_nonzero(full) == np.count_nonzero(diagonal)
    return bool(is_diagonal and (diagonal == variances).all())


def shown_value(value: float | Floats) -> str:
    """Return a value as code, without the numbers of an array."""
    return repr(value) if isinstance(value, float) else f"array of shape {value.shape}"


def value_text(value: float | Floats) -> str:
    """Return a value as text; unique to it."""
    from fastes.checks.arrays import fingerprint

    if isinstance(value, float):
        return f"{value!r}"
    sizes = " x ".join(map(str, value.shape))
    return f"of {sizes} numbers ({fingerprint(value)})"
