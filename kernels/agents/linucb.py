"""LinUCB: play the arm with the largest mean + alpha * standard deviation.

Where the noise is learned: alpha times the scale of Student's law of the arm's value.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..beliefs.interface import Belief, mean_of, noise_of, tile_variances, update_with_drift
from ..beliefs.noise import largest_noise_scale, noise_scale
from ..jit.decorators import inlined
from ..states.layout import allocated, zeros
from .interface import learn, optimism, optimism_level, score, variance_drift


class Scratch(NamedTuple):
    """What an update writes to."""

    before: np.ndarray  # (r, r): of `update_with_drift`


class LinUCB(NamedTuple):
    """State of LinUCB."""

    belief: Belief
    alpha: float
    variance_drift: np.ndarray  # (1,): by how much at most b'S b / b'b has risen, in all
    z: np.ndarray  # (r,): the mean, of the linear part
    scratch: Scratch


@allocated
def linucb(belief: Belief, alpha: float) -> LinUCB:
    """Return the state before the first step, from the layout of its belief."""
    mean = mean_of(belief)
    scratch = Scratch(zeros((len(mean), len(mean))))
    return LinUCB(belief, float(alpha), zeros(1), mean, scratch)


@inlined
def score_optimistically(agent, alpha, arms, tile, work):
    """Score each arm of a tile by its mean and alpha standard deviations."""
    index, row, variance = work.scores[0], work.scores[1], work.scores[2]
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, index)
    tile_variances(agent.belief, arms.tiles[tile], row, variance)
    for i in range(TILE):
        index[i] = fma(alpha, np.sqrt(variance[i]), index[i])


@score.body(LinUCB)
def _score(agent, arms, tile, work):
    score_optimistically(agent, optimism(agent), arms, tile, work)


@optimism.body(LinUCB)
def _optimism(agent):
    return agent.alpha * noise_scale(noise_of(agent.belief))


@optimism_level.body(LinUCB)
def _optimism_level(agent):
    return agent.alpha * largest_noise_scale(noise_of(agent.belief))


@variance_drift.body(LinUCB)
def _variance_drift(agent):
    return agent.variance_drift[0]


@learn.body(LinUCB)
def _learn(agent, row, offset, key, reward, source, t):
    before, drift = agent.scratch.before, agent.variance_drift
    update_with_drift(agent.belief, row, offset, key, reward, before, drift)
