"""Epsilon-greedy: the best arm of the posterior mean, or now and then any arm."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior
from ..streams.draws import integer, uniform
from ..streams.layout import EXPLORATION, TIES
from .interface import has_linear_scores, random_arm


class EpsilonGreedy(NamedTuple):
    """State of epsilon-greedy."""

    posterior: Posterior
    epsilon: float
    z: np.ndarray  # (r,): posterior.mu


def epsilon_greedy(r: int, epsilon: float) -> EpsilonGreedy:
    """Return the state before the first step."""
    posterior = prior(r)
    return EpsilonGreedy(posterior, epsilon, posterior.mu)


@has_linear_scores.body(EpsilonGreedy)
def _has_linear_scores(agent):
    return True


@random_arm.body(EpsilonGreedy)
def _random_arm(agent, K, source, t):
    if uniform(source, EXPLORATION, t) < agent.epsilon:
        return integer(source, TIES, t, K)
    return np.int64(-1)
