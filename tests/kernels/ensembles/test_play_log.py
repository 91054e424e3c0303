import numpy as np
import pytest
from engine import from_python
from fastes.kernels.ensembles import play_log as playlog
from fastes.kernels.ensembles.log import (
    append,
    log_arrays,
    log_needs_capacity,
    log_with_capacity,
    now,
)
from fastes.kernels.ensembles.play_log import arms_by_slot, play_log
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

append_one = from_python(append)
all_plays = from_python(playlog.all_plays)
plays_beyond = from_python(playlog.plays_beyond)
walk = from_python(playlog.plays_since)


@njit
def append_all(log, arms, first, row):
    """Append plays from the first on until the log needs capacity. Return the next one."""
    for i in range(first, len(arms)):
        if log_needs_capacity(log):
            return i
        row[0], row[1] = arms[i], -arms[i]
        append(log, arms[i], row, 1.0)
    return len(arms)


def logged(arms, K=8, steps=0, sequence=True):
    log, plays, done = play_log(K, 2, steps, sequence), np.array(arms, np.int64), 0
    while done < len(plays):
        done = append_all(log, plays, done, np.empty(2))
        if done < len(plays):
            assert steps == 0
            log = log_with_capacity(log)
    return log


def walked(log, time):
    """Return [(arm, count)] in the order of the walk, by the log."""
    slots, counts = np.zeros(len(log.rows), np.int32), np.zeros(len(log.rows), np.int64)
    n = walk(log, time, slots, counts)
    assert not log.since.any()
    return [(int(log.rows[p, 0]), int(c)) for p, c in zip(slots[:n], counts[:n], strict=True)]


def naive(arms, time):
    """Return the same by looking at every play."""
    recent, ever = list(arms[time:]), list(dict.fromkeys(arms))
    distinct = list(dict.fromkeys(recent))
    if len(recent) >= 8 * len(ever):
        distinct.sort(key=ever.index)
    return [(arm, recent.count(arm)) for arm in distinct]


@given(st.lists(st.integers(0, 7), max_size=300))
def test_walks_are_those_of_the_naive_log(arms):
    log = logged(arms)
    assert now(log) == len(arms)
    for time in range(0, len(arms) + 2, 3):
        assert walked(log, time) == naive(arms, time)


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 400)), min_size=1, max_size=30),
    st.integers(0, 2**32 - 1),
)
def test_walks_are_right_between_many_marks(stretches, seed):
    # Stretches of one arm, so that few arms are played often and marks are made.
    arms = [arm for arm, length in stretches for _ in range(length)]
    log = logged(arms, K=31)
    for time in np.random.default_rng(seed).integers(0, len(arms) + 1, size=20):
        assert walked(log, int(time)) == naive(arms, int(time))


@pytest.mark.parametrize("K", [255, 256, 257, 65_535, 65_537])
def test_places_take_as_many_bytes_as_they_need(K):
    rng = np.random.default_rng(K)
    arms = [*range(K), *rng.integers(0, K, size=3 * K).tolist()]
    for log in (logged(arms, K), logged(arms, K, steps=len(arms))):
        assert log.size[playlog._WIDTH] == (1 if K <= 256 else 2 if K <= 65_536 else 3)
        assert log_arrays(log)["played"].tolist() == arms
        for time in (0, 1, K - 1, 2 * K, len(arms) - 5):
            assert sorted(walked(log, time)) == sorted(naive_counts(arms, time))


def naive_counts(arms, time):
    distinct, counts = np.unique(arms[time:], return_counts=True)
    return list(zip(distinct.tolist(), counts.tolist(), strict=True))


@given(st.lists(st.integers(0, 7), max_size=300))
def test_the_plays_can_be_read_back(arms):
    assert log_arrays(logged(arms))["played"].tolist() == arms


def test_a_row_is_kept_from_the_first_play():
    log = logged([5, 2, 5])
    assert log.rows[:2].tolist() == [[5.0, -5.0], [2.0, -2.0]]


@pytest.mark.parametrize(("K", "most"), [(5, 1.7), (200, 1.7), (1000, 2.7), (100_000, 3.7)])
def test_a_play_takes_few_bytes_and_fewer_where_few_arms_are_played(K, most):
    rng = np.random.default_rng(K)
    T = 300_000
    log = logged((rng.zipf(1.2, size=T) % K).tolist(), K=K, steps=T)
    taken = [
        part.nbytes for part in (log.sequence, log.milestone_time, log.milestone_start, log.counts)
    ]
    assert sum(taken) <= most * T
    assert sum(part.nbytes for part in log) <= play_log.nbytes(K, 2, T)


@pytest.mark.parametrize("steps", [1, 7, 8, 1023, 1025, 5000])
@pytest.mark.parametrize("K", [1, 3, 10_000])
def test_a_log_with_room_for_all_plays_never_grows(K, steps):
    rng = np.random.default_rng(steps)
    logged(rng.integers(0, K, size=steps).tolist(), K=K, steps=steps)
    logged([i % K for i in range(steps)], K=K, steps=steps)


@pytest.mark.parametrize("steps", [1024, 1025, 1031])
def test_a_log_is_full_exactly_when_its_plays_are_done(steps):
    log = play_log(1, 2, steps)
    for _ in range(steps):
        assert not log_needs_capacity(log)
        append_one(log, 0, np.zeros(2), 1.0)
    assert log_needs_capacity(log)


@pytest.mark.parametrize("K", [1, 2])
def test_the_smallest_logs(K):
    log = logged([0] * 100, K=K)
    assert walked(log, 0) == [(0, 100)]
    assert walked(log, 99) == [(0, 1)]
    assert walked(log, 100) == []


def listed(log, function, *rest):
    slots, counts = np.zeros(len(log.rows), np.int32), np.zeros(len(log.rows), np.int64)
    n = function(log, *rest, slots, counts)
    return [(int(log.rows[p, 0]), int(c)) for p, c in zip(slots[:n], counts[:n], strict=True)]


@given(st.lists(st.integers(0, 90), max_size=300), st.integers(0, 300))
def test_a_log_of_counts_says_what_one_of_the_sequence_says(arms, time):
    log, whole = logged(arms, K=91, sequence=False), logged(arms, K=91)
    before = logged(arms[:time], K=91, sequence=False)
    assert now(log) == now(whole) == len(arms)
    assert arms_by_slot(log).tolist() == list(dict.fromkeys(arms))
    assert listed(log, all_plays) == listed(whole, all_plays) == walked(whole, 0)
    counts = np.zeros(len(log.plays), np.uint32)
    counts[: len(before.plays)] = before.plays
    assert sorted(listed(log, plays_beyond, counts)) == sorted(naive(arms, time))


@pytest.mark.parametrize("K", [1, 3, 300, 70_000])
def test_a_log_of_counts_takes_no_memory_for_a_play(K):
    log = logged([i % K for i in range(200_000)], K=K, sequence=False)
    assert log.plays.sum() == 200_000
    assert sum(part.nbytes for part in log) <= play_log.nbytes(K, 2, 10**9, sequence=False)
    assert play_log.nbytes(K, 2, 10**9, sequence=False) <= 60 * K + 200
