"""Problems on which ensembles are proven to lose: how far below 0 the prior means of arms are."""

import numpy as np

from fastes.checks import numbers
from fastes.checks.arrays import Floats

MOST_INFLATION = 30.0
"""Far beyond, no arm but the first is ever the best in double precision."""


def threshold(M: int, inflation: float, symmetric: bool) -> float:
    """Return inflation times the c with P(N(0, 1) > c) = 1/M, or 1/(2M) of a symmetric ensemble."""
    from scipy.special import ndtri

    inflation = numbers.between("inflation", inflation, 1.0, MOST_INFLATION)
    return -inflation * float(ndtri(0.5 / M if numbers.flag("symmetric", symmetric) else 1.0 / M))


def thresholds(T: int) -> Floats:
    """Return c_1, ..., c_J with P(N(0, 1) > c_j) = 2^-j and J = ceil(log2 T)."""
    from scipy.special import ndtri

    return np.asarray(0.0 - ndtri(0.5 ** np.arange(1.0, (T - 1).bit_length() + 1.0)))
