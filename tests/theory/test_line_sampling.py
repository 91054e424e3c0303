"""Probabilities of seldom arms along lines: against exact laws, down to 1e-12 and far below."""

import math

import numpy as np
import pytest
from fastes.kernels.streams.philox import source
from scipy.special import log_ndtr, ndtr

from fastes.theory.line_sampling import _fitted, log_interval, log_probability, normals_of
from fastes.theory.optimal_action import law_of_the_best
from fastes.theory.winning_regions import Region, inner_point, region_of


def by_lines(m, c, arm, lines=256, most=4096, seed=1):
    region = region_of(m, c, arm)
    return log_probability(
        region, inner_point(region), normals_of(source(seed), 3, arm), lines, most
    )


def assert_probabilities(m, c, law, least=1e-12):
    """Check every arm: 5 standard errors, some 30 arms, fixed seeds; return the smallest seen."""
    arms = np.flatnonzero(law.probabilities > least)
    for arm in arms:
        found = by_lines(m, c, arm)
        error = math.sqrt(found.variance) + 1e-9
        assert error < 0.25
        assert abs(math.exp(found.value) / law.probabilities[arm] - 1) < 5 * error
    return law.probabilities[arms].min()


def test_in_the_plane_they_are_the_exact_ones():
    smallest = 1.0
    for seed in range(4):
        rng = np.random.default_rng(seed)
        m, c = 3 * rng.normal(size=30), rng.normal(size=(30, 2))
        law = law_of_the_best(m, c, 1000, 0)
        assert law.method == "rank 2"
        smallest = min(smallest, assert_probabilities(m, c, law))
    assert smallest < 1e-10


def test_of_independent_arms_they_are_the_exact_ones():
    m, c = np.array([0.0, -1.0, -3.0, -6.0, -6.2, 0.5]), np.diag([1.0, 0.8, 1.0, 1.0, 0.9, 0.5])
    law = law_of_the_best(m, c, 1000, 0)
    assert law.method == "independent arms"
    assert assert_probabilities(m, c, law) < 1e-11


@pytest.mark.parametrize("gap", [1.0, 7.0, 30.0, 1000.0])
def test_of_two_arms_they_are_exact(gap):
    # One plane, which every line along its normal crosses at the same height.
    m, c = np.array([gap, 0.0]), np.array([[1.0, 0.0, 0.3], [-1.0, 0.5, 0.0]])
    found = by_lines(m, c, 1)
    scales = log_ndtr(-gap / np.linalg.norm(c[0] - c[1]))
    assert found.value == pytest.approx(scales, abs=5 * math.sqrt(found.variance) + 1e-9)
    one = by_lines(m, c[:, :1], 1)
    assert one.value == pytest.approx(log_ndtr(-gap / 2), rel=1e-12)
    assert one.variance < 1e-20


def test_of_many_arms_they_are_those_of_plain_sampling():
    # 40 arms in 6 dimensions, 400,000 draws: 4.5 standard errors of both, level 3e-4.
    rng = np.random.default_rng(5)
    m, c = 0.5 * rng.normal(size=40), rng.normal(size=(40, 6))
    n = 400_000
    best = (m + rng.normal(size=(n, 6)) @ c.T).argmax(axis=1)
    p = np.bincount(best, minlength=40) / n
    compared = np.flatnonzero(p > 1e-4)
    assert len(compared) > 20
    for arm in compared:
        found = by_lines(m, c, arm)
        error = math.sqrt(found.variance + 1 / (n * p[arm]))
        assert abs(math.exp(found.value) / p[arm] - 1) < 4.5 * error


def test_the_error_is_what_it_says_and_there_is_no_bias():
    # A cone of 30 planes in 4 dimensions, 200 seeds: mean square error over its estimate.
    rng = np.random.default_rng(2)
    c = rng.normal(size=(30, 4))
    m = 0.5 * rng.normal(size=30)
    arm = int(np.argmin(m - 10 * (np.linalg.norm(c, axis=1) > 2)))
    exact = math.exp(by_lines(m, c, arm, 1 << 15, 1 << 16).value)
    found = [by_lines(m, c, arm, 64, 512, seed) for seed in range(2, 202)]
    ratios = np.exp([each.value for each in found]) / exact
    assert abs(ratios.mean() - 1) < 4.5 * ratios.std() / math.sqrt(200) + 0.02
    predicted = np.mean([each.variance for each in found])
    assert 0.5 < ratios.var() / predicted < 2


@pytest.mark.parametrize("n", [3, 30])
def test_few_weights_are_not_taken_for_a_narrow_region(n):
    # Of points from N(1, 0.3^2 I) the weighted spread about their mean is too small by the factor
    # 1 - sum w^2. 4.5 standard errors.
    rng, found = np.random.default_rng(n), []
    for _ in range(2000):
        y, logs = 1.0 + 0.3 * rng.normal(size=(n, 4)), -0.5 * rng.exponential(size=n)
        found.append((_fitted(y, logs)[1].scale / 1.1) ** 2)
    assert abs(np.mean(found) - 0.09) < 4.5 * np.std(found) / math.sqrt(2000)


def test_a_region_that_lines_miss_is_met_by_none():
    # A cube of edge 2e-3 about a point far off the lines that lead elsewhere.
    normals = np.vstack([np.eye(3), -np.eye(3)])
    cube = Region(normals, np.concatenate([[4.999, 4.999, 4.999], [-5.001] * 3]))
    found = log_probability(cube, np.eye(3)[0], normals_of(source(1), 0, 0), 32, 64)
    assert found.value == -math.inf
    assert found.variance == math.inf


def test_intervals_in_the_tails():
    low = np.array([-1.0, 40.0, -41.0, 3.0, -np.inf, 2.0, 1.0])
    high = np.array([1.0, 41.0, -40.0, np.inf, np.inf, 2.0, 0.0])
    found = log_interval(low, high)
    assert found[0] == pytest.approx(np.log(ndtr(1) - ndtr(-1)))
    assert found[1] == found[2] == pytest.approx(log_ndtr(-40.0), abs=1e-12)
    assert found[3] == pytest.approx(log_ndtr(-3.0))
    assert found[4] == 0
    assert found[5] == found[6] == -math.inf


def test_normals_are_a_pure_function_of_seed_run_probe_and_arm():
    def first(*words):
        return normals_of(source(*words[:2]), *words[2:])(50, 40)

    x = first(1, 2, 3, 4)
    assert np.array_equal(x, first(1, 2, 3, 4))
    for other in ((2, 2, 3, 4), (1, 3, 3, 4), (1, 2, 4, 4), (1, 2, 3, 5)):
        assert abs(np.mean(x * first(*other))) < 4.5 / math.sqrt(x.size)
    # Mean 0 and variance 1, 4.5 standard errors each.
    assert abs(x.mean()) < 4.5 / math.sqrt(x.size)
    assert abs(np.square(x).mean() - 1) < 4.5 * math.sqrt(2 / x.size)
