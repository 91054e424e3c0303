"""Perturbed history: at every step, what the mean would be had all rewards come with new noise.

    z = mu + scale S sum_s W_s b_s,   W_s ~ N(0, 1) drawn anew at every step,

over all rewards so far: the sum is N(0, P - I). V'V = sum of b b' is kept as the posterior keeps
U'U = P (posterior/refactor.py), without the prior: a draw is V'n and one normal for each arm played
since, whatever the number of rewards.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.vectors import add_transposed, multiply_transposed
from ..jit.decorators import entry, inlined
from ..posterior.refactor import absorb
from ..posterior.state import Posterior, model_from_xi, prior
from ..posterior.update import refactor_due, update
from ..streams.layout import DIAGNOSTICS, PERTURBATION, probe_counter
from ..streams.normals import fill_normals
from .interface import has_linear_scores, learn, prepare


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: np.ndarray  # (r + recent arms,)
    xi: np.ndarray  # (r,): the sum of perturbed arms
    columns: np.ndarray  # (r + 1, recent arms): of `absorb`
    eta: np.ndarray  # (r,): of `absorb`, zero


class PerturbedHistory(NamedTuple):
    """State of perturbed history."""

    posterior: Posterior
    scale: float
    factor: np.ndarray  # (r, r): V, upper triangular, as of the posterior's last `refactor`
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def perturbed_history(r: int, scale: float) -> PerturbedHistory:
    """Return the state before the first step."""
    posterior = prior(r)
    n = len(posterior.recent)
    scratch = Scratch(np.zeros(r + n), np.zeros(r), np.zeros((r + 1, n)), np.zeros(r))
    return PerturbedHistory(posterior, scale, np.zeros((r, r)), np.zeros(r), scratch)


@has_linear_scores.body(PerturbedHistory)
def _has_linear_scores(agent):
    return True


@inlined
def _draw_sum(agent, source, stream, t, xi):
    """xi = scale times a draw from N(0, P - I), by the vector at t; cost O(r^2 + r recent arms)."""
    posterior, normals = agent.posterior, agent.scratch.normals
    r, n = xi.shape[0], posterior.since_refactor[1]
    fill_normals(source, stream, t, normals[: r + n])
    for i in range(r):
        normals[i] *= agent.scale
    for i in range(n):
        normals[r + i] *= agent.scale * np.sqrt(np.float64(posterior.recent_plays[i]))
    multiply_transposed(agent.factor, normals[:r], xi)
    add_transposed(posterior.recent, normals[r : r + n], xi)


@prepare.body(PerturbedHistory)
def _prepare(agent, source, t):
    _draw_sum(agent, source, PERTURBATION, t, agent.scratch.xi)
    model_from_xi(agent.posterior, agent.scratch.xi, agent.z)


@learn.body(PerturbedHistory)
def _learn(agent, row, key, reward, source, t):
    """Update the posterior; where it is computed afresh, V takes in recent arms and this one."""
    posterior, columns = agent.posterior, agent.scratch.columns
    if refactor_due(posterior):
        r, n = row.shape[0], posterior.since_refactor[1]
        for i in range(n):
            root = np.sqrt(np.float64(posterior.recent_plays[i]))
            for j in range(r):
                columns[j, i] = root * posterior.recent[i, j]
        for j in range(r):
            columns[j, n] = row[j]
        columns[r, : n + 1] = 0.0
        absorb(agent.factor, agent.scratch.eta, columns, n + 1)
    update(posterior, row, key, reward)


@entry
def draw_models(agent, source, probe_index, z):
    """z[i, :] = the i-th model that a probe draws, one that a step might play."""
    xi = agent.scratch.xi
    for i in range(z.shape[0]):
        _draw_sum(agent, source, DIAGNOSTICS, probe_counter(probe_index, i), xi)
        model_from_xi(agent.posterior, xi, z[i])
