"""The row log: blocks and factors, forgetting, and the law of the models that are read."""

import numpy as np
import pytest
import reference
from engine import from_python
from fastes.kernels.agents.interface import saved_arrays
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.ensembles import row_log
from fastes.kernels.ensembles.deferred import ensemble_by_rows, with_capacity
from fastes.kernels.ensembles.deviations import NORMAL, models_between
from fastes.kernels.ensembles.log import log_arrays, log_needs_capacity, log_with_capacity
from fastes.kernels.jit.boxed import boxed
from fastes.kernels.loop.live import Live, act_on_rows, observe_rows
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source

import fastes
from fastes.agents.live_rows import Room


def filled(r, M, rows, steps=0):
    log = row_log.row_log(r, M, steps)
    row_log._append_all(log, rows)
    return log


pieces_since = from_python(row_log._pieces_since)


def pieces(log, since):
    levels, starts = np.zeros((2, 10_000), np.int64)
    n = pieces_since(log, since, levels, starts)
    return list(zip(levels[:n].tolist(), starts[:n].tolist(), strict=True))


@pytest.mark.parametrize("r", [1, 2, 5])
@pytest.mark.parametrize("n", [1, 3, 8, 33, 100, 257])
def test_pieces_cover_what_was_missed_once_and_are_few(r, n):
    rows = np.random.default_rng(n).normal(size=(n, r))
    log, B = filled(r, 10, rows, n), row_log.block_length(r)
    for since in range(0, n + 1):
        covered, blocks, singles = [], 0, 0
        for level, start in pieces(log, since):
            length = 1 if level < 0 else B << level
            assert level < 0 or start % length == 0
            covered += range(start, start + length)
            blocks, singles = blocks + (level >= 0), singles + (level < 0)
        assert covered == list(range(since, n))
        assert singles < 2 * B
        assert blocks <= 2 * max(1, (n // B).bit_length())


@pytest.mark.parametrize("r", [1, 3, 6])
def test_factors_are_roots_of_what_they_stand_for(r):
    B = row_log.block_length(r)
    rows = np.random.default_rng(r).normal(size=(13 * B + 2, r))
    log = filled(r, 1000, rows, len(rows))
    for level, start in pieces(log, 0):
        if level >= 0:
            blocks = len(log.rows) // B
            slot = 2 * blocks - (2 * blocks >> level) + (start // (B << level)) % (blocks >> level)
            F = np.zeros((r, r))
            F[np.triu_indices(r)] = log.factors[slot]
            part = rows[start : start + (B << level)]
            np.testing.assert_allclose(F.T @ F, part.T @ part, rtol=1e-12, atol=1e-12)
            assert (np.diag(F) >= 0).all()


def test_rows_that_span_less_than_the_space_have_factors_too():
    r = 3
    rows = np.outer(np.arange(1.0, 41.0), [1.0, 2.0, 0.0])
    log = filled(r, 1000, rows, len(rows))
    F = np.zeros((r, r))
    F[np.triu_indices(r)] = log.factors[0]
    part = rows[: row_log.block_length(r)]
    np.testing.assert_allclose(F.T @ F, part.T @ part, atol=1e-9)


def test_a_log_that_grows_keeps_its_factors():
    r, n = 2, 500
    rows = np.random.default_rng(0).normal(size=(n, r))
    at_once, grown = filled(r, 1000, rows, n), row_log.row_log(r, 1000, 0)
    for row in rows:
        if log_needs_capacity(grown):
            grown = log_with_capacity(grown)
        row_log._append_all(grown, row[None])
    assert pieces(grown, 3) == pieces(at_once, 3)
    np.testing.assert_array_equal(log_arrays(grown)["rows"], rows)
    for level, start in pieces(at_once, 0):
        if level >= 0:
            found = []
            for log in (at_once, grown):
                blocks = len(log.rows) // 4
                slot = 2 * blocks - (2 * blocks >> level) + (start // (4 << level))
                found.append(log.factors[slot])
            np.testing.assert_array_equal(*found)


def fed(r, M, rows, reads, seed, steps=0):
    """Return an ensemble that saw rows and read a model before each of some of them."""
    bandit = fastes.LinearBandit(fastes.actions.Offered(r))
    agent = fastes.EnsembleSampling(M)
    state, origin = ensemble_by_rows(gaussian.layout(r), M, NORMAL, steps), source(seed)
    rows_on_offer, choice = np.eye(r), Room(agent, bandit.canonical).of(r)
    whitening, limits, b = bandit.canonical.whitening(), bandit.canonical.limits, np.empty(r)

    def box_of(state, t):
        return boxed(Live(state, *choice, origin, np.array([t]), b, whitening, limits))

    for t, row in enumerate(rows):
        if t in reads:
            act_on_rows(box_of(state, t), rows_on_offer, t)
        while observe_rows(box_of(state, t), row[None], np.zeros(1)) == 0:
            state = with_capacity(state)
    return state, origin


@pytest.mark.parametrize(
    ("M", "n", "reads"),
    [(1, 30, range(0, 30, 7)), (2, 150, range(150)), (1, 200, [5]), (3, 90, [0, 40, 41, 89])],
)
def test_models_have_the_law_of_the_posterior(M, n, reads):
    """xi ~ N(0, P) whatever was read and forgotten: the mean of 1,500 squares, 4.5 errors.

    With one model the log keeps 32 rows, and forgets by 16.
    """
    r, seeds = 2, 1500
    rows = np.random.default_rng(n).normal(size=(n, r))
    P = np.eye(r) + rows.T @ rows
    root = np.linalg.inv(np.linalg.cholesky(P))
    white = []
    for seed in range(seeds):
        state, origin = fed(r, M, rows, set(reads), seed)
        white.append(root @ models_between(state, origin, n, M - 1, M)[0])
    white = np.array(white)
    assert state.log.size[1] > 0 or 32 * M > n
    assert (np.abs(white.mean(axis=0)) < 4.5 / np.sqrt(seeds)).all()
    covariance = white.T @ white / seeds
    errors = np.sqrt(np.where(np.eye(r), 2, 1) / seeds)
    assert (np.abs(covariance - np.eye(r)) < 4.5 * errors).all()


def test_a_model_takes_in_what_is_forgotten_by_numbers_of_its_own():
    # Read before row 5 only: with one model the log keeps 32 rows, and drops the first 16 at 32.
    r, n = 2, 33
    rows = np.random.default_rng(2).normal(size=(n, r))
    state, _ = fed(r, 1, rows[:-1], {5}, 7)
    before = state.models.xi[0].copy()
    state, _ = fed(r, 1, rows, {5}, 7)
    assert state.models.read_at[0] == 32
    block = row_log.block_length(r)
    counter = int(from_python(layout.probe_counter)(1, 0))
    normals = reference.normal_vector(7, 0, int(layout.FORGOTTEN), counter, 2 * block + 20 * r)
    missed = reference.missed(rows, 5, 32, normals, block)
    np.testing.assert_allclose(state.models.xi[0], before + missed, rtol=1e-10)


@pytest.mark.parametrize("M", [1, 3])
def test_a_saved_state_goes_on_to_the_bit(M):
    r, n = 2, 230
    rows = np.random.default_rng(1).normal(size=(n, r))
    agent = fastes.EnsembleSampling(M)
    for stop in (1, 16, 33, 100, 229):
        state, origin = fed(r, M, rows[:stop], set(range(stop)), 7)
        again = agent.restored_state(saved_arrays(state), None, r)
        for each in (state, again):
            assert int(each.log.size[0]) == stop
        ours = models_between(state, origin, 1, 0, M)
        theirs = models_between(again, origin, 1, 0, M)
        np.testing.assert_array_equal(ours, theirs)


def test_the_reference_splits_as_the_log_does():
    rows = np.random.default_rng(0).normal(size=(40, 1))
    normals = np.arange(1.0, 101.0)
    log = filled(1, 1000, rows, 40)
    total = 0.0
    for normal, (level, start) in zip(normals, pieces(log, 3), strict=False):
        part = rows[start : start + (1 if level < 0 else 4 << level), 0]
        total += normal * (part[0] if level < 0 else np.sqrt(part @ part))
    assert reference.missed(rows, 3, 40, normals, 4)[0] == pytest.approx(total)
