"""The log of plays whose perturbations have individual variances.

The perturbation of step t is sqrt(v_t) W with W ~ N(0, 1) of each model, and v_t the same for all
models. What a model that was last read at tau misses is one normal for each distinct arm a played
since, of the variance V_a(now) - V_a(tau), where V_a is the sum of the v_t of its plays: the belief
keeps V. V_a(tau) is a copy that the model has kept or, where copies would take too much memory, is
found in the sequence of plays: each is written down with its arm's V before it, and now and then,
at a milestone, all of V is. From V now, or at the first milestone after tau, one goes back play by
play. No number is subtracted on the way: V_a(tau) is what it was, to the bit.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.vectors import dot
from ..beliefs.interface import (
    PLAYS,
    SLOTS,
    ArmVariances,
    Belief,
    mean_of,
    slot_of_key,
    variances_by_arm,
)
from ..jit.decorators import inlined, kernel
from ..states.layout import allocated, copy_saved, zeros
from ..streams.normals import fill_normals
from . import log as interface
from .cached_models import counters, no_models
from .deferred import DeferredEnsemble, deferred_ensemble
from .deviations import Deviations

_PLAYS_BETWEEN_MILESTONES = 128
_PLAYS_BETWEEN_MILESTONES_PER_SLOT = 8

# What `WeightLog.size` holds.
_MILESTONES = 0  # made
_KEPT = 1  # numbers in `kept`


class WeightLog(NamedTuple):
    """The variances of perturbations so far, by arm, and what they were before."""

    arms: ArmVariances  # the belief's own arrays
    slot: np.ndarray  # (plays,) int32: the slot of each play; or (0,)
    before: np.ndarray  # (plays,): V of that slot before the play
    milestone_time: np.ndarray  # (milestones,) int64: plays before a milestone
    milestone_start: np.ndarray  # (milestones + 1,) int64: where its numbers start in `kept`
    kept: np.ndarray  # V of each slot at a milestone, milestone after milestone
    size: np.ndarray  # (2,) int64


@allocated
def weight_log(arms: ArmVariances, steps: int = 0, sequence: bool = True) -> WeightLog:
    """Return an empty log beside what a belief keeps, with room for at least `steps` plays."""
    plays = max(steps, 1024) if sequence else 0
    milestones = plays // _PLAYS_BETWEEN_MILESTONES + 1
    return WeightLog(
        arms,
        slot=zeros(plays, np.int32),
        before=zeros(plays),
        milestone_time=zeros(milestones, np.int64),
        milestone_start=zeros(milestones + 1, np.int64),
        kept=zeros(-(-plays // _PLAYS_BETWEEN_MILESTONES_PER_SLOT)),
        size=zeros(2, np.int64),
    )


@allocated
def ensemble_by_weights(
    belief: Belief, M: int, deviations: Deviations, steps: int
) -> DeferredEnsemble:
    """Return the state of a deferred ensemble whose perturbations have variances of their own."""
    arms = variances_by_arm(belief)
    keys = len(arms.slot_of_arm) or len(arms.variances)
    r, counted = len(mean_of(belief)), counters(keys, M)
    log = weight_log.layout(arms, steps, sequence=counted == 0)
    slots = min(M, max(256, steps))
    models = no_models.layout(M, deviations, r, slots, counted, np.float64)
    return deferred_ensemble.layout(belief, log, models)


@interface.now.body(WeightLog)
def _now(log):
    return log.arms.size[PLAYS]


@interface.note_before.body(WeightLog)
def _note_before(log, key):
    """Record a play; its variance is in the belief."""
    if log.slot.shape[0] == 0:
        return
    time, taken = log.arms.size[PLAYS], log.arms.size[SLOTS]
    slot = slot_of_key(log.arms.slot_of_arm, key)
    if slot < 0:
        slot = taken
    milestones = log.size[_MILESTONES]
    age = time - (log.milestone_time[milestones - 1] if milestones > 0 else 0)
    if age >= max(_PLAYS_BETWEEN_MILESTONES, _PLAYS_BETWEEN_MILESTONES_PER_SLOT * taken):
        _set_milestone(log, time)
    log.slot[time] = slot
    log.before[time] = log.arms.variances[slot]


@kernel
def _set_milestone(log, time):
    """Record V of each slot."""
    milestone, start, taken = log.size[_MILESTONES], log.size[_KEPT], log.arms.size[SLOTS]
    for slot in range(taken):
        log.kept[start + slot] = log.arms.variances[slot]
    log.milestone_time[milestone] = time
    log.milestone_start[milestone + 1] = start + taken
    log.size[_MILESTONES] = milestone + 1
    log.size[_KEPT] = start + taken


@interface.log_needs_capacity.body(WeightLog)
def _log_needs_capacity(log):
    plays = log.slot.shape[0]
    return plays > 0 and log.arms.size[PLAYS] >= plays


@interface.log_with_capacity.body(WeightLog)
def _log_with_capacity(log: WeightLog) -> WeightLog:
    """Double the capacity for plays."""
    larger: WeightLog = weight_log(log.arms, 2 * len(log.slot))
    for name in ("slot", "before", "milestone_time", "milestone_start", "kept"):
        old, new = getattr(log, name), getattr(larger, name)
        new[: len(old)] = old
    return larger._replace(size=log.size.copy())


class Missed(NamedTuple):
    """What a catch-up writes to."""

    variances: np.ndarray  # (slots,): V at a time before, then what was missed, then its sums


@interface.missed_scratch.body(WeightLog)
def _missed_scratch(log):
    return Missed(zeros(len(log.arms.variances)))


@interface.most_normals.body(WeightLog)
def _most_normals(log):
    return len(log.arms.variances)


@kernel
def variances_at(log, time, out):
    """out[slot] = V of each slot after so many plays; cost O(slots + plays between milestones)."""
    low, high = 0, log.size[_MILESTONES]  # the first milestone that is not before
    while low < high:
        middle = (low + high) // 2
        if log.milestone_time[middle] < time:
            low = middle + 1
        else:
            high = middle
    at, taken = log.arms.size[PLAYS], log.arms.size[SLOTS]
    if low == log.size[_MILESTONES]:
        for slot in range(taken):
            out[slot] = log.arms.variances[slot]
    else:
        at, start = log.milestone_time[low], log.milestone_start[low]
        known = log.milestone_start[low + 1] - start
        for slot in range(known):
            out[slot] = log.kept[start + slot]
        for slot in range(known, taken):
            out[slot] = 0.0
    for play in range(at - 1, time - 1, -1):
        out[log.slot[play]] = log.before[play]


@inlined
def _variances_of_model(log, models, slot, out):
    if models.plays.shape[1] > 0:
        for i in range(log.arms.size[SLOTS]):
            out[i] = models.plays[slot, i]
    else:
        variances_at(log, models.read_at[slot], out)


@interface.catch_up.body(WeightLog)
def _catch_up(log, agent, slot, source, stream, counter, xi):
    """One normal for each distinct arm missed, by slot; cost O(slots r)."""
    sums, normals = agent.scratch.missed.variances, agent.scratch.normals
    _variances_of_model(log, agent.models, slot, sums)
    _take_in(log.arms, source, stream, counter, sums, normals, xi)


@kernel
def _take_in(arms, source, stream, counter, sums, normals, xi):
    """Let xi take in what it missed since V was `sums`, which become the sums of perturbations."""
    taken, n = arms.size[SLOTS], 0
    for i in range(taken):
        sums[i] = np.sqrt(arms.variances[i] - sums[i])
        n += sums[i] > 0.0
    fill_normals(source, stream, counter, normals[:n])
    n = 0
    for i in range(taken):
        if sums[i] > 0.0:
            sums[i] *= normals[n]
            n += 1
    for j in range(xi.shape[0]):
        xi[j] += dot(arms.columns[j, :taken], sums[:taken])


@interface.note_read.body(WeightLog)
def _note_read(log, models, slot):
    models.read_at[slot] = log.arms.size[PLAYS]
    if models.plays.shape[1] > 0:
        for i in range(log.arms.size[SLOTS]):
            models.plays[slot, i] = log.arms.variances[i]


@interface.log_arrays.body(WeightLog)
def _log_arrays(log: WeightLog) -> dict[str, np.ndarray]:
    """Return the slot of each play and V before it, if they are kept."""
    if len(log.slot) == 0:
        return {}
    plays = int(log.arms.size[PLAYS])
    return {"slot": log.slot[:plays], "before": log.before[:plays]}


@interface.taken_in.body(WeightLog)
def _taken_in(log: WeightLog, models: Any) -> dict[str, np.ndarray]:
    used = int(models.used[0])
    read_at = {"read_at": models.read_at[:used]}
    if len(log.slot) > 0:
        return read_at
    return read_at | {"taken_in": models.plays[:used, : int(log.arms.size[SLOTS])].ravel()}


@interface.restored_log.body(WeightLog)
def _restored_log(
    log: WeightLog,
    models: Any,
    belief: Belief,
    arrays: Mapping[str, np.ndarray],
    arms: Any,
    steps: int,
) -> tuple[WeightLog, np.ndarray, np.ndarray]:
    used, known = len(arrays["model"]), variances_by_arm(belief)
    taken, plays = known.size
    restored = weight_log(known, max(steps, plays), sequence=len(log.slot) > 0)
    copies = np.zeros((used, models.plays.shape[1]))
    if len(log.slot) == 0:
        by_model = arrays["taken_in"].reshape(used, taken)
        if not ((by_model >= 0.0) & (by_model <= known.variances[:taken])).all():
            raise ValueError("the models of an ensemble do not fit its log")
        copies[:, :taken] = by_model
        return restored, arrays["read_at"], copies
    copy_saved("slot", arrays.get("slot"), restored.slot[:plays])
    copy_saved("before", arrays.get("before"), restored.before[:plays])
    if plays and not (0 <= restored.slot[:plays].min() <= restored.slot[:plays].max() < taken):
        raise ValueError("the plays of a log do not fit")
    return _with_milestones(restored), arrays["read_at"], copies


def _with_milestones(log: WeightLog) -> WeightLog:
    """Set milestones anew: where they are changes no number, for V is what it was, to the bit."""
    plays = int(log.arms.size[PLAYS])
    variances, last = np.array(log.arms.variances), plays
    taken = int(log.arms.size[SLOTS])
    gap = max(_PLAYS_BETWEEN_MILESTONES, _PLAYS_BETWEEN_MILESTONES_PER_SLOT * taken)
    times = range(gap, plays, gap)
    for milestone, time in reversed(list(enumerate(times))):
        for play in range(last - 1, time - 1, -1):
            variances[log.slot[play]] = log.before[play]
        start = milestone * taken
        log.kept[start : start + taken] = variances[:taken]
        log.milestone_time[milestone], log.milestone_start[milestone] = time, start
        last = time
    log.milestone_start[len(times)] = len(times) * taken
    log.size[:] = len(times), len(times) * taken
    return log
