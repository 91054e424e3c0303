"""How the smallest M grows: a power, or a logarithm? Weighted least squares."""

from math import inf, isfinite
from typing import NamedTuple

import numpy as np


class Growth(NamedTuple):
    """Two fits of the smallest M against x.

    Attributes
    ----------
    power, power_se : float
        b of M = a x^b, and its standard error.
    power_misfit : float
        Mean square of the residuals in units of their errors, by degree of freedom: about 1 where
        the law holds.
    log_misfit : float
        The same for M = a + b log x.
    points : int
        How many were fitted.
    """

    power: float
    power_se: float
    power_misfit: float
    log_misfit: float
    points: int


def growth(rows, x):
    """Return the fits of rows with M, low and high against a column x, or None of fewer than 3.

    Points without a finite M or upper end are left out, as are those at the smallest size tried,
    whose interval has no width. Errors are a quarter of the 95% interval, in log M or in M.

    Examples
    --------
    >>> rows = [{"x": x, "M": x**2, "low": 0.9 * x**2, "high": 1.1 * x**2} for x in (2, 4, 8, 16)]
    >>> found = growth(rows, "x")
    >>> round(found.power, 3), found.power_misfit < 1e-9 < found.log_misfit, found.points
    (2.0, True, 4)
    """
    kept = [
        row
        for row in rows
        if all(isfinite(row[name] or inf) for name in (x, "M", "high")) and row["high"] > row["low"]
    ]
    if len(kept) < 3:
        return None
    at, M, low, high = (
        np.array([row[name] for row in kept], float) for name in (x, "M", "low", "high")
    )
    power, power_se, power_misfit = _line(np.log(at), np.log(M), np.log(high / low) / 4)
    _, _, log_misfit = _line(np.log(at), M, (high - low) / 4)
    return Growth(power, power_se, power_misfit, log_misfit, len(kept))


def _line(x, y, errors):
    """Return the slope of a weighted line, its error and the misfit by degree of freedom."""
    design = np.column_stack([np.ones_like(x), x]) / errors[:, None]
    covariance = np.linalg.inv(design.T @ design)
    fitted = covariance @ design.T @ (y / errors)
    residuals = y / errors - design @ fitted
    misfit = float(residuals @ residuals / (len(x) - 2))
    return float(fitted[1]), float(np.sqrt(covariance[1, 1])), misfit
