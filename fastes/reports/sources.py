"""Inputs of a report: files, or results and studies in memory."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from fastes.files.kinds import FileFormatError
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.saved.loading import load
from fastes.studies.sweep import Sweep

Path = str | os.PathLike[str]
ReportItem = Path | Result | Comparison | Sweep


@dataclass(frozen=True)
class ReportInput:
    """One input of a report: results or a study, and their file if any."""

    name: str
    file: str | None
    results: Sequence[Result] = ()
    sweep: Sweep | None = None


def read_sources(given: ReportItem | Sequence[ReportItem]) -> list[ReportInput]:
    """Return the given results and studies, or raise."""
    alone = isinstance(given, (str, os.PathLike, Result, Comparison, Sweep))
    items: list[ReportItem] = [given] if alone else list(given)  # type: ignore[arg-type, list-item]
    if not items:
        raise ValueError("a report needs at least one file or result, got none")
    return [_source(item, i) for i, item in enumerate(items, start=1)]


def _source(item: ReportItem, number: int) -> ReportInput:
    file = os.fspath(item) if isinstance(item, (str, os.PathLike)) else None
    held = item if file is None else load(file)
    name = file or f"{type(item).__name__} {number}"
    if isinstance(held, Sweep):
        return ReportInput(file or held.path, file or held.path, sweep=held)
    if isinstance(held, Result):
        return ReportInput(name, file, [held])
    if isinstance(held, Comparison):
        return ReportInput(name, file, held.results)
    if file is not None:
        raise FileFormatError(f"{file} is not a result or study: see fastes show {file}")
    raise TypeError(
        f"files must be paths, Result, Comparison or Sweep objects, got {type(item).__name__}"
    )
