import numpy as np
import pytest
from engine import from_python
from fastes.kernels import playlog
from fastes.kernels.playlog import grown_log, log_bytes, log_is_full, play_log, played_arms
from hypothesis import given
from hypothesis import strategies as st

append = from_python(playlog.append)
now = from_python(playlog.now)
plays_since = from_python(playlog.plays_since)
walk = from_python(playlog.walk)


def logged(arms, K=8, **room):
    log = play_log(K, 2, **room)
    for arm in arms:
        while log_is_full(log):
            log = grown_log(log)
        append(log, arm, np.array([arm, -arm], float))
    return log


def walked(log, time):
    """Return {arm: count} in the order of the walk, by the log."""
    places, counts = np.zeros(len(log.rows), np.int32), np.zeros(len(log.rows), np.int64)
    n = walk(log, time, places, counts)
    return [(int(log.rows[p, 0]), int(c)) for p, c in zip(places[:n], counts[:n], strict=True)]


def naive(arms, time):
    """Return the same by looking at every play."""
    recent = arms[time:]
    newest_first = list(dict.fromkeys(reversed(recent)))
    return [(arm, recent.count(arm)) for arm in newest_first]


@given(st.lists(st.integers(0, 7), max_size=200), st.integers(1, 4))
def test_walks_and_counts_are_those_of_the_naive_log(arms, places):
    log = logged(arms, places=places, pool=8 * places)
    assert now(log) == len(arms)
    for time in range(len(arms) + 2):
        assert walked(log, time) == naive(arms, time)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(1, 60)), min_size=1, max_size=20))
def test_counts_are_right_after_long_stretches_of_one_arm(stretches):
    arms = [arm for arm, length in stretches for _ in range(length)]
    log = logged(arms)
    for time in range(0, len(arms), 7):
        for arm in set(arms):
            assert plays_since(log, log.place_of[arm], time) == arms[time:].count(arm)


@given(st.lists(st.integers(0, 7), max_size=300))
def test_the_plays_can_be_read_back(arms):
    assert played_arms(logged(arms, places=1, pool=8)).tolist() == arms


def test_a_row_is_kept_from_the_first_play():
    log = logged([5, 2, 5])
    assert log.rows[:2].tolist() == [[5.0, -5.0], [2.0, -2.0]]


def test_a_log_grows_with_its_plays_and_not_faster():
    rng = np.random.default_rng(0)
    T, K = 200_000, 1000
    arms = rng.zipf(1.3, size=T) % K
    log = logged(arms.tolist(), K=K)
    taken = sum(part.nbytes for part in log)
    assert taken <= log_bytes(K, 2, T)
    assert log.times.nbytes <= 24 * T


@pytest.mark.parametrize("K", [1, 2])
def test_the_smallest_logs(K):
    log = logged([0] * 100, K=K, places=1, pool=8)
    assert walked(log, 0) == [(0, 100)]
    assert walked(log, 99) == [(0, 1)]
    assert walked(log, 100) == []
