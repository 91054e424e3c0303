"""Figures as a table for people."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import in_units


def print_table(
    figures: Sequence[Mapping[str, Any]],
    recorded: Mapping[str, float] | None = None,
    title: str = "benchmark",
) -> None:
    """Print a row for each figure; `recorded` has the ratios of an earlier time, by name.

    Where a figure has a row in the design, and `title` is "design", that names it.
    """
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(title, overflow="fold")
    names = ["time", "ratio", "limit", "to reach", ""]
    if recorded is not None:
        names.insert(3, "then")
    for name in names:
        table.add_column(name, justify="right", no_wrap=name not in ("to reach", ""))
    for figure in figures:
        share = figure["share_of_limit"]
        cells = [
            in_units(figure["subject_seconds"]),
            f"{figure['median']:.3g}",
            "" if share is None else f"{share:.0%}",
            figure["target"] or "",
            "not reached" if figure["reached"] is False else "",
        ]
        if recorded is not None:
            before = recorded.get(figure["name"])
            cells.insert(3, "" if before is None else f"{figure['median'] / before:.2f}")
        table.add_row(figure[title if title == "design" else "name"], *cells)
    Console(highlight=False, markup=False).print(table)
