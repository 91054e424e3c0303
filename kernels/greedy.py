"""Greedy: play the best arm of the posterior mean."""

from typing import NamedTuple

import numpy as np

from .agent import learn
from .arms import load_arm
from .posterior import Posterior, prior, update


class Greedy(NamedTuple):
    """State of the greedy agent."""

    posterior: Posterior
    z: np.ndarray  # (r,): posterior.mu


def greedy(r: int) -> Greedy:
    """Return the state before the first step."""
    posterior = prior(r)
    return Greedy(posterior, posterior.mu)


@learn.body(Greedy)
def _learn(agent, arms, source, t, arm, reward):
    offset = load_arm(arms, arm, agent.posterior.b)
    update(agent.posterior, arm, reward - offset)
