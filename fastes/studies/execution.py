"""Execution of the tasks of a study, here or on a cluster."""

import contextlib
import functools
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from fastes.agents.own import as_agent
from fastes.agents.run_bytes import run_bytes
from fastes.checks import memory, numbers
from fastes.simulation.bars import Bar, Draw, bars_if
from fastes.simulation.plan import thread_count
from fastes.studies.calibration import calibrate
from fastes.studies.store import Store, create
from fastes.studies.study import Setting, Study
from fastes.studies.sweep import Sweep, SweepProgress, progress_of
from fastes.studies.tasks import (
    BuildMismatchError,
    Packed,
    Task,
    TaskResult,
    build_id,
    do_task,
    split_into_tasks,
)

TRIES = 3
TASK_SECONDS = 5.0
_REPORT_SECONDS = 0.2
_HANDED_OUT = 10_000
"""Largest number of tasks submitted at a time: submitting all of a large study takes long."""


class StudyPlan(NamedTuple):
    """The tasks of a study, and their estimated cost."""

    study: Study
    costs: list[float]  # estimated seconds per run, by setting
    tasks: list[Task]

    @property
    def seconds(self) -> float:
        """Estimated processor seconds in all."""
        return sum(task.cost for task in self.tasks)


def plan(
    study: Study,
    task_seconds: float = TASK_SECONDS,
    report: Callable[[int, int], None] | None = None,
) -> StudyPlan:
    """Calibrate a study and split it into tasks."""
    task_seconds = numbers.positive("task_seconds", task_seconds)
    _require_memory(max(study.settings, key=_bytes))
    costs = calibrate(study, report)
    return StudyPlan(study, costs, split_into_tasks(study, costs, task_seconds))


def sweep(
    study: Study,
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    dask: str | None = None,
    task_seconds: float = TASK_SECONDS,
    progress: bool | Callable[[SweepProgress], None] | None = None,
) -> Sweep:
    """Run the remaining tasks of a study, with results in one file.

    It can be stopped or killed at any time: the same call continues. No bit depends on threads,
    workers or the split into tasks.

    Parameters
    ----------
    study : Study
        The study.
    path : path
        The file, an SQLite database. If it exists, it must be of the same study.
    threads : int, optional
        Number of concurrent tasks; by default one per available processor.
    dask : str, optional
        Address of a dask scheduler, whose workers run the tasks instead. Needs
        ``pip install 'fastes[dask]'`` on all machines.
    task_seconds : float
        About how long a task should take.
    progress : bool or callable, optional
        True shows a progress bar in a terminal or notebook. A function is called with a
        `SweepProgress` a few times a second.

    Returns
    -------
    Sweep
        Tasks that failed three times are missing, and listed by `Sweep.failures`.

    Examples
    --------
    >>> import fastes, tempfile
    >>> study = fastes.Study(agent=["es", "ts"], M=[2, 8], K=20, d=5, T=50, runs=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for setting, result in fastes.sweep(study, f"{folder}/study.db").results():
    ...         print(result)
    Result(ES, M=2: regret 17.09 +- 5.5 at T=50, 10 runs)
    Result(ES, M=8: regret 19.29 +- 3.5 at T=50, 10 runs)
    Result(TS: regret 21.29 +- 2.1 at T=50, 10 runs)
    """
    if not isinstance(study, Study):
        raise TypeError(f"study must be a Study, got {study!r}")
    check_workers(threads, dask)
    with sweep_report(progress) as report:
        if not Path(path).exists():
            create_file(path, plan(study, task_seconds))
        run_tasks(path, study, threads=threads, dask=dask, progress=report)
    return Sweep(os.fspath(path))


@contextlib.contextmanager
def sweep_report(
    progress: bool | Callable[[SweepProgress], None] | None,
) -> Iterator[Callable[[SweepProgress], None] | None]:
    """Yield the function that receives progress: the caller's, one that draws a bar, or None."""
    with bars_if(progress) as draw:
        if isinstance(progress, bool):
            yield None if draw is None else functools.partial(_draw_progress, draw)
        else:
            yield progress


def _draw_progress(draw: Draw, now: SweepProgress) -> None:
    failed = f", {now.failed} failed" if now.failed else ""
    text = f"{now.done:,} of {now.total:,}{failed}"
    # Measured by cost, in milliseconds, since tasks may differ.
    draw([Bar("tasks", round(1e3 * now.cost_done), round(1e3 * now.cost), lambda _: text)])


def check_workers(threads: int | None, dask: str | None) -> None:
    """Raise ValueError unless these are valid workers of a sweep."""
    thread_count(threads)
    if dask is not None and not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^/:\s]+:\d+", dask):
        raise ValueError(
            f"dask must be a scheduler's address such as tcp://host:8786, got {dask!r}"
        )


