"""Thompson sampling: play the best arm of a model drawn from the posterior."""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import Belief, mean_of, noise_of, sample
from ..beliefs.noise import draw_noise
from ..jit.decorators import entry
from ..states.layout import allocated, zeros
from ..streams.blocks import STEPS, Block, draw_vector, no_block
from ..streams.layout import DIAGNOSTICS, POSTERIOR_SAMPLE, probe_counter
from ..streams.normals import fill_normals
from .interface import has_linear_scores, prepare


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: Block  # of r, rounded up to be even
    scaled: np.ndarray  # (r,): those of this step, inflated


class Thompson(NamedTuple):
    """State of Thompson sampling."""

    belief: Belief
    inflation: float
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def thompson(belief: Belief, inflation: float) -> Thompson:
    """Return the state before the first step, from the layout of its belief."""
    r = len(mean_of(belief))
    scratch = Scratch(no_block.layout(r + r % 2), zeros(r))
    return Thompson(belief, inflation, zeros(r), scratch)


@has_linear_scores.body(Thompson)
def _has_linear_scores(agent):
    return True


@prepare.body(Thompson)
def _prepare(agent, source, t):
    block, scaled = agent.scratch.normals, agent.scratch.scaled
    draw_vector(block, source, POSTERIOR_SAMPLE, t, agent.z.shape[0])
    scale = agent.inflation * draw_noise(noise_of(agent.belief), source, POSTERIOR_SAMPLE, t)
    for j in range(agent.z.shape[0]):
        scaled[j] = scale * block.numbers[j, t % STEPS]
    sample(agent.belief, scaled, agent.z)


@entry
def draw_models(agent, source, probe_index, z):
    """z[i, :] = the i-th model that a probe draws, one that a step might play."""
    scaled = agent.scratch.scaled
    for i in range(z.shape[0]):
        counter = probe_counter(probe_index, i)
        fill_normals(source, DIAGNOSTICS, counter, scaled)
        scale = agent.inflation * draw_noise(noise_of(agent.belief), source, DIAGNOSTICS, counter)
        for j in range(scaled.shape[0]):
            scaled[j] *= scale
        sample(agent.belief, scaled, z[i])
