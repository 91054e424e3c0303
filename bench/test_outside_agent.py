"""A compiled agent from outside the package, against the same agent of ours."""

import numpy as np
import pytest

import fastes
from bench.measure import Target
from bench.outside_thompson import OutsideThompson


@pytest.mark.parametrize(("K", "d", "T"), [(100, 10, 100_000), (5000, 20, 5000)])
def test_thompson_sampling_against_ours(compare, K, d, T):
    bandit = fastes.LinearBandit.random(K, d)

    def run(agent):
        return fastes.simulate(bandit, agent, T=T, threads=1)

    ratio = compare(
        lambda: run(OutsideThompson()),
        lambda: run(fastes.ThompsonSampling()),
        target=Target(least_ratio=0.95),
        work=T,
        baseline_work=T,
    )
    assert ratio.fastest > 0.5
    theirs, ours = run(OutsideThompson()), run(fastes.ThompsonSampling())
    np.testing.assert_array_equal(theirs.regret.per_run, ours.regret.per_run)
