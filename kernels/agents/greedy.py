"""Greedy: play the best arm of the posterior mean. What it does is the default (interface.py)."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior
from .interface import has_linear_scores


class Greedy(NamedTuple):
    """State of the greedy agent."""

    posterior: Posterior
    z: np.ndarray  # (r,): posterior.mu


def greedy(r: int) -> Greedy:
    """Return the state before the first step."""
    posterior = prior(r)
    return Greedy(posterior, posterior.mu)


@has_linear_scores.body(Greedy)
def _has_linear_scores(agent):
    return True
