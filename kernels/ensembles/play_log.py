"""The log of plays for recurring arms: which arms were played, and when.

Played arms have slots, in order of first play. A log of counts holds how often each was played. A
log of the whole sequence also holds the slot of every play, in as many bytes as they need, and
milestones on the way: how often each slot had been played by then. What was played since any time
is what was played in all, less what a milestone near that time says, corrected by the plays between
the two.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, full, zeros
from . import log as interface
from .log import append, log_needs_capacity, log_with_capacity

# A milestone takes four bytes a slot. So far apart, milestones take half a byte a play.
_PLAYS_BETWEEN_MILESTONES = 128
_PLAYS_BETWEEN_MILESTONES_PER_SLOT = 8

# What `PlayLog.size` holds.
_NOW = 0  # plays so far
_SLOTS = 1  # slots taken
_WIDTH = 2  # bytes of a slot in `sequence`
_MILESTONES = 3  # milestones made
_COUNTS = 4  # numbers in `counts`


class PlayLog(NamedTuple):
    """The plays so far. Times are numbers of plays before: 0, 1, 2, ..."""

    slot_of_arm: np.ndarray  # (K,) int32: the slot of an arm, or -1
    rows: np.ndarray  # (slots, r): b of the arm at each slot
    plays: np.ndarray  # (slots,) int64: number of plays
    since: np.ndarray  # (slots,) int64: workspace, zero between calls
    sequence: np.ndarray  # (bytes,) uint8: the slot of each play, lowest byte first; or (0,)
    milestone_time: np.ndarray  # (milestones,) int64: time of a milestone
    milestone_start: (
        np.ndarray
    )  # (milestones + 1,) int64: where its counts start, and where they end
    counts: (
        np.ndarray
    )  # (counts,) uint32: plays of each slot before a milestone, milestone after milestone
    size: np.ndarray  # (5,) int64


@allocated
def play_log(K: int, r: int, steps: int = 0, sequence: bool = True) -> PlayLog:
    """Return an empty log, of the sequence or of counts, with capacity for `steps` plays or more.

    Memory is only committed when it is written to: unused capacity costs nothing.
    """
    plays = max(steps, 1024) if sequence else 0
    slots = min(K, max(steps, 64))
    return PlayLog(
        slot_of_arm=full(K, -1, np.int32),
        rows=zeros((slots, r)),
        plays=zeros(slots, np.int64),
        since=zeros(slots, np.int64),
        sequence=zeros(_width_of(slots) * plays, np.uint8),
        milestone_time=zeros(_most_milestones(plays), np.int64),
        milestone_start=zeros(_most_milestones(plays) + 1, np.int64),
        counts=zeros(_most_counts(plays), np.uint32),
        size=full(5, [0, 0, 1, 0, 0], np.int64),
    )


def _width_of(slots: int) -> int:
    """Return the number of bytes to index this many slots."""
    return max(1, (slots - 1).bit_length() + 7 >> 3)


def _most_milestones(plays: int) -> int:
    return plays // _PLAYS_BETWEEN_MILESTONES + 1


def _most_counts(plays: int) -> int:
    # A milestone of n slots follows 8 n plays at least.
    return -(-plays // _PLAYS_BETWEEN_MILESTONES_PER_SLOT)


@interface.now.body(PlayLog)
def _now(log):
    return log.size[_NOW]


@inlined
def _has_sequence(log):
    """Return whether the log holds the slot of every play, or counts only."""
    return log.sequence.shape[0] > 0


@interface.log_needs_capacity.body(PlayLog)
def _log_needs_capacity(log):
    time, slots, width = log.size[_NOW], log.size[_SLOTS], log.size[_WIDTH]
    more = slots < log.slot_of_arm.shape[0]
    width += more and slots == 1 << 8 * width
    return (more and slots == log.rows.shape[0]) or (
        log.sequence.shape[0] > 0
        and (
            (time + 1) * width > log.sequence.shape[0]
            or time >= _PLAYS_BETWEEN_MILESTONES_PER_SLOT * log.counts.shape[0]
        )
    )


@interface.append.body(PlayLog)
def _append(log, arm, b, root):
    """Cost O(1), amortised, and O(r) the first time; the key of an arm is its number.

    All perturbations have variance 1.
    """
    size = log.size
    time, slot = size[_NOW], np.int64(log.slot_of_arm[arm])
    if slot < 0:
        slot = size[_SLOTS]
        size[_SLOTS] += 1
        log.slot_of_arm[arm] = slot
        log.plays[slot] = 0
        for j in range(b.shape[0]):
            log.rows[slot, j] = b[j]
    log.plays[slot] += 1
    size[_NOW] = time + 1
    if _has_sequence(log):
        _append_to_sequence(log, time, slot)


@inlined
def _append_to_sequence(log, time, slot):
    size = log.size
    if slot == 1 << 8 * size[_WIDTH]:
        _widen(log, time)
    width = size[_WIDTH]
    for i in range(width):
        log.sequence[time * width + i] = (slot >> 8 * i) & 255
    milestones = size[_MILESTONES]
    age = time + 1 - (log.milestone_time[milestones - 1] if milestones > 0 else 0)
    if age >= max(_PLAYS_BETWEEN_MILESTONES, _PLAYS_BETWEEN_MILESTONES_PER_SLOT * size[_SLOTS]):
        _set_milestone(log)


@kernel
def _widen(log, plays):
    """Widen the slots of the plays in the sequence by a byte, from the last to the first."""
    width = log.size[_WIDTH]
    log.size[_WIDTH] = width + 1
    for time in range(plays - 1, -1, -1):
        log.sequence[time * (width + 1) + width] = 0
        for i in range(width - 1, -1, -1):
            log.sequence[time * (width + 1) + i] = log.sequence[time * width + i]


@kernel
def _set_milestone(log):
    """Record how often each slot has been played."""
    milestone, start = log.size[_MILESTONES], log.size[_COUNTS]
    slots = log.size[_SLOTS]
    for slot in range(slots):
        log.counts[start + slot] = log.plays[slot]
    log.milestone_time[milestone] = log.size[_NOW]
    log.milestone_start[milestone + 1] = start + slots
    log.size[_MILESTONES] = milestone + 1
    log.size[_COUNTS] = start + slots


@inlined
def _slot_at(log, time):
    """Return the slot that was played at a time."""
    width = log.size[_WIDTH]
    slot = np.int64(log.sequence[time * width])
    for i in range(1, width):
        slot |= np.int64(log.sequence[time * width + i]) << 8 * i
    return slot


@inlined
def plays_since(log, time, slots, counts):
    """List the arms played at `time` or later. Return how many there are.

    slots[i] and counts[i] are the slot of the i-th and how often it was played since then.
    If fewer than eight plays have gone by for each slot, they are listed by first play since
    then, at O(plays since); else by slot, at O(slots + plays between two milestones).
    """
    if log.size[_NOW] - time < _PLAYS_BETWEEN_MILESTONES_PER_SLOT * log.size[_SLOTS]:
        return _since_by_play(log, time, slots, counts)
    return _since_by_slot(log, time, slots, counts)


@kernel
def all_plays(log, slots, counts):
    """Do as `plays_since` for the time 0; by slot, at O(slots)."""
    for slot in range(log.size[_SLOTS]):
        slots[slot] = slot
        counts[slot] = log.plays[slot]
    return log.size[_SLOTS]


@kernel
def plays_beyond(log, before, slots, counts):
    """Do as `plays_since` for counts of plays before, one a slot; by slot, at O(slots)."""
    n = 0
    for slot in range(log.size[_SLOTS]):
        since = log.plays[slot] - np.int64(before[slot])
        slots[n] = slot  # kept if there are plays, else written over
        counts[n] = since
        n += since > 0
    return n


@inlined
def copy_plays(log, out):
    """out[slot] = the number of plays of each slot so far."""
    for slot in range(log.size[_SLOTS]):
        out[slot] = log.plays[slot]


@kernel
def _since_by_play(log, time, slots, counts):
    n = 0
    for s in range(time, log.size[_NOW]):
        slot = _slot_at(log, s)
        if log.since[slot] == 0:
            slots[n] = slot
            n += 1
        log.since[slot] += 1
    for i in range(n):
        counts[i] = log.since[slots[i]]
        log.since[slots[i]] = 0
    return n


@kernel
def _since_by_slot(log, time, slots, counts):
    since, milestone = log.since, _nearest_milestone(log, time)
    taken = log.size[_SLOTS]
    for slot in range(taken):
        since[slot] = log.plays[slot]
    at = 0
    if milestone >= 0:
        at, start = log.milestone_time[milestone], log.milestone_start[milestone]
        for slot in range(log.milestone_start[milestone + 1] - start):
            since[slot] -= np.int64(log.counts[start + slot])
    for s in range(at, time):
        since[_slot_at(log, s)] -= 1
    for s in range(time, at):
        since[_slot_at(log, s)] += 1
    n = 0
    for slot in range(taken):
        if since[slot] > 0:
            slots[n] = slot
            counts[n] = since[slot]
            n += 1
        since[slot] = 0
    return n


@inlined
def _nearest_milestone(log, time):
    """Return the milestone nearest to a time, or -1 if that is the beginning."""
    low, high = 0, log.size[_MILESTONES]
    while low < high:
        middle = (low + high) // 2
        if log.milestone_time[middle] <= time:
            low = middle + 1
        else:
            high = middle
    before = log.milestone_time[low - 1] if low > 0 else 0
    if low < log.size[_MILESTONES] and log.milestone_time[low] - time < time - before:
        return low
    return low - 1


@interface.log_with_capacity.body(PlayLog)
def _log_with_capacity(log: PlayLog) -> PlayLog:
    """Double the capacity for plays and slots."""
    K, r = len(log.slot_of_arm), log.rows.shape[1]
    sequence = len(log.sequence) > 0
    plays = int(log.size[_NOW]) if sequence else 0
    larger = play_log(K, r, 2 * max(plays, len(log.rows), 1024), sequence)
    for name in ("rows", "plays", "sequence", "milestone_time", "milestone_start", "counts"):
        old, new = getattr(log, name), getattr(larger, name)
        new[: len(old)] = old[: len(new)]
    return larger._replace(slot_of_arm=log.slot_of_arm, size=log.size.copy())


def arm_type(K: int) -> np.dtype:
    """Return the smallest type that numbers K arms."""
    return np.min_scalar_type(K - 1)


def arms_by_slot(log: PlayLog) -> np.ndarray:
    """Return the arm of every slot."""
    arms = np.flatnonzero(log.slot_of_arm >= 0)
    arm_at = np.empty(len(arms), arm_type(len(log.slot_of_arm)))
    arm_at[log.slot_of_arm[arms]] = arms
    return arm_at


@interface.log_arrays.body(PlayLog)
def _log_arrays(log: PlayLog) -> dict[str, np.ndarray]:
    """Return the arm of every play, or the arms by first play and how often each was played."""
    arm_at = arms_by_slot(log)
    if len(log.sequence) == 0:
        return {"played": arm_at, "plays": log.plays[: len(arm_at)]}
    plays, width = int(log.size[_NOW]), int(log.size[_WIDTH])
    digits = np.int64(256) ** np.arange(width)
    played = np.empty(plays, arm_at.dtype)
    for first in range(0, plays, 1 << 20):  # in chunks, to bound memory
        last = min(plays, first + (1 << 20))
        some = log.sequence[first * width : last * width].reshape(-1, width)
        played[first:last] = arm_at[some @ digits]
    return {"played": played}


@entry
def _replay(log, arms, played, b):
    """Append plays to a log until it is full. Return how many were appended."""
    for i in range(played.shape[0]):
        if log_needs_capacity(log):
            return i
        load_arm(arms, played[i], b)
        append(log, played[i], b, 1.0)
    return played.shape[0]


def restored_play_log(
    arms: Arms, steps: int, played: np.ndarray, plays: np.ndarray | None = None
) -> PlayLog:
    """Return the log of these arms played, in order; with `plays`, one of counts.

    Then the arms are in order of first play, each once. It has room for `steps` plays in all.
    """
    K, r = arms.K, arms.tiles.shape[1]
    if played.dtype != arm_type(K) or played.ndim != 1 or (played >= K).any():
        raise ValueError("the arms of a log do not fit")
    log = play_log(K, r, steps or len(played) + 1024, sequence=plays is None)
    b, taken = np.empty(r), 0
    while taken < len(played):
        some = played[taken : taken + (1 << 20)].astype(np.uint32)
        more = _replay(log, arms, some, b)
        log = log_with_capacity(log) if more < len(some) else log
        taken += more
    if plays is not None:
        if log.size[_SLOTS] != len(plays) or not ((plays >= 1) & (plays < 2**32)).all():
            raise ValueError("the plays of a log do not fit")
        log.plays[: len(plays)] = plays
        log.size[_NOW] = plays.sum()
    return log


@interface.taken_in.body(PlayLog)
def _taken_in(log: PlayLog, models: Any) -> dict[str, np.ndarray]:
    used = int(models.used[0])
    if len(log.sequence) > 0:
        return {"read_at": models.read_at[:used]}
    return {"taken_in": models.plays[:used, : int(log.size[_SLOTS])].ravel()}


@interface.restored_log.body(PlayLog)
def _restored_log(
    log: PlayLog,
    models: Any,
    belief: Any,
    arrays: Mapping[str, np.ndarray],
    arms: Arms,
    steps: int,
) -> tuple[PlayLog, np.ndarray, np.ndarray]:
    counts = np.zeros((len(arrays["model"]), models.plays.shape[1]), np.uint32)
    if len(log.sequence) > 0:
        return restored_play_log(arms, steps, arrays["played"]), arrays["read_at"], counts
    restored = restored_play_log(arms, steps, arrays["played"], arrays["plays"])
    by_model = arrays["taken_in"].reshape(len(counts), len(arrays["plays"]))
    counts[:, : by_model.shape[1]] = by_model
    return restored, by_model.sum(axis=1, dtype=np.int64), counts
