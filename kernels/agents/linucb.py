"""LinUCB: play the arm with the largest mean + alpha * standard deviation."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.tile_variance import variance_tile
from ..jit.decorators import inlined
from ..posterior.state import Posterior, prior
from ..posterior.update import refactor_due, update
from .interface import learn, optimism, score, variance_drift


class Scratch(NamedTuple):
    """What an update writes to."""

    before: np.ndarray  # (r, r): S before the last `refactor`


class LinUCB(NamedTuple):
    """State of LinUCB."""

    posterior: Posterior
    alpha: float
    variance_drift: np.ndarray  # (1,): by how much at most b'S b / b'b has risen, in all
    z: np.ndarray  # (r,): posterior.mu, of the linear part
    scratch: Scratch


def linucb(r: int, alpha: float) -> LinUCB:
    """Return the state before the first step."""
    posterior = prior(r)
    scratch = Scratch(np.zeros((r, r)))
    return LinUCB(posterior, float(alpha), np.zeros(1), posterior.mu, scratch)


@inlined
def score_optimistically(agent, alpha, arms, tile, work):
    """Score each arm of a tile by its mean and alpha standard deviations."""
    index, row, variance = work.scores[0], work.scores[1], work.scores[2]
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, index)
    variance_tile(agent.posterior.S, arms.tiles[tile], row, variance)
    for i in range(TILE):
        index[i] = fma(alpha, np.sqrt(variance[i]), index[i])


@score.body(LinUCB)
def _score(agent, arms, tile, work):
    score_optimistically(agent, agent.alpha, arms, tile, work)


@optimism.body(LinUCB)
def _optimism(agent):
    return agent.alpha


@variance_drift.body(LinUCB)
def _variance_drift(agent):
    return agent.variance_drift[0]


@learn.body(LinUCB)
def _learn(agent, row, key, reward, source, t):
    learn_with_drift(agent, row, key, reward)


@inlined
def learn_with_drift(agent, row, key, reward):
    """Update the posterior, and keep account of how rounding may have raised S.

    Sherman and Morrison's formula takes v v' off S with one rounding of each entry, and no
    entry of S exceeds 1 by more than rounding. `refactor` computes S afresh.
    """
    posterior, S, before = agent.posterior, agent.posterior.S, agent.scratch.before
    r, gain, afresh = row.shape[0], posterior.scratch.gain, refactor_due(posterior)
    if afresh:
        for i in range(r):
            for j in range(r):
                before[i, j] = S[i, j]
    update(posterior, row, key, reward)
    agent.variance_drift[0] += 2.0**-52 * r
    if afresh:
        squares = 0.0
        for i in range(r):
            for j in range(r):
                expected = fma(-gain[i], gain[j], before[i, j])
                squares += (S[i, j] - expected) ** 2
        agent.variance_drift[0] += np.sqrt(squares)
