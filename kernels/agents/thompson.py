"""Thompson sampling: play the best arm of a model drawn from the posterior."""

from typing import NamedTuple

import numpy as np

from ..posterior.state import Posterior, prior, sample
from ..posterior.update import update_root
from ..streams.blocks import STEPS, Block, draw_vector, no_block
from ..streams.layout import POSTERIOR_SAMPLE
from .interface import has_linear_scores, learn, prepare


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: Block  # of r, rounded up to be even


class Thompson(NamedTuple):
    """State of Thompson sampling."""

    posterior: Posterior
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def thompson(r: int) -> Thompson:
    """Return the state before the first step."""
    return Thompson(prior(r, rooted=True), np.zeros(r), Scratch(no_block(r + r % 2)))


@has_linear_scores.body(Thompson)
def _has_linear_scores(agent):
    return True


@prepare.body(Thompson)
def _prepare(agent, source, t):
    block = agent.scratch.normals
    draw_vector(block, source, POSTERIOR_SAMPLE, t, agent.z.shape[0])
    sample(agent.posterior, block.numbers[:, t % STEPS], agent.z)


@learn.body(Thompson)
def _learn(agent, row, key, reward, source, t):
    update_root(agent.posterior, row, key, reward)
