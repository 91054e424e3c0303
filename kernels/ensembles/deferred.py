"""Ensemble sampling at a cost that does not depend on M: perturbations wait until they are read.

In information space a model takes in W b at every step (eager.py). A step reads one model
only, and what the others missed can wait: when model m is read at t, last read at tau, it has
missed the sum over arms a played in between of (sum of n_a independent N(0, 1)) b_a, and that
inner sum is sqrt(n_a) times one N(0, 1). So a catch-up costs one normal and one axpy for each
*distinct* arm played since. A model never read before is an exact posterior sample: xi ~ N(0, P).

With signs as perturbations the inner sum is 2 Binomial(n_a, 1/2) - n_a, and a model never read
before takes in all plays so far (deviations.py).

docs/explanation/deferral.md has the proof that the law of actions and rewards is unchanged.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm
from ..agents.interface import has_linear_scores, learn, needs_capacity, prepare
from ..arithmetic.floats import fma
from ..arithmetic.vectors import add_transposed, axpy, multiply_transposed
from ..jit.decorators import entry, generic, inlined
from ..posterior.state import Posterior, most_recent_arms, prior, prior_bytes
from ..posterior.update import update
from ..streams.blocks import STEPS, Block, block_bytes, draw_vector, no_block
from ..streams.layout import DIAGNOSTICS, INITIAL_MODELS, PERTURBATION, probe_counter
from ..streams.normals import fill_normals, fill_normals_from
from ..streams.philox import Source
from .cached_models import (
    CachedModels,
    add_model,
    counters,
    models_need_capacity,
    models_with_capacity,
    no_models,
    restored_models,
    slot_of,
)
from .deviations import (
    Deviations,
    SignDeviations,
    choose_model,
    fill_sums,
    read_deviation,
    scale_sums,
    sign_sums,
)
from .play_log import (
    PlayLog,
    all_plays,
    append,
    copy_plays,
    log_bytes,
    log_needs_capacity,
    log_with_capacity,
    now,
    play_log,
    plays_beyond,
    plays_since,
    set_plays,
)

_AHEAD = 16
"""Normals of a catch-up that are drawn ahead, at most: of more, those of one step fill vectors."""


class Scratch(NamedTuple):
    """What a step writes to."""

    slots: np.ndarray  # (slots,) int32: of `plays_since`
    counts: np.ndarray  # (slots,) int64: of `plays_since`
    normals: np.ndarray  # (slots + r + most_recent_arms,)
    xi: np.ndarray  # (r,): the deviation of this step's model
    model_index: Block
    ahead: Block  # the first normals of catch-ups


class DeferredEnsemble(NamedTuple):
    """State of ensemble sampling with deferred perturbations."""

    posterior: Posterior
    log: PlayLog
    models: CachedModels
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


def deferred_ensemble(
    K: int, r: int, M: int, deviations: Deviations, steps: int
) -> DeferredEnsemble:
    """Return the state before the first step, with room for what `steps` may read and play.

    The system gives memory where it is written to; growing would have it written to again.
    """
    models = no_models(K, M, deviations, r, min(M, max(256, steps)))
    return _assembled(prior(r), play_log(K, r, steps, keeps_sequence(K, M)), models)


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
            xi=np.zeros(r),
            model_index=no_block(1, np.int64),
            ahead=no_block(_AHEAD),
        ),
    )


def keeps_sequence(K: int, M: int) -> bool:
    """Return whether every play is kept: not where models count what they have taken in."""
    return counters(K, M) == 0


def deferred_ensemble_bytes(K: int, r: int, M: int, T: int) -> int:
    """Return the memory of a state with room for T steps."""
    models, slots = min(M, max(256, T)), min(K, max(64, T))
    table = 8 << (2 * models - 1).bit_length()
    workspace = 20 * slots + 8 * (3 * r + most_recent_arms(r))
    workspace += block_bytes(1) + block_bytes(_AHEAD)
    model = 8 * r + 12 + 4 * counters(K, M)
    log = log_bytes(K, r, T, keeps_sequence(K, M))
    return prior_bytes(r) + log + models * model + table + workspace + 8


@needs_capacity.body(DeferredEnsemble)
def _needs_capacity(agent):
    return models_need_capacity(agent.models) or log_needs_capacity(agent.log)


def with_capacity(agent: DeferredEnsemble) -> DeferredEnsemble:
    """Return the state with more room for what is full."""
    log, models = agent.log, agent.models
    return _assembled(
        agent.posterior,
        log_with_capacity(log) if log_needs_capacity(log) else log,
        models_with_capacity(models, len(log.slot_of_arm))
        if models_need_capacity(models)
        else models,
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


def restored_by_sequence(
    arms: Arms,
    r: int,
    M: int,
    deviations: Deviations,
    steps: int,
    played: np.ndarray,
    model: np.ndarray,
    xi: np.ndarray,
    read_at: np.ndarray,
) -> DeferredEnsemble:
    """Return a state with these plays and models, its posterior yet to be filled.

    It has room for what `steps` in all may read and play.
    """
    log = _replayed(play_log(arms.K, r, steps or len(played) + 1024), arms, r, played)
    models = restored_models(arms.K, M, deviations, model, xi, read_at, max(256, steps))
    return _assembled(prior(r), log, models)


def restored_by_counts(
    arms: Arms,
    r: int,
    M: int,
    deviations: Deviations,
    steps: int,
    played: np.ndarray,
    plays: np.ndarray,
    model: np.ndarray,
    xi: np.ndarray,
    taken_in: np.ndarray,
) -> DeferredEnsemble:
    """Do as `restored_by_sequence` for arms in order of first play, and how often each was played.

    How many of them each model has taken in is in `taken_in`, model after model.
    """
    log = _replayed(play_log(arms.K, r, steps, sequence=False), arms, r, played)
    set_plays(log, plays)
    by_model = taken_in.reshape(len(model), len(played))
    read_at = by_model.sum(axis=1, dtype=np.int64)
    models = restored_models(arms.K, M, deviations, model, xi, read_at, max(256, steps))
    models.plays[: len(model), : len(played)] = by_model
    return _assembled(prior(r), log, models)


def _replayed(log: PlayLog, arms: Arms, r: int, played: np.ndarray) -> PlayLog:
    """Return a log with these plays at its end."""
    b, taken = np.empty(r), 0
    while taken < len(played):
        some = played[taken : taken + (1 << 20)].astype(np.uint32)
        more = _replay(log, arms, some, b)
        log = log_with_capacity(log) if more < len(some) else log
        taken += more
    return log


@inlined
def draw_unread(agent, source, stream, counter, xi):
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


@generic
def draw_first_read(deviations, agent, source, stream, counter, xi):
    """Draw a model that was never read, as it is now."""
    draw_unread(agent, source, stream, counter, xi)


@draw_first_read.body(SignDeviations)
def _draw_first_read_by_signs(deviations, agent, source, stream, counter, xi):
    """Draw xi ~ N(0, I) and let it take in all plays so far, by lanes that normals leave free."""
    scratch = agent.scratch
    n = all_plays(agent.log, scratch.slots, scratch.counts)
    fill_normals(source, stream, counter, xi)
    free = np.uint64(xi.shape[0])
    sign_sums(source, stream, counter, free, scratch.counts[:n], scratch.normals[:n])
    _take_in(agent, n, xi)


@inlined
def _missed(agent, slot):
    """List what the model in a slot has missed. Return how many distinct arms."""
    scratch, models = agent.scratch, agent.models
    if models.plays.shape[1] > 0:
        return plays_beyond(agent.log, models.plays[slot], scratch.slots, scratch.counts)
    return plays_since(agent.log, models.read_at[slot], scratch.slots, scratch.counts)


@generic
def _draw_missed(deviations, agent, source, t, n):
    """Draw the n sums of perturbations of a catch-up at step t.

    And some normals of the steps after it: a few do not fill vectors.
    """
    ahead, w = agent.scratch.ahead, agent.scratch.normals
    few = min(n, _AHEAD)
    draw_vector(ahead, source, PERTURBATION, t, few)
    for i in range(few):
        w[i] = ahead.numbers[i, t % STEPS]
    if few < n:
        fill_normals_from(source, PERTURBATION, t, few, w[few:n])
    scale_sums(agent.scratch.counts, w[:n])


@_draw_missed.body(SignDeviations)
def _draw_missed_signs(deviations, agent, source, t, n):
    scratch = agent.scratch
    fill_sums(deviations, source, PERTURBATION, t, scratch.counts[:n], scratch.normals[:n])


@inlined
def _take_in(agent, n, xi):
    """Let xi take in n distinct arms that it has missed; cost O(r n).

    Arms are as `_missed` lists them, each with its sum of perturbations.
    """
    rows, slots, w = agent.log.rows, agent.scratch.slots, agent.scratch.normals
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
        draw_first_read(models.deviations, agent, source, INITIAL_MODELS, t, models.xi[slot])
    else:
        n = _missed(agent, slot)
        _draw_missed(models.deviations, agent, source, t, n)
        _take_in(agent, n, models.xi[slot])
    models.read_at[slot] = now(agent.log)
    if models.plays.shape[1] > 0:
        copy_plays(agent.log, models.plays[slot])
    return slot


@has_linear_scores.body(DeferredEnsemble)
def _has_linear_scores(agent):
    return True


@prepare.body(DeferredEnsemble)
def _prepare(agent, source, t):
    m, factor = choose_model(agent.models, agent.scratch.model_index, source, t)
    slot = read(agent, source, t, m)
    read_deviation(agent.posterior, agent.models.xi[slot], factor, agent.scratch.xi, agent.z)


@learn.body(DeferredEnsemble)
def _learn(agent, row, key, reward, source, t):
    append(agent.log, key, row)
    update(agent.posterior, row, key, reward)


@entry
def _probe_models(agent, source, probe_index, first, out):
    """Write the models first, first + 1, ..., as they are now, to the rows of `out`."""
    models = agent.models
    for i in range(out.shape[0]):
        m = first + i
        counter = probe_counter(probe_index, m)
        slot = slot_of(models, m)
        if slot < 0:
            draw_first_read(models.deviations, agent, source, DIAGNOSTICS, counter, out[i])
        else:
            for j in range(out.shape[1]):
                out[i, j] = models.xi[slot, j]
            n = _missed(agent, slot)
            counts, sums = agent.scratch.counts[:n], agent.scratch.normals[:n]
            fill_sums(models.deviations, source, DIAGNOSTICS, counter, counts, sums)
            _take_in(agent, n, out[i])


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
