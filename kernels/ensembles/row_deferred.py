"""Deferred ensemble sampling where arms do not come again: catch-ups by factors of many rows.

As in deferred.py a step reads one model, and what the others missed waits. Here that is a stretch
of rows that were each played once, and a catch-up goes through the row log's blocks: it costs
O(r^2 log(t - s)) for a model last read at s, whatever M is.

docs/explanation/row-log.md has the proof that the law of actions and rewards is unchanged.
"""

from typing import NamedTuple

import numpy as np

from ..agents.interface import has_linear_scores, learn, needs_capacity, prepare
from ..jit.decorators import entry, inlined, kernel
from ..posterior.state import Posterior, most_recent_arms, prior, prior_bytes
from ..posterior.update import update
from ..streams.blocks import Block, block_bytes, no_block
from ..streams.layout import (
    DIAGNOSTICS,
    FORGOTTEN,
    INITIAL_MODELS,
    PERTURBATION,
    probe_counter,
)
from ..streams.normals import fill_normals
from ..streams.philox import Source
from .cached_models import (
    CachedModels,
    add_model,
    models_need_capacity,
    models_with_capacity,
    no_models,
    restored_models,
    slot_of,
)
from .deferred import draw_unread
from .deviations import NormalDeviations, choose_model, read_deviation
from .row_log import (
    RowLog,
    add_piece,
    append,
    block_length,
    first_after_forgetting,
    forget,
    log_needs_capacity,
    log_with_capacity,
    most_normals,
    must_forget,
    now,
    pieces_since,
    restored_row_log,
    row_log,
    row_log_bytes,
)


class Scratch(NamedTuple):
    """What a step writes to."""

    levels: np.ndarray  # (pieces,) int64: of `pieces_since`
    starts: np.ndarray  # (pieces,) int64: of `pieces_since`
    normals: np.ndarray  # as many as a catch-up or a first read takes
    xi: np.ndarray  # (r,): the deviation of this step's model
    model_index: Block


class RowEnsemble(NamedTuple):
    """State of ensemble sampling with deferred perturbations and rows that do not come again."""

    posterior: Posterior
    log: RowLog
    models: CachedModels
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def row_ensemble(r: int, M: int, deviations: NormalDeviations, steps: int) -> RowEnsemble:
    """Return the state before the first step, with room for what `steps` may read and play.

    Perturbations are normal: a factor of many rows stands for a sum of normals, not of signs.
    """
    models = no_models(0, M, deviations, r, min(M, max(256, steps)))
    return _assembled(prior(r), row_log(r, M, steps), models)


def _assembled(posterior: Posterior, log: RowLog, models: CachedModels) -> RowEnsemble:
    """Return a state of these parts, with scratch of their size."""
    r = log.rows.shape[1]
    n = max(most_normals(log), r + most_recent_arms(r))
    pieces = 2 * block_length(r) + 2 * len(log.rows).bit_length()
    scratch = Scratch(
        levels=np.zeros(pieces, np.int64),
        starts=np.zeros(pieces, np.int64),
        normals=np.zeros(n),
        xi=np.zeros(r),
        model_index=no_block(1, np.int64),
    )
    return RowEnsemble(posterior, log, models, np.zeros(r), scratch)


def row_ensemble_bytes(r: int, M: int, T: int) -> int:
    """Return the memory of a state with room for T steps."""
    models = min(M, max(256, T))
    table = 8 << (2 * models - 1).bit_length()
    workspace = 8 * (8 * block_length(r) + r * (3 * 64 + 1) + most_recent_arms(r))
    workspace += block_bytes(1)
    return prior_bytes(r) + row_log_bytes(r, M, T) + models * (8 * r + 12) + table + workspace


@needs_capacity.body(RowEnsemble)
def _needs_capacity(agent):
    return models_need_capacity(agent.models) or log_needs_capacity(agent.log)


def with_capacity(agent: RowEnsemble) -> RowEnsemble:
    """Return the state with more room for what is full."""
    log, models = agent.log, agent.models
    return _assembled(
        agent.posterior,
        log_with_capacity(log) if log_needs_capacity(log) else log,
        models_with_capacity(models, 0) if models_need_capacity(models) else models,
    )


