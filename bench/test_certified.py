"""A step with the certified argmax, against a full scan, one thread each.

The baseline is the scan alone, `argmax(A @ theta)` in NumPy: no sampling, no update. Against our
own full scan the whole step is compared.
"""

import numpy as np
import pytest

import fastes
from bench.measure import Target
from fastes.simulation import plan

AGENT = fastes.EnsembleSampling(1_000)


def numpy_scan(actions, scans):
    theta = np.random.default_rng(1).standard_normal(actions.shape[1])

    def scan():
        for _ in range(scans):
            np.argmax(actions @ theta)

    return scan


@pytest.fixture(scope="module", params=[5, 20, 50, 100])
def d(request):
    return request.param


@pytest.fixture(scope="module", params=[1_000, 10_000, 100_000, 1_000_000])
def bandit(request, d):
    smallest = request.config.getoption("--quick")
    return fastes.LinearBandit.random(min(request.param, 10_000) if smallest else request.param, d)


@pytest.fixture
def T(quick):
    return 2_000 if quick else 100_000


# Ratios to reach, by K and d; elsewhere the search must not cost more than a scan.
FIGURES = {(1_000_000, 20): 100.0, (100_000, 50): 10.0}


@pytest.mark.slow
def test_numpy_scan(compare, bandit, T):
    fastes.simulate(bandit, AGENT, T=50, threads=1)
    scans = max(3, 100_000_000 // (bandit.K * bandit.d))
    small = bandit.K * bandit.d < 10_000_000
    compare(
        lambda: fastes.simulate(bandit, AGENT, T=T, threads=1),
        numpy_scan(bandit.actions, scans),
        work=T,
        baseline_work=scans,
        rounds=5 if small else 1,
        warm_up=small,
        target=Target(FIGURES.get((bandit.K, bandit.d), 0.91)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("T", [3_000, 30_000])
@pytest.mark.parametrize("d", [3, 20, 50, 100])
@pytest.mark.parametrize("K", [4_000, 16_000, 64_000])
def test_own_scan(compare, quick, K, d, T):
    bandit, T = fastes.LinearBandit.random(K, d), 300 if quick else T

    def scan_all():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(plan, "search_method", lambda *sizes: "scan")
            fastes.simulate(bandit, AGENT, T=T, threads=1)

    compare(
        lambda: fastes.simulate(bandit, AGENT, T=T, threads=1),
        scan_all,
        work=T,
        baseline_work=T,
        rounds=5,
        target=Target(0.95),
    )


@pytest.mark.slow
@pytest.mark.design("K=1,000,000 d=2 to argmax(A @ z)")
def test_plane(compare, quick):
    bandit, T = fastes.LinearBandit.random(1_000_000, 2), 1_000 if quick else 20_000
    figures = {"most_seconds": 1e-5} if quick else {"least_ratio": 100.0, "most_seconds": 1e-5}
    compare(
        lambda: fastes.simulate(bandit, AGENT, T=T, threads=1),
        numpy_scan(bandit.actions, 20),
        work=T,
        baseline_work=20,
        rounds=3,
        target=Target(**figures),
    )


@pytest.mark.slow
def test_a_million_arms(compare, quick):
    few = fastes.LinearBandit.random(10_000, 20)
    many = fastes.LinearBandit.random(10_000 if quick else 1_000_000, 20)
    T = 20_000 if quick else 1_000_000
    compare(
        lambda: fastes.simulate(many, AGENT, T=T, threads=1),
        lambda: fastes.simulate(few, AGENT, T=T, threads=1),
        work=T,
        baseline_work=T,
        rounds=1,
        target=Target(1 / 3),
    )
