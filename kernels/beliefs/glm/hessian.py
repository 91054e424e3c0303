"""H = I + sum of weights times b b', factored as U'U, and what follows from the factor."""

import numpy as np

from ...arithmetic.triangular import absorb, invert_transposed
from ...arithmetic.vectors import axpy, dot
from ...jit.decorators import inlined, kernel
from .state import BLOCK

_LARGEST_TRACE = 1e8
"""Up to which the sum of squares is formed: a variance of 1 then has an error of some 1e-8."""


@kernel
def factor_hessian(columns, weight, along, block, U):
    """Set U, upper triangular, with U'U = I + sum of weight_i b_i b_i'; cost O(n r^2).

    Columns are arms (r, n), `along` (n) and `block` (r + 1, BLOCK) are scratch. Where some
    directions are known far better than others, squares would drown these in rounding: there the
    arms are taken in by reflections, at four times the cost.
    """
    r, n = U.shape[0], weight.shape[0]
    trace = 0.0
    for j in range(r):
        for i in range(n):
            along[i] = weight[i] * columns[j, i]
        for k in range(j, r):
            U[j, k] = dot(along, columns[k, :n])
        trace += U[j, j]
        U[j, j] += 1.0
    if not trace <= _LARGEST_TRACE:
        _factor_by_reflections(columns, weight, block, U)
        return
    for k in range(r):
        U[k, k] = np.sqrt(U[k, k])
        scale = 1.0 / U[k, k]
        for j in range(k + 1, r):
            U[k, j] *= scale
        for i in range(k + 1, r):
            axpy(-U[k, i], U[k, i:], U[i, i:])


@kernel
def _factor_by_reflections(columns, weight, block, U):
    r, n = U.shape[0], weight.shape[0]
    for i in range(r):
        for j in range(i, r):
            U[i, j] = 1.0 if i == j else 0.0
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        for i in range(size):
            root = np.sqrt(weight[first + i])
            for j in range(r):
                block[j, i] = root * columns[j, first + i]
            block[r, i] = 0.0
        absorb(U, block[r], block, size)


@kernel
def invert_factor(U, X, S):
    """X = U'^-1, lower triangular, and S = X'X = (U'U)^-1; cost O(r^3)."""
    invert_transposed(U, X)
    for k in range(S.shape[0]):
        for j in range(S.shape[0]):
            S[k, j] = 0.0
        for i in range(k + 1):
            axpy(X[k, i], X[k, : k + 1], S[i, : k + 1])


@inlined
def solve_factored(U, g, p):
    """p = -(U'U)^-1 g. Return the square root of g'(U'U)^-1 g; cost O(r^2)."""
    r = g.shape[0]
    for j in range(r):
        p[j] = -g[j]
    squares = 0.0
    for k in range(r):
        p[k] /= U[k, k]
        squares += p[k] * p[k]
        axpy(-p[k], U[k, k + 1 :], p[k + 1 :])
    for i in range(r - 1, -1, -1):
        p[i] = (p[i] - dot(U[i, i + 1 :], p[i + 1 :])) / U[i, i]
    return np.sqrt(squares)
