"""Triangular factors: rows taken in, and inverses. Not by LAPACK, whose bits and threads vary."""

import numpy as np

from ..jit.decorators import inlined, kernel
from .floats import fma
from .vectors import axpy, dot


@kernel
def absorb(U, eta, columns, n):
    """Take n rewards into U mu = eta; cost O(n r^2).

    Column i of `columns` is an arm b and, last, its reward y: P = U'U <- U'U + sum of b b' and
    P mu = U'eta <- U'eta + sum of y b. One Householder reflection for each column k of the
    stacked [U; b'] leaves U_kk > 0 and nothing below it. Loops run along the rows of `columns`.
    """
    for k in range(U.shape[0]):
        _reflect(U, eta, columns, k, n)


@kernel
def absorb_multiple(U, eta, columns, scale):
    """Take r rewards of zero, of scale e_0, scale e_1, ..., into U mu = eta; cost O(r^3).

    A third of `absorb`'s: row k of `columns` is zero beyond column k when it is reflected.
    """
    r = U.shape[0]
    columns[:, :r] = 0.0
    for k in range(r):
        columns[k, k] = scale
        _reflect(U, eta, columns, k, k + 1)


@inlined
def _reflect(U, eta, columns, k, n):
    """Take the entries k of n columns into row k of U, and leave zero of them."""
    x, r = columns[k, :n], U.shape[0]
    square = dot(x, x)
    if not square < 1e-280:  # what is less is lost beside U_kk >= 1; nan must be seen
        diagonal = np.sqrt(U[k, k] * U[k, k] + square)
        # The reflector is (head, x); written so, its first entry does not cancel.
        head = -square / (U[k, k] + diagonal)
        scale = 2.0 / (head * head + square)
        U[k, k] = diagonal
        for j in range(k + 1, r):
            weight = -scale * fma(head, U[k, j], dot(x, columns[j, :n]))
            U[k, j] = fma(weight, head, U[k, j])
            axpy(weight, x, columns[j, :n])
        weight = -scale * fma(head, eta[k], dot(x, columns[r, :n]))
        eta[k] = fma(weight, head, eta[k])
        axpy(weight, x, columns[r, :n])


@kernel
def invert_transposed(U, X):
    """X = U'^-1 of an upper triangular U, by forward substitution; cost O(r^3).

    Row i of X is (e_i - sum_{k < i} U_ki X_k) / U_ii.
    """
    r = U.shape[0]
    for i in range(r):
        for j in range(r):
            X[i, j] = 0.0
        X[i, i] = 1.0
        for k in range(i):
            axpy(-U[k, i], X[k, : k + 1], X[i, : k + 1])
        scale = 1.0 / U[i, i]
        for j in range(i + 1):
            X[i, j] *= scale
