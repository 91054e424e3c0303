"""Studies as tables."""

from typing import TYPE_CHECKING

from fastes.results.tables import grid
from fastes.studies.study import Setting, Study

if TYPE_CHECKING:
    from rich.table import Table


def settings_table(
    study: Study, names: list[str], rows: list[tuple[Setting, list[str]]]
) -> "Table":
    """Return a row for each setting: the axes that are varied, and further columns."""
    varied = study.varied() or ["agent"]
    cells = []
    for setting, more in rows:
        axes = [setting.axes[name] for name in varied]
        shown = ["-" if x is None else f"{x:,}" if isinstance(x, int) else str(x) for x in axes]
        cells.append([*shown, *more])
    return grid([*varied, *names], cells)
