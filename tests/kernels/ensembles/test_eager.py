import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.ensembles import eager as kernels
from fastes.kernels.ensembles.deviations import NORMAL
from fastes.kernels.ensembles.eager import (
    block_length,
    draw_prior_models,
    eager_ensemble,
    flush,
    forget_pending,
    models_between,
    room,
    weights,
)
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source
from hypothesis import given
from hypothesis import strategies as st

read_model = from_python(kernels.read_model)
SEED, RUN = 7, 2
ORIGIN = source(SEED, RUN)


def drawn(M, r):
    models = eager_ensemble(gaussian.layout(r), M, NORMAL).models
    draw_prior_models(models, ORIGIN, 0, len(models.tiles))
    return models


def rows(models):
    return models.tiles.transpose(0, 2, 1).reshape(-1, models.tiles.shape[1])[: models.M].copy()


def push(models, t, b):
    if models.span[1] == 0:
        models.span[0] = t
    models.pending[models.span[1]] = b
    models.span[1] += 1


def bring_up_to_date(models):
    flush(models, ORIGIN, 0, len(models.tiles), weights(models))
    forget_pending(models)


@pytest.mark.parametrize(("M", "r"), [(1, 1), (1, 5), (3, 2), (64, 3), (65, 4), (200, 7)])
def test_initial_models_are_the_reference_s_normals(M, r):
    expected = [reference.normal_vector(SEED, RUN, layout.INITIAL_MODELS, m, r) for m in range(M)]
    np.testing.assert_allclose(rows(drawn(M, r)), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize(("M", "r"), [(1, 1), (3, 2), (65, 4), (600, 3)])
@pytest.mark.parametrize("first", [0, 1, 10, 11])
@pytest.mark.parametrize("n", [1, 2, 7, 8])
def test_flush_adds_each_step_s_perturbation_times_its_arm(M, r, first, n):
    arms = np.random.default_rng([M, n]).normal(size=(n, r))
    models = drawn(M, r)
    expected = rows(models)
    for s in range(n):
        push(models, first + s, arms[s])
        for m in range(M):
            expected[m] += reference.normal(SEED, RUN, layout.PERTURBATION, m, first + s) * arms[s]
    bring_up_to_date(models)
    np.testing.assert_allclose(rows(models), expected, rtol=1e-12, atol=1e-13)


@given(st.integers(1, 700), st.integers(1, 6), st.lists(st.booleans(), min_size=1, max_size=70))
def test_when_the_models_are_flushed_changes_no_bit(M, r, flushes):
    arms = np.random.default_rng(M).normal(size=(len(flushes), r))
    one_by_one, gathered = drawn(M, r), drawn(M, r)
    for t, flush_now in enumerate(flushes):
        push(one_by_one, t, arms[t])
        bring_up_to_date(one_by_one)
        if room(gathered) == 0:
            bring_up_to_date(gathered)
        push(gathered, t, arms[t])
        if flush_now:
            bring_up_to_date(gathered)
    bring_up_to_date(gathered)
    assert (one_by_one.tiles == gathered.tiles).all()


def test_reading_a_model_gives_what_flushing_would_to_the_bit():
    M, r = 130, 5
    models = drawn(M, r)
    arms = np.random.default_rng(3).normal(size=(7, r))
    for s in range(7):
        push(models, 21 + s, arms[s])
    read = np.empty((M, r))
    for m in range(M):
        read_model(models, ORIGIN, m, read[m])
    bring_up_to_date(models)
    assert (read == rows(models)).all()


@pytest.mark.parametrize("n", [0, 1, 2, 7, 8])
def test_a_probe_of_an_eager_ensemble_has_taken_in_every_step(n):
    M, r = 70, 3
    agent = eager_ensemble(gaussian.layout(r), M, NORMAL)
    draw_prior_models(agent.models, ORIGIN, 0, len(agent.models.tiles))
    arms = np.random.default_rng(n).normal(size=(n, r))
    expected = rows(agent.models)
    for s in range(n):
        push(agent.models, 3 + s, arms[s])
        for m in range(M):
            expected[m] += reference.normal(SEED, RUN, layout.PERTURBATION, m, 3 + s) * arms[s]
    for first, last in ((0, M), (62, 66), (64, 65)):
        found = models_between(agent, ORIGIN, 0, first, last)
        np.testing.assert_allclose(found, expected[first:last], rtol=1e-12, atol=1e-13)


def test_ranges_of_tiles_can_be_flushed_apart():
    M, r = 5 * TILE, 3
    whole, parts = drawn(M, r), drawn(M, r)
    for models in (whole, parts):
        push(models, 4, np.ones(r))
    bring_up_to_date(whole)
    for first, last in ((3, 5), (0, 1), (1, 3)):
        flush(parts, ORIGIN, first, last, weights(parts))
    forget_pending(parts)
    assert (whole.tiles == parts.tiles).all()


@pytest.mark.parametrize("M", [1, 512, 513, 10_000])
def test_the_block_is_a_multiple_of_four(M):
    assert block_length(M) % 4 == 0
