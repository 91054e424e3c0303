"""Two roots of a normal belief, of its precision and of its covariance, turned the same way.

R and W with P = R'R, S = W'W and W'R = I, such that the rows of W are nearly orthogonal and the
longest come first: coordinates in which the belief is nearly independent, most uncertain first.
"""

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import dot, multiply_transposed
from ..beliefs.interface import load_roots, subtract_covariance_row
from ..jit.decorators import entry, inlined, kernel

_MOST_SWEEPS = 4
_NEARLY_ORTHOGONAL = 0.05  # cosine of two rows: less would save no search an arm worth naming


@entry
def orient(belief, W, R, X, rows):
    """Set W, R, and X, the lower triangular root of S = X'X; cost O(r^3).

    Rotations of two rows at a time, the same of W and of R (the one-sided method of Jacobi, stopped
    early), so that W'R = X'U = I but for rounding; `rows` (2, r) is scratch. Not by LAPACK: its
    threads would wait for each other where several runs, or other programs, keep all processors
    busy.
    """
    r, squares = W.shape[0], rows[0]
    load_roots(belief, R, X)
    for i in range(r):
        for j in range(r):
            W[i, j] = X[i, j]
        squares[i] = dot(W[i], W[i])
    for _ in range(_MOST_SWEEPS):
        turned = 0
        for p in range(r - 1):
            for q in range(p + 1, r):
                turned += _turn(W, R, squares, p, q)
        if turned == 0:
            break


@kernel
def _turn(W, R, squares, p, q):
    """Make row p of W the longer of two, and orthogonal to row q. Return whether it was not."""
    along = dot(W[p], W[q])
    first, second = squares[p], squares[q]
    if first >= second and along * along <= _NEARLY_ORTHOGONAL**2 * first * second:
        return 0
    # The angle of the longer principal axis in the plane of the two rows.
    half = 0.5 * (first - second)
    reach = np.sqrt(half * half + along * along)
    cosine, sine = 1.0, 0.0
    if reach > 0.0:
        cosine = np.sqrt(max(0.0, 0.5 + 0.5 * half / reach))
        sine = np.sqrt(max(0.0, 0.5 - 0.5 * half / reach))
        sine = -sine if along < 0.0 else sine
    _rotate(W[p], W[q], cosine, sine)
    _rotate(R[p], R[q], cosine, sine)
    squares[p] = 0.5 * (first + second) + reach
    squares[q] = max(0.0, 0.5 * (first + second) - reach)
    return 1


@inlined
def _rotate(x, y, cosine, sine):
    """(x, y) <- (cosine x + sine y, cosine y - sine x)."""
    for i in range(x.shape[0]):
        a, b = x[i], y[i]
        x[i] = fma(cosine, a, sine * b)
        y[i] = fma(cosine, b, -sine * a)


@entry
def norms(belief, W, R, rows):
    """Return |W|, |R|, and |I - W'R| and |S - W'W|, zero but for rounding; cost O(r^3).

    `rows` (2, r) is scratch.
    """
    r, column, row = W.shape[0], rows[0], rows[1]
    spread = length = defect = misfit = 0.0
    for i in range(r):
        spread += dot(W[i], W[i])
        length += dot(R[i], R[i])
        for k in range(r):
            column[k] = W[k, i]
        multiply_transposed(R, column, row)
        row[i] -= 1.0
        defect += dot(row, row)
        multiply_transposed(W, column, row)
        subtract_covariance_row(belief, i, row)
        misfit += dot(row, row)
    return np.sqrt(spread), np.sqrt(length), np.sqrt(defect), np.sqrt(misfit)
