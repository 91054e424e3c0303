"""A real scheduler and real workers on loopback: the bits of a sweep at home."""

import contextlib
import json
import os
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
# What dask does when it has waited too long for an answer. A machine may be stopped for longer.
PATIENT = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1d",
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "1d",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "1d",
}
NO_FIXED_PORT = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]
# A worker that does some tasks and then holds on to one for ever.
HOLD = """
import os, time
from pathlib import Path
from fastes.studies import tasks

begun = []

def do_task(*arguments, do_task=tasks.do_task):
    begun.append(1)
    if len(begun) > int(os.environ["TASKS_BEFORE_HOLD"]):
        Path(os.environ["HELD"]).touch()
        while True:
            time.sleep(1)
    return do_task(*arguments)

if tasks.do_task.__module__ == tasks.__name__:  # dask loads this file more than once
    tasks.do_task = do_task
"""


@contextlib.contextmanager
def processes():
    """Give a function that starts processes, all of which end at the end."""
    started = []

    def start(*words, **environment):
        command = [sys.executable, "-m", *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, **PATIENT, **environment}
        started.append(subprocess.Popen(command, env=environment, **quiet))
        return started[-1]

    try:
        yield start
    finally:
        for process in started:
            process.kill()
            process.wait()


def wait_until(event, *needed):
    """Wait for an event, as long as the processes that it needs are there."""
    while not event():
        assert all(process.poll() is None for process in needed)
        time.sleep(0.01)


@pytest.fixture(scope="module")
def start():
    with processes() as started:
        yield started


def start_scheduler(start, folder):
    """Return the process of a scheduler, and its address."""
    file = folder / "scheduler.json"
    words = [*NO_FIXED_PORT, "--port", "0", "--scheduler-file", str(file)]
    process = start("distributed.cli.dask_scheduler", *words)

    def address():
        with contextlib.suppress(OSError, ValueError):  # not there, or not whole yet
            return json.loads(file.read_text())["address"]

    wait_until(address, process)
    return process, address()


@pytest.fixture(scope="module")
def scheduler(start, tmp_path_factory):
    """Return the address of a scheduler."""
    return start_scheduler(start, tmp_path_factory.mktemp("scheduler"))[1]


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 86_400.0)


def worker(start, scheduler, *words, **environment):
    words = ["--nthreads", "1", "--no-nanny", *NO_FIXED_PORT, *words]
    return start("distributed.cli.dask_worker", scheduler, *words, **environment)


def holding_worker(start, scheduler, folder, tasks):
    """Start a worker that does a number of tasks, then holds one. Return it and a file.

    The file appears when it holds one: no sweep ends before that worker has.
    """
    (folder / "hold.py").write_text(HOLD)
    held = folder / "held"
    environment = {"HELD": str(held), "TASKS_BEFORE_HOLD": str(tasks)}
    words = "--preload", str(folder / "hold.py")
    return worker(start, scheduler, *words, **environment), held


def wait_for_workers(scheduler, n, *needed):
    from distributed import Client

    with Client(scheduler, timeout=86_400, set_as_default=False) as client:
        wait_until(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) >= n, *needed)


def test_a_worker_that_dies_half_way_changes_no_bit(start, scheduler, tmp_path):
    victim, held = holding_worker(start, scheduler, tmp_path, tasks=0)
    wait_for_workers(scheduler, 2, victim, worker(start, scheduler))
    killed = []

    def kill_one(progress):
        if progress.done >= progress.total // 3 and held.exists() and not killed:
            victim.kill()
            killed.append(progress.done)

    study = fastes.Study(**WORDS)
    here = fastes.sweep(study, tmp_path / "here.db", task_seconds=0.02)
    there = fastes.sweep(
        study, tmp_path / "there.db", task_seconds=0.05, dask=scheduler, progress=kill_one
    )
    assert 0 < killed[0] < len(rows(there.path)[0])
    is_whole(there.path, WORDS)
    for (one, ours), (other, theirs) in zip(here.results(), there.results(), strict=True):
        assert one == other
        assert (ours.regret.per_run == theirs.regret.per_run).all()
        assert (ours.counts == theirs.counts).all()


