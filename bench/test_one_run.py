"""One run of ensemble sampling, a step, against NumPy, C and JAX; one thread each.

NumPy is the faster of two ways to write it (bench/baselines/numpy_es.py). C does the same deferred
work as fastes, and less beside (bench/baselines/yardstick.c).
"""

import pytest

import fastes
from bench.baselines import c_yardstick, jax_es, numpy_es
from bench.measure import Target

SIZES = {  # K, d, M; steps of ours and of NumPy
    "K=1,000 d=50 M=10,000": (1_000, 50, 10_000, 20_000, 1_000),
    "K=100 d=10 M=1,000": (100, 10, 1_000, 100_000, 3_000),
    "K=10,000 d=100 M=1,000": (10_000, 100, 1_000, 2_000, 500),
    "K=30 d=5 M=30": (30, 5, 30, 100_000, 5_000),
}
IDS = [f"{K}-{d}" for K, d, *_ in SIZES.values()]
NUMPY = (60.0, 60.0, 4.0, None)  # ratios to reach
IN_C = (1.0, 1 / 1.2, 1.0, 1 / 1.4)


def _of(title, words):
    """Return the words for sizes, without M where there are no models."""
    return words.partition(" M=")[0] if title.startswith("TS") else words


def sizes_with(title, figures):
    """Return the sizes with the ratio to reach, marked as the design's where it has one."""
    return [
        pytest.param(
            *(*sizes, least),
            id=name,
            marks=[] if least is None else [pytest.mark.design(f"{title}, {_of(title, words)}")],
        )
        for (words, sizes), name, least in zip(SIZES.items(), IDS, figures, strict=True)
    ]


def steps_of(bandit, agent, T):
    return lambda: fastes.simulate(bandit, agent, T=T, threads=1)


@pytest.mark.tracked
@pytest.mark.parametrize(("K", "d", "M", "T", "theirs", "least"), sizes_with("ES to NumPy", NUMPY))
def test_numpy(compare, quick, K, d, M, T, theirs, least):
    bandit = fastes.LinearBandit.random(K, d)
    steps = theirs // 5 if quick else theirs
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M), T),
        [
            lambda: numpy_es.in_place(bandit.actions, M, steps, seed=1),
            lambda: numpy_es.in_blocks(bandit.actions, M, steps, seed=1),
        ],
        work=T,
        baseline_work=steps,
        rounds=7,
        target=None if least is None else Target(least),
    )


@pytest.fixture(scope="module")
def c(available):
    available(c_yardstick.library)
    return c_yardstick


@pytest.mark.tracked
@pytest.mark.parametrize(("K", "d", "M", "T", "_", "least"), sizes_with("ES to C", IN_C))
def test_c_es(compare, c, K, d, M, T, _, least):
    bandit = fastes.LinearBandit.random(K, d)
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M), T),
        lambda: c.ensemble_sampling(bandit.actions, M, T, seed=1, models=False),
        work=T,
        baseline_work=T,
        rounds=9,
        target=Target(least),
    )


@pytest.mark.tracked
@pytest.mark.parametrize(("K", "d", "_M", "T", "_", "least"), sizes_with("TS to C", IN_C))
def test_c_ts(compare, c, K, d, _M, T, _, least):
    bandit = fastes.LinearBandit.random(K, d)
    compare(
        steps_of(bandit, fastes.ThompsonSampling(), T),
        lambda: c.thompson_sampling(bandit.actions, T, seed=1),
        work=T,
        baseline_work=T,
        rounds=9,
        target=Target(least),
    )


@pytest.mark.parametrize(
    ("K", "d", "M", "T", "theirs"),
    [pytest.param(*s, id=i) for s, i in zip(SIZES.values(), IDS, strict=True)],
)
def test_jax(compare, available, quick, K, d, M, T, theirs):
    bandit = fastes.LinearBandit.random(K, d)
    steps = theirs // 5 if quick else theirs
    available(lambda: jax_es.ensemble_sampling(bandit.actions, M, steps, seed=1))
    compare(
        steps_of(bandit, fastes.EnsembleSampling(M), T),
        lambda: jax_es.ensemble_sampling(bandit.actions, M, steps, seed=1),
        work=T,
        baseline_work=steps,
        rounds=5,
    )
