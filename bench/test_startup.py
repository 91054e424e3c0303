"""What a user waits for before anything happens, against what Python and numba cost anyway."""

import os
import subprocess
import sys

import pytest

TINY = ["simulate", "--K", "5", "--d", "2", "--T", "10", "--runs", "2", "--quiet"]


def command(*words, **environment):
    def run():
        subprocess.run([sys.executable, "-P", *words], check=True, capture_output=True,
                       env={**os.environ, **environment})  # fmt: skip

    return run


def extra_milliseconds(ratio):
    return 1e3 * (ratio.subject_seconds - ratio.baseline_seconds)


def test_help_against_python_alone(compare, request):
    ratio = compare(command("-m", "fastes", "--help"), command("-c", "pass"),
                    figure="at most 150 ms more")  # fmt: skip
    print(f"{extra_milliseconds(ratio):.0f} ms more")


def test_a_tiny_run_against_importing_numba(compare):
    ratio = compare(command("-m", "fastes", *TINY), command("-c", "import numba"),
                    figure="at most 500 ms more")  # fmt: skip
    print(f"{extra_milliseconds(ratio):.0f} ms more")


@pytest.mark.parametrize("agent", ["es", "ts"])
def test_the_first_run_against_the_second(compare, agent, tmp_path):
    fresh = iter(range(1000))
    words = ["-m", "fastes", *TINY, "--agent", agent]

    def first():
        command(*words, XDG_CACHE_HOME=str(tmp_path / str(next(fresh))))()

    ratio = compare(first, command(*words), rounds=1, figure="first run: at most 15 s")
    print(f"{ratio.subject_seconds:.1f} s")
