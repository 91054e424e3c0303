"""Which arms were played, and when: what a model that was not read for a while has missed.

Played arms have places, in order of first play. A doubly linked list orders the places by last
play, so that the arms played since any time are a walk from its newest end. The play times of
each arm stand sorted in a segment of one pool, so that the plays since any time are counted by
a search from the end. Kernels own no memory: where the log is full it says so (`log_is_full`)
and is given larger arrays (`grown_log`).
"""

from typing import NamedTuple

import numpy as np

from .jit import entry, inlined, kernel

_FIRST_ROOM = 4  # times in an arm's first segment

# What `PlayLog.size` holds.
_NOW = 0
_PLACES = 1
_NEWEST = 2
_POOL = 3
_LARGEST = 4


class PlayLog(NamedTuple):
    """The plays so far. Times are numbers of plays before: 0, 1, 2, ..."""

    place_of: np.ndarray  # (K,) int32: the place of an arm, or -1
    rows: np.ndarray  # (places, r): b of the arm at each place
    newer: np.ndarray  # (places,) int32: the place played next after this one, or -1
    older: np.ndarray  # (places,) int32: the place played last before this one, or -1
    last: np.ndarray  # (places,) int64: time of the last play
    plays: np.ndarray  # (places,) int64: number of plays
    start: np.ndarray  # (places,) int64: where its segment of `times` starts
    room: np.ndarray  # (places,) int64: how many times the segment has room for
    times: np.ndarray  # (pool,) uint32
    size: np.ndarray  # (5,) int64: plays, places, newest place, pool taken, largest room


def play_log(K: int, r: int, places: int = 64, pool: int = 1024) -> PlayLog:
    """Return an empty log with room for some places and plays."""
    links = np.full((2, places), -1, np.int32)
    last, plays, start, room = np.zeros((4, places), np.int64)
    size = np.array([0, 0, -1, 0, _FIRST_ROOM], np.int64)
    times = np.zeros(pool, np.uint32)
    place_of = np.full(K, -1, np.int32)
    return PlayLog(
        place_of, np.zeros((places, r)), links[0], links[1], last, plays, start, room, times, size
    )


def log_bytes(K: int, r: int, T: int) -> int:
    """Return the most memory that a log of T plays takes, itself and its growing copy."""
    # Capacity doubles while the old is still there. A segment has room for four plays or up to
    # twice as many as there were; the pool has twice the room of its segments.
    places = min(K, T)
    return 4 * K + 3 * places * (8 * r + 60) + 48 * (places + T) + 8192


@inlined
def now(log):
    """Return the number of plays so far."""
    return log.size[_NOW]


@entry
def log_is_full(log):
    """Tell whether the next play might not fit."""
    return (
        log.size[_PLACES] == log.rows.shape[0]
        or log.size[_POOL] + 2 * log.size[_LARGEST] > log.times.shape[0]
    )


@inlined
def append(log, arm, b):
    """Write down that an arm with row b was played; cost O(1), amortised, and O(r) the first time.

    Changes every part of the log. It must not be full.
    """
    time = log.size[_NOW]
    place = np.int64(log.place_of[arm])
    if place < 0:
        place = log.size[_PLACES]
        log.size[_PLACES] += 1
        log.place_of[arm] = place
        for j in range(b.shape[0]):
            log.rows[place, j] = b[j]
        log.plays[place] = 0
        log.start[place] = log.size[_POOL]
        log.room[place] = _FIRST_ROOM
        log.size[_POOL] += _FIRST_ROOM
        _to_front(log, place)
    elif place != log.size[_NEWEST]:
        _unlink(log, place)
        _to_front(log, place)
    if log.plays[place] == log.room[place]:
        _make_room(log, place)
    log.times[log.start[place] + log.plays[place]] = time
    log.plays[place] += 1
    log.last[place] = time
    log.size[_NOW] = time + 1


@inlined
def _unlink(log, place):
    """Take a place that is not the newest out of the list."""
    newer, older = log.newer[place], log.older[place]
    log.older[newer] = older
    if older >= 0:
        log.newer[older] = newer


@inlined
def _to_front(log, place):
    """Make a place that is not in the list its newest."""
    newest = log.size[_NEWEST]
    log.newer[place] = -1
    log.older[place] = newest
    if newest >= 0:
        log.newer[newest] = place
    log.size[_NEWEST] = place


@kernel
def _make_room(log, place):
    """Move a full segment to the end of the pool, with twice the room."""
    start, plays, end = log.start[place], log.plays[place], log.size[_POOL]
    for i in range(plays):
        log.times[end + i] = log.times[start + i]
    log.start[place] = end
    log.room[place] = 2 * plays
    log.size[_POOL] = end + 2 * plays
    log.size[_LARGEST] = max(log.size[_LARGEST], 2 * plays)


@inlined
def plays_since(log, place, time):
    """Return how often the arm at a place was played at `time` or later.

    The search doubles its stride from the end, then halves it: O(log of the answer).
    """
    start, plays = log.start[place], log.plays[place]
    stride = 1
    while stride <= plays and log.times[start + plays - stride] >= time:
        stride *= 2
    low = max(0, plays - stride)  # plays before `low` are too old, unless it is 0
    high = plays - stride // 2  # the play at `high` is recent enough, or past the end
    while low < high:
        middle = (low + high) // 2
        if log.times[start + middle] >= time:
            high = middle
        else:
            low = middle + 1
    return plays - high


@inlined
def walk(log, time, places, counts):
    """List the arms played at `time` or later, newest first. Return how many there are.

    places[i] and counts[i] are the place of the i-th and how often it was played since then.
    """
    n = 0
    place = log.size[_NEWEST]
    while place >= 0 and log.last[place] >= time:
        places[n] = place
        counts[n] = plays_since(log, place, time)
        n += 1
        place = np.int64(log.older[place])
    return n


@entry
def _compact(log, times, start):
    """Copy all segments, in order of place, to a fresh pool without gaps. Return its length.

    start[place] = where the segment stands there. The log itself is left as it is.
    """
    end = 0
    for place in range(log.size[_PLACES]):
        for i in range(log.plays[place]):
            times[end + i] = log.times[log.start[place] + i]
        start[place] = end
        end += log.room[place]
    return end


def grown_log(log: PlayLog) -> PlayLog:
    """Return a log with at least twice the room that this one needs now, and leave this as it is.

    So that a failure on the way, for want of memory say, loses nothing.
    """
    used, K = len(log.rows), len(log.place_of)
    places = min(2 * used, K + 1) if log.size[_PLACES] == used else used
    pool = int(2 * (log.room[: log.size[_PLACES]].sum() + log.size[_LARGEST]) + 1024)
    longer = {name: _extended(getattr(log, name), places) for name in _BY_PLACE}
    times, size = np.zeros(pool, np.uint32), log.size.copy()
    size[_POOL] = _compact(log, times, longer["start"])
    return log._replace(**longer, times=times, size=size)


_BY_PLACE = ("rows", "newer", "older", "last", "plays", "start", "room")


def _extended(array: np.ndarray, length: int) -> np.ndarray:
    longer = np.zeros((length, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


def played_arms(log: PlayLog) -> np.ndarray:
    """Return the arm of every play, in order of time (uint32)."""
    arms = np.empty(int(log.size[_NOW]), np.uint32)
    for arm in np.flatnonzero(log.place_of >= 0):
        place = log.place_of[arm]
        start = log.start[place]
        arms[log.times[start : start + log.plays[place]]] = arm
    return arms
