"""The section on benchmarks: ratios to their baselines over commits, from their records."""

import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastes.files.kinds import FileFormatError
from fastes.reports.charts import line_of
from fastes.reports.elements import Chart, Part, Section, Table, Text, Trace
from fastes.results.curve_styles import MOST, curve_styles


@dataclass(frozen=True)
class BenchmarkRecord:
    """Ratios of one commit on one machine, a list for each benchmark: one of each process."""

    commit: str
    date: str
    cpu: str
    versions: dict[str, str]
    ratios: dict[str, list[float]]
    seconds: dict[str, float]


def read_record(path: str | os.PathLike[str]) -> BenchmarkRecord:
    """Read a record of ``python -m bench run``, or raise FileFormatError."""
    try:
        record = BenchmarkRecord(**json.loads(Path(path).read_text(encoding="utf-8")))
        _check(record)
    except (ValueError, TypeError, AttributeError) as error:
        raise FileFormatError(f"{os.fspath(path)} is no record of benchmarks: {error}") from error
    return record


def _check(record: BenchmarkRecord) -> None:
    if not all(isinstance(each, str) for each in (record.commit, record.date, record.cpu)):
        raise ValueError("its commit, date and cpu must be texts")
    for name, values in record.ratios.items():
        if not values or not all(type(value) in (int, float) and value > 0 for value in values):
            raise ValueError(f"the ratios of {name} must be numbers above 0")


def benchmark_section(records: Sequence[BenchmarkRecord]) -> Section:
    """Return the section of all records, the oldest first, those of each processor together."""
    ordered = sorted(records, key=lambda record: record.date)
    machines = dict.fromkeys(record.cpu for record in ordered)
    parts: list[Part] = [
        Text(
            "A ratio is the time of a baseline over that of fastes, both timed in turns in one "
            "process: 10 means ten times as fast. Records of different processors are not compared."
        )
    ]
    for cpu in machines:
        here = [record for record in ordered if record.cpu == cpu]
        parts.append(Section(cpu, _machine(here), name="processor", switches=True))
    return Section("Benchmarks", parts, name="benchmarks")


def _machine(records: Sequence[BenchmarkRecord]) -> list[Part]:
    names = list(dict.fromkeys(name for record in records for name in record.ratios))
    subjects: dict[str, list[str]] = {}
    for name in names:
        subjects.setdefault(name.partition("/")[0], []).append(name)
    parts: list[Part] = [_records_table(records)]
    if len(records) == 1:
        parts.append(Text("There is one record of this processor: charts need two.", "note"))
    else:
        for subject, its in subjects.items():
            for first in range(0, len(its), MOST):
                parts.append(_chart(subject, its[first : first + MOST], records))
    return [*parts, _ratios_table(names, records)]


def _stamp(record: BenchmarkRecord) -> str:
    return f"{record.date[:16].replace('T', ' ')} {record.commit[:7]}"


def _chart(subject: str, names: Sequence[str], records: Sequence[BenchmarkRecord]) -> Chart:
    # A single family of colours: benchmarks of one subject are kin, as agents of one name are.
    styles = curve_styles(["es"] * len(names))
    traces = []
    for name, style in zip(names, styles, strict=True):
        found = [
            (_stamp(record), record.ratios[name]) for record in records if name in record.ratios
        ]
        spreads = [_quartiles(values) for _, values in found]
        traces.append(
            Trace(
                name.partition("/")[2] or name,
                name,
                [stamp for stamp, _ in found],
                [statistics.median(values) for _, values in found],
                line_of(style.line()),
                [low for low, _ in spreads],
                [high for _, high in spreads],
                marks="bars",
            )
        )
    return Chart(
        subject,
        "record",
        "ratio to the baseline",
        traces,
        "Points: median over processes. Bars: lower and upper quartile.",
        logy=True,
        names=[_stamp(record) for record in records],
    )


def _quartiles(values: Sequence[float]) -> tuple[float, float]:
    if len(values) == 1:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _records_table(records: Sequence[BenchmarkRecord]) -> Table:
    libraries = list(dict.fromkeys(name for record in records for name in record.versions))
    rows = [
        [record.commit, record.date, *(record.versions.get(name) for name in libraries)]
        for record in records
    ]
    return Table("Records", ["commit", "date", *libraries], rows, left=2 + len(libraries))


def _ratios_table(names: Sequence[str], records: Sequence[BenchmarkRecord]) -> Table:
    rows: list[list[Any]] = []
    for name in names:
        medians = [
            statistics.median(record.ratios[name]) if name in record.ratios else None
            for record in records
        ]
        known = [median for median in medians if median is not None]
        seconds = next((r.seconds[name] for r in reversed(records) if name in r.seconds), None)
        rows.append([name, *medians, known[-1] / known[0], seconds])
    header = ["benchmark", *(_stamp(record) for record in records)]
    header += ["last over first", "seconds of a unit of work, last record"]
    return Table("Median ratio to the baseline in each record", header, rows)
