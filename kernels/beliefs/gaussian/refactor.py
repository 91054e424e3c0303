"""The normal belief computed afresh, before rounding can gather in it."""

import numpy as np

from ...arithmetic.triangular import absorb, invert_transposed
from ...arithmetic.vectors import axpy, dot
from ...jit.decorators import inlined, kernel
from .state import FEWEST_UPDATES, MOST_UPDATES

_WELL_CONDITIONED = 1e7
"""tr(P) tr(S) below which drift stays below 3e-9 over MOST_UPDATES, as measured."""


@inlined
def absorb_recent(belief, U, eta):
    """Take the rewards since the last `refactor` into U mu = eta; cost O(n r^2)."""
    r, columns = U.shape[0], belief.scratch.columns
    # n plays of an arm b that paid y in all are one of sqrt(n) b that paid y / sqrt(n).
    distinct = belief.since_refactor[1]
    for i in range(distinct):
        scale = np.sqrt(np.float64(belief.recent_plays[i]))
        for j in range(r):
            columns[j, i] = scale * belief.recent[i, j]
        columns[r, i] = belief.recent_pay[i] / scale
    absorb(U, eta, columns, distinct)


@kernel
def refactor(belief):
    """Compute factor, root, S if it is kept, and mu afresh; cost O(r^3).

    U takes in the recent arms, X = U'^-1 by forward substitution, S = X'X, and mu by back
    substitution. Written here and not taken from LAPACK because the bits must not
    depend on which BLAS is installed or on how many threads it takes.
    """
    U, X, S = belief.factor, belief.root, belief.S
    r = U.shape[0]
    absorb_recent(belief, U, belief.eta)
    belief.since_refactor[:2] = 0
    invert_transposed(U, X)
    # S, if it is kept, is the sum of the outer products of X's rows.
    for k in range(S.shape[0]):
        for j in range(r):
            S[k, j] = 0.0
        for i in range(k + 1):
            axpy(X[k, i], X[k, : k + 1], S[i, : k + 1])
    for i in range(r - 1, -1, -1):
        rest = belief.eta[i] - dot(U[i, i + 1 :], belief.mu[i + 1 :])
        belief.mu[i] = rest / U[i, i]
    belief.since_refactor[2] = _updates_allowed(U, X)


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
