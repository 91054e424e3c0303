"""Whole simulations as a user starts them: a process, its time and its memory."""

import resource
import subprocess
import sys

import pytest

import fastes
from bench.measure import Target
from bench.numpy_es import numpy_es

MILLIONS = ["simulate", "--K", "1000000", "--M", "1000000", "--T", "1000000", "--d", "20"]
MOST_BYTES = 1.25 * 2**30


@pytest.mark.slow
@pytest.mark.design("K = M = T = 1,000,000, d=20: one run, the whole process")
def test_a_million_of_each(compare, quick):
    words = [word if word != "1000000" or not quick else "10000" for word in MILLIONS]
    process = [sys.executable, "-P", "-m", "fastes", *words, "--quiet"]
    compare(
        lambda: subprocess.run(process, check=True),
        lambda: subprocess.run([sys.executable, "-c", "import numba"], check=True),
        rounds=3,
        target=Target(most_seconds=15.0),
    )
    # The largest of all processes so far; none of the others comes near.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 <= MOST_BYTES


@pytest.mark.tracked
def test_the_default_run(compare):
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(10_000)
    compare(
        lambda: fastes.simulate(bandit, agent, T=2_000, runs=5, threads=1),
        lambda: numpy_es(bandit.actions, 1.0, 1.0, 10_000, 100, seed=1),
        work=10_000,
        baseline_work=100,
        rounds=9,
    )


def test_short_runs_on_two_threads_against_one(compare, quick):
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(8)
    runs = 64 if quick else 1_024

    def on(threads):
        return lambda: fastes.simulate(bandit, agent, T=1_000, runs=runs, threads=threads)

    compare(on(2), on(1), work=runs, baseline_work=runs, rounds=5)
