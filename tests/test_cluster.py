"""A real scheduler and real workers on loopback: the bits of a sweep at home."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from sweeps import SMALL, is_whole, rows

import fastes
from fastes.cli import main
from fastes.studies import dask_workers as cluster
from fastes.studies import tasks

pytest.importorskip("distributed")

WORDS = {**SMALL, "T": 30_000, "runs": 12}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def processes():
    """Give a function that starts processes, all of which end at the end."""
    started = []

    def start(*words, **environment):
        command = [sys.executable, "-m", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        started.append(subprocess.Popen(command, env={**os.environ, **environment}, **quiet))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def start():
    with processes() as started:
        yield started


@pytest.fixture(scope="module")
def scheduler(start):
    """Return the address of a scheduler."""
    port = free_port()
    start(
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
    )
    return f"tcp://127.0.0.1:{port}"


def worker(start, scheduler, **environment):
    words = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
    return start("distributed.cli.dask_worker", scheduler, *words, **environment)


def wait_for_workers(scheduler, n):
    from distributed import Client

    with Client(scheduler, timeout=60, set_as_default=False) as client:
        client.wait_for_workers(n, timeout=60)


def test_a_worker_that_dies_half_way_changes_no_bit(start, scheduler, tmp_path):
    workers = [worker(start, scheduler) for _ in range(2)]
    wait_for_workers(scheduler, 2)
    killed = []

    def kill_one(progress):
        if progress.done >= progress.total // 3 and not killed:
            os.kill(workers[0].pid, signal.SIGKILL)
            killed.append(progress.done)

    study = fastes.Study(**WORDS)
    here = fastes.sweep(study, tmp_path / "here.db", task_seconds=0.02)
    there = fastes.sweep(
        study, tmp_path / "there.db", task_seconds=0.05, dask=scheduler, progress=kill_one
    )
    assert killed
    assert killed[0] < len(rows(there.path)[0])
    is_whole(there.path, WORDS)
    for (one, ours), (other, theirs) in zip(here.results(), there.results(), strict=True):
        assert one == other
        assert (ours.regret.per_run == theirs.regret.per_run).all()
        assert (ours.counts == theirs.counts).all()


def test_a_scheduler_that_goes_away_is_missed_in_a_sentence(tmp_path):
    port = free_port()
    address, out = f"tcp://127.0.0.1:{port}", tmp_path / "a.db"
    with processes() as begin:
        words = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        scheduler = begin("distributed.cli.dask_scheduler", *words)
        worker(begin, address)
        wait_for_workers(address, 1)
        flags = [w for k, v in WORDS.items() for w in (f"--{k}", ",".join(map(str, np.ravel(v))))]
        command = [sys.executable, "-m", "fastes", "sweep", *flags, "--task", "0.02s"]
        sweep = subprocess.Popen(
            [*command, "--out", str(out), "--dask", address],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"},
        )
        while sweep.poll() is None and not (out.exists() and rows(out)[1]):
            time.sleep(0.02)
        scheduler.kill()
        _, said = sweep.communicate(timeout=120)
    assert sweep.returncode == 1
    assert said.splitlines()[-1] == (
        "Error: the scheduler is gone: the same command goes on when it is back"
    )
    assert "Traceback" not in said
    subprocess.run([*command, "--out", str(out), "--quiet"], check=True)
    is_whole(out, WORDS)


def test_the_command_line_uses_the_same_cluster(start, scheduler, tmp_path):
    wait_for_workers(scheduler, 1)
    words = ["--agent", "ts", "--K", "12", "--d", "3", "--T", "60", "--runs", "9", "--json"]
    told = [
        json.loads(CliRunner().invoke(main, ["sweep", *words, "--out", str(out), *more]).stdout)
        for out, more in ((tmp_path / "a.db", []), (tmp_path / "b.db", ["--dask", scheduler]))
    ]
    assert told[0]["settings"][0]["regret"] == told[1]["settings"][0]["regret"]


def test_a_worker_with_other_kernels_is_refused_by_name(start, scheduler, tmp_path, monkeypatch):
    wait_for_workers(scheduler, 1)
    monkeypatch.setattr(tasks, "fingerprint", lambda: "changed by a contributor")
    refused = r"worker tcp://127.0.0.1:\d+ has fastes .* with other kernels, or another numba"
    with pytest.raises(RuntimeError, match=refused):
        fastes.sweep(fastes.Study(**SMALL), tmp_path / "a.db", dask=scheduler)
    # One that comes later finds out by itself.
    expected = tasks.build_id()
    monkeypatch.undo()
    study = fastes.Study(**SMALL)
    task = tasks.Task(0, 0, 0, 1, 1.0)
    with pytest.raises(tasks.BuildMismatchError, match=r"worker .*, process \d+ has fastes"):
        tasks.do_task(json.dumps(study.description()), task, expected)


def test_a_worker_of_another_version_is_refused_by_name():
    found = tasks.BuildId("9.9", "kernels")
    assert tasks.refusal("tcp://x:1", found) == (
        f"worker tcp://x:1 has fastes 9.9, this is fastes {fastes.__version__}"
    )


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 0.5)
    address = f"tcp://127.0.0.1:{free_port()}"
    began = time.monotonic()
    words = ["sweep", "--T", "5", "--runs", "1", "--out", str(tmp_path / "a.db"), "--dask", address]
    done = CliRunner().invoke(main, words)
    assert time.monotonic() - began < 30
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith(f"Error: no dask scheduler answers at {address}")
    assert "Traceback" not in done.stderr


def test_without_distributed_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ImportError, match=r"needs distributed: install it with pip install 'fastes\[dask\]'"
    ):
        fastes.sweep(fastes.Study(T=5, runs=1), tmp_path / "a.db", dask="tcp://127.0.0.1:1")
