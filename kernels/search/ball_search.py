"""The best arm of the ball: in the direction of the model, or the most optimistic one."""

from typing import NamedTuple

import numpy as np

from ..actions.ball import BallActions, take_direction
from ..actions.whitening import parameter_of
from ..agents.interface import optimism
from ..arithmetic.eigen import diagonalise
from ..arithmetic.vectors import axpy, dot
from ..beliefs.interface import fill_covariance
from ..jit.decorators import inlined, kernel
from ..states.layout import allocated, zeros
from ..streams.layout import TIES
from ..streams.normals import fill_normals
from .scan import choose

_ROUNDING = 1e-10
"""By how much of its largest eigenvalue a covariance may be off: measured, up to 1e-13."""


class Spectrum(NamedTuple):
    """Scratch of an optimistic choice; (0, 0) where none is made."""

    matrix: np.ndarray  # (d, d): the covariance of a'theta / sigma; its eigenvalues in the end
    vectors: np.ndarray  # (d, d): its eigenvectors, one a row
    covariance: np.ndarray  # (r, r): S
    product: np.ndarray  # (d, r)
    weights: np.ndarray  # (d,)


class BallSearch(NamedTuple):
    """What a choice from the ball needs and writes to."""

    ball: BallActions
    theta: np.ndarray  # (d,)
    spectrum: Spectrum


@allocated
def spectrum(d: int, r: int) -> Spectrum:
    """Return the scratch of an optimistic choice, for a covariance of z of size r."""
    return Spectrum(zeros((d, d)), zeros((d, d)), zeros((r, r)), zeros((d, r)), zeros(d))


@allocated
def ball_search(ball: BallActions, optimistic: bool) -> BallSearch:
    """Return the workspace of a choice, by a linear score or by an optimistic one."""
    d, r = len(ball.whitening.mean), len(ball.scratch.b)
    scratch = spectrum.layout(d, r) if optimistic else spectrum.layout(0, 0)
    return BallSearch(ball, zeros(d), scratch)


@choose.body(BallSearch)
def _choose(work, agent, arms, source, t):
    parameter_of(work.ball.whitening, agent.z, work.theta)
    if optimism(agent) > 0.0:
        fill_covariance(agent.belief, work.spectrum.covariance)
        _most_optimistic(work, optimism(agent), source, t)
    return take_direction(work.ball, work.theta, source, t)


@kernel
def _covariance(whitening, S, product, out):
    """out = F S F' / sigma^2, the covariance of theta / sigma; cost O(d r^2)."""
    d, r = product.shape
    for i in range(d):
        for j in range(r):
            product[i, j] = 0.0
    if whitening.matrix.shape[0] == 0:
        for i in range(d):
            for j in range(d):
                out[i, j] = 0.0
        for i in range(r):
            for j in range(r):
                scale = whitening.scale[i] * whitening.scale[j]
                out[whitening.kept[i], whitening.kept[j]] = scale * S[i, j]
    else:
        for i in range(d):
            for k in range(r):
                axpy(whitening.matrix[i, k], S[k], product[i])
        for i in range(d):
            for j in range(d):
                out[i, j] = dot(product[i], whitening.matrix[j])


