"""Threads that share a live agent, and processes that are forked meanwhile."""

import copy
import json
import os
import subprocess
import sys

import live_threads
import pytest

import fastes


def test_threads_share_an_agent_and_may_fork(tmp_path):
    command = [sys.executable, live_threads.__file__, os.fspath(tmp_path)]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stderr  # or a signal: memory was misused
    lines = [json.loads(line) for line in outcome.stdout.splitlines()]
    found = {line.pop("kind"): line for line in lines}
    if hasattr(os, "fork"):
        assert found.pop("forks") == {"copies": live_threads.FORKS}
    assert set(found) == set(live_threads.KINDS)
    steps = live_threads.THREADS * live_threads.STEPS
    for line in found.values():
        assert line.pop("gap") < 1e-10
        assert line == {"acts": steps, "observations": steps, "copies": 40}


class Counted:
    """A lock that counts how often it is taken."""

    taken = 0

    def __enter__(self):
        self.taken += 1

    def __exit__(self, *error):
        pass


@pytest.mark.parametrize(
    "call",
    [
        lambda live, folder: live.act(),
        lambda live, folder: live.act(k=2),
        lambda live, folder: live.act_many(2),
        lambda live, folder: live.action_law(),
        lambda live, folder: live.observe(0, 0.5),
        lambda live, folder: live.posterior(),
        lambda live, folder: live.ensemble(),
        lambda live, folder: live.save(folder / "agent.npz"),
        lambda live, folder: copy.copy(live),
    ],
)
def test_every_call_that_uses_the_state_takes_its_turn(call, tmp_path):
    live = fastes.EnsembleSampling(20).start(live_threads.FIXED, seed=5)
    live._lock = Counted()
    call(live, tmp_path)
    assert live._lock.taken == 1
