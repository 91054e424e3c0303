"""Processes that are asked to stop, or killed, while they keep a checkpoint."""

import functools
import json
import random
import signal
import subprocess
import sys
import time

import pytest
from checkpoints import partials

import fastes

WORDS = ["--K", "40", "--d", "4", "--M", "7", "--runs", "4", "--seed", "2"]


def fastes_command(*words):
    return [sys.executable, "-m", "fastes", *words]


def output_of(*words):
    done = subprocess.run(fastes_command(*words), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def begun(process, path, before=None):
    """Wait until a process has written a checkpoint, other than that of before, with runs begun.

    Return that file's number, or None if the process ended.
    """
    while process.poll() is None:
        now = number_of(path)
        if now not in (None, before) and any(e.in_progress for e in partials(path)):
            return now
        time.sleep(0.01)
    return None


def number_of(path):
    return path.stat().st_ino if path.exists() else None


@functools.cache
def expected(T):
    bandit = fastes.LinearBandit.random(K=40, d=4, seed=2)
    return fastes.simulate(bandit, fastes.EnsembleSampling(7), T=T, runs=4, seed=2).summary()


def like(one, other):
    apart = ("seconds", "steps_per_second", "threads")
    assert {k: v for k, v in one.items() if k not in apart} == {
        k: v for k, v in other.items() if k not in apart
    }


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_a_last_checkpoint_and_says_how_to_go_on(number, tmp_path):
    path, T = tmp_path / "a run.ckpt", 2_000_000
    words = [*WORDS, "--T", str(T), "--checkpoint", str(path), "--every", "0.1s"]
    words = fastes_command("simulate", *words)
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    begun(process, path)
    process.send_signal(number)
    asked = time.monotonic()
    out, said = process.communicate()
    assert time.monotonic() - asked < 5.0  # a second, on a machine that does nothing else
    assert process.returncode == 1
    assert said == f"Error: stopped; to go on: fastes resume '{path}'\n"
    assert out == ""
    like(output_of("resume", str(path), "--json"), expected(T))


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_never_was(kills, tmp_path):
    path, rng = tmp_path / "run.ckpt", random.Random(kills)
    T = 2_000_000 * kills
    words = ["simulate", *WORDS, "--T", str(T), "--checkpoint", str(path)]
    for _ in range(kills):
        before = number_of(path)
        process = subprocess.Popen(
            fastes_command(*words, "--json", "--every", "0.05s"), stdout=subprocess.DEVNULL
        )
        assert begun(process, path, before)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        assert process.wait() == -signal.SIGKILL  # it was in the middle of its work
        words = ["resume", str(path)]
    like(output_of(*words, "--json"), expected(T))
    for left in tmp_path.glob(".*"):
        assert left.name.startswith(".run-")  # a temporary file of a process that was killed


def test_sigterm_in_python_writes_a_last_checkpoint(tmp_path):
    path = tmp_path / "run.ckpt"
    program = (
        "import fastes\n"
        "bandit = fastes.LinearBandit.random(K=40, d=4, seed=2)\n"
        "fastes.simulate(bandit, fastes.EnsembleSampling(7), T=10**9, runs=1,"
        f" checkpoint={str(path)!r}, every=0.3)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    begun(process, path)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    assert partials(path)[0].in_progress