@kernel
def _most_optimistic(work, alpha, source, t):
    """theta <- a direction that maximises a'theta + alpha sqrt(a'G a) over the sphere; cost O(d^3).

    G = Q diag(g) Q' is the covariance. sqrt(a'G a) is the largest a'G^(1/2) u over |u| <= 1, so u
    maximises |theta + alpha G^(1/2) u|. With y = Q'theta, a multiplier delta >= 0 makes
    u_i = sqrt(g_i) y_i / (delta + alpha (max g - g_i)) of length 1, and a is along
    theta + alpha G^(1/2) u. Where no delta does, because y has no part along the largest g, a part
    of any direction there is added to u until it has: a direction drawn uniformly, for all of them
    tie.
    """
    theta, G, Q, y = work.theta, work.spectrum.matrix, work.spectrum.vectors, work.spectrum.weights
    _covariance(work.ball.whitening, work.spectrum.covariance, work.spectrum.product, G)
    diagonalise(G, Q)
    largest = 0.0
    for i in range(y.shape[0]):
        y[i] = dot(Q[i], theta)
        largest = max(largest, G[i, i])
    if largest <= 0.0:
        return
    delta, missing = 0.0, 0.0
    if _forget_rounding(G, y, largest):
        missing = 1.0 - _square_length(G, y, alpha, largest, delta)
    if missing <= 0.0:
        delta = _multiplier(G, y, alpha, largest)
    # Divided by alpha where that is above 1: only the direction counts.
    calm, bold = min(1.0, 1.0 / alpha), min(1.0, alpha)
    for j in range(theta.shape[0]):
        theta[j] = 0.0
    for i in range(theta.shape[0]):
        if y[i] != 0.0:
            g = max(G[i, i], 0.0)
            axpy(y[i] * (calm + bold * g / (delta + alpha * (largest - g))), Q[i], theta)
    if missing > 0.0:
        _add_any(work, bold * np.sqrt(largest * missing), largest, source, t)


@inlined
def _is_largest(g, largest):
    """Return whether an eigenvalue is the largest one up to rounding."""
    return g >= largest * (1.0 - _ROUNDING)


@kernel
def _forget_rounding(G, y, largest):
    """Make the part of y along the largest eigenvalue zero if rounding may have made it.

    Return whether it is zero. Where a matrix is off by e max g, the eigenvectors of max g lean
    towards that of g_i by at most e max g / (max g - g_i), to first order. The part is then off by
    at most e times the sum of |y_i| max g / (max g - g_i) over the others. If it is within that,
    an arm and its mirror image have scores a'theta + alpha sqrt(a'G a) that differ by at most twice
    that: rounding decides which of them is larger, and here they tie instead.
    """
    part = lean = 0.0
    for i in range(y.shape[0]):
        if _is_largest(G[i, i], largest):
            part += y[i] * y[i]
        else:
            lean += abs(y[i]) * (largest / (largest - G[i, i]))
    if not np.sqrt(part) <= _ROUNDING * lean:
        return False
    for i in range(y.shape[0]):
        if _is_largest(G[i, i], largest):
            y[i] = 0.0
    return True


@kernel
def _multiplier(G, y, alpha, largest):
    """Return delta with |u| = 1: |u| falls as delta rises, and is at most sqrt(max g) |y| / delta.

    Halve until it cannot be halved.
    """
    low, high = 0.0, np.sqrt(largest) * np.sqrt(dot(y, y))
    for _ in range(300):
        delta = 0.5 * (low + high)
        if not low < delta < high:
            break
        if _square_length(G, y, alpha, largest, delta) > 1.0:
            low = delta
        else:
            high = delta
    return high


@kernel
def _add_any(work, size, largest, source, t):
    """Add to theta a vector of this size, of any direction in which the variance is the largest."""
    G, Q, normals = work.spectrum.matrix, work.spectrum.vectors, work.ball.scratch.a
    fill_normals(source, TIES, t, normals)
    square = 0.0
    for i in range(normals.shape[0]):
        if _is_largest(G[i, i], largest):
            square += normals[i] * normals[i]
    for i in range(normals.shape[0]):
        if _is_largest(G[i, i], largest):
            axpy(size * normals[i] / np.sqrt(square), Q[i], work.theta)


@kernel
def _square_length(G, y, alpha, largest, delta):
    """Return |u|^2 for a multiplier delta."""
    total = 0.0
    for i in range(y.shape[0]):
        g = max(G[i, i], 0.0)
        if y[i] != 0.0 and g > 0.0:
            total += g * (y[i] / (delta + alpha * (largest - g))) ** 2
    return total
