"""The tasks of a study done, here or on a cluster, and what came of them."""

import contextlib
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastes import memory, validation
from fastes.crew import Progress
from fastes.result import Regret, Result
from fastes.simulation import configuration_of, processors
from fastes.studies.cost import calibrate
from fastes.studies.store import Store, create
from fastes.studies.study import Setting, Study, agent_of
from fastes.studies.tasks import Identity, IdentityError, Outcome, Task, cut, do_task, identity

if TYPE_CHECKING:
    import pandas as pd

TRIES = 3
TASK_SECONDS = 5.0
_REPORT_SECONDS = 0.2


class SweepProgress(NamedTuple):
    """How far a sweep is.

    Attributes
    ----------
    done, failed, total : int
        Tasks.
    cost_done, cost : float
        Estimated seconds of work, of the tasks that are done and of all.
    """

    done: int
    failed: int
    total: int
    cost_done: float
    cost: float


class Plan(NamedTuple):
    """How a study is cut, and what it will cost."""

    study: Study
    costs: list[float]  # estimated seconds a run, by setting
    tasks: list[Task]

    @property
    def seconds(self) -> float:
        """Estimated seconds of one processor in all."""
        return sum(task.cost for task in self.tasks)


@dataclass(frozen=True)
class Sweep:
    """A study's file, and what is in it so far. It may be read while the sweep goes on.

    Examples
    --------
    >>> import fastes, tempfile
    >>> study = fastes.Study(agent=["es", "ts"], M=[2, 8], T=50, runs=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep = fastes.sweep(study, f"{folder}/study.db")
    ...     [result.label for setting, result in sweep.results()]
    ['ES, M=2', 'ES, M=8', 'TS']
    """

    path: str

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Return the sweep in a file, or raise FileFormatError."""
        Store(path).close()
        return cls(os.fspath(path))

    @property
    def study(self) -> Study:
        """The study."""
        with Store(self.path) as store:
            return store.study

    def progress(self) -> SweepProgress:
        """Return how far it is."""
        with Store(self.path) as store:
            return _progress(store.tasks(), store.done(), len(store.failures()))

    def failures(self) -> dict[int, str]:
        """Return why tasks failed, by their numbers."""
        with Store(self.path) as store:
            return store.failures()

    def results(self) -> list[tuple[Setting, Result]]:
        """Return each setting of which there are runs, and the result of those.

        In order of the settings. A result has fewer runs than the study while some are missing.
        """
        return [(setting, result) for setting, _, result in self._measured()]

    def _measured(self) -> Iterator[tuple[Setting, list[int], Result]]:
        with Store(self.path) as store:
            for number, setting in enumerate(store.study.settings):
                measured = store.measured(number)
                if measured is not None:
                    runs, regret, counts, seconds = measured
                    e = store.study.experiment(setting)
                    made = configuration_of(e, len(runs), 1, seconds, store.begun_by.version)
                    yield setting, runs, Result(made, e.times, Regret(regret), counts)

    def to_dataframe(self, curves: bool = False) -> "pd.DataFrame":
        """Return a row for each setting and run: the axes, the run, and its regret at T.

        With `curves`, a row for each recorded time `t`.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_dataframe needs pandas: install it with pip install 'fastes[pandas]'"
            ) from error
        frames = []
        for setting, runs, result in self._measured():
            frame = result.to_dataframe().drop(columns="agent")
            frame["run"] = np.array(runs)[frame["run"]]
            if not curves:
                frame = frame[frame["t"] == setting.T].drop(columns="t")
            axes = pd.DataFrame([setting._asdict()] * len(frame), index=frame.index)
            frames.append(pd.concat([axes, frame], axis=1))
        if not frames:
            return pd.DataFrame(columns=[*Setting._fields, "run", "regret"])
        return pd.concat(frames, ignore_index=True)


def plan(
    study: Study,
    task_seconds: float = TASK_SECONDS,
    report: Callable[[int, int], None] | None = None,
) -> Plan:
    """Calibrate, and cut a study into tasks."""
    task_seconds = validation.positive("task_seconds", task_seconds)
    for setting in study.settings:
        _require_memory(setting)
    costs = calibrate(study, report)
    return Plan(study, costs, cut(study, costs, task_seconds))


