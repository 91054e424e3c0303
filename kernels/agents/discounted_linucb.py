"""Discounted LinUCB: optimism by the variance that the discounted mean has.

With P and mu of a belief that forgets (beliefs/memory.py) and S = P^-1, noise of variance 1 gives
mu the covariance S V S but for the part of the prior. V is P with gamma^2 in the place of gamma:

    V <- gamma^2 V + b b',   and with every n-th reward  V <- V + (1 - gamma^(2 n)) I.

An arm is scored by o + b'mu + alpha sqrt(b'S V S b).
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.tile_variance import variance_tile
from ..arithmetic.vectors import axpy, dot, multiply_transposed
from ..beliefs.interface import (
    Belief,
    fill_covariance,
    mean_of,
    memory_of,
    model_from_xi,
    update,
)
from ..beliefs.memory import fading, kept, lost, refill_due
from ..jit.decorators import kernel
from ..states.layout import allocated, identity, zeros
from .interface import learn, score

_AFRESH = 256
"""Rewards after which S V S is computed afresh, at the latest: before rounding gathers in it."""


class Scratch(NamedTuple):
    """What an update writes to."""

    before: np.ndarray  # (r,): S V S b before the update
    after: np.ndarray  # (r,): S b after it
    S: np.ndarray  # (r, r)
    product: np.ndarray  # (r, r)


class DiscountedLinUCB(NamedTuple):
    """State of discounted LinUCB."""

    belief: Belief
    alpha: float
    second: np.ndarray  # (r, r): V
    spread: np.ndarray  # (r, r): S V S
    z: np.ndarray  # (r,): the mean
    scratch: Scratch


@allocated
def discounted_linucb(belief: Belief, alpha: float) -> DiscountedLinUCB:
    """Return the state before the first step, from the layout of its belief."""
    mean = mean_of(belief)
    r = len(mean)
    scratch = Scratch(zeros(r), zeros(r), zeros((r, r)), zeros((r, r)))
    return DiscountedLinUCB(belief, float(alpha), identity(r), identity(r), mean, scratch)


@score.body(DiscountedLinUCB)
def _score(agent, arms, tile, work):
    index, row, variance = work.scores[0], work.scores[1], work.scores[2]
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, index)
    variance_tile(agent.spread, arms.tiles[tile], row, variance)
    for i in range(TILE):
        index[i] = fma(agent.alpha, np.sqrt(variance[i]), index[i])


@learn.body(DiscountedLinUCB)
def _learn(agent, row, offset, key, reward, source, t):
    """Take in a reward; cost O(r^2), and O(r^3) with a refill.

    With q = S b for S as it is after the update, and u the old S V S times b,

        S V S <- S V S - q u' - u q' + (1 + b'u) q q'.
    """
    memory, C, V = memory_of(agent.belief), agent.spread, agent.second
    u, q = agent.scratch.before, agent.scratch.after
    multiply_transposed(C, row, u)
    update(agent.belief, row, offset, key, reward)
    model_from_xi(agent.belief, row, q)
    keep, both = fading(memory, 4), 1.0 + dot(row, u)
    for j in range(row.shape[0]):
        q[j] -= agent.z[j]
    for i in range(row.shape[0]):
        for j in range(row.shape[0]):
            V[i, j] = fma(row[i], row[j], keep * V[i, j])
            C[i, j] += both * (q[i] * q[j]) - (q[i] * u[j] + u[i] * q[j])
    refilled = refill_due(memory, t + 1)
    if refilled:
        for i in range(row.shape[0]):
            V[i, i] += lost(memory, 2)
            for j in range(row.shape[0]):
                V[i, j] = kept(V[i, j])
    if refilled or (t + 1) % _AFRESH == 0:
        _spread_afresh(agent.belief, V, agent.scratch, C)


@kernel
def _spread_afresh(belief, V, scratch, C):
    """C = S V S; cost O(r^3)."""
    S, product, r = scratch.S, scratch.product, C.shape[0]
    fill_covariance(belief, S)
    for i in range(r):
        for j in range(r):
            product[i, j] = 0.0
            C[i, j] = 0.0
        for k in range(r):
            axpy(S[i, k], V[k], product[i])
    for i in range(r):
        for k in range(r):
            axpy(product[i, k], S[k], C[i])
