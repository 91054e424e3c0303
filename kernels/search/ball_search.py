"""The best arm of the ball: in the direction of the model, or the most optimistic one."""

from typing import NamedTuple

import numpy as np

from ..actions.ball import BallActions, take_direction
from ..actions.whitening import parameter_of
from ..agents.interface import optimism
from ..arithmetic.eigen import diagonalise
from ..arithmetic.vectors import axpy, dot
from ..jit.decorators import kernel
from ..streams.layout import TIES
from ..streams.normals import fill_normals
from .scan import choose


class Spectrum(NamedTuple):
    """Scratch of an optimistic choice; (0, 0) where none is made."""

    matrix: np.ndarray  # (d, d): the covariance of a'theta / sigma; its eigenvalues in the end
    vectors: np.ndarray  # (d, d): its eigenvectors, one a row
    product: np.ndarray  # (d, r)
    weights: np.ndarray  # (d,)


class BallSearch(NamedTuple):
    """What a choice from the ball needs and writes to."""

    ball: BallActions
    theta: np.ndarray  # (d,)
    spectrum: Spectrum


def ball_search(ball: BallActions, optimistic: bool) -> BallSearch:
    """Return the workspace of a choice, by a linear score or by an optimistic one."""
    d, r = len(ball.whitening.mean), len(ball.scratch.b)
    n = d if optimistic else 0
    spectrum = Spectrum(np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, r)), np.zeros(n))
    return BallSearch(ball, np.zeros(d), spectrum)


@choose.body(BallSearch)
def _choose(work, agent, arms, source, t):
    parameter_of(work.ball.whitening, agent.z, work.theta)
    if optimism(agent) > 0.0:
        _most_optimistic(work, agent.posterior.S, optimism(agent), source, t)
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
def _most_optimistic(work, S, alpha, source, t):
    """theta <- a direction that maximises a'theta + alpha sqrt(a'G a) over the sphere; cost O(d^3).

    G = Q diag(g) Q' is the covariance. sqrt(a'G a) is the largest a'G^(1/2) u over |u| <= 1, so u
    maximises |theta + alpha G^(1/2) u|. With y = Q'theta, a multiplier nu >= alpha^2 max g makes
    u_i = alpha sqrt(g_i) y_i / (nu - alpha^2 g_i) of length 1; a is along y_i / (nu - alpha^2 g_i).
    Where no nu does, because y has no part along the largest g, a part of any direction there is
    added to u until it has: a direction drawn uniformly, for all of them tie.
    """
    theta, G, Q, y = work.theta, work.spectrum.matrix, work.spectrum.vectors, work.spectrum.weights
    d = theta.shape[0]
    _covariance(work.ball.whitening, S, work.spectrum.product, G)
    diagonalise(G, Q)
    largest, pull = 0.0, 0.0
    for i in range(d):
        y[i] = dot(Q[i], theta)
        largest = max(largest, G[i, i])
    if largest <= 0.0:
        return
    square = alpha * alpha
    for i in range(d):
        pull += max(G[i, i], 0.0) * y[i] * y[i]
    # The length of u falls as delta = nu - alpha^2 max g rises: halve until it cannot be halved.
    low, high = 0.0, alpha * np.sqrt(pull)
    for _ in range(300):
        delta = 0.5 * (low + high)
        if not low < delta < high:
            break
        if _square_length(G, y, square, largest, delta) > 1.0:
            low = delta
        else:
            high = delta
    delta = high
    missing = 1.0 - _square_length(G, y, square, largest, delta)
    for j in range(d):
        theta[j] = 0.0
    for i in range(d):
        gap = delta + square * (largest - max(G[i, i], 0.0))
        if y[i] != 0.0:
            axpy(y[i] * (1.0 + square * max(G[i, i], 0.0) / gap), Q[i], theta)
    if missing > 1e-9:
        _add_any(work, alpha * np.sqrt(largest * missing), largest, source, t)


@kernel
def _add_any(work, size, largest, source, t):
    """Add to theta a vector of this size, of any direction in which the variance is the largest."""
    G, Q, normals = work.spectrum.matrix, work.spectrum.vectors, work.ball.scratch.a
    fill_normals(source, TIES, t, normals)
    square = 0.0
    for i in range(normals.shape[0]):
        if G[i, i] >= largest * (1.0 - 1e-12):
            square += normals[i] * normals[i]
    for i in range(normals.shape[0]):
        if G[i, i] >= largest * (1.0 - 1e-12):
            axpy(size * normals[i] / np.sqrt(square), Q[i], work.theta)


@kernel
def _square_length(G, y, square, largest, delta):
    """Return |u|^2 for the multiplier alpha^2 max g + delta."""
    total = 0.0
    for i in range(y.shape[0]):
        g = max(G[i, i], 0.0)
        if y[i] != 0.0 and g > 0.0:
            total += square * g * (y[i] / (delta + square * (largest - g))) ** 2
    return total
