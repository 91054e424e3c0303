"""One run at K=10,000, d=100, against an earlier commit of fastes, measured in turns."""

import os
import subprocess
import sys

import pytest

from bench.measure import Target
from bench.session import ROOT, check_out

BEFORE = "6983b76"  # the last commit with a screening pass in single precision alone
T = 2_000

# Does the run once for every line that comes in, and says so.
_PROGRAM = f"""
import sys, fastes
bandit, agent = fastes.LinearBandit.random(10_000, 100), fastes.EnsembleSampling(1_000)
for line in sys.stdin:
    fastes.simulate(bandit, agent, T={T}, threads=1)
    print("done", flush=True)
"""


class _Process:
    """A process with the fastes of one folder."""

    def __init__(self, root):
        cache = {} if root == ROOT else {"NUMBA_CACHE_DIR": str(root / "cache")}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            cwd=root,
            env={**os.environ, **cache},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self):
        print("go", file=self._process.stdin, flush=True)
        assert self._process.stdout.readline() == "done\n"

    def end(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


@pytest.mark.slow
@pytest.mark.design("K=10,000 d=100, before over after")
def test_one_run(compare, quick, tmp_path):
    if quick:
        pytest.skip("a smoke test does not compile another commit")
    try:
        before = check_out(BEFORE, tmp_path)
    except ValueError as error:
        pytest.skip(str(error))
    now, then = _Process(ROOT), _Process(before)
    try:
        compare(now.run, then.run, work=T, baseline_work=T, rounds=15, target=Target(3.0))
    finally:
        now.end()
        then.end()
