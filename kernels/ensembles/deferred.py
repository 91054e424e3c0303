"""Ensemble sampling at a cost that does not depend on M: perturbations wait until they are read.

In information space a model takes in W b at every step (eager.py). A step reads one model
only, and what the others missed can wait: when model m is read at t, last read at tau, it has
missed the sum over arms a played in between of (sum of n_a independent N(0, 1)) b_a, and that
inner sum is sqrt(n_a) times one N(0, 1). So a catch-up costs one normal and one axpy for each
*distinct* arm played since. A model never read before is an exact posterior sample: xi ~ N(0, P).

docs/explanation/deferral.md has the proof that the law of actions and rewards is unchanged.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm
from ..agents.interface import has_linear_scores, learn, needs_capacity, prepare
from ..arithmetic.floats import fma
from ..arithmetic.vectors import add_transposed, axpy, multiply_transposed
from ..jit.decorators import entry, inlined
from ..posterior.state import Posterior, model_from_xi, prior, prior_bytes, refactor_interval
from ..posterior.update import update
from ..streams.draws import integer
from ..streams.layout import (
    DIAGNOSTICS,
    INITIAL_MODELS,
    MODEL_INDEX,
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
from .play_log import (
    PlayLog,
    append,
    log_bytes,
    log_needs_capacity,
    log_with_capacity,
    now,
    play_log,
    plays_since,
)


class Scratch(NamedTuple):
    """What a step writes to."""

    slots: np.ndarray  # (slots,) int32: of `plays_since`
    counts: np.ndarray  # (slots,) int64: of `plays_since`
    normals: np.ndarray  # (slots + r + refactor_interval,)


class DeferredEnsemble(NamedTuple):
    """State of ensemble sampling with deferred perturbations."""

    posterior: Posterior
    log: PlayLog
    models: CachedModels
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def deferred_ensemble(K: int, r: int, M: int, steps: int) -> DeferredEnsemble:
    """Return the state before the first step, with room for what `steps` may read and play.

    The system gives memory where it is written to; growing would have it written to again.
    """
    return _assembled(prior(r), play_log(K, r, steps), no_models(M, r, min(M, max(256, steps))))


def _assembled(posterior: Posterior, log: PlayLog, models: CachedModels) -> DeferredEnsemble:
    """Return a state of these parts, with scratch of their size."""
    slots, r = log.rows.shape
    return DeferredEnsemble(
        posterior=posterior,
        log=log,
        models=models,
        z=np.zeros(r),
        scratch=Scratch(
            slots=np.zeros(slots, np.int32),
            counts=np.zeros(slots, np.int64),
            normals=np.zeros(slots + r + len(posterior.recent)),
        ),
    )


def deferred_ensemble_bytes(K: int, r: int, M: int, T: int) -> int:
    """Return the memory of a state with room for T steps."""
    models, slots = min(M, max(256, T)), min(K, max(64, T))
    table = 8 << (2 * models - 1).bit_length()
    workspace = 20 * slots + 8 * (2 * r + refactor_interval(r))
    return prior_bytes(r) + log_bytes(K, r, T) + models * (8 * r + 12) + table + workspace + 8


@needs_capacity.body(DeferredEnsemble)
def _needs_capacity(agent):
    return models_need_capacity(agent.models) or log_needs_capacity(agent.log)


def with_capacity(agent: DeferredEnsemble) -> DeferredEnsemble:
    """Return the state with more room for what is full."""
    log, models = agent.log, agent.models
    return _assembled(
        agent.posterior,
        log_with_capacity(log) if log_needs_capacity(log) else log,
        models_with_capacity(models) if models_need_capacity(models) else models,
    )


@entry
def _replay(log, arms, played, b):
    """Append plays to a log until it is full. Return how many it took in."""
    for i in range(played.shape[0]):
        if log_needs_capacity(log):
            return i
        load_arm(arms, played[i], b)
        append(log, played[i], b)
    return played.shape[0]


def restored(
    arms: Arms,
    r: int,
    M: int,
    steps: int,
    played: np.ndarray,
    model: np.ndarray,
    xi: np.ndarray,
    read_at: np.ndarray,
) -> DeferredEnsemble:
    """Return a state with these plays and models, its posterior yet to be filled.

    It has room for what `steps` in all may read and play.
    """
    log = play_log(arms.K, r, steps or len(played) + 1024)
    b, taken = np.empty(r), 0
    while taken < len(played):
        some = played[taken : taken + (1 << 20)].astype(np.uint32)
        more = _replay(log, arms, some, b)
        log = log_with_capacity(log) if more < len(some) else log
        taken += more
    return _assembled(prior(r), log, restored_models(M, model, xi, read_at, max(256, steps)))


@inlined
def _draw(agent, source, stream, counter, xi):
    """Draw xi ~ N(0, P), a model that was never read; cost O(r^2 + r recent arms).

    P = U'U + the recent arms, each as often as it was played (posterior/state.py): one normal for
    each row of U and then one for each recent arm, in their order there.
    """
    posterior, normals = agent.posterior, agent.scratch.normals
    r, n = xi.shape[0], posterior.since_refactor[1]
    fill_normals(source, stream, counter, normals[: r + n])
    multiply_transposed(posterior.factor, normals[:r], xi)
    for i in range(n):
        normals[r + i] *= np.sqrt(np.float64(posterior.recent_plays[i]))
    add_transposed(posterior.recent, normals[r : r + n], xi)


@inlined
def _catch_up(agent, source, stream, counter, since, xi):
    """Let xi, last read after `since` plays, take in what it missed; cost O(r distinct arms).

    One normal for each distinct arm, in the order of `plays_since`.
    """
    rows, slots = agent.log.rows, agent.scratch.slots
    counts, w = agent.scratch.counts, agent.scratch.normals
    n = plays_since(agent.log, since, slots, counts)
    fill_normals(source, stream, counter, w[:n])
    for i in range(n):
        w[i] *= np.sqrt(np.float64(counts[i]))
    # As `add_transposed`, with rows here and there.
    whole = n - n % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = slots[i], slots[i + 1], slots[i + 2], slots[i + 3]
        for j in range(xi.shape[0]):
            x = fma(w[i], rows[a0, j], xi[j])
            x = fma(w[i + 1], rows[a1, j], x)
            x = fma(w[i + 2], rows[a2, j], x)
            xi[j] = fma(w[i + 3], rows[a3, j], x)
    for i in range(whole, n):
        axpy(w[i], rows[slots[i]], xi)


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
        _draw(agent, source, INITIAL_MODELS, t, models.xi[slot])
    else:
        _catch_up(agent, source, PERTURBATION, t, models.read_at[slot], models.xi[slot])
    models.read_at[slot] = now(agent.log)
    return slot


@has_linear_scores.body(DeferredEnsemble)
def _has_linear_scores(agent):
    return True


@prepare.body(DeferredEnsemble)
def _prepare(agent, source, t):
    slot = read(agent, source, t, integer(source, MODEL_INDEX, t, agent.models.M))
    model_from_xi(agent.posterior, agent.models.xi[slot], agent.z)


@learn.body(DeferredEnsemble)
def _learn(agent, row, key, reward, source, t):
    append(agent.log, key, row)
    update(agent.posterior, row, key, reward)


@entry
def _probe_models(agent, source, probe_index, first, out):
    """Write the models first, first + 1, ..., as they are now, to the rows of `out`."""
    for i in range(out.shape[0]):
        m = first + i
        counter = probe_counter(probe_index, m)
        slot = slot_of(agent.models, m)
        if slot < 0:
            _draw(agent, source, DIAGNOSTICS, counter, out[i])
        else:
            for j in range(out.shape[1]):
                out[i, j] = agent.models.xi[slot, j]
            _catch_up(agent, source, DIAGNOSTICS, counter, agent.models.read_at[slot], out[i])


def models_between(
    agent: DeferredEnsemble, source: Source, probe_index: int, first: int, last: int
) -> np.ndarray:
    """Return xi of the models first, ..., last - 1 as they are now, one a row, changing nothing.

    The draws come from the diagnostics stream, numbered by `probe_index`: for each the
    result has the law of the ensemble given all that was read, and no action that
    follows depends on whether it was asked for.
    """
    out = np.empty((last - first, len(agent.z)))
    _probe_models(agent, source, probe_index, first, out)
    return out
