"""Epsilon-greedy: the best arm of the mean, or now and then any arm."""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of
from ..states.layout import allocated
from ..streams.draws import integer, uniform
from ..streams.layout import EXPLORATION, TIES
from .interface import has_linear_scores, random_arm


class EpsilonGreedy(NamedTuple):
    """State of epsilon-greedy."""

    belief: Belief
    epsilon: float
    z: np.ndarray  # (r,): the mean


@allocated
def epsilon_greedy(belief: Belief, epsilon: float) -> EpsilonGreedy:
    """Return the state before the first step, from the layout of its belief."""
    return EpsilonGreedy(belief, epsilon, mean_of(belief))


@has_linear_scores.body(EpsilonGreedy)
def _has_linear_scores(agent):
    return True


@random_arm.body(EpsilonGreedy)
def _random_arm(agent, K, source, t):
    if uniform(source, EXPLORATION, t) < agent.epsilon:
        return integer(source, TIES, t, K)
    return np.int64(-1)
