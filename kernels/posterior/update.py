"""The posterior after one more reward."""

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.vectors import axpy, dot, multiply_transposed
from ..jit.decorators import inlined, kernel
from .refactor import refactor
from .state import FEWEST_UPDATES

_TELLS_MUCH = 1e-3
"""The posterior is computed afresh soon after a reward that leaves less of an arm's variance."""


@inlined
def refactor_due(posterior):
    """Return whether the next update computes the posterior afresh."""
    since = posterior.since_refactor
    return since[0] + 1 >= since[2] or since[1] + 1 >= posterior.recent.shape[0]


@inlined
def update(posterior, b, key, y):
    """Condition on the reward y of an arm b, its offset taken off; cost O(r^2).

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit. Arms of one
    key are equal: they are counted together until the posterior is computed afresh.
    """
    mu, S, v = posterior.mu, posterior.S, posterior.scratch.gain
    afresh = refactor_due(posterior)
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        v[i] *= root_g
    for i in range(b.shape[0]):
        axpy(-v[i], v, S[i])
    _remember(posterior, b, key, y, g)
    if afresh:
        refactor(posterior)


@inlined
def _remember(posterior, b, key, y, g):
    """Count the play of an arm, and its reward, among the recent ones.

    Where they are many, one was most likely found where its key was found last.
    """
    slot, distinct = posterior.scratch.slot, posterior.since_refactor[1]
    i = slot[key & 255]
    if i >= distinct or posterior.recent_key[i] != key:
        i = 0
        while i < distinct and posterior.recent_key[i] != key:
            i += 1
        slot[key & 255] = i
    if i == distinct:
        for j in range(b.shape[0]):
            posterior.recent[i, j] = b[j]
        posterior.recent_key[i] = key
        posterior.recent_plays[i] = 0
        posterior.recent_pay[i] = 0.0
        posterior.since_refactor[1] += 1
    posterior.recent_plays[i] += 1
    posterior.recent_pay[i] += y
    posterior.since_refactor[0] += 1
    if g < _TELLS_MUCH:
        soon = posterior.since_refactor[0] + FEWEST_UPDATES
        posterior.since_refactor[2] = min(posterior.since_refactor[2], soon)


@inlined
def update_root(posterior, b, key, y):
    """Do as `update` for X in the place of S; cost O(r^2), half as much.

    Carlson's form: with w = X b, a_{-1} = 1 and a_j = a_{j-1} + w_j^2, row j of X becomes

        sqrt(a_{j-1} / a_j) (X_j - (w_j / a_{j-1}) e_j),  e_j = w_0 X_0 + ... + w_{j-1} X_{j-1},

    with the rows X_k as they were. X stays lower triangular, the last a is 1 / g, and e ends as
    X'w = S b.
    """
    mu, X, e = posterior.mu, posterior.root, posterior.scratch.gain
    rows = posterior.scratch.rows
    w, weight, scale = rows[0], rows[1], rows[2]
    r, afresh = b.shape[0], refactor_due(posterior)
    a = 1.0
    for j in range(r):
        w[j] = dot(X[j, : j + 1], b[: j + 1])
        weight[j] = a
        a = fma(w[j], w[j], a)
        scale[j] = a
        e[j] = 0.0
    for j in range(r):
        scale[j] = np.sqrt(weight[j] / scale[j])
        weight[j] = -w[j] / weight[j]
    _carlson(X, w, weight, scale, e)
    g = 1.0 / a
    axpy(g * (y - dot(b, mu)), e, mu)
    _remember(posterior, b, key, y, g)
    if afresh:
        refactor(posterior)


@kernel
def _carlson(X, w, weight, scale, e):
    """X_j <- scale_j (X_j + weight_j e) and then e += w_j X_j as it was, for j = 0, 1, ...

    Four rows at a time, for e to be read and written once for all of them; what is beyond the
    diagonal is zero in X and, so far, in e.
    """
    r = e.shape[0]
    whole = r - r % 4
    for j in range(0, whole, 4):
        x0, x1, x2, x3 = X[j], X[j + 1], X[j + 2], X[j + 3]
        w0, w1, w2, w3 = w[j], w[j + 1], w[j + 2], w[j + 3]
        c0, c1, c2, c3 = weight[j], weight[j + 1], weight[j + 2], weight[j + 3]
        q0, q1, q2, q3 = scale[j], scale[j + 1], scale[j + 2], scale[j + 3]
        for i in range(j + 4):
            e0, b0, b1, b2, b3 = e[i], x0[i], x1[i], x2[i], x3[i]
            e1 = fma(w0, b0, e0)
            e2 = fma(w1, b1, e1)
            e3 = fma(w2, b2, e2)
            x0[i] = q0 * fma(c0, e0, b0)
            x1[i] = q1 * fma(c1, e1, b1)
            x2[i] = q2 * fma(c2, e2, b2)
            x3[i] = q3 * fma(c3, e3, b3)
            e[i] = fma(w3, b3, e3)
    for j in range(whole, r):
        x, weight_j, scale_j, w_j = X[j], weight[j], scale[j], w[j]
        for i in range(j + 1):
            before = x[i]
            x[i] = scale_j * fma(weight_j, e[i], before)
            e[i] = fma(w_j, before, e[i])
