"""What a report is made of: files, or results and studies at hand."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from fastes.files.kinds import FileFormatError, kind_of
from fastes.reports.benchmarks import BenchmarkRecord, read_record
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.studies.loading import load
from fastes.studies.sweep import Sweep

Path = str | os.PathLike[str]
Given = Path | Result | Comparison | Sweep


@dataclass(frozen=True)
class Source:
    """One of the things that a report is about: results, a study or a record of benchmarks."""

    name: str
    file: str | None
    results: tuple[Result, ...] = ()
    sweep: Sweep | None = None
    record: BenchmarkRecord | None = None

    @property
    def kind(self) -> str:
        """What it is, as in `fastes.files.kinds`."""
        return "result" if self.results else "study" if self.sweep is not None else "benchmark"


def read_sources(given: Given | Sequence[Given]) -> list[Source]:
    """Return what is named or at hand, or raise ValueError, TypeError or FileFormatError."""
    alone = isinstance(given, (str, os.PathLike, Result, Comparison, Sweep))
    items: list[Given] = [given] if alone else list(given)  # type: ignore[arg-type, list-item]
    if not items:
        raise ValueError("a report must be of at least one file or result, got none")
    return [_source(item, i) for i, item in enumerate(items, start=1)]


def input_files(sources: Sequence[Source]) -> list[str]:
    """Return the files that sources were read from."""
    files = [source.file for source in sources]
    return [file for file in files if file is not None]


def _source(item: Given, number: int) -> Source:
    if isinstance(item, Sweep):
        return Source(os.fspath(item.path), item.path, sweep=item)
    if isinstance(item, Result):
        return Source(f"Result {number}", None, (item,))
    if isinstance(item, Comparison):
        return Source(f"Comparison {number}", None, item.results)
    if not isinstance(item, (str, os.PathLike)):
        raise TypeError(
            f"a report is of files, Result, Comparison or Sweep objects, got {type(item).__name__}"
        )
    file = os.fspath(item)
    if kind_of(file) == "benchmark":
        return Source(file, file, record=read_record(file))
    loaded = load(file)
    if isinstance(loaded, Sweep):
        return Source(file, file, sweep=loaded)
    if isinstance(loaded, Comparison):
        return Source(file, file, loaded.results)
    if isinstance(loaded, Result):
        return Source(file, file, (loaded,))
    raise FileFormatError(f"{file} holds no result: fastes show {file} tells what it is")
