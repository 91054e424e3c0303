"""What a user waits for before anything happens, against what Python and numba cost anyway."""

import os
import subprocess
import sys

import pytest

from bench.measure import Target

TINY = ["simulate", "--K", "100", "--d", "10", "--T", "10", "--runs", "2", "--quiet"]


def command(*words, **environment):
    def run():
        changed = {**os.environ, **environment}
        words_of_python = [sys.executable, "-P", *words]
        subprocess.run(words_of_python, check=True, capture_output=True, env=changed)

    return run


def test_help(compare):
    compare(
        command("-m", "fastes", "--help"),
        command("-c", "pass"),
        target=Target(most_extra_seconds=0.15),
    )


@pytest.mark.design("second run, over import numba")
def test_second_run(compare):
    compare(
        command("-m", "fastes", *TINY),
        command("-c", "import numba"),
        target=Target(most_extra_seconds=0.4),
    )


FIRST = {
    "K=100": (["simulate", "--K", "100"], 10.0),
    "K=2,048": (["simulate", "--K", "2048"], 13.0),
    "diagnose": (["diagnose", "--K", "100", "--probe-samples", "512"], 15.0),
}


@pytest.mark.parametrize(
    ("words", "most"),
    [
        pytest.param(*given, id=name, marks=pytest.mark.design(f"first run: {name}"))
        for name, given in FIRST.items()
    ],
)
def test_first_run(compare, words, most, tmp_path):
    fresh = iter(range(1000))
    first = ["-m", "fastes", *words, *TINY[3:]]

    def compile_and_run():
        command(*first, NUMBA_CACHE_DIR=str(tmp_path / str(next(fresh))))()

    compare(
        compile_and_run,
        command(*first),
        rounds=1,
        warm_up=False,
        target=Target(most_seconds=most),
    )
