"""Whole commands as a user starts them: a process, its time and its memory."""

import subprocess
import sys

import pytest

import fastes
from bench.baselines import numpy_es
from bench.measure import Target

# Runs a command in this process, then prints its own largest resident size, in bytes. (That of
# resource.getrusage may be its parent's, from before this program began.)
_MEASURED = """
import sys
from pathlib import Path
from fastes.__main__ import run
sys.argv[0] = "fastes"
try:
    run()
finally:
    lines = Path("/proc/self/status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith("VmHWM"))
    print(1024 * int(kilobytes), file=sys.stderr)
"""
IMPORT_NUMBA = [sys.executable, "-c", "import numba"]


def fastes_command(*words):
    """Run a command of fastes in a process of its own. Return its largest resident size."""
    process = [sys.executable, "-P", "-c", _MEASURED, *words]
    done = subprocess.run(process, check=True, capture_output=True, text=True)
    return int(done.stderr.split()[-1])


def simulate(K, d, M, T):
    sizes = {"K": K, "d": d, "M": M, "T": T}
    words = [word for name, size in sizes.items() for word in (f"--{name}", str(size))]
    return fastes_command("simulate", *words, "--runs", "1", "--quiet")


@pytest.mark.slow
@pytest.mark.design("K=M=T=1,000,000 d=20, whole process")
def test_millions(compare, quick):
    n, memory = 10_000 if quick else 1_000_000, []
    compare(
        lambda: memory.append(simulate(n, 20, n, n)),
        lambda: subprocess.run(IMPORT_NUMBA, check=True),
        rounds=3,
        target=Target(most_seconds=8.0),
    )
    assert max(memory) <= 1.25 * 2**30


@pytest.mark.slow
@pytest.mark.design("fastes bound, K=100,000 d=50")
def test_bound(compare, quick):
    words = ["bound", "--K", "10000" if quick else "100000", "--d", "50", "--quiet"]
    compare(
        lambda: fastes_command(*words),
        lambda: subprocess.run(IMPORT_NUMBA, check=True),
        rounds=3,
        target=Target(most_seconds=15.0),
    )


@pytest.mark.slow
@pytest.mark.design("10^8 steps over 10^6, a step")
def test_long_run(compare, quick):
    # A smoke test takes 10^6 steps over 10^5: linear between these goes on as it is.
    T, fewer = (1_000_000, 100_000) if quick else (100_000_000, 1_000_000)
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(10_000)
    compare(
        lambda: fastes.simulate(bandit, agent, T=T, threads=1),
        lambda: fastes.simulate(bandit, agent, T=fewer, threads=1),
        work=T,
        baseline_work=fewer,
        rounds=1,
        warm_up=False,
        target=Target(1 / 1.1),
    )
    assert simulate(bandit.K, bandit.d, agent.M, T) < 300e6


@pytest.mark.tracked
def test_default_run(compare):
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(10_000)
    compare(
        lambda: fastes.simulate(bandit, agent, T=2_000, runs=5, threads=1),
        [
            lambda: numpy_es.in_place(bandit.actions, 10_000, 200, seed=1),
            lambda: numpy_es.in_blocks(bandit.actions, 10_000, 200, seed=1),
        ],
        work=10_000,
        baseline_work=200,
        rounds=9,
    )


def test_short_runs_on_two_threads(compare, quick):
    bandit, agent = fastes.LinearBandit.random(100, 10), fastes.EnsembleSampling(8)
    runs = 64 if quick else 1_024

    def on(threads):
        return lambda: fastes.simulate(bandit, agent, T=1_000, runs=runs, threads=threads)

    compare(on(2), on(1), work=runs, baseline_work=runs, rounds=5)
