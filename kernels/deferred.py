"""Ensemble sampling at a cost that does not depend on M: perturbations wait until they are read.

In information space a model takes in W b at every step (ensemble.py). A step reads one model
only, and what the others missed can wait: when model m is read at t, last read at tau, it has
missed the sum over arms a played in between of (sum of n_a independent N(0, 1)) b_a, and that
inner sum is sqrt(n_a) times one N(0, 1). So a catch-up costs one normal and one axpy for each
*distinct* arm played since. A model never read before is an exact posterior sample: xi ~ N(0, P).

docs/deferred.md has the proof that the law of actions and rewards is unchanged.
"""

from typing import NamedTuple

import numpy as np

from .agent import aim, full, learn
from .arms import Arms, load_arm
from .floats import axpy, fma
from .jit import entry, inlined
from .playlog import PlayLog, append, grown_log, log_bytes, log_is_full, now, play_log, walk
from .posterior import (
    Posterior,
    add_transposed,
    cadence,
    multiply_transposed,
    prior,
    prior_bytes,
    read_out,
    update,
)
from .streams import (
    DIAGNOSTICS,
    INITIAL_MODELS,
    MODEL_INDEX,
    PERTURBATION,
    Source,
    fill_normals,
    integer,
)

_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd


class ReadModels(NamedTuple):
    """The models that have been read, found by a hash table with linear probing."""

    M: int
    table: np.ndarray  # (2^k, 2) uint32: model + 1 (0 where free), and its slot
    model: np.ndarray  # (slots,) uint32: the model in a slot
    xi: np.ndarray  # (slots, r): the model as it was last read
    read_at: np.ndarray  # (slots,) int64: how many plays it has taken in
    used: np.ndarray  # (1,) int64: slots taken


class Deferred(NamedTuple):
    """State of ensemble sampling with deferred perturbations."""

    posterior: Posterior
    log: PlayLog
    models: ReadModels
    places: np.ndarray  # (places,) int32: workspace of `walk`
    counts: np.ndarray  # (places,) int64: workspace of `walk`
    normals: np.ndarray  # (places + r + cadence,): workspace
    z: np.ndarray  # (r,): the model of this step


def deferred(K: int, r: int, M: int, steps: int) -> Deferred:
    """Return the state before the first step, with room for what `steps` may read and play.

    The system gives memory where it is written to; growing would have it written to again.
    """
    return _assembled(prior(r), play_log(K, r, steps), _no_models(M, r, min(M, max(256, steps))))


def _no_models(M: int, r: int, slots: int) -> ReadModels:
    """Return room for as many models as there are slots, with a table at most half full."""
    return ReadModels(
        M,
        np.zeros((1 << (2 * slots - 1).bit_length(), 2), np.uint32),
        np.zeros(slots, np.uint32),
        np.zeros((slots, r)),
        np.zeros(slots, np.int64),
        np.zeros(1, np.int64),
    )


def _assembled(posterior: Posterior, log: PlayLog, models: ReadModels) -> Deferred:
    """Return a state of these parts, with workspace of their size."""
    places, r = log.rows.shape
    return Deferred(
        posterior=posterior,
        log=log,
        models=models,
        places=np.zeros(places, np.int32),
        counts=np.zeros(places, np.int64),
        normals=np.zeros(places + r + len(posterior.recent)),
        z=np.zeros(r),
    )


def deferred_bytes(K: int, r: int, M: int, T: int) -> int:
    """Return the memory of a state with room for T steps."""
    slots, places = min(M, max(256, T)), min(K, max(64, T))
    table = 8 << (2 * slots - 1).bit_length()
    workspace = 20 * places + 8 * (2 * r + cadence(r))
    return prior_bytes(r) + log_bytes(K, r, T) + slots * (8 * r + 12) + table + workspace + 8


@entry
def models_are_full(models):
    """Tell whether the next model that is read first might not fit."""
    return models.used[0] == models.model.shape[0] and models.used[0] < models.M


@full.body(Deferred)
def _full(agent):
    return models_are_full(agent.models) or log_is_full(agent.log)


def grown(agent: Deferred) -> Deferred:
    """Return the state with more room for what is full."""
    log, models = agent.log, agent.models
    return _assembled(
        agent.posterior,
        grown_log(log) if log_is_full(log) else log,
        _grown_models(models) if models_are_full(models) else models,
    )


def _grown_models(models: ReadModels) -> ReadModels:
    used, slots = int(models.used[0]), len(models.model)
    return _restored_models(
        models.M, models.model[:used], models.xi[:used], models.read_at[:used], 2 * slots
    )


def _restored_models(
    M: int, model: np.ndarray, xi: np.ndarray, read_at: np.ndarray, slots: int
) -> ReadModels:
    """Return the given models with room for some more."""
    used = len(model)
    models = _no_models(M, xi.shape[1], min(M, max(slots, used)))
    models.model[:used] = model
    models.xi[:used] = xi
    models.read_at[:used] = read_at
    models.used[0] = used
    _fill_table(models)
    return models


@entry
def _replay(log, arms, played, b):
    """Append plays to a log until it is full. Return how many it took in."""
    for i in range(played.shape[0]):
        if log_is_full(log):
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
) -> Deferred:
    """Return a state with these plays and models, its posterior yet to be filled.

    It has room for what `steps` in all may read and play.
    """
    log = play_log(arms.K, r, steps or len(played) + 1024)
    b, taken = np.empty(r), 0
    while taken < len(played):
        some = played[taken : taken + (1 << 20)].astype(np.uint32)
        more = _replay(log, arms, some, b)
        log = grown_log(log) if more < len(some) else log
        taken += more
    return _assembled(prior(r), log, _restored_models(M, model, xi, read_at, max(256, steps)))


