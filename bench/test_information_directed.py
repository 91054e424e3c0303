"""A step of V-IDS at K=30, d=5, against NumPy and BLAS, and what a step costs at other sizes."""

import pytest

import fastes
from bench.baselines import numpy_ids
from bench.limits import Work
from bench.measure import Target

K, D, SAMPLES, STEPS, THEIRS = 30, 5, 1_000, 5_000, 300


@pytest.mark.tracked
@pytest.mark.design("V-IDS to NumPy, K=30 d=5")
def test_step_of_v_ids(compare):
    actions = fastes.LinearBandit.random(K, D, "uniform").actions * 10**0.5
    bandit, agent = fastes.LinearBandit(actions), fastes.InformationDirectedSampling(SAMPLES)
    compare(
        lambda: fastes.simulate(bandit, agent, T=STEPS, threads=1),
        lambda: numpy_ids.in_place(actions, SAMPLES, THEIRS, 1),
        needs=Work(flops=2 * SAMPLES * K * D, normals=SAMPLES * D),
        work=STEPS,
        baseline_work=THEIRS,
        rounds=9,
        target=Target(30.0),
    )
