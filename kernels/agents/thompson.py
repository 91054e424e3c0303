"""Thompson sampling: play the best arm of a model drawn from the posterior."""

from typing import NamedTuple

import numpy as np

from ..actions.arms import load_arm
from ..posterior.state import Posterior, prior, sample
from ..posterior.update import update_with_root
from ..streams.layout import POSTERIOR_SAMPLE
from ..streams.normals import fill_normals
from .interface import learn, prepare


class Thompson(NamedTuple):
    """State of Thompson sampling."""

    posterior: Posterior
    normals: np.ndarray  # (r,)
    z: np.ndarray  # (r,): the model of this step


def thompson(r: int) -> Thompson:
    """Return the state before the first step."""
    return Thompson(prior(r), np.zeros(r), np.zeros(r))


@prepare.body(Thompson)
def _aim(agent, source, t):
    fill_normals(source, POSTERIOR_SAMPLE, t, agent.normals)
    sample(agent.posterior, agent.normals, agent.z)


@learn.body(Thompson)
def _learn(agent, arms, source, t, arm, reward):
    offset = load_arm(arms, arm, agent.posterior.b)
    update_with_root(agent.posterior, arm, reward - offset)
