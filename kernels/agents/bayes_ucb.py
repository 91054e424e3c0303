"""Bayes-UCB: play the arm with the largest posterior quantile, at a level that rises to 1."""

import math
from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of, noise_of, update_with_drift
from ..beliefs.noise import largest_noise_scale, noise_scale, value_quantile
from ..jit.decorators import entry
from ..states.layout import allocated, zeros
from .interface import learn, optimism, optimism_level, prepare, score, variance_drift
from .linucb import score_optimistically

_LEVELS = 4.0
"""Levels of optimism for each standard deviation: bounds of one hold until the next is reached."""


class Scratch(NamedTuple):
    """What a step writes to."""

    alpha: np.ndarray  # (1,): the quantile of this step, in units of sqrt(b'S b)
    before: np.ndarray  # (r, r): of `update_with_drift`


class BayesUCB(NamedTuple):
    """State of Bayes-UCB."""

    belief: Belief
    variance_drift: np.ndarray  # (1,): by how much at most b'S b / b'b has risen, in all
    z: np.ndarray  # (r,): the mean, of the linear part
    scratch: Scratch


@allocated
def bayes_ucb(belief: Belief) -> BayesUCB:
    """Return the state before the first step, from the layout of its belief."""
    mean = mean_of(belief)
    scratch = Scratch(zeros(1), zeros((len(mean), len(mean))))
    return BayesUCB(belief, zeros(1), mean, scratch)


@entry
def set_quantile(agent, t):
    """Set alpha to the quantile 1 - 1/(t + 2): steps are counted from 0, in the rule from 1."""
    noise = noise_of(agent.belief)
    agent.scratch.alpha[0] = value_quantile(noise, 1.0 / (t + 2.0)) if t > 0 else 0.0


@prepare.body(BayesUCB)
def _prepare(agent, source, t):
    set_quantile(agent, t)


@score.body(BayesUCB)
def _score(agent, arms, tile, work):
    score_optimistically(agent, agent.scratch.alpha[0], arms, tile, work)


@optimism.body(BayesUCB)
def _optimism(agent):
    return agent.scratch.alpha[0]


@optimism_level.body(BayesUCB)
def _optimism_level(agent):
    noise = noise_of(agent.belief)
    quantile = agent.scratch.alpha[0] / noise_scale(noise)
    return math.ceil(_LEVELS * quantile) / _LEVELS * largest_noise_scale(noise)


@variance_drift.body(BayesUCB)
def _variance_drift(agent):
    return agent.variance_drift[0]


@learn.body(BayesUCB)
def _learn(agent, row, offset, key, reward, source, t):
    before, drift = agent.scratch.before, agent.variance_drift
    update_with_drift(agent.belief, row, offset, key, reward, before, drift)
