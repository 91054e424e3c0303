"""Ensemble sampling with all M models updated: the information-space ensemble.

Put xi_m = P_t (z_m - mu_t). Equation (2) of the paper less equation (1) leaves, in canonical
form,

    xi_m <- xi_m + W_m b_t,   W_m ~ N(0, 1),

with xi_m ~ N(0, I) at first: no covariance, no gain. A model is read as z_m = mu_t + S_t xi_m;
other perturbations and readings are in deviations.py. The belief may give a perturbation another
variance than 1, the same for all models (`perturbation_root`), and models forget as it does
(beliefs/memory.py).

A step reads one model, so updates are gathered and applied for a block of steps at a time:
Xi += W b, a matrix product whose left factor is generated on the fly.
"""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms, tile_count
from ..agents.interface import has_linear_scores, learn, prepare, restored_state
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE
from ..arithmetic.vectors import axpy
from ..beliefs.interface import (
    Belief,
    mean_of,
    memory_of,
    noise_of,
    perturbation_root,
    update,
)
from ..beliefs.memory import Discounted, Memory, fading, refill_due, refill_scale
from ..beliefs.noise import draw_noise
from ..jit.decorators import entry, generic, inlined, kernel
from ..states.layout import allocated, filled, zeros
from ..streams.blocks import Block, no_block
from ..streams.layout import INITIAL_MODELS, MODEL_INDEX, PERTURBATION
from ..streams.normals import normal_pair
from ..streams.philox import Source
from .deviations import (
    Deviations,
    choose_model,
    fill_perturbations,
    models_between,
    perturbation,
    read_deviation,
)
from .refill import fade, refill, refill_pair

_U = np.uint64


def block_length(M: int) -> int:
    """Return the number of steps between updates, a multiple of four.

    Large for many models, so that each is loaded into cache once for many steps; small for few, as
    a read applies the pending steps one by one. No bit of a result depends on it.
    """
    return 8 if M <= 8 * TILE else 64


class Models(NamedTuple):
    """The ensemble xi, and the pending steps."""

    M: int
    deviations: Deviations
    memory: Memory  # as of the belief
    tiles: np.ndarray  # (tiles, r, TILE): xi of model m in tile m // TILE, column m % TILE
    pending: np.ndarray  # (block, r): rows to take in since the last `flush`, zero beyond them
    span: np.ndarray  # (2,): step of the first pending arm, number of pending arms


class Scratch(NamedTuple):
    """What a step writes to."""

    weights: np.ndarray  # (block + 2, TILE): of `flush`
    xi: np.ndarray  # (r,): the model of this step, in information space
    model_index: Block


class EagerEnsemble(NamedTuple):
    """State of ensemble sampling."""

    belief: Belief
    models: Models
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def eager_ensemble(belief: Belief, M: int, deviations: Deviations) -> EagerEnsemble:
    """Return the state from the layout of its belief, xi to be drawn by `draw_prior_models`."""
    r = len(mean_of(belief))
    tiles, pending = zeros((tile_count(M), r, TILE)), zeros((block_length(M), r))
    models = Models(M, deviations, memory_of(belief), tiles, pending, zeros(2, np.int64))
    scratch = Scratch(weights.layout(models), zeros(r), no_block.layout(1, np.int64))
    return EagerEnsemble(belief, models, zeros(r), scratch)


@allocated
def weights(models: Models) -> np.ndarray:
    """Return the workspace of `flush`; one for each thread."""
    return zeros((len(models.pending) + 2, TILE))


@entry
def draw_prior_models(models, source, first, last):
    """Draw xi ~ N(0, I) for the models of a tile range."""
    r = models.tiles.shape[1]
    for tile in range(first, last):
        xi = models.tiles[tile]
        for j in range(0, r, 2):
            for i in range(TILE):
                x, y = normal_pair(source, INITIAL_MODELS, _U(j >> 1), _U(tile * TILE + i))
                xi[j, i] = x
                if j + 1 < r:
                    xi[j + 1, i] = y


@kernel
def _multiply(weights, b, n, xi):
    """xi[j, i] += sum over s < n of weights[s, i] b[s, j], in the order of s.

    One chain of fused multiply-adds a number: the result is that of n single steps, to the
    bit. Four steps of two rows at a time; n is rounded up to a multiple of four, where b is 0.
    """
    r = xi.shape[0]
    for j in range(0, r - 1, 2):
        for s in range(0, n, 4):
            a0, a1, a2, a3 = b[s, j], b[s + 1, j], b[s + 2, j], b[s + 3, j]
            b0, b1, b2, b3 = b[s, j + 1], b[s + 1, j + 1], b[s + 2, j + 1], b[s + 3, j + 1]
            for i in range(TILE):
                w0, w1 = weights[s, i], weights[s + 1, i]
                w2, w3 = weights[s + 2, i], weights[s + 3, i]
                xi[j, i] = fma(w3, a3, fma(w2, a2, fma(w1, a1, fma(w0, a0, xi[j, i]))))
                xi[j + 1, i] = fma(w3, b3, fma(w2, b2, fma(w1, b1, fma(w0, b0, xi[j + 1, i]))))
    if r % 2:
        for s in range(n):
            for i in range(TILE):
                xi[r - 1, i] = fma(weights[s, i], b[s, r - 1], xi[r - 1, i])


