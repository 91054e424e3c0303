"""Uniform play: any arm, whatever was seen. To it all arms tie."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior
from ..streams.draws import integer
from ..streams.layout import TIES
from .interface import random_arm


class Uniform(NamedTuple):
    """State of uniform play. What it learns it does not use; diagnostics do."""

    posterior: Posterior
    z: np.ndarray  # (r,): posterior.mu


def uniform(r: int) -> Uniform:
    """Return the state before the first step."""
    posterior = prior(r)
    return Uniform(posterior, posterior.mu)


@random_arm.body(Uniform)
def _random_arm(agent, K, source, t):
    return integer(source, TIES, t, K)
