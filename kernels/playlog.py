"""Which arms were played, and when: what a model that was not read for a while has missed.

Played arms have places, in order of first play. The log is the sequence of places, in as many
bytes each as they need, and marks on the way: how often each place had been played by then.
What was played since any time is what was played in all, less what a mark near that time says,
corrected by the plays between the two. Kernels own no memory: where the log is full it says so
(`log_is_full`) and is given larger arrays (`grown_log`).
"""

from typing import NamedTuple

import numpy as np

from .jit import entry, inlined, kernel

# A mark takes four bytes a place. So far apart, marks take half a byte a play.
_PLAYS_BETWEEN_MARKS = 128
_PLAYS_BETWEEN_MARKS_PER_PLACE = 8

# What `PlayLog.size` holds.
_NOW = 0  # plays so far
_PLACES = 1  # places taken
_WIDTH = 2  # bytes of a place in `sequence`
_MARKS = 3  # marks made
_COUNTS = 4  # numbers in `counts`


class PlayLog(NamedTuple):
    """The plays so far. Times are numbers of plays before: 0, 1, 2, ..."""

    place_of: np.ndarray  # (K,) int32: the place of an arm, or -1
    rows: np.ndarray  # (places, r): b of the arm at each place
    plays: np.ndarray  # (places,) int64: number of plays
    since: np.ndarray  # (places,) int64: workspace, zero between calls
    sequence: np.ndarray  # (bytes,) uint8: the place of each play, lowest byte first
    mark_time: np.ndarray  # (marks,) int64: time of a mark
    mark_start: np.ndarray  # (marks + 1,) int64: where its counts start, and where they end
    counts: np.ndarray  # (counts,) uint32: plays of each place before a mark, mark after mark
    size: np.ndarray  # (5,) int64


def play_log(K: int, r: int, steps: int = 0) -> PlayLog:
    """Return an empty log with room for so many plays at least.

    The system gives memory where it is written to: room that is not used costs nothing.
    """
    plays = max(steps, 1024)
    places = min(K, max(steps, 64))
    return PlayLog(
        place_of=np.full(K, -1, np.int32),
        rows=np.zeros((places, r)),
        plays=np.zeros(places, np.int64),
        since=np.zeros(places, np.int64),
        sequence=np.zeros(_width_of(places) * plays, np.uint8),
        mark_time=np.zeros(_most_marks(plays), np.int64),
        mark_start=np.zeros(_most_marks(plays) + 1, np.int64),
        counts=np.zeros(_most_counts(plays), np.uint32),
        size=np.array([0, 0, 1, 0, 0], np.int64),
    )


def log_bytes(K: int, r: int, T: int) -> int:
    """Return the memory that a log with room for T plays takes."""
    plays, places = max(T, 1024), min(K, max(T, 64))
    marks = 16 * _most_marks(plays) + 4 * _most_counts(plays)
    return 4 * K + places * (8 * r + 16) + _width_of(places) * plays + marks + 64


def _width_of(places: int) -> int:
    """Return how many bytes tell so many places apart."""
    return max(1, (places - 1).bit_length() + 7 >> 3)


def _most_marks(plays: int) -> int:
    return plays // _PLAYS_BETWEEN_MARKS + 1