@generic
def _take_in(memory, source, first, start, weights, b, n, xi):
    """Let a tile of models, numbered from `first` on, take in n steps from `start` on."""
    _multiply(weights, b, n, xi)


@_take_in.body(Discounted)
def _take_in_and_forget(memory, source, first, start, weights, b, n, xi):
    """Step by step: the result is that of n calls for one step each, to the bit."""
    r, root = xi.shape[0], fading(memory, 1)
    for s in range(n):
        for j in range(r):
            for i in range(TILE):
                xi[j, i] = fma(weights[s, i], b[s, j], root * xi[j, i])
        if refill_due(memory, start + s + 1):
            _refill_tile(memory, source, first, start + s + 1, xi)


@kernel
def _refill_tile(memory, source, first, rewards, xi):
    r, scale = xi.shape[0], refill_scale(memory, 0, memory.period)
    for pair in range((r + 1) >> 1):
        for i in range(TILE):
            x, y = refill_pair(memory, source, first + i, rewards, pair, r)
            xi[2 * pair, i] += scale * x
            if 2 * pair + 1 < r:
                xi[2 * pair + 1, i] += scale * y


@entry
def flush(models, source, first, last, weights):
    """Update the models of a tile range; cost O(models x steps x r).

    The pending steps are kept until `forget_pending`, after all tiles are done.
    """
    start, n = models.span[0], models.span[1]
    odd = start & 1
    for tile in range(first, last):
        models_of_tile, even = tile * TILE, start - odd
        fill_perturbations(
            models.deviations, source, PERTURBATION, models_of_tile, even, weights, odd + n
        )
        of_steps, xi = weights[odd:], models.tiles[tile]
        _take_in(models.memory, source, models_of_tile, start, of_steps, models.pending, n, xi)


@entry
def room(models):
    """Return how many more steps can be pending."""
    return models.pending.shape[0] - models.span[1]


@entry
def forget_pending(models):
    """Empty the list of pending steps."""
    models.pending[:] = 0.0
    models.span[1] = 0


@inlined
def read_model(models, source, m, xi):
    """xi[:] = model m, updated, without storing it; cost O(r x pending steps)."""
    tile, column = divmod(m, TILE)
    for j in range(xi.shape[0]):
        xi[j] = models.tiles[tile, j, column]
    start = models.span[0]
    for s in range(models.span[1]):
        w = perturbation(models.deviations, source, PERTURBATION, m, start + s)
        fade(models.memory, xi)
        axpy(w, models.pending[s], xi)
        refill(models.memory, source, m, start + s + 1, xi)


@has_linear_scores.body(EagerEnsemble)
def _has_linear_scores(agent):
    return True


@prepare.body(EagerEnsemble)
def _prepare(agent, source, t):
    m, factor = choose_model(agent.models, agent.scratch.model_index, source, t)
    factor *= draw_noise(noise_of(agent.belief), source, MODEL_INDEX, t)
    xi = agent.scratch.xi
    read_model(agent.models, source, m, xi)
    read_deviation(agent.belief, xi, factor, xi, agent.z)


@learn.body(EagerEnsemble)
def _learn(agent, row, offset, key, reward, source, t):
    models = agent.models
    if room(models) == 0:
        flush(models, source, 0, models.tiles.shape[0], agent.scratch.weights)
        forget_pending(models)
    if models.span[1] == 0:
        models.span[0] = t
    update(agent.belief, row, offset, key, reward)
    root = perturbation_root(agent.belief)
    for j in range(row.shape[0]):
        models.pending[models.span[1], j] = root * row[j]
    models.span[1] += 1


@restored_state.body(EagerEnsemble)
def _restored_state(
    layout: EagerEnsemble, arrays: Any, arms: Arms | None, steps: int
) -> EagerEnsemble:
    agent: EagerEnsemble = filled(layout, arrays)
    if not 0 <= agent.models.span[1] <= len(agent.models.pending):
        raise ValueError("a saved agent's 'models_span' is out of range")
    return agent


@models_between.body(EagerEnsemble)
def _models_between(
    agent: EagerEnsemble, source: Source, probe_index: int, first: int, last: int
) -> np.ndarray:
    """Update all models; no random number is drawn."""
    models = agent.models
    if models.span[1] > 0:
        flush(models, source, 0, models.tiles.shape[0], agent.scratch.weights)
        forget_pending(models)
    tiles = models.tiles[first // TILE : tile_count(last)]
    rows = tiles.transpose(0, 2, 1).reshape(-1, models.tiles.shape[1])
    return rows[first % TILE :][: last - first].copy()
