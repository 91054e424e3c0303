"""When a snapshot is due, and when a search is tried: by hand, step by step."""

import numpy as np
import pytest
from engine import from_python
from fastes.kernels.search import snapshot_schedule as schedules
from fastes.kernels.search.snapshot_schedule import (
    accept_snapshot,
    is_due,
    new_schedule,
    start_snapshot,
)

add_step_cost = from_python(schedules.add_step_cost)
may_search = from_python(schedules.may_search)
note_scan = from_python(schedules.note_scan)
note_search = from_python(schedules.note_search)
search_limit = from_python(schedules.search_limit)

PRICE = 100.0


def steps_until_due(schedule, cost, r=1, start=10**6):
    """Return how many steps of a cost it takes until a snapshot is due."""
    for n in range(1, 10_000):
        add_step_cost(schedule, start + n, r, cost, PRICE)
        if is_due(schedule):
            return n
    return None


def taken(schedule):
    start_snapshot(schedule)
    accept_snapshot(schedule)


# Steps are counted from a million, unless said: where they double, other rules hold.


def test_the_first_snapshot_is_due_when_steps_have_cost_five_times_its_price():
    assert steps_until_due(new_schedule(), 10.0) == 50


def test_it_is_not_due_in_fewer_steps_than_there_are_dimensions():
    assert steps_until_due(new_schedule(), 1000.0, r=12) == 12


def test_snapshots_that_help_are_taken_at_their_price_and_others_ever_less_often():
    schedule = new_schedule()
    steps_until_due(schedule, 10.0)
    taken(schedule)  # there is nothing yet to judge it by
    assert schedule[schedules._PATIENCE] == 5.0
    steps_until_due(schedule, 1.0)
    taken(schedule)  # a tenth of the cost before: it helped
    assert schedule[schedules._PATIENCE] == pytest.approx(5 / 3)
    steps_until_due(schedule, 0.1)
    taken(schedule)  # and again
    assert schedule[schedules._PATIENCE] == 1.0
    schedule[schedules._BEFORE] = 1.0
    assert steps_until_due(schedule, 1.0) == 100
    taken(schedule)  # as dear as before: it did not
    assert schedule[schedules._PATIENCE] == 3.0
    assert steps_until_due(schedule, 1.0) == 300


def test_a_snapshot_is_due_at_its_price_when_the_steps_have_doubled():
    schedule = new_schedule()
    due = steps_until_due(schedule, 10.0, start=0)
    taken(schedule)
    schedule[schedules._PATIENCE] = 1e6
    assert steps_until_due(schedule, 10.0, start=due) == max(due, 10)


def test_there_is_no_search_before_a_snapshot_is_whole():
    schedule = new_schedule()
    assert not may_search(schedule)
    steps_until_due(schedule, 10.0)
    start_snapshot(schedule)
    assert not may_search(schedule)
    assert not is_due(schedule)
    accept_snapshot(schedule)
    assert may_search(schedule)
    steps_until_due(schedule, 10.0)
    start_snapshot(schedule)  # another one, and it fails half way
    for _ in range(100):
        assert not may_search(schedule)
        note_scan(schedule)


def pause_after_a_failure(schedule):
    """Return the scans between a search that fails and the next search."""
    note_search(schedule, False)
    scans = 0
    while not may_search(schedule):
        note_scan(schedule)
        scans += 1
    return scans


def test_searches_are_tried_half_as_often_after_each_that_fails_and_twice_after_one_that_does_not():
    schedule = new_schedule()
    steps_until_due(schedule, 10.0)
    taken(schedule)
    pauses = [pause_after_a_failure(schedule) for _ in range(9)]
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    for _ in range(4):
        note_search(schedule, True)
        assert may_search(schedule)
    assert pause_after_a_failure(schedule) == 64 // 2**4
    assert pause_after_a_failure(schedule) == 8
    for _ in range(9):
        note_search(schedule, True)
    assert pause_after_a_failure(schedule) == 1


@pytest.mark.parametrize(("failures", "breadth"), [(0, 1.3), (2, 1.3), (3, 1.3 * 1.2)])
def test_more_arms_are_listed_where_searches_failed(failures, breadth):
    schedule = new_schedule()
    steps_until_due(schedule, 10.0)
    for _ in range(failures):
        note_search(schedule, False)
    assert start_snapshot(schedule)[0] == pytest.approx(breadth)


def test_what_is_listed_is_bounded():
    schedule = new_schedule()
    for _ in range(20):
        steps_until_due(schedule, 10.0)
        for _ in range(3):
            note_search(schedule, False)
        broad, _ = start_snapshot(schedule)
    assert broad == 4.0
    assert np.isfinite(schedule[schedules._BEFORE])


def test_a_search_may_cost_less_than_a_scan():
    schedule = new_schedule()
    steps_until_due(schedule, 10.0)
    assert search_limit(schedule, 1000.0) == 700.0
    assert start_snapshot(schedule)[1] == 700.0
