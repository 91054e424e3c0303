"""The posterior computed afresh, before rounding can gather in it."""

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import axpy, dot
from ..jit.decorators import inlined, kernel
from .state import FEWEST_UPDATES, MOST_UPDATES

_WELL_CONDITIONED = 1e7
"""tr(P) tr(S) below which drift stays below 3e-9 over MOST_UPDATES, as measured."""


@kernel
def absorb(U, eta, columns, n):
    """Take n rewards into U mu = eta; cost O(n r^2).

    Column i of `columns` is an arm b and, last, its reward y: P = U'U <- U'U + sum of b b' and
    P mu = U'eta <- U'eta + sum of y b. One Householder reflection for each column k of the
    stacked [U; b'] leaves U_kk > 0 and nothing below it. Loops run along the rows of `columns`.
    """
    r = U.shape[0]
    for k in range(r):
        x = columns[k, :n]
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


@inlined
def absorb_recent(posterior, U, eta):
    """Take the rewards since the last `refactor` into U mu = eta; cost O(n r^2)."""
    r, columns = U.shape[0], posterior.scratch.columns
    # n plays of an arm b that paid y in all are one of sqrt(n) b that paid y / sqrt(n).
    distinct = posterior.since_refactor[1]
    for i in range(distinct):
        scale = np.sqrt(np.float64(posterior.recent_plays[i]))
        for j in range(r):
            columns[j, i] = scale * posterior.recent[i, j]
        columns[r, i] = posterior.recent_pay[i] / scale
    absorb(U, eta, columns, distinct)


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


@kernel
def refactor(posterior):
    """Compute factor, root, S if it is kept, and mu afresh; cost O(r^3).

    U takes in the recent arms, X = U'^-1 by forward substitution, S = X'X, and mu by back
    substitution. Written here and not taken from LAPACK because the bits must not
    depend on which BLAS is installed or on how many threads it takes.
    """
    U, X, S = posterior.factor, posterior.root, posterior.S
    r = U.shape[0]
    absorb_recent(posterior, U, posterior.eta)
    posterior.since_refactor[:2] = 0
    invert_transposed(U, X)
    # S, if it is kept, is the sum of the outer products of X's rows.
    for k in range(S.shape[0]):
        for j in range(r):
            S[k, j] = 0.0
        for i in range(k + 1):
            axpy(X[k, i], X[k, : k + 1], S[i, : k + 1])
    for i in range(r - 1, -1, -1):
        rest = posterior.eta[i] - dot(U[i, i + 1 :], posterior.mu[i + 1 :])
        posterior.mu[i] = rest / U[i, i]
    posterior.since_refactor[2] = _updates_allowed(U, X)


@inlined
def _updates_allowed(U, X):
    """Return how many updates may follow before the next `refactor`; cost O(r^2).

    Each rounds S to about 1e-16 of its largest variance, which P multiplies by its largest
    eigenvalue: S P drifts from I in proportion to the product of the two. It is at most that of
    their traces.
    """
    precision = spread = 0.0
    for i in range(U.shape[0]):
        precision += dot(U[i, i:], U[i, i:])
        spread += dot(X[i, : i + 1], X[i, : i + 1])
    return np.int64(MOST_UPDATES if precision * spread < _WELL_CONDITIONED else FEWEST_UPDATES)
