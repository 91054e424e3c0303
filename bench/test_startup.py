"""What a user waits for before anything happens, against what Python and numba cost anyway."""

import os
import subprocess
import sys

import pytest

from bench.measure import Target

TINY = ["simulate", "--K", "5", "--d", "2", "--T", "10", "--runs", "2", "--quiet"]


def command(*words, **environment):
    def run():
        changed = {**os.environ, **environment}
        words_of_python = [sys.executable, "-P", *words]
        subprocess.run(words_of_python, check=True, capture_output=True, env=changed)

    return run


@pytest.mark.design("fastes --help over python -c pass")
def test_help_against_python_alone(compare):
    compare(
        command("-m", "fastes", "--help"),
        command("-c", "pass"),
        target=Target(most_extra_seconds=0.15),
    )


@pytest.mark.design("a tiny run, second time, over import numba")
def test_a_tiny_run_against_importing_numba(compare):
    compare(
        command("-m", "fastes", *TINY),
        command("-c", "import numba"),
        target=Target(most_extra_seconds=0.5),
    )


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, marks=pytest.mark.design(f"first run after install: {name}"), id=name)
        for name, words in {
            "es": [],
            "ts": ["--agent", "ts"],
            "es, K=2,048": ["--K", "2048"],
        }.items()
    ],
)
def test_the_first_run(compare, words, tmp_path):
    fresh = iter(range(1000))
    first = ["-m", "fastes", *TINY, *words]

    def compile_and_run():
        command(*first, NUMBA_CACHE_DIR=str(tmp_path / str(next(fresh))))()

    compare(
        compile_and_run,
        command(*first),
        rounds=1,
        warm_up=False,
        target=Target(most_seconds=15.0),
    )
