"""Uniform play: any arm, whatever was seen. To it all arms tie."""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of
from ..states.layout import allocated
from ..streams.draws import integer
from ..streams.layout import TIES
from .interface import random_arm


class Uniform(NamedTuple):
    """State of uniform play. What it learns it does not use; diagnostics do."""

    belief: Belief
    z: np.ndarray  # (r,): the mean


@allocated
def uniform(belief: Belief) -> Uniform:
    """Return the state before the first step, from the layout of its belief."""
    return Uniform(belief, mean_of(belief))


@random_arm.body(Uniform)
def _random_arm(agent, K, source, t):
    return integer(source, TIES, t, K)
