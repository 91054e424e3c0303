"""What rules and searches ask of the belief in a generalised linear model, all but `update`."""

import numpy as np

from ...arithmetic.tile_variance import variance_tile
from ...arithmetic.vectors import axpy, dot, multiply_transposed
from ...jit.decorators import inlined
from ...streams.normals import fill_normals
from .. import interface
from ..families import Bernoulli
from ..interface import SLOTS
from ..memory import Discounted
from ..normal_law import NormalLaw, draw_normal
from .solve import gradient, padded, solve
from .state import Glm


@interface.sample.body(Glm)
def _sample(belief, normals, z):
    """Draw from Laplace's approximation."""
    draw_normal(belief.mu, belief.root, normals, z)


@interface.model_from_xi.body(Glm)
def _model_from_xi(belief, xi, z):
    """z = the mode of the data perturbed by xi: not numbers, if it was not found."""
    p = belief.scratch.vectors[3]
    multiply_transposed(belief.S, xi, p)  # the gradient at the mode is -xi
    length = np.sqrt(dot(xi, p))
    for j in range(z.shape[0]):
        z[j] = belief.mu[j]
    if not solve(belief, xi, z, p, length, True):
        z[:] = np.nan


@interface.counts_by_arm.body(Glm)
def _counts_by_arm(belief):
    return interface.ArmCounts(belief.plays, belief.pay, belief.size)


@interface.counts_clicks.body(Glm)
def _counts_clicks(belief):
    return isinstance(belief.family, Bernoulli) and len(belief.slot_of_arm) > 0


@interface.model_of_counts.body(Glm)
def _model_of_counts(belief, plays, pay, xi, z):
    """z = the mode of other data of the same arms: not numbers, if it was not found."""
    other = Glm(
        belief.family,
        belief.memory,
        belief.mu,
        belief.S,
        belief.factor,
        belief.root,
        belief.slot_of_arm,
        belief.columns,
        belief.offsets,
        plays,
        pay,
        belief.variances,
        belief.size,
        belief.last,
        belief.scratch,
    )
    g, p = belief.scratch.vectors[3], belief.scratch.vectors[4]
    for j in range(z.shape[0]):
        z[j] = belief.mu[j]
    gradient(other, xi, z, g)
    multiply_transposed(belief.S, g, p)
    length = np.sqrt(dot(g, p))
    for j in range(z.shape[0]):
        p[j] = -p[j]
    if not solve(other, xi, z, p, length, True):
        z[:] = np.nan


@interface.xi_of_model.body(Glm)
def _xi_of_model(belief, z, xi):
    none = belief.scratch.vectors[3]
    none[:] = 0.0
    gradient(belief, none, z, xi)


@inlined
def _draw_perturbations(belief, scale, normals, xi):
    """xi += scale times the sum of sqrt(V_a) N(0, 1) b_a; cost O(N r)."""
    weights, n = belief.scratch.along, padded(belief)
    taken = belief.size[SLOTS]
    for i in range(taken):
        weights[i] = scale * np.sqrt(belief.variances[i]) * normals[i]
    for i in range(taken, n):
        weights[i] = 0.0
    for j in range(xi.shape[0]):
        xi[j] += dot(belief.columns[j, :n], weights[:n])


@interface.draw_xi.body(Glm)
def _draw_xi(belief, source, stream, counter, normals, xi):
    """Draw xi ~ N(0, I + sum of V_a b_a b_a'): r normals, and one for each arm played."""
    r = xi.shape[0]
    drawn = normals[: r + belief.size[SLOTS]]
    fill_normals(source, stream, counter, drawn)
    for j in range(r):
        xi[j] = drawn[j]
    _draw_perturbations(belief, 1.0, drawn[r:], xi)


@interface.draw_history.body(Glm)
def _draw_history(belief, factor, source, stream, counter, scale, normals, xi):
    drawn = normals[: belief.size[SLOTS]]
    fill_normals(source, stream, counter, drawn)
    for j in range(xi.shape[0]):
        xi[j] = 0.0
    _draw_perturbations(belief, scale, drawn, xi)


@interface.perturbation_root.body(Glm)
def _perturbation_root(belief):
    return belief.last[0]


@interface.variances_by_arm.body(Glm)
def _variances_by_arm(belief):
    return interface.ArmVariances(belief.slot_of_arm, belief.columns, belief.variances, belief.size)


@interface.tile_variances.body(Glm)
def _tile_variances(belief, b, row, out):
    variance_tile(belief.S, b, row, out)


@interface.fill_covariance.body(Glm)
def _fill_covariance(belief, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = belief.S[i, j]


@interface.load_roots.body(Glm)
def _load_roots(belief, R, X):
    for i in range(R.shape[0]):
        for j in range(R.shape[0]):
            R[i, j], X[i, j] = belief.factor[i, j], belief.root[i, j]


@interface.subtract_covariance_row.body(Glm)
def _subtract_covariance_row(belief, i, row):
    axpy(-1.0, belief.S[i], row)


@interface.mean_of.body(Glm)
def _mean_of(belief):
    return belief.mu


@interface.recent_arms.body(Glm)
def _recent_arms(belief):
    return len(belief.plays)


@interface.covariance_of.body(Glm)
def _covariance_of(belief):
    return belief.S


@interface.normal_law.body(Glm)
def _normal_law(belief):
    return NormalLaw(belief.mu.copy(), belief.root.copy())


def _counts_fit(memory, by_arm, plays):
    """Return whether plays by arm may add up to all `plays`. Python calls it."""
    if isinstance(memory, Discounted):
        return (by_arm >= 0).all() and by_arm.sum() <= plays
    return by_arm.sum() == plays and (by_arm >= 1).all()


@interface.is_whole.body(Glm)
def _is_whole(belief):
    slots, plays = belief.size
    arms = np.flatnonzero(belief.slot_of_arm >= 0)
    return (
        0 <= slots <= len(belief.plays)
        and (len(belief.slot_of_arm) == 0 or sorted(belief.slot_of_arm[arms]) == list(range(slots)))
        and _counts_fit(belief.memory, belief.plays[:slots], plays)
        and (belief.plays[slots:] == 0).all()
        and (belief.variances >= 0).all()
    )
