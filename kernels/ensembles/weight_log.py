"""The log of plays whose perturbations have individual variances.

The perturbation of step t is sqrt(v_t) W with W ~ N(0, 1) of each model, and v_t the same for all
models. What a model that was last read at tau misses is one normal for each distinct arm a played
since, of the variance V_a(now) - V_a(tau), where V_a is the sum of the v_t of its plays: the belief
keeps V. V_a(tau) is a copy that the model has kept or, where copies would take too much memory, is
found in the sequence of plays: each is written down with its arm's V before it, and now and then,
at a milestone, all of V is. From V now, or at the first milestone after tau, one goes back play by
play. No number is subtracted on the way: V_a(tau) is what it was, to the bit.

With a discount gamma (beliefs/memory.py) V fades with every play: then perturbations of variance 1
have such a log too, with V of its own. What was missed over n plays is V_a(now) - gamma^n V_a(tau),
and nothing of an arm that was not played; and the prior is refilled.
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
    memory_of,
    slot_of_key,
    variances_by_arm,
)
from ..beliefs.memory import (
    LEAST_WEIGHT,
    UNLIMITED,
    Discounted,
    Memory,
    fading,
    refill_scale,
)
from ..jit.decorators import generic, inlined, kernel
from ..states.layout import allocated, copy_saved, filled, full, saved_fields, zeros
from ..streams.normals import fill_normals
from . import log as interface
from .cached_models import counters, no_models
from .deferred import DeferredEnsemble, deferred_ensemble
from .deviations import Deviations

_PLAYS_BETWEEN_MILESTONES = 128

# What `WeightLog.size` holds.
_MILESTONES = 0  # made
_KEPT = 1  # numbers in `kept`


@generic
def plays_a_slot(memory):
    """Return how many plays for each slot there are between milestones, if not fewer than 128."""
    return 8


@plays_a_slot.body(Discounted)
def _plays_a_slot(memory):
    # Fewer: a catch-up reads half of them, and arms that are not played any more are many.
    return 2


class WeightLog(NamedTuple):
    """The variances of perturbations so far, by arm, and what they were before."""

    arms: ArmVariances  # the belief's own arrays, or `OwnVariances`
    memory: Memory  # of models, as of the belief
    last: np.ndarray  # (slots,) int64: plays before the last one of each slot
    slot: np.ndarray  # (plays,) int32: the slot of each play; or (0,)
    before: np.ndarray  # (plays,): V of that slot before the play
    milestone_time: np.ndarray  # (milestones,) int64: plays before a milestone
    milestone_start: np.ndarray  # (milestones + 1,) int64: where its numbers start in `kept`
    kept: np.ndarray  # V of each slot at a milestone, milestone after milestone
    size: np.ndarray  # (2,) int64


class OwnVariances(ArmVariances):
    """Those of a log, where the belief keeps none."""

    __slots__ = ()


@allocated
def own_variances(K: int, r: int, steps: int) -> OwnVariances:
    """Return the variances of K arms before the first of `steps` plays, or of any number if 0."""
    slots = min(K, steps) if steps else K
    return OwnVariances(
        slot_of_arm=full(K, -1, np.int32),
        columns=zeros((r, slots), grows=True),
        variances=zeros(slots, grows=True),
        size=zeros(2, np.int64),
    )


@allocated
def weight_log(
    arms: ArmVariances, steps: int = 0, sequence: bool = True, memory: Memory = UNLIMITED
) -> WeightLog:
    """Return an empty log beside what a belief keeps, with room for at least `steps` plays."""
    plays = max(steps, 1024) if sequence else 0
    milestones = plays // _PLAYS_BETWEEN_MILESTONES + 1
    return WeightLog(
        arms,
        memory,
        last=zeros(len(arms.variances), np.int64, grows=True),
        slot=zeros(plays, np.int32),
        before=zeros(plays),
        milestone_time=zeros(milestones, np.int64),
        milestone_start=zeros(milestones + 1, np.int64),
        kept=zeros(-(-plays // plays_a_slot(memory))),
        size=zeros(2, np.int64),
    )


@allocated
def ensemble_by_weights(
    belief: Belief, M: int, deviations: Deviations, steps: int, K: int | None = None
) -> DeferredEnsemble:
    """Return the state of a deferred ensemble whose perturbations have variances of their own.

    K is the number of recurring arms, where the belief does not keep the variances.
    """
    r = len(mean_of(belief))
    arms = variances_by_arm(belief)
    if arms is None:
        assert K is not None
        arms = own_variances.layout(K, r, steps)
    keys = len(arms.slot_of_arm) or len(arms.variances)
    counted = counters(keys, M)
    log = weight_log.layout(arms, steps, counted == 0, memory_of(belief))
    slots = min(M, max(256, steps))
    models = no_models.layout(M, deviations, r, slots, counted, np.float64)
    return deferred_ensemble.layout(belief, log, models)


@interface.now.body(WeightLog)
def _now(log):
    return log.arms.size[PLAYS]


@interface.note_before.body(WeightLog)
def _note_before(log, key):
    """Record a play; its variance is in the belief."""
    time, taken = log.arms.size[PLAYS], log.arms.size[SLOTS]
    slot = slot_of_key(log.arms.slot_of_arm, key)
    if slot < 0:
        slot = taken
    log.last[slot] = time
    if log.slot.shape[0] == 0:
        return
    milestones = log.size[_MILESTONES]
    age = time - (log.milestone_time[milestones - 1] if milestones > 0 else 0)
    if age >= max(_PLAYS_BETWEEN_MILESTONES, plays_a_slot(log.memory) * taken):
        _set_milestone(log, time)
    log.slot[time] = slot
    log.before[time] = log.arms.variances[slot]


@generic
def _count_play(arms, memory, key, row, root):
    """Add the variance of a perturbation: by default the belief did."""


@_count_play.body(OwnVariances)
def _count_own_play(arms, memory, key, row, root):
    """O(slots), for V to fade."""
    taken, slot, keep = arms.size[SLOTS], np.int64(arms.slot_of_arm[key]), fading(memory, 2)
    for i in range(taken):
        arms.variances[i] *= keep if arms.variances[i] > LEAST_WEIGHT else 0.0
    if slot < 0:
        slot = taken
        arms.size[SLOTS] = taken + 1
        arms.slot_of_arm[key] = slot
        for j in range(row.shape[0]):
            arms.columns[j, slot] = row[j]
    arms.variances[slot] += root * root
    arms.size[PLAYS] += 1


@interface.append.body(WeightLog)
def _append(log, key, row, root):
    _count_play(log.arms, log.memory, key, row, root)


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
    larger: WeightLog = weight_log(log.arms, 2 * len(log.slot), True, log.memory)
    for name in ("slot", "before", "milestone_time", "milestone_start", "kept"):
        old, new = getattr(log, name), getattr(larger, name)
        new[: len(old)] = old
    return larger._replace(last=log.last, size=log.size.copy())


class Missed(NamedTuple):
    """What a catch-up writes to."""

    variances: np.ndarray  # (slots,): V at a time before, then what was missed, then its sums


@interface.missed_scratch.body(WeightLog)
def _missed_scratch(log):
    return Missed(zeros(len(log.arms.variances)))


@interface.most_normals.body(WeightLog)
def _most_normals(log):
    return len(log.arms.variances) + log.arms.columns.shape[0]


@kernel
def variances_at(log, time, out):
    """out[slot] = V of each slot after `time` plays, as much of it as is left now.

    Cost O(slots + plays between milestones).
    """
    low, high = 0, log.size[_MILESTONES]  # the first milestone that is not before
    while low < high:
        middle = (low + high) // 2
        if log.milestone_time[middle] < time:
            low = middle + 1
        else:
            high = middle
    at, taken, left = log.arms.size[PLAYS], log.arms.size[SLOTS], 1.0
    if low == log.size[_MILESTONES]:
        for slot in range(taken):
            out[slot] = log.arms.variances[slot]
    else:
        at, start = log.milestone_time[low], log.milestone_start[low]
        left = fading(log.memory, 2 * (log.arms.size[PLAYS] - at))
        known = log.milestone_start[low + 1] - start
        for slot in range(known):
            out[slot] = left * log.kept[start + slot]
        for slot in range(known, taken):
            out[slot] = 0.0
    keep = fading(log.memory, 2)
    for play in range(at - 1, time - 1, -1):
        left *= keep
        out[log.slot[play]] = left * log.before[play]


@inlined
def _variances_of_model(log, models, slot, out):
    if models.plays.shape[1] > 0:
        left = fading(log.memory, 2 * (log.arms.size[PLAYS] - models.read_at[slot]))
        for i in range(log.arms.size[SLOTS]):
            out[i] = left * models.plays[slot, i]
    else:
        variances_at(log, models.read_at[slot], out)


@interface.catch_up.body(WeightLog)
def _catch_up(log, agent, slot, source, stream, counter, xi):
    """One normal for each distinct arm missed, by slot; cost O(slots r)."""
    sums, normals = agent.scratch.missed.variances, agent.scratch.normals
    _variances_of_model(log, agent.models, slot, sums)
    _take_in(log, agent.models.read_at[slot], source, stream, counter, sums, normals, xi)


@kernel
def _take_in(log, since, source, stream, counter, sums, normals, xi):
    """Let xi take in what it missed since V was `sums`, which become the sums of perturbations."""
    arms, memory = log.arms, log.memory
    taken, n = arms.size[SLOTS], 0
    for i in range(taken):
        missed = arms.variances[i] - sums[i]
        sums[i] = np.sqrt(missed) if missed > 0.0 and log.last[i] >= since else 0.0
        n += sums[i] > 0.0
    refill = refill_scale(memory, since, arms.size[PLAYS])
    of_prior = xi.shape[0] if refill > 0.0 else 0
    fill_normals(source, stream, counter, normals[: n + of_prior])
    n = 0
    for i in range(taken):
        if sums[i] > 0.0:
            sums[i] *= normals[n]
            n += 1
    fade = fading(memory, arms.size[PLAYS] - since)
    for j in range(of_prior):
        normals[n + j] *= refill
    for j in range(xi.shape[0]):
        xi[j] = fade * xi[j] + (normals[n + j] if of_prior > 0 else 0.0)
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
    last = {"last": log.last[: int(log.arms.size[SLOTS])]}
    if isinstance(log.arms, OwnVariances):
        last |= dict(saved_fields(log.arms, "arms_"))
    if len(log.slot) == 0:
        return last
    plays, (milestones, kept) = int(log.arms.size[PLAYS]), log.size
    played = {"slot": log.slot[:plays], "before": log.before[:plays]}
    if log.memory == UNLIMITED:
        return last | played
    return (
        last
        | played
        | {
            "milestone_time": log.milestone_time[:milestones],
            "milestone_start": log.milestone_start[: milestones + 1],
            "kept": log.kept[:kept],
        }
    )


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
    if known is None:
        known = _restored_variances(log.arms, arrays)
    taken, plays = known.size
    restored = weight_log(known, max(steps, plays), len(log.slot) > 0, log.memory)
    copy_saved("last", arrays.get("last"), restored.last[:taken])
    if not ((restored.last >= 0) & (restored.last <= max(0, plays - 1))).all():
        raise ValueError("the plays of a log do not fit")
    copies = np.zeros((used, models.plays.shape[1]))
    if len(log.slot) == 0:
        by_model = arrays["taken_in"].reshape(used, taken)
        ages = (plays - arrays["read_at"])[:, np.newaxis]
        left, most = fading(log.memory, 2 * ages) * by_model, known.variances[:taken]
        if log.memory != UNLIMITED:  # V is rounded where it fades, and at last dropped
            most = most * (1.0 + 1e-6) + LEAST_WEIGHT
        if not ((by_model >= 0.0) & (left <= most)).all():
            raise ValueError("the models of an ensemble do not fit its log")
        copies[:, :taken] = by_model
        return restored, arrays["read_at"], copies
    copy_saved("slot", arrays.get("slot"), restored.slot[:plays])
    copy_saved("before", arrays.get("before"), restored.before[:plays])
    if plays and not (0 <= restored.slot[:plays].min() <= restored.slot[:plays].max() < taken):
        raise ValueError("the plays of a log do not fit")
    set_milestones = _with_milestones if log.memory == UNLIMITED else _with_saved_milestones
    return set_milestones(restored, arrays), arrays["read_at"], copies


def _restored_variances(arms: ArmVariances, arrays: Mapping[str, np.ndarray]) -> OwnVariances:
    known: OwnVariances = filled(arms, arrays, "arms_")
    taken, plays = known.size
    slots = known.slot_of_arm[known.slot_of_arm >= 0]
    if not (
        0 <= taken <= min(plays, len(known.variances))
        and sorted(slots) == list(range(taken))
        and (known.variances >= 0).all()
    ):
        raise ValueError("the arms of a log do not fit")
    return known


def _with_saved_milestones(log: WeightLog, arrays: Mapping[str, np.ndarray]) -> WeightLog:
    """Restore milestones: where V fades, how it is rounded depends on them."""
    milestones, kept = len(arrays["milestone_time"]), len(arrays["kept"])
    starts, times = arrays["milestone_start"], arrays["milestone_time"]
    copy_saved("milestone_time", times, log.milestone_time[:milestones])
    copy_saved("milestone_start", starts, log.milestone_start[: milestones + 1])
    copy_saved("kept", arrays["kept"], log.kept[:kept])
    sizes, plays = np.diff(starts), log.arms.size[PLAYS]
    if not (
        starts[0] == 0
        and starts[-1] == kept
        and ((sizes >= 0) & (sizes <= log.arms.size[SLOTS])).all()
        and (np.diff(times, prepend=0, append=plays) >= 0).all()
    ):
        raise ValueError("the milestones of a log do not fit")
    log.size[:] = milestones, kept
    return log


def _with_milestones(log: WeightLog, arrays: Mapping[str, np.ndarray]) -> WeightLog:
    """Set milestones anew: where they are changes no number, for V is what it was, to the bit."""
    plays = int(log.arms.size[PLAYS])
    variances, last = np.array(log.arms.variances), plays
    taken = int(log.arms.size[SLOTS])
    gap = max(_PLAYS_BETWEEN_MILESTONES, plays_a_slot(log.memory) * taken)
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
