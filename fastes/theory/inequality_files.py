"""What was measured, and what bounds it, as CSV."""

import csv
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

from fastes.files.atomic import atomic_write
from fastes.files.kinds import require_replaceable

_COUNTS = ("infinite", "unknown", "bounded")


def write_inequalities(
    path: str | os.PathLike[str], tables: Sequence[dict[str, Any]], force: bool = False
) -> None:
    """Write what `inequalities` returns to one CSV file: a row for each agent and time.

    Each measurement has a column for its mean, its standard error and each count of runs, each
    bound one of its own. What is not known, or does not apply, is empty. A file that is no table
    is not replaced, unless by `force`.
    """
    require_replaceable(path, "table", force)
    rows = [row for table in tables for row in _rows(table)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_write(path) as temporary, temporary.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)


def _rows(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    pbar = table["pbar"] or {}
    found = {name: each for name, each in pbar.items() if name not in ("bounds", "effective")}
    ensemble = {f"ensemble_{name}": each for name, each in (table["ensemble"] or {}).items()}
    measured = {
        name: each
        for name, each in {**table, **ensemble, **found}.items()
        if isinstance(each, dict) and "se" in each
    }
    for i, t in enumerate(table["t"]):
        row = {"agent": table["agent"], "t": t}
        for name, each in measured.items():
            infinite = each["infinite"][i] > 0
            row[f"{name}_mean"] = math.inf if infinite else each["mean"][i]
            row[f"{name}_se"] = each["se"][i]
            row |= {f"{name}_{count}": each[count][i] for count in _COUNTS if count in each}
        for name, each in pbar.get("effective", {}).items():
            row[f"effective_particles_{name}"] = each[i]
        for name, bound in (table["bounds"] or {}).items():
            row[f"bound_{name}"] = bound[i] if isinstance(bound, list) else bound
        yield row
