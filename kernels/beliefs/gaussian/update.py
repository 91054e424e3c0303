"""The normal belief after one more reward."""

import numpy as np

from ...arithmetic.floats import fma
from ...arithmetic.triangular import absorb
from ...arithmetic.vectors import axpy, dot, multiply_transposed
from ...jit.decorators import generic, inlined, kernel
from .. import interface
from ..noise import note_error, prior_root
from .forget import fade, forget, remember, rise, weight_of
from .refactor import load_recent, refactor
from .rewards import Linearised, linearise, root_of_last
from .state import FEWEST_UPDATES, Gaussian, RootedGaussian

_TELLS_MUCH = 1e-3
"""The belief is computed afresh soon after a reward that leaves less of an arm's variance."""


@inlined
def refactor_due(belief):
    """Return whether the next update computes the belief afresh."""
    since = belief.since_refactor
    return since[0] + 1 >= since[2] or since[1] + 1 >= belief.recent.shape[0]


@generic
def _update_by(rewards, update, belief, row, offset, key, reward):
    """Let an update take in a reward: by default as a normal one."""
    update(belief, row, key, reward - offset)


@_update_by.body(Linearised)
def _update_linearised(rewards, update, belief, row, offset, key, reward):
    """No two linearised rewards have equal rows, even of one arm: keys are those of updates."""
    y = linearise(belief, row, offset, reward)
    update(belief, rewards.scratch, belief.since_refactor[0], y)


@interface.update.body(Gaussian)
def _update(belief, row, offset, key, reward):
    forget(belief.memory, belief)
    _update_by(belief.rewards, update_covariance, belief, row, offset, key, reward)


@interface.update.body(RootedGaussian)
def _update_rooted(belief, row, offset, key, reward):
    forget(belief.memory, belief)
    _update_by(belief.rewards, update_root, belief, row, offset, key, reward)


@interface.perturbation_root.body(Gaussian)
@interface.perturbation_root.body(RootedGaussian)
def _perturbation_root(belief):
    return root_of_last(belief.rewards)


@inlined
def update_covariance(belief, b, key, y):
    """Condition on the reward y of an arm b, its offset taken off; cost O(r^2).

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit. Arms of one
    key are equal: they are counted together until the belief is computed afresh.
    """
    mu, S, v = belief.mu, belief.S, belief.scratch.gain
    afresh = refactor_due(belief)
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    error = y - dot(b, mu)
    note_error(belief.rewards, error, g)
    axpy(g * error, v, mu)
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        v[i] *= root_g
    for i in range(b.shape[0]):
        axpy(-v[i], v, S[i])
    _remember(belief, b, key, y, g)
    if afresh:
        refactor(belief)


@inlined
def _remember(belief, b, key, y, g):
    """Count the play of an arm, and its reward, among the recent ones.

    Where they are many, one was most likely found where its key was found last.
    """
    remember(belief.memory, b, y)
    weight = weight_of(belief.memory, belief.since_refactor[0])
    slot, distinct = belief.scratch.slot, belief.since_refactor[1]
    i = slot[key & 255]
    if i >= distinct or belief.recent_key[i] != key:
        i = 0
        while i < distinct and belief.recent_key[i] != key:
            i += 1
        slot[key & 255] = i
    if i == distinct:
        for j in range(b.shape[0]):
            belief.recent[i, j] = b[j]
        belief.recent_key[i] = key
        belief.recent_plays[i] = 0.0
        belief.recent_pay[i] = 0.0
        belief.since_refactor[1] += 1
    belief.recent_plays[i] += weight
    belief.recent_pay[i] += weight * y
    belief.since_refactor[0] += 1
    if g < _TELLS_MUCH:
        soon = belief.since_refactor[0] + FEWEST_UPDATES
        belief.since_refactor[2] = min(belief.since_refactor[2], soon)


@inlined
def update_root(belief, b, key, y):
    """Do as `update_covariance` for X in the place of S; cost O(r^2), half as much.

    Carlson's form: with w = X b, a_{-1} = 1 and a_j = a_{j-1} + w_j^2, row j of X becomes

        sqrt(a_{j-1} / a_j) (X_j - (w_j / a_{j-1}) e_j),  e_j = w_0 X_0 + ... + w_{j-1} X_{j-1},

    with the rows X_k as they were. X stays lower triangular, the last a is 1 / g, and e ends as
    X'w = S b.
    """
    mu, X, e = belief.mu, belief.root, belief.scratch.gain
    rows = belief.scratch.rows
    w, weight, scale = rows[0], rows[1], rows[2]
    r, afresh = b.shape[0], refactor_due(belief)
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
    carlson(X, w, weight, scale, e)
    g = 1.0 / a
    error = y - dot(b, mu)
    note_error(belief.rewards, error, g)
    axpy(g * error, e, mu)
    _remember(belief, b, key, y, g)
    if afresh:
        refactor(belief)


@kernel
def carlson(X, w, weight, scale, e):
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


@interface.update_with_drift.body(Gaussian)
def _update_with_drift(belief, row, offset, key, reward, before, drift):
    """Update, and keep account of how rounding may have raised S.

    Sherman and Morrison's formula takes v v' off S with one rounding of each entry, and no
    entry of S exceeds the prior's variance by more than rounding. `refactor` computes S afresh.
    """
    S, r, gain, afresh = belief.S, row.shape[0], belief.scratch.gain, refactor_due(belief)
    drift[0] += rise(belief.memory, belief.since_refactor[0])
    forget(belief.memory, belief)
    if afresh:
        for i in range(r):
            for j in range(r):
                before[i, j] = S[i, j]
    _update_by(belief.rewards, update_covariance, belief, row, offset, key, reward)
    drift[0] += 2.0**-52 * r / prior_root(belief.rewards) ** 2
    if afresh:
        squares = 0.0
        for i in range(r):
            for j in range(r):
                expected = fma(-gain[i], gain[j], before[i, j])
                squares += (S[i, j] - expected) ** 2
        drift[0] += np.sqrt(squares)


@generic
def _scale(rewards, belief, row, offset, reward):
    """Return what a row is multiplied by when it is taken in."""
    return 1.0


@_scale.body(Linearised)
def _scale_linearised(rewards, belief, row, offset, reward):
    linearise(belief, row, offset, reward)
    return rewards.last[0]


@interface.update_with_history.body(Gaussian)
def _update_with_history(belief, row, offset, key, reward, factor, columns, eta):
    """Update; where the belief is computed afresh, V takes in the recent arms and this one.

    V'V is the sum of b b' over all rewards up to then: as U'U = P, without the prior.
    """
    memory = belief.memory
    forget(memory, belief)
    if refactor_due(belief):
        r, n = row.shape[0], load_recent(belief, columns)
        scale = _scale(belief.rewards, belief, row, offset, reward)
        scale *= np.sqrt(weight_of(memory, belief.since_refactor[0]))
        for j in range(r):
            columns[j, n] = scale * row[j]
        columns[r, : n + 1] = 0.0
        absorb(factor, eta, columns, n + 1)
        fade(memory, belief.since_refactor[0] + 1, factor, eta)
    _update_by(belief.rewards, update_covariance, belief, row, offset, key, reward)
