"""Studies as tables."""

import os
from typing import Any

from fastes.checks.numbers import counted
from fastes.results.tables import PER_STEP, REGRET, RUNS, Grid, Parts, notes
from fastes.studies.axes import value_text
from fastes.studies.store import Store
from fastes.studies.study import Setting, Study
from fastes.studies.sweep import progress_in, results_in


def settings_table(study: Study, names: list[str], rows: list[tuple[Setting, list[str]]]) -> Grid:
    """Return a row for each setting: the varied axes, and further columns."""
    varied = study.varied() or ["agent"]
    cells = []
    for setting, more in rows:
        cells.append([*(_shown(setting.axes[name]) for name in varied), *more])
    return Grid([*varied, *names], cells)


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    shown = value_text(value)
    return f"{shown:,}" if isinstance(shown, int) else str(shown)


def sweep_tables(store: Store) -> Parts:
    """Return a row for each setting with results, and the number of completed tasks."""
    columns = [RUNS, REGRET, PER_STEP]
    measured = results_in(store)
    cells = [(setting, [c.text(result) for c in columns]) for setting, result in measured]
    done = progress_in(store)
    return [
        settings_table(store.study, [column.title for column in columns], cells),
        *notes(columns),
        tasks_line(os.fspath(store.path), done.done, done.total),
    ]


def tasks_line(path: str, done: int, total: int) -> str:
    """Return a line with the number of completed tasks of a study's file."""
    return f"{path}: {done:,} of {counted(total, 'task')} done"
