"""Where an arm is the best: against a hull, linear programs, and plain sampling."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize
from scipy.spatial import ConvexHull
from scipy.special import ndtr

import fastes
from fastes.theory.winning_regions import (
    Region,
    can_win,
    inner_point,
    log_ball,
    nearest_point,
    region_of,
)


def drawn(seed, K, r, spread=1.0):
    rng = np.random.default_rng(seed)
    return spread * rng.normal(size=K), rng.normal(size=(K, r))


@pytest.mark.parametrize(("K", "r"), [(6, 3), (40, 4), (300, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_the_nearest_point_is_that_of_a_general_solver(K, r, seed):
    m, c = drawn(seed, K, r)
    found = 0
    for arm in np.argsort(-np.linalg.norm(c, axis=1))[:: max(1, K // 6)]:
        region = region_of(m, c, arm)
        room = linprog(np.zeros(r), -region.normals, -region.offsets, bounds=(None, None))
        point = nearest_point(*region)
        assert (point is not None) == (room.status == 0)
        if point is None:
            continue
        found += 1
        assert (region.normals @ point - region.offsets).min() > -1e-9
        slow = minimize(
            lambda x: x @ x / 2,
            room.x,
            jac=lambda x: x,
            method="SLSQP",
            constraints={
                "type": "ineq",
                "fun": lambda x, region=region: region.normals @ x - region.offsets,
                "jac": lambda x, region=region: region.normals,
            },
        )
        assert np.linalg.norm(point) == pytest.approx(np.linalg.norm(slow.x), rel=1e-5, abs=1e-6)
    assert found > 0


def test_an_arm_is_the_best_in_its_region_and_nowhere_else():
    m, c = drawn(3, 12, 3)
    x = np.random.default_rng(4).normal(size=(2000, 3)) * 3
    best = (m + x @ c.T).argmax(axis=1)
    for arm in range(12):
        region = region_of(m, c, arm)
        inside = (x @ region.normals.T >= region.offsets).all(axis=1)
        assert (inside == (best == arm)).all()


@pytest.mark.parametrize(
    ("K", "d", "mean"), [(60, 2, 0.0), (80, 3, 0.0), (80, 3, 0.7), (60, 5, 0.0), (50, 2, 3.0)]
)
def test_the_arms_that_can_win_are_the_corners_of_the_hull(K, d, mean):
    rows = np.random.default_rng(K + d).normal(size=(K, d))
    rows = np.vstack([rows, rows[:5], (rows[:20] + rows[20:40]) / 2])  # five twice, and inner ones
    hull = ConvexHull(rows[:K])
    edges = hull.simplices[:5]
    on_edges = (rows[edges[:, 0]] + rows[edges[:, 1]]) / 2  # never the best alone
    bandit = fastes.LinearBandit(np.vstack([rows, on_edges]), prior_mean=mean)
    corner = np.zeros(bandit.K, bool)
    corner[hull.vertices] = True
    corner[K : K + 5] = corner[:5]
    assert [can_win(bandit, arm) for arm in range(bandit.K)] == corner.tolist()
    # Just outside a facet: it wins, seldom.
    outside = rows[edges].mean(axis=1) + 1e-6 * hull.equations[:5, :-1]
    bandit = fastes.LinearBandit(np.vstack([rows[:K], outside]), prior_mean=mean)
    assert all(can_win(bandit, arm) for arm in range(K, bandit.K))


def test_a_known_part_of_the_mean_lets_inner_arms_win():
    # Of three arms on a line the middle one wins where its known part makes up for it.
    rows = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.1]]
    for mean, wins in ((1.0, True), (-1.0, False)):
        bandit = fastes.LinearBandit(rows, prior_mean=[0.0, mean], prior_cov=[1.0, 0.0])
        assert [can_win(bandit, arm) for arm in range(3)] == [True, True, wins]


def test_an_arm_below_a_parallel_one_never_wins():
    m, c = np.array([0.0, 1.0, 0.5]), np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert region_of(m, c, 0) is None
    assert region_of(m, c, 1) is not None


def test_the_inner_point_has_the_room_that_there_is():
    for width, room in ((10.0, 1.0), (0.5, 1e-2), (1e-3, 1e-4), (1e-9, None)):
        slab = Region(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([3.0, -3.0 - width]))
        point = inner_point(slab)
        if room is None:
            assert point is None
        else:
            np.testing.assert_allclose(point, [3.0 + room, 0.0], atol=1e-9)


@pytest.mark.parametrize("r", [1, 2, 5, 30])
def test_the_ball_bounds_the_probability_from_below(r):
    # The region x_1 >= 2 has probability Phi(-2).
    half = Region(np.eye(r)[:1], np.array([2.0]))
    for room in (0.1, 1.0, 3.0):
        point = (2.0 + room) * np.eye(r)[0]
        assert log_ball(half, point) <= np.log(ndtr(-2.0))
    assert log_ball(half, np.zeros(r)) == -math.inf


def test_a_tiny_ball_is_a_bound_too():
    # P(|x| <= sqrt(2 h)) in 2 s dimensions is h^s e^-h / s! (1 + h / (s + 1) + ...).
    h, s = 100.0, 1000
    terms = np.cumprod([1.0, *(h / (s + 1 + np.arange(60)))])
    exact = s * math.log(h) - h - math.lgamma(s + 1) + math.log(terms.sum())
    half = Region(np.eye(2 * s)[:1], np.array([-math.sqrt(2 * h)]))
    assert exact - 0.2 < log_ball(half, np.zeros(2 * s)) <= exact < -745  # the least that exp takes
    square = Region(
        np.vstack([np.eye(400), -np.eye(400)]), np.full(800, -1e-3)
    )  # a cube of edge 2e-3 in 400 dimensions: far below the smallest float
    exact = 400 * np.log(ndtr(1e-3) - ndtr(-1e-3))
    assert -1e5 < log_ball(square, np.zeros(400)) <= exact
