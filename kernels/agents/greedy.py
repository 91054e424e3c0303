"""Greedy: play the best arm of the mean. What it does is the default (interface.py)."""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of
from ..states.layout import allocated
from .interface import has_linear_scores


class Greedy(NamedTuple):
    """State of the greedy agent."""

    belief: Belief
    z: np.ndarray  # (r,): the mean


@allocated
def greedy(belief: Belief) -> Greedy:
    """Return the state before the first step, from the layout of its belief."""
    return Greedy(belief, mean_of(belief))


@has_linear_scores.body(Greedy)
def _has_linear_scores(agent):
    return True
