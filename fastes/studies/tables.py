"""Studies as tables."""

from typing import Any

from fastes.results.tables import Grid, Parts, final_regret
from fastes.studies.axes import in_words
from fastes.studies.study import Setting, Study
from fastes.studies.sweep import Sweep


def settings_table(study: Study, names: list[str], rows: list[tuple[Setting, list[str]]]) -> Grid:
    """Return a row for each setting: the axes that are varied, and further columns."""
    varied = study.varied() or ["agent"]
    cells = []
    for setting, more in rows:
        cells.append([*(_shown(setting.axes[name]) for name in varied), *more])
    return Grid([*varied, *names], cells)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    shown = in_words(value)
    return f"{shown:,}" if isinstance(shown, int) else str(shown)


def sweep_tables(sweep: Sweep) -> Parts:
    """Return a row for each setting of which there are results, and how many tasks are done."""
    cells = [(setting, final_regret(result)) for setting, result in sweep.results()]
    done = sweep.progress()
    return [
        settings_table(sweep.study, ["runs", "regret at T", "per step"], cells),
        "+- is one standard error of the mean over runs. Per step is the regret at T",
        "divided by T.",
        tasks_line(sweep.path, done.done, done.total),
    ]


def tasks_line(path: str, done: int, total: int) -> str:
    """Return how many tasks of a study's file are done."""
    return f"{path}: {done:,} of {total:,} task{'' if total == 1 else 's'} done"
