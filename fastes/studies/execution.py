"""The tasks of a study executed, here or on a cluster."""

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
"""Tasks at most that wait at a scheduler: to hand out all of a large study would take long."""


class StudyPlan(NamedTuple):
    """How a study is cut, and what it will cost."""

    study: Study
    costs: list[float]  # estimated seconds a run, by setting
    tasks: list[Task]

    @property
    def seconds(self) -> float:
        """Estimated seconds of one processor in all."""
        return sum(task.cost for task in self.tasks)


def plan(
    study: Study,
    task_seconds: float = TASK_SECONDS,
    report: Callable[[int, int], None] | None = None,
) -> StudyPlan:
    """Calibrate, and cut a study into tasks."""
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
    """Do all tasks of a study that are not done yet, and keep what comes of them in a file.

    It can be stopped at any time, or killed: the same call goes on with what is left. No bit
    depends on threads, workers or the way the study is cut.

    Parameters
    ----------
    study : Study
        What to do.
    path : path
        The file, SQLite. If it is there, it must hold the same study.
    threads : int, optional
        How many tasks to do at once; by default as many as there are processors.
    dask : str, optional
        The address of a dask scheduler, whose workers do the tasks instead. Needs
        ``pip install 'fastes[dask]'``, here and there.
    task_seconds : float
        About how long a task should take.
    progress : bool or callable, optional
        True draws a bar, in a terminal or a notebook. A function is called with a
        `SweepProgress` a few times a second.

    Returns
    -------
    Sweep
        A task that failed three times is left out, and listed by `Sweep.failures`.

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
    """Give what a sweep reports its progress to: a caller's function, a bar, or nothing."""
    with bars_if(progress) as draw:
        if isinstance(progress, bool):
            yield None if draw is None else functools.partial(_draw_progress, draw)
        else:
            yield progress


def _draw_progress(draw: Draw, now: SweepProgress) -> None:
    failed = f", {now.failed} failed" if now.failed else ""
    text = f"{now.done:,} of {now.total:,}{failed}"
    # By cost in milliseconds: tasks may differ much.
    draw([Bar("tasks", round(1e3 * now.cost_done), round(1e3 * now.cost), lambda _: text)])


def check_workers(threads: int | None, dask: str | None) -> None:
    """Refuse, before anything else is done, what cannot be the workers of a sweep."""
    thread_count(threads)
    if dask is not None and not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?[^/:\s]+:\d+", dask):
        raise ValueError(
            f"dask must be a scheduler's address such as tcp://host:8786, got {dask!r}"
        )


def create_file(path: str | os.PathLike[str], planned: StudyPlan) -> None:
    """Write the file of a study, unless somebody else has done so meanwhile."""
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
    """Do the tasks in a study's file that are not done yet."""
    check_workers(threads, dask)
    for setting in study.settings:
        as_agent(setting.agent)  # one whose module is not imported is refused
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
    """Hand out tasks, and yield the result of each; and None where that takes a while.

    A task that fails is handed out again, and its error yielded when it has failed three times.
    """
    waiting = iter(left)
    doing: dict[Future[TaskResult], Task] = {}
    tries: dict[int, int] = {}
    ended: queue.SimpleQueue[Future[TaskResult]] = queue.SimpleQueue()

    def hand_out(task: Task | None) -> None:
        if task is not None:
            future = submit(task)
            doing[future] = task
            future.add_done_callback(ended.put)

    for _ in range(_HANDED_OUT):
        hand_out(next(waiting, None))
    while doing:
        try:
            future = ended.get(timeout=_REPORT_SECONDS)
        except queue.Empty:
            yield None
            continue
        task = doing.pop(future)
        if future.cancelled():  # nobody here does
            raise ConnectionError("the scheduler is gone: the same command goes on when it is back")
        error = future.exception()
        if isinstance(error, BuildMismatchError):
            raise error
        tries[task.number] = tries.get(task.number, 0) + 1
        if error is not None and tries[task.number] < TRIES:
            hand_out(task)
            continue
        yield task, (future.result() if error is None else error)
        hand_out(next(waiting, None))


@contextlib.contextmanager
def _workers(
    packed: Packed, study: Study, left: list[Task], threads: int, dask: str | None
) -> Iterator[Callable[[Task], "Future[TaskResult]"]]:
    """Give a function that hands a task to a worker; drop what is not done at the end."""
    expected = build_id()
    if dask is not None:
        from fastes.studies.dask_workers import connected

        with connected(dask, packed) as submit:
            yield lambda task: submit(do_task, task, expected)
        return
    stop = threading.Event()

    at_once = _at_once(study, left, threads)
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="fastes-task")
    try:
        yield lambda task: pool.submit(do_task, packed, task, expected, stop.is_set)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _at_once(study: Study, left: list[Task], threads: int) -> int:
    """Return how many tasks to do at once: as many as fit."""
    settings = {task.setting for task in left}
    largest = max((_bytes(study.settings[i]) for i in settings), default=1)
    return int(max(1, min(threads, len(left), memory.available_bytes() // largest)))


def _bytes(setting: Setting) -> int:
    """Return the memory of a run of a setting, with its problem."""
    problem, waiting = setting.problem, min(setting.world.delay, setting.T)
    return problem.bytes + sum(run_bytes(setting.agent, problem.sizes, setting.T, waiting))


def _require_memory(setting: Setting) -> None:
    sizes = ", ".join(f"{name}={value:,}" for name, value in _sizes(setting).items())
    memory.require(f"a run with {sizes}", _bytes(setting))


def _sizes(setting: Setting) -> dict[str, int]:
    sizes = {name: setting.axes[name] for name in ("K", "d", "T", "M")}
    return {name: size for name, size in sizes.items() if size is not None}
