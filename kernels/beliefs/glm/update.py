"""The belief after one more reward."""

import numpy as np

from ...arithmetic.vectors import axpy, dot, multiply_transposed
from ...jit.decorators import entry, generic, inlined, kernel
from .. import interface
from ..families import slope_and_curvature
from ..interface import PLAYS, SLOTS
from ..memory import LEAST_WEIGHT, Discounted
from .hessian import factor_hessian, invert_factor, solve_factored
from .solve import descent, gradient, padded, solve
from .state import Glm


@inlined
def _slot(belief, row, offset, key):
    """Return the slot of an arm, a new one if it was not played before."""
    slot = interface.slot_of_key(belief.slot_of_arm, key)
    if slot < 0:
        slot = belief.size[SLOTS]
        belief.size[SLOTS] = slot + 1
        if belief.slot_of_arm.shape[0] > 0:
            belief.slot_of_arm[key] = slot
        belief.offsets[slot] = offset
        for j in range(row.shape[0]):
            belief.columns[j, slot] = row[j]
    return slot


@inlined
def _set_covariance(belief):
    """Compute H, by the weights that `gradient` has left, its factor and its inverse."""
    s, n = belief.scratch, padded(belief)
    factor_hessian(belief.columns, s.weight[:n], s.along[:n], s.columns, belief.factor)
    invert_factor(belief.factor, belief.root, belief.S)


@generic
def _forget(memory, belief):
    """Let the data count less, for one reward."""


@_forget.body(Discounted)
def _fade(memory, belief):
    for i in range(belief.size[SLOTS]):
        keep = memory.discount if belief.plays[i] > LEAST_WEIGHT else 0.0
        belief.plays[i] *= keep
        belief.pay[i] *= keep
        belief.variances[i] *= keep
    # Not less than the new S, which has all of the prior: so lengths by it are not too short.
    for i in range(belief.S.shape[0]):
        for j in range(belief.S.shape[0]):
            belief.S[i, j] /= memory.discount


@entry
def fit(belief):
    """Compute the belief afresh from its data, from z = 0 on."""
    mu, vectors = belief.mu, belief.scratch.vectors
    g, p, none = vectors[3], vectors[4], vectors[5]
    mu[:] = 0.0
    none[:] = 0.0
    gradient(belief, none, mu, g)
    _set_covariance(belief)
    length = solve_factored(belief.factor, g, p)
    if not solve(belief, none, mu, p, length, True):
        mu[:] = np.nan
    _set_covariance(belief)


@generic
def _first_step(memory, belief, p, length):
    """Return the length of the gradient at the mean, and whether S is that of the data there.

    p is the first step and `length` that of the gradient where data have not been forgotten.
    """
    return length, True


@_first_step.body(Discounted)
def _first_step_after_forgetting(memory, belief, p, length):
    """The mean is no mode of what is left of the data: the gradient is more than the reward's."""
    g, none = belief.scratch.vectors[3], belief.scratch.vectors[5]
    gradient(belief, none, belief.mu, g)
    return descent(belief, False, g, p), False


@kernel
def take_in(belief, row, offset, key, reward):
    """Take in a reward; cost O(N r) a step of the solution, and O(N r^2) for S.

    The first step is that of the equations of normal rewards, with variance 1/w for the weight w =
    psi'' of the arm: S <- S - g w v v', mu <- mu + g (y - psi') v, v = S b, g = 1 / (1 + w b'v).
    """
    mu, S, vectors = belief.mu, belief.S, belief.scratch.vectors
    v, p, none = vectors[3], vectors[4], vectors[5]
    _forget(belief.memory, belief)
    slot = _slot(belief, row, offset, key)
    belief.plays[slot] += 1.0
    belief.pay[slot] += reward
    belief.size[PLAYS] += 1
    above, w = slope_and_curvature(belief.family, 1.0, reward, offset + dot(row, mu))
    multiply_transposed(S, row, v)
    spread = dot(row, v)
    g = 1.0 / (1.0 + w * spread)
    for j in range(mu.shape[0]):
        p[j] = -g * above * v[j]
        none[j] = 0.0
    for i in range(mu.shape[0]):
        axpy(-g * w * v[i], v, S[i])
    length, exact = _first_step(belief.memory, belief, p, abs(above) * np.sqrt(g * spread))
    if not solve(belief, none, mu, p, length, exact):
        mu[:] = np.nan
    _set_covariance(belief)
    constant = belief.family.perturbation
    variance = constant if constant > 0.0 else belief.scratch.weight[slot] / belief.plays[slot]
    belief.variances[slot] += variance
    belief.last[0] = np.sqrt(variance)


@interface.update.body(Glm)
def _update(belief, row, offset, key, reward):
    take_in(belief, row, offset, key, reward)


@interface.update_with_drift.body(Glm)
def _update_with_drift(belief, row, offset, key, reward, before, drift):
    """Update, and add how far S is from the one before: variances may rise as the mode moves."""
    S, r = belief.S, row.shape[0]
    for i in range(r):
        for j in range(r):
            before[i, j] = S[i, j]
    take_in(belief, row, offset, key, reward)
    squares = 0.0
    for i in range(r):
        for j in range(r):
            squares += (S[i, j] - before[i, j]) ** 2
    drift[0] += np.sqrt(squares)


@interface.update_with_history.body(Glm)
def _update_with_history(belief, row, offset, key, reward, factor, columns, eta):
    take_in(belief, row, offset, key, reward)
