"""The results of a study so far, read from its file."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from fastes.results.regret import Regret
from fastes.results.result import Result
from fastes.simulation.recording import recording_times
from fastes.studies.axes import AXES
from fastes.studies.store import Store
from fastes.studies.study import Setting, Study
from fastes.studies.tasks import Task

if TYPE_CHECKING:
    import pandas as pd


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


def progress_of(tasks: list[Task], done: set[int], failed: int) -> SweepProgress:
    """Return how far a sweep is of which the tasks with these numbers are done."""
    cost = sum(task.cost for task in tasks)
    cost_done = sum(task.cost for task in tasks if task.number in done)
    return SweepProgress(len(done), failed, len(tasks), cost_done, cost)


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
            return progress_of(store.tasks(), store.done(), len(store.failures()))

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
            tasks: dict[int, list[Task]] = {}
            for task in store.tasks():
                tasks.setdefault(task.setting, []).append(task)
            for number, setting in enumerate(store.study.settings):
                found = store.measured(tasks.get(number, ()))
                if found is not None:
                    times = recording_times(setting.T, store.study.points)
                    regret = Regret(found.regret)
                    result = Result(found.configuration, times, regret, found.counts)
                    yield setting, found.runs, result

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
            axes = pd.DataFrame([setting.axes] * len(frame), index=frame.index)
            frames.append(pd.concat([axes, frame], axis=1))
        if not frames:
            return pd.DataFrame(columns=[*AXES, "run", "regret"])
        return pd.concat(frames, ignore_index=True)
