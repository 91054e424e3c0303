"""Results of a study so far, read from its file."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self, Unpack

import numpy as np

from fastes.checks.documented import documented
from fastes.checks.extras import installed
from fastes.results.regret import Regret
from fastes.results.result import Result
from fastes.simulation.recording import recording_times
from fastes.studies.axes import AXES
from fastes.studies.store import Store
from fastes.studies.study import Setting, Study
from fastes.studies.tasks import Task

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastes.results.panels import Look


@documented
class SweepProgress(NamedTuple):
    """Progress of a sweep.

    Attributes
    ----------
    done : int
        Completed tasks.
    failed : int
        Failed tasks.
    total : int
        All tasks.
    cost_done : float
        Estimated processor seconds of the completed tasks.
    cost : float
        Estimated processor seconds of all tasks.
    """

    done: int
    failed: int
    total: int
    cost_done: float
    cost: float


def progress_of(tasks: list[Task], done: set[int], failed: int) -> SweepProgress:
    """Return the progress of a sweep in which the tasks with these numbers are completed."""
    cost = sum(task.cost for task in tasks)
    cost_done = sum(task.cost for task in tasks if task.number in done)
    return SweepProgress(len(done), failed, len(tasks), cost_done, cost)


def progress_in(store: Store) -> SweepProgress:
    """Return the progress of the sweep in a study's file."""
    return progress_of(store.tasks(), store.done(), len(store.failures()))


def results_in(store: Store) -> Iterator[tuple[Setting, Result]]:
    """Yield each setting with completed runs in a study's file, and their result."""
    store.done()  # raises if a result is missing
    study = store.study
    tasks: dict[int, list[Task]] = {}
    for task in store.tasks():
        tasks.setdefault(task.setting, []).append(task)
    for number, setting in enumerate(study.settings):
        found = store.measured(tasks.get(number, ()))
        if found is not None:
            c = found.configuration
            result = Result(
                c,
                recording_times(setting.T, study.points),
                Regret(found.regret),
                found.counts,
                setting.problem.arrays(study.seed),
                np.array(found.runs),
                theta=study.theta,
                world=setting.world,
            )
            yield setting, result


@dataclass(frozen=True, repr=False)
class Sweep:
    """A study's file and its results so far. It can be read while the sweep is running.

    Examples
    --------
    >>> import fastes, tempfile
    >>> study = fastes.Study(agent=["es", "ts"], M=[2, 8], T=50, runs=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep = fastes.sweep(study, f"{folder}/study.db")
    ...     for setting, result in sweep.results():
    ...         print(setting.axes["M"], result)
    2 Result(ES, M=2: regret 44.57 +- 8.4 at T=50, 10 runs)
    8 Result(ES, M=8: regret 40.47 +- 7 at T=50, 10 runs)
    None Result(TS: regret 46.34 +- 4.3 at T=50, 10 runs)
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
        """Return its progress."""
        with Store(self.path) as store:
            return progress_in(store)

    def failures(self) -> dict[int, str]:
        """Return why tasks failed, by their numbers."""
        with Store(self.path) as store:
            return store.failures()

    def results(self) -> list[tuple[Setting, Result]]:
        """Return each setting with completed runs, and their result.

        In order of the settings. A result has fewer runs than the study while some are missing.
        """
        with Store(self.path) as store:
            return [*results_in(store)]

    def __repr__(self) -> str:
        done = self.progress()
        return f"Sweep({self.path}: {done.done:,} of {done.total:,} tasks done)"

    def _repr_html_(self) -> str:
        from fastes.results.tables import parts_html
        from fastes.studies.tables import sweep_tables

        with Store(self.path) as store:
            return parts_html(sweep_tables(store))

    def summary(self) -> None:
        """Print the table that ``fastes sweep`` prints."""
        from fastes.results.tables import print_parts
        from fastes.studies.tables import sweep_tables

        with Store(self.path) as store:
            print_parts(sweep_tables(store))

    def to_dataframe(self, curves: bool = False) -> "pd.DataFrame":
        """Return one row per setting and run: the axes, the run, and its regret at T.

        With `curves`, one row per recorded time `t` too.
        """
        with installed("to_dataframe", "pandas", "pandas"):
            import pandas as pd
        frames = []
        for setting, result in self.results():
            frame = result.to_dataframe().drop(columns="agent")
            if not curves:
                frame = frame[frame["t"] == setting.T].drop(columns="t")
            axes = pd.DataFrame([setting.axes] * len(frame), index=frame.index)
            frames.append(pd.concat([axes, frame], axis=1))
        if not frames:
            return pd.DataFrame(columns=[*AXES, "run", "regret"])
        whole = pd.concat(frames, ignore_index=True)
        # Types with missing values, such as M of an agent that has none.
        types = {"integer": "Int64", "number": "Float64", "flag": "boolean"}  # else texts
        return whole.astype({name: types.get(axis.kind, "string") for name, axis in AXES.items()})

    def plot(
        self, x: str | None = None, ax: "Axes | Figure | None" = None, **look: "Unpack[Look]"
    ) -> "Axes":
        """Draw final regret against an axis, with bars of two standard errors.

        Parameters
        ----------
        x : str, optional
            The axis. By default M if varied, else the first varied number.
        ax, **look
            As in `fastes.results.figures.plot_regret`: where, facet, logx, logy, title, size.
        """
        from fastes.studies.figures import draw_against

        return draw_against(self.results(), x, ax, **look)
