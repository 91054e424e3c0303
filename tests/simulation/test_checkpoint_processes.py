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
from processes import cpu_seconds, fastes_command, wait

import fastes

WORDS = ["--K", "40", "--d", "4", "--M", "7", "--runs", "4", "--seed", "2"]


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
    return fastes.simulate(bandit, fastes.EnsembleSampling(7), T=T, runs=4, seed=2).to_dict()


def like(one, other):
    for facts in (*one["agents"], *other["agents"]):
        for name in ("seconds", "steps_per_second", "threads", "date"):
            facts.pop(name, None)
    assert one == other


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_writes_a_last_checkpoint_and_says_how_to_go_on(number, tmp_path):
    T = 2_000_000
    while (path := stopped(number, T, tmp_path)) is None:
        T *= 4
    like(output_of("resume", str(path), "--json"), expected(T))


def stopped(number, T, folder):
    """Send a signal to a simulation that is under way, and return its checkpoint.

    None if it was done before.
    """
    path = folder / f"a run of {T}.ckpt"
    words = [*WORDS, "--T", str(T), "--checkpoint", str(path), "--every", "0.1s"]
    words = fastes_command("simulate", *words)
    with (folder / "out").open("w+") as out, (folder / "said").open("w+") as said:
        process = subprocess.Popen(words, stdout=out, stderr=said)
        begun(process, path)
        before = cpu_seconds(process.pid)
        process.send_signal(number)
        code, in_all = wait(process)
        out.seek(0), said.seek(0)
        if code == 0:
            return None
        assert code == 1
        assert said.read() == f"Error: stopped; to continue: fastes resume '{path}'\n"
        assert out.read() == ""
    assert before is None or in_all - before < 2.0  # half a second, as a rule
    return path


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_run_that_is_killed_again_and_again_ends_as_if_it_never_was(kills, tmp_path):
    T = 2_000_000 * kills
    while (words := killed_again_and_again(kills, T, tmp_path)) is None:
        T *= 4
    like(output_of(*words, "--json"), expected(T))
    for left in tmp_path.glob(".*"):
        assert left.name.startswith(".run-")  # a temporary file of a process that was killed


def killed_again_and_again(kills, T, folder):
    """Kill a simulation in the middle of its work, many times. Return words that go on with it.

    None if it was done before the last time: the machine was fast, or this process slow.
    """
    path, rng = folder / f"run-{T}.ckpt", random.Random(kills)
    words = ["simulate", *WORDS, "--T", str(T), "--checkpoint", str(path)]
    for _ in range(kills):
        before = number_of(path)
        process = subprocess.Popen(
            fastes_command(*words, "--json", "--every", "0.05s"), stdout=subprocess.DEVNULL
        )
        begun(process, path, before)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        if process.wait() == 0:
            return None
        assert process.returncode == -signal.SIGKILL
        words = ["resume", str(path)]
    return words


def test_sigterm_in_python_writes_a_last_checkpoint(tmp_path):
    path = tmp_path / "run.ckpt"
    program = (
        "import fastes\n"
        "bandit = fastes.LinearBandit.random(K=40, d=4, seed=2)\n"
        "fastes.simulate(bandit, fastes.EnsembleSampling(7), T=4 * 10**9, runs=1,"
        f" checkpoint={str(path)!r}, every=0.3)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program])
    begun(process, path)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    assert partials(path)[0].in_progress
