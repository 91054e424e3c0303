"""Thompson sampling: play the best arm of a model drawn from the posterior."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior, sample
from ..posterior.update import update_with_root
from ..streams.layout import POSTERIOR_SAMPLE
from ..streams.normals import fill_normals
from .interface import has_linear_scores, learn, prepare


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: np.ndarray  # (r,)


class Thompson(NamedTuple):
    """State of Thompson sampling."""

    posterior: Posterior
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def thompson(r: int) -> Thompson:
    """Return the state before the first step."""
    return Thompson(prior(r), np.zeros(r), Scratch(np.zeros(r)))


@has_linear_scores.body(Thompson)
def _has_linear_scores(agent):
    return True


@prepare.body(Thompson)
def _prepare(agent, source, t):
    fill_normals(source, POSTERIOR_SAMPLE, t, agent.scratch.normals)
    sample(agent.posterior, agent.scratch.normals, agent.z)


@learn.body(Thompson)
def _learn(agent, row, key, reward, source, t):
    update_with_root(agent.posterior, row, key, reward)
