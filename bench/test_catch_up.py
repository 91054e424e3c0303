"""Models that take in what they missed, and models drawn at a first read, against NumPy."""

import numpy as np
import pytest
from fastes.kernels.ensembles.deviations import models_between
from fastes.kernels.ensembles.play_log import arms_by_slot
from fastes.kernels.streams.philox import source

import fastes
from bench.limits import Work
from bench.states import state_after

K, D, M = 1_000, 50, 1_000


@pytest.mark.tracked
def test_catching_up(compare):
    # After 10,000 steps all models have been read; each missed a thousand steps or so.
    bandit = fastes.LinearBandit.random(K, D)
    state = state_after(bandit, fastes.EnsembleSampling(M), 10_000)
    used = int(state.models.used[0])
    assert used == M
    arms_played = arms_by_slot(state.log)
    counts = state.log.plays[: len(arms_played)] - state.models.plays[:used, : len(arms_played)]
    missed = [(arms_played[some > 0], some[some > 0]) for some in counts]
    rng = np.random.default_rng(1)

    def in_numpy():
        for xi, (arms, counts) in zip(state.models.xi, missed, strict=False):
            _ = xi + (np.sqrt(counts) * rng.standard_normal(len(arms))) @ bandit.actions[arms]

    distinct = np.mean([len(arms) for arms, _ in missed])
    compare(
        lambda: models_between(state, source(1), 1, 0, M),
        in_numpy,
        needs=Work(flops=2 * distinct * D, normals=distinct),
        work=M,
        baseline_work=M,
        rounds=9,
    )


@pytest.mark.tracked
def test_first_reads(compare):
    # No model was read; a draw is one normal for each row of a factor, times it.
    bandit = fastes.LinearBandit.random(K, D)
    live = fastes.EnsembleSampling(M).start(bandit, seed=1)
    live.observe(np.arange(200), np.zeros(200))
    state, rng = live._state, np.random.default_rng(1)
    factor = np.vstack([np.eye(D), bandit.actions[:200]])

    def in_numpy():
        for _ in range(M):
            rng.standard_normal(len(factor)) @ factor

    compare(
        lambda: models_between(state, source(1), 1, 0, M),
        in_numpy,
        needs=Work(flops=2 * factor.size, normals=len(factor)),
        work=M,
        baseline_work=M,
        rounds=9,
    )
