"""Bounds on single steps: by hand, against slow references, at the smallest and largest sizes."""

import math

import numpy as np
import pytest
import reference

from fastes.theory import step_bounds
from fastes.theory.step_bounds import (
    fresh_bound,
    history_information,
    information_bound,
    log_count_vectors,
    proposition1,
)


@pytest.mark.parametrize("K", [1, 2, 3, 30, 1000])
@pytest.mark.parametrize("M", [1, 2, 30, 10**6])
def test_proposition_1_is_the_least_over_lambda(K, M):
    for t in (0, 1, 2, 17, 400):
        J = reference.history_information(K, t, M)
        assert history_information(K, t, M) == pytest.approx(J, rel=1e-6, abs=1e-300)
        expected = reference.proposition1(K, t, M, J)
        assert proposition1(K, t, M) == pytest.approx(expected, rel=1e-7)


def test_proposition_1_by_hand():
    # At t = 0 nothing is known: (K - 1) / M, the mean of M KL being near (K - 1) / 2.
    assert proposition1(11, 0, 40) == pytest.approx(10 / 40)
    # K = 2, t = 1, M large: J_1 is log 2 at most, or less by the flow; y - 1 - log y = J.
    y = 1.0 + 1e-3
    t_over_m = math.log(y) + 1 / y - 1
    M = round(1 / t_over_m)
    assert proposition1(2, 1, M) == pytest.approx(y / M, rel=1e-6)


@pytest.mark.parametrize(("K", "M"), [(2, 1), (2, 100), (10, 50), (10, 3), (100, 1000)])
def test_the_flow_bounds_the_recursion_and_the_corollary(K, M):
    # J_{t+1} <= J_t + inf over lambda: the closed form is never smaller, and for t <= M never
    # above the corollary's 4.43 (K - 1) t / M.
    J = 0.0
    for t in range(3 * M + 2):
        flow = step_bounds.excess(step_bounds._flow(np.array([t / M])))[0] * (K - 1)
        assert J <= flow * (1 + 1e-12) + 1e-12
        assert t > M or flow <= 3.47 * (K - 1) * t / M + 1e-12
        J += float(step_bounds._of_information(K, np.array(J), M))


@pytest.mark.parametrize("p", [[0.5, 0.5], [0.9, 0.1], [0.999, 0.001], [0.2, 0.3, 0.5]])
@pytest.mark.parametrize("M", [1, 2, 5, 12])
def test_the_moment_of_a_multinomial_divergence(p, M):
    # Agrawal's inequality, on which Proposition 1 rests, by enumeration.
    for lam in (0.05, 0.3, 0.5, 0.8, 0.95):
        moment = reference.multinomial_moment(p, M, lam)
        assert 1 <= moment <= (1 - lam) ** -(len(p) - 1)


def test_ways_to_play():
    for K in (1, 2, 3, 30):
        for t in (0, 1, 2, 19, 20, 21, 300):
            exact = math.log(math.comb(t + K - 1, K - 1))
            assert log_count_vectors(K, float(t)) == pytest.approx(exact, rel=1e-13, abs=1e-13)
    # Where gamma functions would lose every digit.
    assert log_count_vectors(2, 1e12) == pytest.approx(math.log1p(1e12), rel=1e-14)
    three = math.log((1e12 + 1) * (1e12 + 2) / 2)
    assert log_count_vectors(3, 1e12) == pytest.approx(three, rel=1e-14)


def test_fresh_models():
    assert fresh_bound([0, 1, 2], 4) == pytest.approx([0, 5 / 4 / 4, 6 / 4 * (1 - 9 / 16)])
    assert fresh_bound([0, 1, 5], 1).tolist() == [0, 2, 2]
    assert fresh_bound(1, 10**12) == pytest.approx(1e-12)
    for M in (1, 2, 100, 10**6):
        found = fresh_bound(np.arange(1000), M)
        assert (np.diff(found) >= 0).all()
        assert (found <= 2).all()
    # Hel^2 <= 2 (1 - sqrt(1 - u)) <= u (1 + u), where pbar >= (1 - u) p.
    u = np.linspace(0, 1, 1001)
    assert (2 * (1 - np.sqrt(1 - u)) <= u * (1 + u) + 1e-15).all()


@pytest.mark.parametrize("M", [1, 3, 200])
@pytest.mark.parametrize("K", [1, 2, 25])
def test_the_information_bound_never_falls(K, M):
    found = information_bound(K, np.arange(3000), M)
    assert found[0] == 0
    assert (np.diff(found) >= 0).all()
    assert found[-1] <= 3000 * math.log(K) / M + 1e-12
    few = information_bound(K, [0, 7, 2999], M)
    assert few == pytest.approx(found[[0, 7, 2999]], rel=1e-12, abs=1e-15)


def test_a_step_reads_at_most_log_k():
    # 10^5 arms and ten models: every read may tell log K.
    assert information_bound(10**5, 30, 10) == pytest.approx(3 * math.log(10**5))
