"""Sums over up to 10^12 steps: against closed forms, against plain sums, and with kinks."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy.special import digamma, gammaln, zeta

from fastes.theory import bounds, step_bounds, step_sums
from fastes.theory.step_sums import ONE_BY_ONE, RunningSum, Smallest, piece_rule, pieces

HORIZONS = [1, 2, 1023, 1024, 1025, 1100, 5000, 10**6 + 7, 10**9 + 1, 10**12]


@pytest.mark.parametrize("T", HORIZONS)
def test_smooth_sums_in_closed_form(T):
    logs = Smallest(T, [lambda t: np.log(t + 1.0)])
    assert logs.sum(lambda f: f) == pytest.approx(gammaln(T + 1.0), rel=1e-13, abs=1e-13)
    inverse = Smallest(T, [lambda t: 1.0 / (t + 1.0)])
    harmonic = digamma(T + 1.0) + np.euler_gamma
    assert inverse.sum(lambda f: f) == pytest.approx(harmonic, rel=1e-13)
    squares = zeta(2.0) - zeta(2.0, T + 1.0)
    assert inverse.sum(np.square) == pytest.approx(squares, rel=1e-13)


@pytest.mark.parametrize("T", HORIZONS)
@pytest.mark.parametrize("kink", [0.5, 1000.5, 1024, 1500.25, 1.3e5, 123_456_789.4])
def test_kinks_fall_between_pieces(T, kink):
    # min(t, kink): the sum up to T is known to the last digit.
    smallest = Smallest(T, [lambda t: t, lambda t: np.full(t.shape, float(kink))])
    n = min(T, math.ceil(kink))  # steps below the kink
    exact = n * (n - 1) // 2 + (T - n) * kink
    assert smallest.sum(lambda f: f) == pytest.approx(exact, rel=1e-13)
    below, steps = smallest.sum_below(lambda f: f, min(kink, 700.25))
    assert steps == min(T, math.ceil(min(kink, 700.25)))
    assert below == pytest.approx(steps * (steps - 1) / 2, rel=1e-13)
    low, high = (0.3 * kink, min(kink, 0.3 * T) / 2)
    for level in (low, high):
        _, steps = smallest.sum_below(lambda f: f, level)
        assert steps == min(T, math.ceil(level))


def test_pieces_cover_every_step_once_and_stop_at_breaks():
    branches = [lambda t: t, lambda t: 0.5 * t + 3000.0, lambda t: np.full(t.shape, 1e5)]
    found = list(pieces(10**7, branches, [2000, 2001, 50_000]))
    assert found[0].start == ONE_BY_ONE
    assert found[-1].stop == 10**7
    assert all(a.stop == b.start for a, b in pairwise(found))
    assert all(piece.stop <= 2 * piece.start for piece in found)
    starts = {piece.start for piece in found}
    assert {2000, 2001, 50_000, 6001, 194_001} <= starts
    for piece in found:
        middle = np.array([(piece.start + piece.stop - 1) / 2.0])
        values = [branch(middle)[0] for branch in branches]
        assert values[piece.branch] <= min(values) * (1 + 1e-9)


def test_equal_functions_make_no_extra_pieces():
    same = [lambda t: np.sqrt(t + 1.0), lambda t: np.exp(0.5 * np.log1p(t))]
    assert len(list(pieces(1 << 20, same))) == 10


@pytest.mark.parametrize("stop", [1025, 1087, 1088, 1090, 2048])
def test_the_weights_of_a_piece(stop):
    t, weights = piece_rule(1024, stop)
    for power in (0, 1, 2, 5, -1, 0.5):
        plain = math.fsum(s**power for s in range(1024, stop))
        assert weights @ t**power == pytest.approx(plain, rel=1e-14)


@pytest.mark.parametrize("T", HORIZONS)
def test_running_sums(T):
    running = RunningSum(T, [lambda t: 1.0 / (t + 1.0), lambda t: np.full(t.shape, 1e-4)])
    t = np.unique(np.array([0, 1, 500, 1023, 1024, 1025, 9998, 9999, 10_000, 5 * 10**8, T]))
    t = t[t <= T].astype(float)
    harmonic = digamma(np.maximum(t, 1e4) + 1.0) - digamma(1e4 + 1.0)
    assert running.at(t) == pytest.approx(1e-4 * np.minimum(t, 1e4) + harmonic, rel=1e-12)


CASES = [
    (2, 1),
    (2, 50),
    (30, 1000),
    (30, 10**5),
    (1000, 10**5),
    (10**5, 10**4),
    (5, 3 * 10**6),
]


@pytest.mark.parametrize(("K", "M"), CASES)
def test_bounds_beyond_the_first_steps_against_plain_sums(K, M):
    # Kinks lie in these ranges; 3e5 steps, plain sums in extended precision.
    T = 300_000
    t = np.arange(T, dtype=float)
    inc = np.minimum(bounds.divergence_bound(K, t, M), bounds.proposition1(K, t, M))
    inc = np.minimum(inc, math.log(K)).astype(np.longdouble)
    kbar = np.concatenate([[0], np.cumsum(inc)[:-1]]).astype(float) / M
    told = step_bounds.running_information(K, T, M)
    total = Smallest(T, [told], told.breaks).sum(lambda J: np.sqrt(J / M))
    assert total == pytest.approx(float(np.sqrt(kbar).sum()), rel=1e-11)
    orderless = step_bounds.log_count_vectors(K, t) / M
    h = np.minimum.reduce(
        [
            kbar,
            bounds.fresh_bound(t, M),
            orderless,
            bounds.proposition1(K, t, M),
            bounds.divergence_bound_unsimplified(K, t, M),
        ]
    )
    smallest = bounds._distances(K, T, M)
    assert smallest.sum(np.sqrt) == pytest.approx(float(np.sqrt(h).sum()), rel=1e-11)
    for b in (1.01, 1.3, 3.0):  # at most 1 from here on: a kink at some step
        c = (b / (b - 1)) ** 2
        below, steps = smallest.sum_below(lambda f, c=c: np.sqrt(c * f), 1 / c)
        total = below + (T - steps)
        assert total == pytest.approx(float(np.sqrt(np.minimum(1, c * h)).sum()), rel=1e-11)


@pytest.mark.parametrize(("K", "M"), [(2, 1), (30, 10**6), (1000, 10**9), (10**5, 10**11)])
def test_the_longest_horizons_do_not_depend_on_how_they_are_cut(K, M, monkeypatch):
    T = 10**12

    def totals():
        step_bounds.running_information.cache_clear()
        bounds._distances.cache_clear()
        return [bounds._distances(K, T, M).sum(g) for g in (np.sqrt, lambda f: f)]

    coarse = totals()
    monkeypatch.setattr(step_sums, "ONE_BY_ONE", 1 << 17)
    monkeypatch.setattr(step_sums, "_SHORT", 5000)
    assert coarse == pytest.approx(totals(), rel=1e-11)
    monkeypatch.undo()
    totals()
