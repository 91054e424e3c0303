"""What rules and searches ask of a normal belief (interface.py), all but `update`."""

import copy

import numpy as np

from ...arithmetic.tile_product import score_tile
from ...arithmetic.tile_variance import variance_tile
from ...arithmetic.triangular import invert_transposed
from ...arithmetic.vectors import add_transposed, axpy, multiply_transposed
from ...jit.decorators import entry, inlined
from ...streams.normals import fill_normals
from .. import interface
from ..memory import Windowed, fading
from ..noise import variance_law
from ..normal_law import NormalLaw, draw_normal
from .refactor import absorb_recent, refactor
from .rewards import Linearised
from .state import MOST_UPDATES, Gaussian, RootedGaussian


@interface.sample.body(RootedGaussian)
def _sample(belief, normals, z):
    draw_normal(belief.mu, belief.root, normals, z)


@interface.model_from_xi.body(Gaussian)
def _model_from_xi(belief, xi, z):
    """z = mu + S xi; cost O(r^2)."""
    for j in range(z.shape[0]):
        z[j] = belief.mu[j]
    add_transposed(belief.S, xi, z)


@inlined
def _scale_normals(belief, scale, normals):
    """Scale the normals of the rows of a factor and of the recent arms by how much they count."""
    r, n = belief.mu.shape[0], belief.since_refactor[1]
    scale *= fading(belief.memory, belief.since_refactor[0])
    for i in range(r):
        normals[i] *= scale
    for i in range(n):
        normals[r + i] *= scale * np.sqrt(belief.recent_plays[i])


@interface.draw_xi.body(Gaussian)
def _draw_xi(belief, source, stream, counter, normals, xi):
    """Draw by P = U'U + the recent arms, each as often as it was played; cost O(r^2 + r n).

    One normal for each row of U and then one for each recent arm, in their order.
    """
    r, n = xi.shape[0], belief.since_refactor[1]
    fill_normals(source, stream, counter, normals[: r + n])
    _scale_normals(belief, 1.0, normals[: r + n])
    multiply_transposed(belief.factor, normals[:r], xi)
    add_transposed(belief.recent, normals[r : r + n], xi)


@interface.draw_history.body(Gaussian)
def _draw_history(belief, factor, source, stream, counter, scale, normals, xi):
    """Draw by V'V + the recent arms (update.py); cost O(r^2 + r n)."""
    r, n = xi.shape[0], belief.since_refactor[1]
    fill_normals(source, stream, counter, normals[: r + n])
    _scale_normals(belief, scale, normals[: r + n])
    multiply_transposed(factor, normals[:r], xi)
    add_transposed(belief.recent, normals[r : r + n], xi)


@interface.tile_variances.body(Gaussian)
def _tile_variances(belief, b, row, out):
    variance_tile(belief.S, b, row, out)


@interface.fill_covariance.body(Gaussian)
def _fill_covariance(belief, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = belief.S[i, j]


@interface.fill_covariance.body(RootedGaussian)
def _fill_rooted_covariance(belief, out):
    r = out.shape[0]
    for i in range(r):
        for j in range(r):
            out[i, j] = 0.0
        for k in range(r):
            axpy(belief.root[k, i], belief.root[k], out[i])


@interface.load_roots.body(Gaussian)
@interface.load_roots.body(RootedGaussian)
def _load_roots(belief, R, X):
    """Write U, the recent arms taken in, to R, and its inverse to X."""
    r, eta = R.shape[0], belief.scratch.rows[0]
    for i in range(r):
        eta[i] = belief.eta[i]
        for j in range(r):
            R[i, j] = belief.factor[i, j]
    absorb_recent(belief.memory, belief, R, eta)
    invert_transposed(R, X)


@interface.subtract_covariance_row.body(Gaussian)
def _subtract_covariance_row(belief, i, row):
    axpy(-1.0, belief.S[i], row)


@interface.subtract_covariance_row.body(RootedGaussian)
def _subtract_rooted_covariance_row(belief, i, row):
    for k in range(row.shape[0]):
        axpy(-belief.root[k, i], belief.root[k], row)


@interface.score_by_mean.body(RootedGaussian)
def _score_by_mean(belief, b, offsets, out):
    score_tile(b, offsets, belief.mu, out)


@interface.score_by_root_row.body(RootedGaussian)
def _score_by_root_row(belief, j, b, zeros, out):
    score_tile(b[: j + 1], zeros, belief.root[j, : j + 1], out)


@interface.add_root_row.body(RootedGaussian)
def _add_root_row(belief, j, weight, out):
    axpy(weight, belief.root[j, : j + 1], out[: j + 1])


@interface.noise_of.body(Gaussian)
@interface.noise_of.body(RootedGaussian)
def _noise_of(belief):
    return belief.rewards


@interface.mean_of.body(Gaussian)
@interface.mean_of.body(RootedGaussian)
def _mean_of(belief):
    return belief.mu


@interface.perturbed_alike.body(Gaussian)
@interface.perturbed_alike.body(RootedGaussian)
def _perturbed_alike(belief):
    return not isinstance(belief.rewards, Linearised)


@interface.recent_arms.body(Gaussian)
@interface.recent_arms.body(RootedGaussian)
def _recent_arms(belief):
    return len(belief.recent)


@entry
def compute_afresh(belief):
    """Compute all of a belief afresh (`refactor`), for Python to call."""
    refactor(belief)


@interface.normal_law.body(Gaussian)
@interface.normal_law.body(RootedGaussian)
def _normal_law(belief):
    """Compute a copy afresh."""
    whole = RootedGaussian(*copy.deepcopy(tuple(belief)))
    compute_afresh(whole)
    return NormalLaw(whole.mu, whole.root)


@interface.covariance_of.body(Gaussian)
def _covariance_of(belief):
    return belief.S


@interface.covariance_of.body(RootedGaussian)
def _covariance_of_root(belief):
    return belief.root.T @ belief.root


@interface.is_whole.body(Gaussian)
@interface.is_whole.body(RootedGaussian)
def _is_whole(belief):
    updates, distinct, allowed = belief.since_refactor
    law = variance_law(belief.rewards)
    if law is not None and not (law[0] >= 1.0 and law[1] > 0.0):
        return False
    if isinstance(belief.memory, Windowed) and belief.memory.seen[0] < 0:
        return False
    return 0 <= distinct < len(belief.recent) and distinct <= updates < allowed <= MOST_UPDATES
