"""Figures as a table for people: on a terminal, or in Markdown."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.measure import in_units


def print_table(
    figures: Sequence[Mapping[str, Any]],
    recorded: Mapping[str, float] | None = None,
    *,
    title: str = "name",
    markdown: bool = False,
) -> None:
    """Print a row for each figure, named by its `title` ("name" or "design").

    `recorded` has the ratios of an earlier time, by name.
    """
    heads = [title, "time", "ratio", "limit", "over record", "to reach", ""]
    rows = [_cells(figure, title, recorded or {}) for figure in figures]
    kept = [i for i in range(len(heads)) if i in (0, 1, 2) or any(row[i] for row in rows)]
    heads, rows = [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if markdown:
        for row in (heads, ["---"] * len(heads), *rows):
            print(f"| {' | '.join(row)} |")
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(title, overflow="fold")
    for head in heads[1:]:
        table.add_column(head, justify="right", no_wrap=head not in ("to reach", ""))
    for row in rows:
        table.add_row(*row)
    Console(highlight=False, markup=False).print(table)


def _cells(figure: Mapping[str, Any], title: str, recorded: Mapping[str, float]) -> list[str]:
    share, before = figure["share_of_limit"], recorded.get(figure["name"])
    return [
        figure[title],
        in_units(figure["subject_seconds"]),
        f"{figure['median']:.3g}",
        "" if share is None else f"{share:.0%}",
        "" if before is None else f"{figure['fastest'] / before:.2f}",
        figure["target"] or "",
        "not reached" if figure["reached"] is False else "",
    ]
