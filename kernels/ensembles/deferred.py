"""Ensemble sampling at a cost independent of M: perturbations are deferred until a read.

In information space a model adds W b at every step (eager.py). A step reads a single model; updates
of the others are deferred until they are read, and then computed from a log (log.py), for recurring
arms (play_log.py) or not (row_log.py). A new model is an exact posterior sample, xi ~ N(0, P); with
signs as perturbations it adds those of all plays so far.

docs/explanation/deferral.md has the proof that the law of actions and rewards is unchanged.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..agents.interface import (
    has_linear_scores,
    learn,
    needs_capacity,
    prepare,
    restored_state,
    saved_arrays,
)
from ..beliefs.interface import (
    Belief,
    mean_of,
    memory_of,
    noise_of,
    perturbation_root,
    recent_arms,
    update,
)
from ..beliefs.memory import forgotten
from ..beliefs.noise import draw_noise
from ..jit.decorators import entry, inlined
from ..states.layout import allocated, filled, saved_fields, zeros
from ..streams.blocks import Block, no_block
from ..streams.layout import (
    DIAGNOSTICS,
    INITIAL_MODELS,
    MODEL_INDEX,
    PERTURBATION,
    probe_counter,
)
from ..streams.philox import Source
from . import missed_plays  # noqa: F401, which registers bodies for play logs
from .cached_models import (
    CachedModels,
    add_model,
    counters,
    draw_first_read,
    models_need_capacity,
    models_with_capacity,
    no_models,
    restored_models,
    slot_of,
)
from .deviations import Deviations, choose_model, models_between, read_deviation
from .log import (
    append,
    catch_up,
    log_arrays,
    log_needs_capacity,
    log_with_capacity,
    make_room,
    missed_scratch,
    most_normals,
    note_before,
    note_read,
    now,
    oldest,
    restored_log,
    taken_in,
)
from .play_log import play_log
from .row_log import row_log


class Scratch(NamedTuple):
    """What a step writes to."""

    missed: Any  # what the log lists
    normals: np.ndarray  # of a catch-up or a first read
    xi: np.ndarray  # (r,): the deviation of this step's model
    model_index: Block


class DeferredEnsemble(NamedTuple):
    """State of ensemble sampling with deferred perturbations."""

    belief: Belief
    log: Any  # of plays (log.py)
    models: CachedModels
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def deferred_ensemble(belief: Belief, log: Any, models: CachedModels) -> DeferredEnsemble:
    """Return the state of these components, given as arrays or their layouts."""
    r = len(mean_of(belief))
    normals = max(most_normals(log), r + recent_arms(belief))
    scratch = Scratch(missed_scratch(log), zeros(normals), zeros(r), no_block.layout(1, np.int64))
    return DeferredEnsemble(belief, log, models, zeros(r), scratch)


@allocated
def ensemble_by_arms(
    K: int, belief: Belief, M: int, deviations: Deviations, steps: int
) -> DeferredEnsemble:
    """Return the initial state for recurring arms, with capacity for `steps` steps.

    Memory is only committed when it is written to; growing would write it again.
    """
    r, counted = len(mean_of(belief)), counters(K, M)
    log = play_log.layout(K, r, steps, sequence=counted == 0)
    models = no_models.layout(M, deviations, r, min(M, max(256, steps)), counted)
    return deferred_ensemble.layout(belief, log, models)


@allocated
def ensemble_by_rows(
    belief: Belief, M: int, deviations: Deviations, steps: int
) -> DeferredEnsemble:
    """As `ensemble_by_arms`, for arms that need not recur.

    Perturbations are normal: factors of rows represent sums of normals, not of signs.
    """
    r = len(mean_of(belief))
    models = no_models.layout(M, deviations, r, min(M, max(256, steps)), 0)
    log = row_log.layout(r, M, steps, memory_of(belief))
    return deferred_ensemble.layout(belief, log, models)


@needs_capacity.body(DeferredEnsemble)
def _needs_capacity(agent):
    return models_need_capacity(agent.models) or log_needs_capacity(agent.log)


def with_capacity(agent: DeferredEnsemble) -> DeferredEnsemble:
    """Return the state with larger arrays where they are full."""
    log, models = agent.log, agent.models
    return deferred_ensemble(
        agent.belief,
        log_with_capacity(log) if log_needs_capacity(log) else log,
        models_with_capacity(models) if models_need_capacity(models) else models,
    )


@inlined
def _bring_up_to_date(agent, slot, source, stream, counter, xi):
    """Let xi, the model in a slot, take in what it missed; or draw it anew, if it is forgotten."""
    log, models = agent.log, agent.models
    if forgotten(memory_of(agent.belief), now(log) - models.read_at[slot]):
        draw_first_read(models.deviations, agent, source, stream, counter, xi)
    else:
        catch_up(log, agent, slot, source, stream, counter, xi)


@inlined
def read(agent, source, t, m):
    """Update model m for the read of step t. Return its slot.

    Changes the models only. Draws the vector at t of INITIAL_MODELS, for a first read, or of
    PERTURBATION.
    """
    models = agent.models
    slot = slot_of(models, m)
    if slot < 0:
        slot = add_model(models, m)
        draw_first_read(models.deviations, agent, source, INITIAL_MODELS, t, models.xi[slot])
    else:
        _bring_up_to_date(agent, slot, source, PERTURBATION, t, models.xi[slot])
    note_read(agent.log, models, slot)
    return slot


@has_linear_scores.body(DeferredEnsemble)
def _has_linear_scores(agent):
    return True


@prepare.body(DeferredEnsemble)
def _prepare(agent, source, t):
    m, factor = choose_model(agent.models, agent.scratch.model_index, source, t)
    factor *= draw_noise(noise_of(agent.belief), source, MODEL_INDEX, t)
    slot = read(agent, source, t, m)
    read_deviation(agent.belief, agent.models.xi[slot], factor, agent.scratch.xi, agent.z)


@learn.body(DeferredEnsemble)
def _learn(agent, row, offset, key, reward, source, t):
    make_room(agent.log, agent, source)
    note_before(agent.log, key)
    update(agent.belief, row, offset, key, reward)
    append(agent.log, key, row, perturbation_root(agent.belief))


@entry
def _probe_models(agent, source, probe_index, first, out):
    """Write the current models first, first + 1, ... to the rows of `out`."""
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
            _bring_up_to_date(agent, slot, source, DIAGNOSTICS, counter, out[i])


@models_between.body(DeferredEnsemble)
def _models_between(
    agent: DeferredEnsemble, source: Source, probe_index: int, first: int, last: int
) -> np.ndarray:
    out = np.empty((last - first, len(agent.z)))
    _probe_models(agent, source, probe_index, first, out)
    return out


@saved_arrays.body(DeferredEnsemble)
def _saved_arrays(agent: DeferredEnsemble) -> dict[str, np.ndarray]:
    """Return the arrays of the belief, of the log and of the models read so far."""
    models, used = agent.models, int(agent.models.used[0])
    arrays = dict(saved_fields(agent.belief, "belief_"))
    arrays |= log_arrays(agent.log)
    arrays |= {"model": models.model[:used], "xi": models.xi[:used]}
    return arrays | taken_in(agent.log, models)


@restored_state.body(DeferredEnsemble)
def _restored_state(
    layout: DeferredEnsemble, arrays: Mapping[str, np.ndarray], arms: Arms | None, steps: int
) -> DeferredEnsemble:
    """Reserve capacity for `steps` steps in all."""
    belief = filled(layout.belief, arrays, "belief_")
    given, model = layout.models, arrays["model"]
    log, read_at, plays = restored_log(layout.log, given, belief, arrays, arms, steps)
    if ((read_at < oldest(log)) | (read_at > now(log))).any():
        raise ValueError("the models of an ensemble do not fit its log")
    kept = arrays["xi"], read_at, plays
    r, room = len(mean_of(belief)), max(256, steps)
    models = restored_models(given.M, given.deviations, r, room, model, *kept)
    return deferred_ensemble(belief, log, models)
