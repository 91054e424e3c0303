"""Small ensembles as analyses of the worst case have them: M models, all updated at every step.

In information space (ensembles/eager.py) model m is xi_m, and it is read as

    z_m = mu + s c_t S xi_m,   c_t = gamma,   or   c_t = gamma beta_t with
    beta_t = radius + sqrt(2 log(1/delta) + log det P_t),

where s is 1 or a fair sign. beta_t is the radius of the ellipsoid of Abbasi-Yadkori, Pal and
Szepesvari (2011), for unit noise and |z| <= radius: |z - mu|_P <= beta_t at all t but with
probability delta.

Models take in a perturbation at every step, xi_m <- xi_m + W_m b. Or they are left as they are
until det P has grown by a factor, and then all are drawn anew, xi_m ~ N(0, P). In between
S xi_m has a covariance from S / factor to S: P <= factor P_then.

A step plays the best arm of a model chosen uniformly, or the best pair of an arm and a model.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.vectors import axpy
from ..beliefs.interface import (
    Belief,
    draw_xi,
    mean_of,
    model_from_xi,
    recent_arms,
    update,
    variance_along,
)
from ..jit.decorators import entry, inlined
from ..states.layout import allocated, zeros
from ..streams.draws import integer
from ..streams.layout import INITIAL_MODELS, MODEL_INDEX, PERTURBATION
from ..streams.normals import fill_normal_rows, fill_normals
from ..streams.philox import Source
from .interface import has_linear_scores, learn, prepare, score


class Width(NamedTuple):
    """How far models are read from the mean: c_t."""

    inflation: float  # gamma
    radius: float
    confidence: float  # 2 log(1/delta); or below 0, where c_t is gamma


class Models(NamedTuple):
    """The ensemble, and when it is drawn anew."""

    width: Width
    growth: float  # log of the factor of det P; below 0 where models take in perturbations
    xi: np.ndarray  # (M, r)
    log_det: np.ndarray  # (2,): log det P now, and when models were drawn last
    drawn: np.ndarray  # (1,) int64: how often models were drawn anew
    scratch: "Scratch"


class Scratch(NamedTuple):
    """What a step writes to."""

    normals: np.ndarray  # of the perturbations of M models, or of a model that is drawn
    deviation: np.ndarray  # (r,): c_t xi of a model


class UniformChoice(NamedTuple):
    """State of an ensemble of which a step reads a model at random."""

    belief: Belief
    models: Models
    reflections: int  # 2 if a model is read with a fair sign, else 1
    z: np.ndarray  # (r,): the model of this step


class MaximumScratch(NamedTuple):
    """What a step writes to."""

    all: np.ndarray  # (M, r): all models


class MaximumChoice(NamedTuple):
    """State of an ensemble of which a step reads all models: the largest score counts."""

    belief: Belief
    models: Models
    z: np.ndarray  # (r,): the mean
    scratch: MaximumScratch


@allocated
def models_of(belief: Belief, M: int, width: Width, growth: float) -> Models:
    """Return space for models, to be drawn by `draw_prior_models`."""
    r = len(mean_of(belief))
    scratch = Scratch(zeros(max(M, r + recent_arms(belief))), zeros(r))
    return Models(width, growth, zeros((M, r)), zeros(2), zeros(1, np.int64), scratch)


@allocated
def uniform_choice(
    belief: Belief, M: int, width: Width, growth: float, reflections: int
) -> UniformChoice:
    """Return the state from the layout of its belief."""
    models = models_of.layout(belief, M, width, growth)
    return UniformChoice(belief, models, reflections, zeros(len(mean_of(belief))))


@allocated
def maximum_choice(belief: Belief, M: int, width: Width, growth: float) -> MaximumChoice:
    """Return the state from the layout of its belief."""
    models = models_of.layout(belief, M, width, growth)
    mean = mean_of(belief)
    return MaximumChoice(belief, models, mean, MaximumScratch(zeros((M, len(mean)))))


def draw_prior_models(models: Models, source: Source) -> None:
    """Draw xi ~ N(0, I) for all models."""
    fill_normal_rows(source, INITIAL_MODELS, models.xi)


@entry
def factor_now(models):
    """Return c_t."""
    width = models.width
    if width.confidence < 0.0:
        return width.inflation
    return width.inflation * (width.radius + np.sqrt(width.confidence + models.log_det[0]))


@inlined
def _read(agent, m, factor, z):
    """z = mu + factor S xi_m; cost O(r^2)."""
    xi, deviation = agent.models.xi[m], agent.models.scratch.deviation
    for j in range(z.shape[0]):
        deviation[j] = factor * xi[j]
    model_from_xi(agent.belief, deviation, z)


@has_linear_scores.body(UniformChoice)
def _has_linear_scores(agent):
    return True


@prepare.body(UniformChoice)
def _prepare(agent, source, t):
    M, factor = agent.models.xi.shape[0], factor_now(agent.models)
    choice = integer(source, MODEL_INDEX, t, M * agent.reflections)
    if choice < M:
        _read(agent, choice, factor, agent.z)
    else:
        _read(agent, choice - M, -factor, agent.z)


@prepare.body(MaximumChoice)
def _prepare_all(agent, source, t):
    factor = factor_now(agent.models)
    for m in range(agent.models.xi.shape[0]):
        _read(agent, m, factor, agent.scratch.all[m])


@score.body(MaximumChoice)
def _score_by_the_best_model(agent, arms, tile, work):
    """Score each arm of a tile by the model that scores it highest; cost O(M r TILE)."""
    best, scores = work.scores[0], work.scores[1]
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.scratch.all[0], best)
    for m in range(1, agent.scratch.all.shape[0]):
        score_tile(arms.tiles[tile], arms.offsets[tile], agent.scratch.all[m], scores)
        for i in range(TILE):
            best[i] = max(best[i], scores[i])


@learn.body(UniformChoice)
def _learn(agent, row, offset, key, reward, source, t):
    _learn_with_models(agent, row, offset, key, reward, source, t)


@learn.body(MaximumChoice)
def _learn_with_all(agent, row, offset, key, reward, source, t):
    _learn_with_models(agent, row, offset, key, reward, source, t)


@inlined
def _learn_with_models(agent, row, offset, key, reward, source, t):
    """Update the belief and det P, and then the models; cost O(r^2 + M r), or O(M r^2) if drawn."""
    models, normals = agent.models, agent.models.scratch.normals
    log_det, M = models.log_det, models.xi.shape[0]
    log_det[0] += np.log1p(variance_along(agent.belief, row))
    update(agent.belief, row, offset, key, reward)
    if models.growth < 0.0:
        fill_normals(source, PERTURBATION, t, normals[:M])
        for m in range(M):
            axpy(normals[m], row, models.xi[m])
    elif log_det[0] - log_det[1] >= models.growth:
        log_det[1] = log_det[0]
        models.drawn[0] += 1
        for m in range(M):
            counter = models.drawn[0] * M + m
            draw_xi(agent.belief, source, INITIAL_MODELS, counter, normals, models.xi[m])
