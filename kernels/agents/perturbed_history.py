"""Perturbed history: at every step, what the mean would be had all rewards come with new noise.

    z = mu + scale S sum_s W_s b_s,   W_s ~ N(0, 1) drawn anew at every step,

over all rewards so far: the sum is N(0, P - I). V'V = sum of b b' is kept as a normal belief keeps
U'U = P (beliefs/gaussian), without the prior: a draw is V'n and one normal for each arm played
since, whatever the number of rewards.
"""

from typing import NamedTuple

import numpy as np

from ..beliefs.interface import (
    Belief,
    draw_history,
    mean_of,
    model_from_xi,
    noise_of,
    recent_arms,
    update_with_history,
)
from ..beliefs.noise import draw_noise
from ..jit.decorators import entry, inlined
from ..states.layout import allocated, zeros
from ..streams.layout import DIAGNOSTICS, PERTURBATION, probe_counter
from .interface import has_linear_scores, learn, prepare


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: np.ndarray  # (r + recent arms,)
    xi: np.ndarray  # (r,): the sum of perturbed arms
    columns: np.ndarray  # (r + 1, recent arms): of `update_with_history`
    eta: np.ndarray  # (r,): of `update_with_history`, zero


class PerturbedHistory(NamedTuple):
    """State of perturbed history."""

    belief: Belief
    scale: float
    factor: np.ndarray  # (r, r): V, upper triangular, but for the recent arms
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def perturbed_history(belief: Belief, scale: float) -> PerturbedHistory:
    """Return the state before the first step, from the layout of its belief."""
    r, n = len(mean_of(belief)), recent_arms(belief)
    scratch = Scratch(zeros(r + n), zeros(r), zeros((r + 1, n)), zeros(r))
    return PerturbedHistory(belief, scale, zeros((r, r)), zeros(r), scratch)


@has_linear_scores.body(PerturbedHistory)
def _has_linear_scores(agent):
    return True


@inlined
def _draw_model(agent, source, stream, t, z):
    """z = a model with fresh noise, by the vector at t; cost O(r^2 + r recent arms)."""
    xi, normals = agent.scratch.xi, agent.scratch.normals
    scale = agent.scale * draw_noise(noise_of(agent.belief), source, stream, t)
    draw_history(agent.belief, agent.factor, source, stream, t, scale, normals, xi)
    model_from_xi(agent.belief, xi, z)


@prepare.body(PerturbedHistory)
def _prepare(agent, source, t):
    _draw_model(agent, source, PERTURBATION, t, agent.z)


@learn.body(PerturbedHistory)
def _learn(agent, row, offset, key, reward, source, t):
    columns, eta = agent.scratch.columns, agent.scratch.eta
    update_with_history(agent.belief, row, offset, key, reward, agent.factor, columns, eta)


@entry
def draw_models(agent, source, probe_index, z):
    """z[i, :] = the i-th model that a probe draws, one that a step might play."""
    for i in range(z.shape[0]):
        _draw_model(agent, source, DIAGNOSTICS, probe_counter(probe_index, i), z[i])