def _most_counts(plays: int) -> int:
    # A mark of n places follows 8 n plays at least.
    return -(-plays // _PLAYS_BETWEEN_MARKS_PER_PLACE)


@inlined
def now(log):
    """Return the number of plays so far."""
    return log.size[_NOW]


@entry
def log_is_full(log):
    """Tell whether the next play might not fit."""
    time, places, width = log.size[_NOW], log.size[_PLACES], log.size[_WIDTH]
    more = places < log.place_of.shape[0]
    width += more and places == 1 << 8 * width
    return (
        (more and places == log.rows.shape[0])
        or (time + 1) * width > log.sequence.shape[0]
        or time >= _PLAYS_BETWEEN_MARKS_PER_PLACE * log.counts.shape[0]
    )


@inlined
def append(log, arm, b):
    """Write down that an arm with row b was played; cost O(1), amortised, and O(r) the first time.

    Changes the log, which must not be full.
    """
    size = log.size
    time, place = size[_NOW], np.int64(log.place_of[arm])
    if place < 0:
        place = size[_PLACES]
        size[_PLACES] += 1
        log.place_of[arm] = place
        log.plays[place] = 0
        for j in range(b.shape[0]):
            log.rows[place, j] = b[j]
        if place == 1 << 8 * size[_WIDTH]:
            _widen(log)
    width = size[_WIDTH]
    for i in range(width):
        log.sequence[time * width + i] = (place >> 8 * i) & 255
    log.plays[place] += 1
    size[_NOW] = time + 1
    marks = size[_MARKS]
    age = time + 1 - (log.mark_time[marks - 1] if marks > 0 else 0)
    if age >= max(_PLAYS_BETWEEN_MARKS, _PLAYS_BETWEEN_MARKS_PER_PLACE * size[_PLACES]):
        _mark(log)


@kernel
def _widen(log):
    """Give every place in the sequence one byte more, from the last to the first."""
    width = log.size[_WIDTH]
    log.size[_WIDTH] = width + 1
    for time in range(log.size[_NOW] - 1, -1, -1):
        log.sequence[time * (width + 1) + width] = 0
        for i in range(width - 1, -1, -1):
            log.sequence[time * (width + 1) + i] = log.sequence[time * width + i]


@kernel
def _mark(log):
    """Write down how often each place has been played."""
    mark, start = log.size[_MARKS], log.size[_COUNTS]
    places = log.size[_PLACES]
    for place in range(places):
        log.counts[start + place] = log.plays[place]
    log.mark_time[mark] = log.size[_NOW]
    log.mark_start[mark + 1] = start + places
    log.size[_MARKS] = mark + 1
    log.size[_COUNTS] = start + places


@inlined
def _place_at(log, time):
    """Return the place that was played at a time."""
    width = log.size[_WIDTH]
    place = np.int64(log.sequence[time * width])
    for i in range(1, width):
        place |= np.int64(log.sequence[time * width + i]) << 8 * i
    return place


@inlined
def walk(log, time, places, counts):
    """List the arms played at `time` or later. Return how many there are.

    places[i] and counts[i] are the place of the i-th and how often it was played since then.
    If fewer than eight plays have gone by for each place, they are listed by first play since
    then, at O(plays since); else by place, at O(places + plays between two marks).
    """
    if log.size[_NOW] - time < _PLAYS_BETWEEN_MARKS_PER_PLACE * log.size[_PLACES]:
        return _walk_plays(log, time, places, counts)
    return _walk_places(log, time, places, counts)


@kernel
def _walk_plays(log, time, places, counts):
    n = 0
    for s in range(time, log.size[_NOW]):
        place = _place_at(log, s)
        if log.since[place] == 0:
            places[n] = place
            n += 1
        log.since[place] += 1
    for i in range(n):
        counts[i] = log.since[places[i]]
        log.since[places[i]] = 0
    return n


@kernel
def _walk_places(log, time, places, counts):
    since, mark = log.since, _mark_near(log, time)
    taken = log.size[_PLACES]
    for place in range(taken):
        since[place] = log.plays[place]
    at = 0
    if mark >= 0:
        at, start = log.mark_time[mark], log.mark_start[mark]
        for place in range(log.mark_start[mark + 1] - start):
            since[place] -= np.int64(log.counts[start + place])
    for s in range(at, time):
        since[_place_at(log, s)] -= 1
    for s in range(time, at):
        since[_place_at(log, s)] += 1
    n = 0
    for place in range(taken):
        if since[place] > 0:
            places[n] = place
            counts[n] = since[place]
            n += 1
        since[place] = 0
    return n


@inlined
def _mark_near(log, time):
    """Return the mark nearest to a time, or -1 if that is the beginning."""
    low, high = 0, log.size[_MARKS]
    while low < high:
        middle = (low + high) // 2
        if log.mark_time[middle] <= time:
            low = middle + 1
        else:
            high = middle
    before = log.mark_time[low - 1] if low > 0 else 0
    if low < log.size[_MARKS] and log.mark_time[low] - time < time - before:
        return low
    return low - 1


def grown_log(log: PlayLog) -> PlayLog:
    """Return a log with room for twice the plays and places, and leave this one as it is.

    So that a failure on the way, for want of memory say, loses nothing.
    """
    K, r = len(log.place_of), log.rows.shape[1]
    larger = play_log(K, r, 2 * max(int(log.size[_NOW]), len(log.rows), 1024))
    for name in ("rows", "plays", "sequence", "mark_time", "mark_start", "counts"):
        old, new = getattr(log, name), getattr(larger, name)
        new[: len(old)] = old[: len(new)]
    return larger._replace(place_of=log.place_of, size=log.size.copy())


def arm_type(K: int) -> np.dtype:
    """Return the smallest type that numbers K arms."""
    return np.min_scalar_type(K - 1)


def played_arms(log: PlayLog) -> np.ndarray:
    """Return the arm of every play, in order of time."""
    plays, places, width = (int(log.size[i]) for i in (_NOW, _PLACES, _WIDTH))
    arms = np.flatnonzero(log.place_of >= 0)
    arm_at = np.empty(places, arm_type(len(log.place_of)))
    arm_at[log.place_of[arms]] = arms
    digits = np.int64(256) ** np.arange(width)
    played = np.empty(plays, arm_at.dtype)
    for first in range(0, plays, 1 << 20):  # a long log in parts: they need more room
        last = min(plays, first + (1 << 20))
        some = log.sequence[first * width : last * width].reshape(-1, width)
        played[first:last] = arm_at[some @ digits]
    return played
