"""LinUCB: play the arm with the largest mean + alpha * standard deviation."""

from typing import NamedTuple

import numpy as np

from .agent import is_linear, score
from .arms import TILE, score_tile
from .floats import fma
from .jit import kernel
from .posterior import Posterior, prior


class LinUCB(NamedTuple):
    """State of LinUCB."""

    posterior: Posterior
    alpha: float
    z: np.ndarray  # (r,): posterior.mu, of the linear part


def linucb(r: int, alpha: float) -> LinUCB:
    """Return the state before the first step."""
    posterior = prior(r)
    return LinUCB(posterior, float(alpha), posterior.mu)


@kernel
def variance_tile(S, b, row, out):
    """out[:] = b'S b for the arms of a tile (r x TILE); cost O(TILE r^2).

    S is symmetric: twice the part below the diagonal, and the diagonal.
    """
    for i in range(TILE):
        out[i] = 0.0
    for j in range(b.shape[0]):
        for i in range(TILE):
            row[i] = 0.5 * S[j, j] * b[j, i]
        for k in range(j):
            for i in range(TILE):
                row[i] = fma(S[j, k], b[k, i], row[i])
        for i in range(TILE):
            out[i] = fma(b[j, i], row[i], out[i])
    for i in range(TILE):
        # Rounding may leave a variance a hair below zero.
        out[i] = 2.0 * out[i] if out[i] > 0.0 else 0.0


@is_linear.body(LinUCB)
def _is_linear(agent):
    return False


@score.body(LinUCB)
def _score(agent, arms, tile, work):
    index, row, variance = work.scores[0], work.scores[1], work.scores[2]
    score_tile(arms, tile, agent.z, index)
    variance_tile(agent.posterior.S, arms.tiles[tile], row, variance)
    for i in range(TILE):
        index[i] = fma(agent.alpha, np.sqrt(variance[i]), index[i])
