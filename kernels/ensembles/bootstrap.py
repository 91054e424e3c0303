"""Ensembles whose models count each reward twice or not at all: the bootstrap, deferred.

Model m gives every play the weight 1 + W, with W a sign of its own (Eckles and Kaptein 2014), and
is the mode of the data weighted so, and of the prior shifted by xi ~ N(0, I):

    z + sum_a n_a^m psi'(eta_a) b_a = sum_a y_a^m b_a + xi.

Where rewards are 0 or 1, a model knows of an arm how many of the plays that paid it counts, and how
many of the others: n_a^m = n_a + E_a1 + E_a0 and y_a^m = y_a + E_a1, where E_a1 and E_a0 are sums
of as many signs. They wait until the model is read: it takes in one sum for the plays that paid
since, and one for the others, of each arm.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..agents.interface import (
    has_linear_scores,
    needs_capacity,
    prepare,
    restored_state,
    saved_arrays,
)
from ..beliefs.interface import (
    SLOTS,
    Belief,
    counts_by_arm,
    mean_of,
    model_of_counts,
    xi_of_model,
)
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, filled, saved_fields, zeros
from ..streams.blocks import Block, no_block
from ..streams.layout import DIAGNOSTICS, INITIAL_MODELS, PERTURBATION, probe_counter
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
from .deviations import NORMAL, choose_model, models_between, sign_sums


class Scratch(NamedTuple):
    """What a step writes to. Of arrays (2 slots,) the first half is of plays that paid."""

    missed: np.ndarray  # (2 slots,) int64: how many plays, without those of which none was missed
    sums: np.ndarray  # (2 slots,): of their signs
    model: np.ndarray  # (r + 2 slots,): as a row of `CachedModels.xi`
    plays: np.ndarray  # (slots,): n_a of this step's model
    pay: np.ndarray  # (slots,): y_a
    nothing: np.ndarray  # (2 slots,) uint32: zeros, what a model that was never read has taken in
    model_index: Block


class BootstrapEnsemble(NamedTuple):
    """State of ensemble sampling by the bootstrap.

    A row of `models.xi` is xi (r), then E_a1 and E_a0 of every slot; one of `models.plays` is how
    many plays of each kind the model has taken in.
    """

    belief: Belief
    models: CachedModels
    z: np.ndarray  # (r,): the model of this step
    scratch: Scratch


@allocated
def bootstrap_ensemble(belief: Belief, M: int, steps: int) -> BootstrapEnsemble:
    """Return the state before the first step, with room for the models that `steps` steps read."""
    r, arms = len(mean_of(belief)), len(counts_by_arm(belief).plays)
    models = no_models.layout(M, NORMAL, r + 2 * arms, min(M, max(256, steps)), 2 * arms)
    return _of_models.layout(belief, models)


@allocated
def _of_models(belief: Belief, models: CachedModels) -> BootstrapEnsemble:
    r, arms = len(mean_of(belief)), len(counts_by_arm(belief).plays)
    scratch = Scratch(
        missed=zeros(2 * arms, np.int64),
        sums=zeros(2 * arms),
        model=zeros(r + 2 * arms),
        plays=zeros(arms),
        pay=zeros(arms),
        nothing=zeros(2 * arms, np.uint32),
        model_index=no_block.layout(1, np.int64),
    )
    return BootstrapEnsemble(belief, models, zeros(r), scratch)


@needs_capacity.body(BootstrapEnsemble)
def _needs_capacity(agent):
    return models_need_capacity(agent.models)


def with_capacity(agent: BootstrapEnsemble) -> BootstrapEnsemble:
    """Return the state with room for more models."""
    return agent._replace(models=models_with_capacity(agent.models))


@inlined
def _count(counts, paid, slot):
    """Return how often an arm paid, or did not."""
    return counts.pay[slot] if paid else counts.plays[slot] - counts.pay[slot]


@kernel
def _take_in(counts, taken_in, source, stream, counter, lane, scratch, model):
    """Let a model take in the plays that are not in `taken_in`, with a vector from a lane on."""
    taken, arms = counts.size[SLOTS], counts.plays.shape[0]
    first = model.shape[0] - 2 * arms
    n = 0
    for kind in range(2):
        for slot in range(taken):
            missed = _count(counts, kind == 0, slot) - taken_in[kind * arms + slot]
            scratch.missed[n] = np.int64(missed)
            n += missed > 0
    sign_sums(source, stream, counter, lane, scratch.missed[:n], scratch.sums[:n])
    n = 0
    for kind in range(2):
        for slot in range(taken):
            place = kind * arms + slot
            if _count(counts, kind == 0, slot) > taken_in[place]:
                model[first + place] += scratch.sums[n]
                n += 1


@inlined
def _take_in_all(counts, taken_in, source, stream, counter, r, scratch, model):
    """Draw a model that was never read; `taken_in` is zero."""
    model[:] = 0.0
    fill_normals(source, stream, counter, model[:r])
    _take_in(counts, taken_in, source, stream, counter, np.uint64(r), scratch, model)


@kernel
def _solve(belief, counts, model, scratch, z):
    """z = what a model is."""
    arms, r = counts.plays.shape[0], z.shape[0]
    for slot in range(counts.size[SLOTS]):
        paid, others = model[r + slot], model[r + arms + slot]
        scratch.plays[slot] = counts.plays[slot] + (paid + others)
        scratch.pay[slot] = counts.pay[slot] + paid
    model_of_counts(belief, scratch.plays, scratch.pay, model[:r], z)


@has_linear_scores.body(BootstrapEnsemble)
def _has_linear_scores(agent):
    return True


@inlined
def read(agent, source, t, m):
    """Bring model m up to date for the read of step t. Return its slot."""
    models, counts, none = agent.models, counts_by_arm(agent.belief), np.uint64(0)
    r, arms = agent.z.shape[0], counts.plays.shape[0]
    slot = slot_of(models, m)
    if slot < 0:
        slot = add_model(models, m)
        taken_in, model = models.plays[slot], models.xi[slot]
        _take_in_all(counts, taken_in, source, INITIAL_MODELS, t, r, agent.scratch, model)
    else:
        taken_in, model = models.plays[slot], models.xi[slot]
        _take_in(counts, taken_in, source, PERTURBATION, t, none, agent.scratch, model)
    for place in range(counts.size[SLOTS]):
        taken_in[place] = np.uint32(_count(counts, True, place))
        taken_in[arms + place] = np.uint32(_count(counts, False, place))
    return slot


@prepare.body(BootstrapEnsemble)
def _prepare(agent, source, t):
    m, _ = choose_model(agent.models, agent.scratch.model_index, source, t)
    slot = read(agent, source, t, m)
    counts = counts_by_arm(agent.belief)
    _solve(agent.belief, counts, agent.models.xi[slot], agent.scratch, agent.z)


@entry
def _probe_models(agent, source, probe_index, first, out):
    """Write the models first, first + 1, ..., as they are now, to the rows of `out`, as xi."""
    models, scratch, counts = agent.models, agent.scratch, counts_by_arm(agent.belief)
    r, model = agent.z.shape[0], agent.scratch.model
    for i in range(out.shape[0]):
        m = first + i
        counter = probe_counter(probe_index, m)
        slot = slot_of(models, m)
        if slot < 0:
            nothing = scratch.nothing
            _take_in_all(counts, nothing, source, DIAGNOSTICS, counter, r, scratch, model)
        else:
            for j in range(model.shape[0]):
                model[j] = models.xi[slot, j]
            taken_in, lane = models.plays[slot], np.uint64(r)
            _take_in(counts, taken_in, source, DIAGNOSTICS, counter, lane, scratch, model)
        _solve(agent.belief, counts, model, scratch, agent.z)
        xi_of_model(agent.belief, agent.z, out[i])


@models_between.body(BootstrapEnsemble)
def _models_between(
    agent: BootstrapEnsemble, source: Source, probe_index: int, first: int, last: int
) -> np.ndarray:
    out = np.empty((last - first, len(agent.z)))
    _probe_models(agent, source, probe_index, first, out)
    return out


@saved_arrays.body(BootstrapEnsemble)
def _saved_arrays(agent: BootstrapEnsemble) -> dict[str, np.ndarray]:
    """Return the arrays of the belief and of the models read so far."""
    models, used, r = agent.models, int(agent.models.used[0]), len(agent.z)
    taken = int(counts_by_arm(agent.belief).size[SLOTS])
    arrays = dict(saved_fields(agent.belief, "belief_"))
    by_kind = (used, 2, len(agent.scratch.plays))
    return arrays | {
        "model": models.model[:used],
        "xi": models.xi[:used, :r],
        "excess": models.xi[:used, r:].reshape(by_kind)[:, :, :taken].ravel(),
        "taken_in": models.plays[:used].reshape(by_kind)[:, :, :taken].ravel(),
    }


@restored_state.body(BootstrapEnsemble)
def _restored_state(
    layout: BootstrapEnsemble, arrays: Mapping[str, np.ndarray], arms: Arms | None, steps: int
) -> BootstrapEnsemble:
    belief, given = filled(layout.belief, arrays, "belief_"), layout.models
    counts, used = counts_by_arm(belief), len(arrays["model"])
    taken, slots = int(counts.size[SLOTS]), len(counts.plays)
    excess = arrays["excess"].reshape(used, 2, taken)
    taken_in = arrays["taken_in"].reshape(used, 2, taken)
    most = np.stack([counts.pay, counts.plays - counts.pay])[:, :taken]
    if not ((taken_in <= most) & (np.abs(excess) <= taken_in)).all():
        raise ValueError("the models of an ensemble do not fit its plays")
    sums, plays = np.zeros((used, 2, slots)), np.zeros((used, 2, slots), np.uint32)
    sums[:, :, :taken], plays[:, :, :taken] = excess, taken_in
    rows = np.concatenate([arrays["xi"], sums.reshape(used, 2 * slots)], axis=1)
    room, read_at = max(256, steps), np.zeros(used, np.int64)
    kept = arrays["model"], rows, read_at, plays.reshape(used, 2 * slots)
    models = restored_models(given.M, given.deviations, rows.shape[1], room, *kept)
    state: BootstrapEnsemble = _of_models(belief, models)
    return state