def restored(
    r: int,
    M: int,
    deviations: NormalDeviations,
    steps: int,
    first: int,
    rows: np.ndarray,
    model: np.ndarray,
    xi: np.ndarray,
    read_at: np.ndarray,
) -> RowEnsemble:
    """Return a state with these rows and models, its posterior yet to be filled."""
    log = restored_row_log(r, M, steps, first, rows)
    models = restored_models(0, M, deviations, model, xi, read_at, max(256, steps))
    return _assembled(prior(r), log, models)


@kernel
def _catch_up(log, scratch, source, stream, counter, since, xi):
    """Let xi, last read after `since` rows, take in what it missed."""
    r, n = log.rows.shape[1], pieces_since(log, since, scratch.levels, scratch.starts)
    w, normals = scratch.normals, 0
    for i in range(n):
        normals += 1 if scratch.levels[i] < 0 else r
    fill_normals(source, stream, counter, w[:normals])
    used = 0
    for i in range(n):
        used += add_piece(log, scratch.levels[i], scratch.starts[i], w[used:], xi)


@inlined
def read(agent, source, t, m):
    """Bring model m up to date for the read of step t. Return its slot.

    Changes the models only. Draws the vector at t of INITIAL_MODELS, for a first read, or of
    PERTURBATION.
    """
    models = agent.models
    slot = slot_of(models, m)
    if slot < 0:
        slot = add_model(models, m)
        draw_unread(agent, source, INITIAL_MODELS, t, models.xi[slot])
    else:
        since = models.read_at[slot]
        _catch_up(agent.log, agent.scratch, source, PERTURBATION, t, since, models.xi[slot])
    models.read_at[slot] = now(agent.log)
    return slot


@has_linear_scores.body(RowEnsemble)
def _has_linear_scores(agent):
    return True


@prepare.body(RowEnsemble)
def _prepare(agent, source, t):
    m, factor = choose_model(agent.models, agent.scratch.model_index, source, t)
    slot = read(agent, source, t, m)
    read_deviation(agent.posterior, agent.models.xi[slot], factor, agent.scratch.xi, agent.z)


@kernel
def _forget(log, models, scratch, source):
    """Bring the few models up to date that were not read in the newer half, then forget the older.

    Their numbers are those of the models, at a probe numbered by the half that is forgotten.
    """
    first = first_after_forgetting(log)
    half = first // (log.rows.shape[0] // 2)
    for slot in range(models.used[0]):
        if models.read_at[slot] < first:
            counter = probe_counter(half, np.int64(models.model[slot]))
            since = models.read_at[slot]
            _catch_up(log, scratch, source, FORGOTTEN, counter, since, models.xi[slot])
            models.read_at[slot] = now(log)
    forget(log)


@learn.body(RowEnsemble)
def _learn(agent, row, key, reward, source, t):
    if must_forget(agent.log):
        _forget(agent.log, agent.models, agent.scratch, source)
    append(agent.log, row)
    update(agent.posterior, row, key, reward)


@entry
def _probe_models(agent, source, probe_index, first, out):
    """Write the models first, first + 1, ..., as they are now, to the rows of `out`."""
    for i in range(out.shape[0]):
        m = first + i
        counter = probe_counter(probe_index, m)
        slot = slot_of(agent.models, m)
        if slot < 0:
            draw_unread(agent, source, DIAGNOSTICS, counter, out[i])
        else:
            for j in range(out.shape[1]):
                out[i, j] = agent.models.xi[slot, j]
            since = agent.models.read_at[slot]
            _catch_up(agent.log, agent.scratch, source, DIAGNOSTICS, counter, since, out[i])


def models_between(
    agent: RowEnsemble, source: Source, probe_index: int, first: int, last: int
) -> np.ndarray:
    """Return xi of the models first, ..., last - 1 as they are now (deferred.models_between)."""
    out = np.empty((last - first, len(agent.z)))
    _probe_models(agent, source, probe_index, first, out)
    return out
