"""Figures as a table for people: on a terminal, or in Markdown."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from bench.measure import in_units


def print_table(
    figures: Sequence[Mapping[str, Any]],
    recorded: Mapping[str, float] | None = None,
    *,
    title: str = "name",
    markdown: bool = False,
) -> None:
    """Print a line for each figure, named by its `title` ("name" or "design").

    On a terminal, names that begin with one module stand below that. `recorded` has the ratios of
    an earlier time, by name.
    """
    heads = [title, "time", "ratio", "limit", "record", "to reach", ""]
    rows = [_cells(figure, title, recorded or {}) for figure in figures]
    kept = [i for i in range(len(heads)) if i in (0, 1, 2) or any(row[i] for row in rows)]
    heads, rows = [heads[i] for i in kept], [[row[i] for i in kept] for row in rows]
    if markdown:
        for row in (heads, ["---"] * len(heads), *rows):
            print(f"| {' | '.join(row)} |")
        return
    for line in _lines(heads, _grouped(rows) if title == "name" else rows):
        print(line)


def _grouped(rows: Sequence[list[str]]) -> list[list[str]]:
    """Put the rows of each module below a row that names it."""
    grouped = []
    for module, members in groupby(rows, key=lambda row: row[0].partition("/")[0]):
        grouped.append([module])
        grouped += [[f"  {row[0].partition('/')[2]}", *row[1:]] for row in members]
    return grouped


def _lines(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Return lines of cells below each other, the first to the left and the others to the right."""
    whole = [heads, *rows]
    wide = [max(len(row[i]) for row in whole if i < len(row)) for i in range(len(heads))]
    return [
        "  ".join(
            [row[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(row[1:], wide[1:]))]  # noqa: B905 (a module has one cell)
        ).rstrip()
        for row in whole
    ]


def _cells(figure: Mapping[str, Any], title: str, recorded: Mapping[str, float]) -> list[str]:
    share, before = figure["share_of_limit"], recorded.get(figure["name"])
    return [
        figure[title],
        in_units(figure["subject_seconds"]),
        f"{figure['median']:.3g}",
        "" if share is None else f"{share:.0%}",
        "" if before is None else f"{figure['fastest'] / before:.2f}",
        figure["target"] or "",
        "missed" if figure["reached"] is False else "",
    ]
