"""Greedy: play the best arm of the posterior mean. What it does is the default (agent.py)."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior


class Greedy(NamedTuple):
    """State of the greedy agent."""

    posterior: Posterior
    z: np.ndarray  # (r,): posterior.mu


def greedy(r: int) -> Greedy:
    """Return the state before the first step."""
    posterior = prior(r)
    return Greedy(posterior, posterior.mu)
