"""Studies as tables."""

from fastes.results.tables import Grid, Parts, final_regret
from fastes.studies.study import Setting, Study
from fastes.studies.sweep import Sweep


def settings_table(study: Study, names: list[str], rows: list[tuple[Setting, list[str]]]) -> Grid:
    """Return a row for each setting: the axes that are varied, and further columns."""
    varied = study.varied() or ["agent"]
    cells = []
    for setting, more in rows:
        axes = [setting.axes[name] for name in varied]
        shown = ["-" if x is None else f"{x:,}" if isinstance(x, int) else str(x) for x in axes]
        cells.append([*shown, *more])
    return Grid([*varied, *names], cells)


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
