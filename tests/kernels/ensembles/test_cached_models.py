"""The models that have been read: each has a slot of its own, however many there are."""

import numpy as np
import pytest
from engine import from_python
from fastes.kernels.ensembles import cached_models
from fastes.kernels.ensembles.cached_models import (
    counters,
    models_need_capacity,
    models_with_capacity,
    no_models,
)
from fastes.kernels.ensembles.deviations import NORMAL

add_model = from_python(cached_models.add_model)
slot_of = from_python(cached_models.slot_of)
find = from_python(cached_models._find)


def filled(M, order, slots):
    """Return models that were added in an order, each with its number in xi, and when."""
    models = no_models(M, NORMAL, 1, slots, 3)
    for time, m in enumerate(order):
        if models_need_capacity(models):
            models = models_with_capacity(models)
        assert slot_of(models, m) == -1
        slot = add_model(models, m)
        assert slot == time
        models.xi[slot], models.read_at[slot], models.plays[slot] = m, time + 7, m + 9
    return models


@pytest.mark.parametrize(("M", "slots"), [(1, 1), (2, 1), (2, 2), (5, 4), (9, 8), (40, 4)])
def test_every_model_finds_room_and_is_found_again(M, slots):
    order = np.random.default_rng(M).permutation(M).tolist()
    models = filled(M, order, slots)
    assert not models_need_capacity(models)
    for time, m in enumerate(order):
        slot = slot_of(models, m)
        assert (models.model[slot], models.xi[slot, 0], models.read_at[slot]) == (m, m, time + 7)
        assert (models.plays[slot] == m + 9).all()


def test_models_that_meet_at_the_end_of_the_table_go_on_at_its_beginning():
    empty = no_models(10**6, NORMAL, 1, 8, 3)
    last = len(empty.table) - 1
    order = [m for m in range(200) if find(empty, m) == last][:4]
    models = filled(10**6, order, 8)
    assert [slot_of(models, m) for m in order] == [0, 1, 2, 3]
    assert (models.table[[last, 0, 1, 2], 0] == np.array(order) + 1).all()
    assert (models.table[[last, 0, 1, 2], 1] == [0, 1, 2, 3]).all()


@pytest.mark.parametrize(("K", "M", "kept"), [(1, 1, 1), (1024, 1024, 1024), (1024, 1025, 0)])
def test_plays_are_counted_where_that_takes_little_memory(K, M, kept):
    assert counters(K, M) == kept
