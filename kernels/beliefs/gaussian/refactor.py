"""The normal belief computed afresh, before rounding can gather in it."""

import numpy as np

from ...arithmetic.triangular import absorb, absorb_multiple, invert_transposed
from ...arithmetic.vectors import axpy, dot
from ...jit.decorators import generic, inlined, kernel
from ..memory import Discounted, refill_due, refill_scale
from .forget import fade
from .state import FEWEST_UPDATES, MOST_UPDATES

_WELL_CONDITIONED = 1e7
"""tr(P) tr(S) below which drift stays below 3e-9 over MOST_UPDATES, as measured."""


@inlined
def load_recent(belief, columns):
    """Set a column for each arm since the last `refactor`, and what it paid. Return how many.

    n plays of an arm b that paid y in all are one of sqrt(n) b that paid y / sqrt(n).
    """
    r, distinct, recent = belief.mu.shape[0], belief.since_refactor[1], belief.recent
    scale = columns[0]
    for i in range(distinct):
        scale[i] = np.sqrt(belief.recent_plays[i])
        columns[r, i] = belief.recent_pay[i] / scale[i]
    for j in range(r - 1, -1, -1):  # row by row: a column's numbers are in few sets of a cache
        for i in range(distinct):
            columns[j, i] = scale[i] * recent[i, j]
    return distinct


@generic
def absorb_recent(memory, belief, U, eta):
    """Take the rewards since the last `refactor` into U mu = eta; cost O(n r^2)."""
    columns = belief.scratch.columns
    absorb(U, eta, columns, load_recent(belief, columns))
    fade(belief.memory, belief.since_refactor[0], U, eta)


@inlined
def _refill(belief):
    """Give back to the prior what has been forgotten; cost O(r^3)."""
    scale = refill_scale(belief.memory, 0, belief.since_refactor[0])
    absorb_multiple(belief.factor, belief.eta, belief.scratch.columns, scale)


@kernel
def refactor(belief):
    """Compute factor, root, S if it is kept, and mu afresh; cost O(r^3).

    U takes in the recent arms, X = U'^-1 by forward substitution, S = X'X, and mu by back
    substitution. Written here and not taken from LAPACK because the bits must not
    depend on which BLAS is installed or on how many threads it takes.
    """
    U, X, S = belief.factor, belief.root, belief.S
    r = U.shape[0]
    absorb_recent(belief.memory, belief, U, belief.eta)
    if refill_due(belief.memory, belief.since_refactor[0]):
        _refill(belief)
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
    belief.since_refactor[2] = updates_allowed(belief.memory, U, X)


@generic
def updates_allowed(memory, U, X):
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


@updates_allowed.body(Discounted)
def _updates_to_refill(memory, U, X):
    return np.int64(memory.period)
