"""Ensemble++: M models in information space, of which every step mixes all by random weights.

    z = mu + c S Xi zeta,   Xi <- Xi + b w' / sqrt(M),   Xi_0 of N(0, 1) / sqrt(M),

with Xi (r x M), and zeta and w in R^M drawn anew at every step, E zeta zeta' = E w w' = I; c
inflates deviations. Here a row of `xi` is a column of sqrt(M) Xi: a model of ensemble sampling
(ensembles/eager.py). It forgets as one.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.vectors import axpy, dot, multiply_transposed
from ..beliefs.interface import (
    Belief,
    mean_of,
    memory_of,
    model_from_xi,
    noise_of,
    perturbation_root,
    update,
)
from ..beliefs.noise import draw_noise, prior_root
from ..ensembles.refill import fade, refill
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, zeros
from ..streams.draws import integer
from ..streams.layout import DIAGNOSTICS, INITIAL_MODELS, PERTURBATION, REFERENCE, probe_counter
from ..streams.normals import fill_normal_rows, fill_normals
from ..streams.philox import Source, random_pair
from .interface import has_linear_scores, learn, prepare

_U = np.uint64

NORMAL, SPHERE, SIGNS, COORDINATES = range(4)
"""Laws of a vector in R^M: N(0, I); uniform of norm sqrt(M); signs; sqrt(M) e_i with a sign."""


class Scratch(NamedTuple):
    """What a step writes to."""

    weights: np.ndarray  # (M,): zeta or w
    deviation: np.ndarray  # (r,): Xi zeta


class EnsemblePlusPlus(NamedTuple):
    """State of Ensemble++."""

    belief: Belief
    reference: int  # the law of zeta
    perturbations: int  # the law of w
    inflation: float  # c
    xi: np.ndarray  # (M, r): the models
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def ensemble_plus_plus(
    belief: Belief, M: int, reference: int, perturbations: int, inflation: float
) -> EnsemblePlusPlus:
    """Return the state from the layout of its belief, xi to be drawn by `draw_prior_models`."""
    r = len(mean_of(belief))
    scratch = Scratch(zeros(M), zeros(r))
    laws = reference, perturbations
    return EnsemblePlusPlus(belief, *laws, inflation, zeros((M, r)), zeros(r), scratch)


def draw_prior_models(agent: EnsemblePlusPlus, source: Source) -> None:
    """Draw xi ~ N(0, P) for all models, P that of the prior."""
    fill_normal_rows(source, INITIAL_MODELS, agent.xi)
    agent.xi[:] *= prior_root(noise_of(agent.belief))


@kernel
def fill_weights(law, source, stream, t, out):
    """out = the vector at t of one of the laws above."""
    M = out.shape[0]
    if law == SIGNS:
        for j in range(M):
            low, high = random_pair(source, stream, _U(j >> 7), _U(t))
            word = low if j & 64 == 0 else high
            out[j] = 1.0 - 2.0 * np.float64((word >> _U(j & 63)) & _U(1))
    elif law == COORDINATES:
        choice = integer(source, stream, t, 2 * M)
        for j in range(M):
            out[j] = 0.0
        out[choice >> 1] = np.sqrt(np.float64(M)) * (1.0 - 2.0 * np.float64(choice & 1))
    else:
        fill_normals(source, stream, t, out)
        if law == SPHERE:
            scale = np.sqrt(M / dot(out, out))
            for j in range(M):
                out[j] *= scale


@inlined
def _mix(agent, source, stream, t, z):
    """z = mu + c S Xi zeta, with zeta of a stream at t; cost O(M r + r^2)."""
    zeta, deviation = agent.scratch.weights, agent.scratch.deviation
    fill_weights(agent.reference, source, stream, t, zeta)
    multiply_transposed(agent.xi, zeta, deviation)
    noise = draw_noise(noise_of(agent.belief), source, stream, t)
    scale = agent.inflation * noise / np.sqrt(np.float64(zeta.shape[0]))
    for j in range(deviation.shape[0]):
        deviation[j] *= scale
    model_from_xi(agent.belief, deviation, z)


@has_linear_scores.body(EnsemblePlusPlus)
def _has_linear_scores(agent):
    return True


@prepare.body(EnsemblePlusPlus)
def _prepare(agent, source, t):
    _mix(agent, source, REFERENCE, t, agent.z)


@learn.body(EnsemblePlusPlus)
def _learn(agent, row, offset, key, reward, source, t):
    w = agent.scratch.weights
    fill_weights(agent.perturbations, source, PERTURBATION, t, w)
    update(agent.belief, row, offset, key, reward)
    root, memory = perturbation_root(agent.belief), memory_of(agent.belief)
    for m in range(w.shape[0]):
        fade(memory, agent.xi[m])
        axpy(root * w[m], row, agent.xi[m])
        refill(memory, source, m, t + 1, agent.xi[m])


@entry
def draw_models(agent, source, probe_index, z):
    """z[i, :] = the i-th model that a probe draws, one that a step might play."""
    for i in range(z.shape[0]):
        _mix(agent, source, DIAGNOSTICS, probe_counter(probe_index, i), z[i])