def create_file(path: str | os.PathLike[str], planned: StudyPlan) -> None:
    """Write the file of a study, unless it exists already."""
    with contextlib.suppress(FileExistsError):
        create(path, planned.study, planned.tasks)


def run_tasks(
    path: str | os.PathLike[str],
    study: Study,
    *,
    threads: int | None = None,
    dask: str | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> None:
    """Run the remaining tasks of a study's file."""
    check_workers(threads, dask)
    for setting in study.settings:
        as_agent(setting.agent)  # raises if its module is not imported
    store = Store(path)
    store.require(study)
    with store.working():
        tasks, done = store.tasks(), store.done()
        now = progress_of(tasks, done, 0)
        left = [task for task in tasks if task.number not in done]
        reported = 0.0
        with _workers(store.packed, study, left, thread_count(threads), dask) as submit:
            for ended in _each(left, submit):
                if ended is not None:
                    task, result = ended
                    if isinstance(result, TaskResult):
                        store.keep(task, result)
                        now = now._replace(done=now.done + 1, cost_done=now.cost_done + task.cost)
                    else:
                        store.fail(task, f"{type(result).__name__}: {result}")
                        now = now._replace(failed=now.failed + 1)
                if progress is not None and time.monotonic() - reported > _REPORT_SECONDS:
                    progress(now)
                    reported = time.monotonic()
    if progress is not None:
        progress(now)


def _each(
    left: list[Task], submit: Callable[[Task], "Future[TaskResult]"]
) -> Iterator[tuple[Task, TaskResult | BaseException] | None]:
    """Submit tasks, and yield the result of each; also None from time to time while waiting.

    A failed task is submitted again; after three failures its error is yielded.
    """
    waiting = iter(left)
    doing: dict[Future[TaskResult], Task] = {}
    tries: dict[int, int] = {}
    ended: queue.SimpleQueue[Future[TaskResult]] = queue.SimpleQueue()

    def submit_task(task: Task | None) -> None:
        if task is not None:
            future = submit(task)
            doing[future] = task
            future.add_done_callback(ended.put)

    for _ in range(_HANDED_OUT):
        submit_task(next(waiting, None))
    while doing:
        try:
            future = ended.get(timeout=_REPORT_SECONDS)
        except queue.Empty:
            yield None
            continue
        task = doing.pop(future)
        if future.cancelled():  # by dask, when the scheduler goes away
            raise ConnectionError("lost the dask scheduler: run the same command again to continue")
        error = future.exception()
        if isinstance(error, BuildMismatchError):
            raise error
        tries[task.number] = tries.get(task.number, 0) + 1
        if error is not None and tries[task.number] < TRIES:
            submit_task(task)
            continue
        yield task, (future.result() if error is None else error)
        submit_task(next(waiting, None))


@contextlib.contextmanager
def _workers(
    packed: Packed, study: Study, left: list[Task], threads: int, dask: str | None
) -> Iterator[Callable[[Task], "Future[TaskResult]"]]:
    """Yield a function that submits a task to a worker; cancel unfinished tasks at the end."""
    expected = build_id()
    if dask is not None:
        from fastes.studies.dask_workers import connected

        with connected(dask, packed) as submit:
            yield lambda task: submit(do_task, task, expected)
        return
    stop = threading.Event()

    concurrent = _concurrent(study, left, threads)
    pool = ThreadPoolExecutor(concurrent, thread_name_prefix="fastes-task")
    try:
        yield lambda task: pool.submit(do_task, packed, task, expected, stop.is_set)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _concurrent(study: Study, left: list[Task], threads: int) -> int:
    """Return the number of concurrent tasks: as many as fit into memory."""
    settings = {task.setting for task in left}
    largest = max((_bytes(study.settings[i]) for i in settings), default=1)
    return int(max(1, min(threads, len(left), memory.available_bytes() // largest)))


def _bytes(setting: Setting) -> int:
    """Return the bytes of a run of a setting, with its problem."""
    problem, waiting = setting.problem, min(setting.world.delay, setting.T)
    return problem.bytes + sum(run_bytes(setting.agent, problem.sizes, setting.T, waiting))


def _require_memory(setting: Setting) -> None:
    sizes = ", ".join(f"{name}={value:,}" for name, value in _sizes(setting).items())
    memory.require(f"a run with {sizes}", _bytes(setting))


def _sizes(setting: Setting) -> dict[str, int]:
    sizes = {name: setting.axes[name] for name in ("K", "d", "T", "M")}
    return {name: size for name, size in sizes.items() if size is not None}