def test_a_scheduler_that_goes_away_is_missed_in_a_sentence(tmp_path):
    out = tmp_path / "a.db"
    with processes() as begin:
        scheduler, address = start_scheduler(begin, tmp_path)
        hand, held = holding_worker(begin, address, tmp_path, tasks=2)
        wait_for_workers(address, 1, scheduler, hand)
        flags = [w for k, v in WORDS.items() for w in (f"--{k}", ",".join(map(str, np.ravel(v))))]
        command = [sys.executable, "-m", "fastes", "sweep", *flags, "--task", "0.02s"]
        sweep = subprocess.Popen(
            [*command, "--out", str(out), "--dask", address],
            stderr=subprocess.PIPE,
            text=True,
            # How long the client looks for a scheduler that is gone.
            env={**os.environ, **PATIENT, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"},
        )
        wait_until(lambda: held.exists() and rows(out)[1], sweep, scheduler, hand)
        scheduler.kill()
        _, said = sweep.communicate()
    assert sweep.returncode == 1
    assert said.splitlines()[-1] == (
        "Error: lost the dask scheduler: run the same command again to continue"
    )
    assert "Traceback" not in said
    subprocess.run([*command, "--out", str(out), "--quiet"], check=True)
    is_whole(out, WORDS)


def test_the_command_line_uses_the_same_cluster(start, scheduler, tmp_path, monkeypatch):
    from distributed import Future
    from distributed.cfexecutor import ClientExecutor

    submitted = []

    def submit(self, function, *arguments, submit=ClientExecutor.submit):
        submitted.append(arguments)
        return submit(self, function, *arguments)

    monkeypatch.setattr(ClientExecutor, "submit", submit)
    wait_for_workers(scheduler, 1)
    words = ["--agent", "ts", "--K", "12", "--d", "3", "--T", "60", "--runs", "9", "--json"]
    told = [
        json.loads(CliRunner().invoke(main, ["sweep", *words, "--out", str(out), *more]).stdout)
        for out, more in ((tmp_path / "a.db", []), (tmp_path / "b.db", ["--dask", scheduler]))
    ]
    assert told[0]["settings"][0]["regret"] == told[1]["settings"][0]["regret"]
    # Every task is sent with a reference to the study, which is sent once.
    assert submitted
    assert all(isinstance(study, Future) for study, *_ in submitted)


def test_a_worker_with_other_kernels_is_refused_by_name(start, scheduler, tmp_path, monkeypatch):
    wait_for_workers(scheduler, 1)
    monkeypatch.setattr(tasks, "fingerprint", lambda: "changed by a contributor")
    refused = r"worker tcp://127.0.0.1:\d+ has fastes .* with other kernels or another numba"
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
        f"worker tcp://x:1 has fastes 9.9, but this is fastes {fastes.__version__}"
    )


def test_a_scheduler_that_is_not_there_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 0.5)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen: nor can another
        address = f"tcp://127.0.0.1:{nobody.getsockname()[1]}"
        words = ["sweep", "--T", "5", "--runs", "1", "--out", str(tmp_path / "a.db")]
        done = CliRunner().invoke(main, [*words, "--dask", address])
    assert done.exit_code == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith(f"Error: no dask scheduler answers at {address}")
    assert "after 0.5 s" in said  # not as long as dask would wait
    assert "Traceback" not in done.stderr


def test_without_distributed_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        ImportError, match=r"needs distributed: install it with pip install 'fastes\[dask\]'"
    ):
        fastes.sweep(fastes.Study(T=5, runs=1), tmp_path / "a.db", dask="tcp://127.0.0.1:1")
