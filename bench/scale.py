"""How a sweep scales on this machine, and what dask adds to a task: ``python -m bench.scale``.

Print the numbers of docs/explanation/scale.md: the time of one study on one and two threads and on
one and two dask workers; tasks a second that a scheduler gets through when there is nothing in
them; the bytes of a result, and how many such results the file takes in a second.
"""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import click

import fastes
from fastes.studies.dask_workers import connected
from fastes.studies.execution import plan, run_tasks
from fastes.studies.store import Store, create
from fastes.studies.tasks import Task, build_id, do_task, packed_study

STUDY = {"agent": ["es", "ts"], "M": [8, 64], "K": [100, 1000], "d": 10, "T": 1000, "runs": 1500}


@contextmanager
def _cluster(workers: int) -> Iterator[str]:
    from distributed import LocalCluster

    options = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with LocalCluster(**options) as cluster:
        yield cluster.scheduler_address


def _sweep_seconds(folder: Path, study: fastes.Study, name: str, workers: int) -> float:
    planned = plan(study, task_seconds=1.0)
    path = folder / f"{name}{workers}.db"
    create(path, study, planned.tasks)
    with _cluster(workers) if name == "dask" else nullcontext() as address:
        if address is not None:
            _one_task_each(address, study, workers)
        began = time.perf_counter()
        run_tasks(path, study, threads=workers, dask=address)
        return time.perf_counter() - began


def _one_task_each(address: str, study: fastes.Study, workers: int) -> None:
    """Let every worker load what it needs, as it does once in its life."""
    with connected(address, packed_study(study)) as submit:
        settings = range(len(study.settings))
        tasks = [Task(0, setting, 0, 1, 0.0) for setting in settings for _ in range(4 * workers)]
        for future in [submit(do_task, task, build_id()) for task in tasks]:
            future.result()


def _empty_tasks_a_second(n: int) -> float:
    study = fastes.Study(agent="ts", K=2, d=1, T=1, runs=1)
    words = Task(0, 0, 0, 1, 0.0), build_id()
    with _cluster(2) as address, connected(address, packed_study(study)) as submit:
        for future in [submit(do_task, *words) for _ in range(20)]:
            future.result()
        began = time.perf_counter()
        for future in [submit(do_task, *words) for _ in range(n)]:
            future.result()
        return n / (time.perf_counter() - began)


@click.command()
@click.option("--quick", is_flag=True, help="A smoke test.")
def main(quick: bool) -> None:
    """Print how a sweep scales here."""
    study = fastes.Study(**{**STUDY, **({"runs": 20} if quick else {})})
    with tempfile.TemporaryDirectory() as folder:
        for name in ("threads", "dask"):
            for workers in (1, 2):
                took = _sweep_seconds(Path(folder), study, name, workers)
                click.echo(f"{name}, {workers}: {took:.1f} s")
    click.echo(f"empty tasks a second: {_empty_tasks_a_second(50 if quick else 2000):.0f}")
    for runs in (100, 10_000):
        _print_volume(study, 20 if quick else runs)


def _print_volume(study: fastes.Study, runs: int) -> None:
    outcome = do_task(packed_study(study), Task(0, 0, 0, runs, 0.0), build_id())
    size = len(outcome.regret) + len(outcome.counts)
    tasks = [Task(number, 0, 0, runs, 0.0) for number in range(50)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kept.db"
        create(path, study, tasks)
        with Store(path) as store:
            began = time.perf_counter()
            for task in tasks:
                store.keep(task, outcome)
            rate = len(tasks) / (time.perf_counter() - began)
    click.echo(f"{runs:,} runs at 50 times: {size:,} bytes, {rate:.0f} kept a second")


if __name__ == "__main__":
    main()