@inlined
def _find(models, m):
    """Return where in the table a model stands, or where it belongs."""
    size = models.table.shape[0]
    key = np.uint32(m + 1)
    # Bits of the product's upper half, as many as the size, a power of two, has values.
    entry = np.int64(((np.uint64(m) * _HASH) >> np.uint64(32)) & np.uint64(size - 1))
    while models.table[entry, 0] != key and models.table[entry, 0] != 0:
        entry = (entry + 1) & (size - 1)
    return entry


@entry
def _fill_table(models):
    """Enter all slots into an empty table."""
    for slot in range(models.used[0]):
        entry = _find(models, np.int64(models.model[slot]))
        models.table[entry, 0] = models.model[slot] + 1
        models.table[entry, 1] = slot


@inlined
def slot_of(models, m):
    """Return the slot of a model that has been read, or -1."""
    entry = _find(models, m)
    return np.int64(models.table[entry, 1]) if models.table[entry, 0] != 0 else -1


@inlined
def _add(models, m):
    """Give a model that was never read a slot, and return it."""
    entry = _find(models, m)
    slot = models.used[0]
    models.used[0] = slot + 1
    models.model[slot] = m
    models.table[entry, 0] = m + 1
    models.table[entry, 1] = slot
    return slot


@inlined
def _draw(agent, source, stream, counter, xi):
    """Draw xi ~ N(0, P), a model that was never read; cost O(r^2 + r recent arms).

    P = U'U + the recent arms, each as often as it was played (posterior.py): one normal for
    each row of U and then one for each recent arm, in their order there.
    """
    posterior, normals = agent.posterior, agent.normals
    r, n = xi.shape[0], posterior.age[1]
    fill_normals(source, stream, counter, normals[: r + n])
    multiply_transposed(posterior.factor, normals[:r], xi)
    for i in range(n):
        normals[r + i] *= np.sqrt(np.float64(posterior.recent_plays[i]))
    add_transposed(posterior.recent, normals[r : r + n], xi)


@inlined
def _catch_up(agent, source, stream, counter, since, xi):
    """Let xi, last read after `since` plays, take in what it missed; cost O(r distinct arms).

    One normal for each distinct arm, in the order of `walk`.
    """
    rows, places, w = agent.log.rows, agent.places, agent.normals
    n = walk(agent.log, since, places, agent.counts)
    fill_normals(source, stream, counter, w[:n])
    for i in range(n):
        w[i] *= np.sqrt(np.float64(agent.counts[i]))
    # As `add_transposed`, with rows here and there.
    whole = n - n % 4
    for i in range(0, whole, 4):
        a0, a1, a2, a3 = places[i], places[i + 1], places[i + 2], places[i + 3]
        for j in range(xi.shape[0]):
            x = fma(w[i], rows[a0, j], xi[j])
            x = fma(w[i + 1], rows[a1, j], x)
            x = fma(w[i + 2], rows[a2, j], x)
            xi[j] = fma(w[i + 3], rows[a3, j], x)
    for i in range(whole, n):
        axpy(w[i], rows[places[i]], xi)


@inlined
def read(agent, source, t, m):
    """Bring model m up to date for the read of step t. Return its slot.

    Changes the models only. Draws the vector at t of INITIAL_MODELS, for a first read, or of
    PERTURBATION.
    """
    models = agent.models
    slot = slot_of(models, m)
    if slot < 0:
        slot = _add(models, m)
        _draw(agent, source, INITIAL_MODELS, t, models.xi[slot])
    else:
        _catch_up(agent, source, PERTURBATION, t, models.read_at[slot], models.xi[slot])
    models.read_at[slot] = now(agent.log)
    return slot


@aim.body(Deferred)
def _aim(agent, source, t):
    slot = read(agent, source, t, integer(source, MODEL_INDEX, t, agent.models.M))
    read_out(agent.posterior, agent.models.xi[slot], agent.z)


@learn.body(Deferred)
def _learn(agent, arms, source, t, arm, reward):
    offset = load_arm(arms, arm, agent.posterior.b)
    append(agent.log, arm, agent.posterior.b)
    update(agent.posterior, arm, reward - offset)


@entry
def _peek(agent, source, mark, first, out):
    """Write the models first, first + 1, ..., as they are now, to the rows of `out`."""
    for i in range(out.shape[0]):
        m = first + i
        counter = (mark << 32) + m
        slot = slot_of(agent.models, m)
        if slot < 0:
            _draw(agent, source, DIAGNOSTICS, counter, out[i])
        else:
            for j in range(out.shape[1]):
                out[i, j] = agent.models.xi[slot, j]
            _catch_up(agent, source, DIAGNOSTICS, counter, agent.models.read_at[slot], out[i])


def models_between(agent: Deferred, source: Source, mark: int, first: int, last: int) -> np.ndarray:
    """Return xi of the models first, ..., last - 1 as of now, one a row, changing nothing.

    The draws come from the diagnostics stream, numbered by `mark` (below 2^24): for every
    `mark` the result has the law of the ensemble given all that was read, and no action that
    follows depends on whether it was asked for.
    """
    out = np.empty((last - first, len(agent.z)))
    _peek(agent, source, mark, first, out)
    return out