def sweep(
    study: Study,
    path: str | os.PathLike[str],
    *,
    threads: int | None = None,
    dask: str | None = None,
    task_seconds: float = TASK_SECONDS,
    progress: Callable[[SweepProgress], None] | None = None,
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
    progress : callable, optional
        Called with a `SweepProgress` a few times a second.

    Returns
    -------
    Sweep
        A task that failed three times is left out, and listed by `Sweep.failures`.
    """
    if not isinstance(study, Study):
        raise TypeError(f"study must be a Study, got {study!r}")
    if not Path(path).exists():
        create(path, study, plan(study, task_seconds).tasks)
    go_on(path, study, threads=threads, dask=dask, progress=progress)
    return Sweep(os.fspath(path))


def go_on(
    path: str | os.PathLike[str],
    study: Study,
    *,
    threads: int | None = None,
    dask: str | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
) -> None:
    """Do the tasks in a study's file that are not done yet."""
    if threads is None:
        threads = processors()
    threads = validation.integer("threads", threads, 1, 1 << 16)
    store = Store(path)
    store.require(study)
    with store.working():
        tasks, done = store.tasks(), store.done()
        left = [task for task in tasks if task.number not in done]
        tries: dict[int, int] = {}
        failed: set[int] = set()
        ended: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        with _workers(study, left, threads, dask) as submit:
            doing: dict[Future[Outcome], Task] = {}

            def begin(task: Task) -> None:
                future = submit(task)
                doing[future] = task
                future.add_done_callback(ended.put)

            for task in left:
                begin(task)
            reported = 0.0
            while doing:
                with contextlib.suppress(queue.Empty):
                    future = ended.get(timeout=_REPORT_SECONDS)
                    task = doing.pop(future)
                    error = future.exception()
                    if error is None:
                        store.keep(task, future.result())
                        done.add(task.number)
                    elif isinstance(error, IdentityError):
                        raise error
                    else:
                        tries[task.number] = tries.get(task.number, 0) + 1
                        if tries[task.number] < TRIES:
                            begin(task)
                        else:
                            store.fail(task, f"{type(error).__name__}: {error}")
                            failed.add(task.number)
                if progress is not None and time.monotonic() - reported > _REPORT_SECONDS:
                    progress(_progress(tasks, done, len(failed)))
                    reported = time.monotonic()
    if progress is not None:
        progress(_progress(tasks, done, len(failed)))


def _progress(tasks: list[Task], done: set[int], failed: int) -> SweepProgress:
    cost_done = sum(task.cost for task in tasks if task.number in done)
    cost = sum(task.cost for task in tasks)
    return SweepProgress(len(done), failed, len(tasks), cost_done, cost)


@contextlib.contextmanager
def _workers(
    study: Study, left: list[Task], threads: int, dask: str | None
) -> Iterator[Callable[[Task], "Future[Outcome]"]]:
    """Give a function that hands a task to a worker; drop what is not done at the end."""
    what: tuple[dict[str, Any], Identity] = study.description(), identity()
    if dask is not None:
        from fastes.studies.cluster import connected

        with connected(dask) as executor:
            yield lambda task: executor.submit(do_task, what[0], task, what[1])
        return
    stop = threading.Event()

    def heed(_: Progress) -> None:
        if stop.is_set():
            raise InterruptedError("stopped")

    at_once = _at_once(study, left, threads)
    pool: Executor = ThreadPoolExecutor(at_once, thread_name_prefix="fastes-task")
    try:
        yield lambda task: pool.submit(do_task, what[0], task, what[1], heed)
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _at_once(study: Study, left: list[Task], threads: int) -> int:
    """Return how many tasks to do at once: as many as fit."""
    largest = max((_bytes(study.settings[task.setting]) for task in left), default=1)
    return int(max(1, min(threads, len(left), memory.available_bytes() // largest)))


def _bytes(setting: Setting) -> int:
    """Return the memory of a run of a setting, with its problem."""
    K, r = setting.K, min(setting.K, setting.d)
    return agent_of(setting).run_bytes(K, r, setting.T) + 4 * 8 * K * setting.d


def _require_memory(setting: Setting) -> None:
    sizes = ", ".join(f"{name}={value:,}" for name, value in _sizes(setting).items())
    memory.require(f"a run with {sizes}", _bytes(setting))


def _sizes(setting: Setting) -> dict[str, int]:
    sizes = {"K": setting.K, "d": setting.d, "T": setting.T, "M": setting.M}
    return {name: size for name, size in sizes.items() if size is not None}
