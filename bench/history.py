"""Records of ratios over time, and the rule by which a fall of one is more than noise.

A ratio to a baseline that was timed in turns with its subject does not depend on how fast the
machine was that day, nearly. What is left differs from process to process (where arrays lie in
memory, for one): so every figure is taken in several processes.

The rule. A process gives one number: the fastest round of the baseline over the fastest of the
subject. Let x and y be the means of its logarithm over the m processes of the record and the n of
now, and s the standard deviation between processes, pooled over both and at least 2%. The fall
x - y has the standard error e = s sqrt(1/m + 1/n). A benchmark whose ratio fell by more than 8% and
2 e looks slower. It is then measured anew, by itself, in twice as many processes as the record;
if in these it fell by more than 8% and 4 e, that is an alarm.
"""

import datetime
import json
import math
import platform
import statistics
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from bench.session import ROOT, Figure

HISTORY = ROOT / "bench" / "history"

LEAST_FALL = 0.08
SUSPECT, ALARM = 2.0, 4.0  # standard errors
LEAST_SPREAD = 0.02


@dataclass(frozen=True)
class Record:
    """The tracked ratios of one commit on one machine, in several processes."""

    commit: str
    date: str
    cpu: str
    versions: dict[str, str]
    ratios: dict[str, list[float]]  # by benchmark: one of each process
    seconds: dict[str, float]

    def medians(self) -> dict[str, float]:
        """Return the median over processes of each ratio."""
        return {name: statistics.median(values) for name, values in self.ratios.items()}


def record_of(sessions: Sequence[Sequence[Figure]]) -> Record:
    """Return a record of the figures that sessions in several processes gave."""
    ratios: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for figure in (figure for session in sessions for figure in session):
        ratios.setdefault(figure["name"], []).append(figure["fastest"])
        times.setdefault(figure["name"], []).append(figure["subject_seconds"])
    return Record(
        commit=_commit(),
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        cpu=_cpu(),
        versions={
            "python": platform.python_version(),
            **{name: version(name) for name in ("fastes", "numba", "numpy", "scipy")},
        },
        ratios=ratios,
        seconds={name: statistics.median(values) for name, values in times.items()},
    )


def append(record: Record, folder: Path = HISTORY) -> Path:
    """Write a record to a file of its own, and return its name."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = record.date[:23].replace(":", "")
    path = folder / f"{stamp}-{record.commit[:7]}.json"
    path.write_text(json.dumps(asdict(record), indent=1) + "\n")
    return path


def load(path: Path) -> Record:
    """Read a record, or raise ValueError."""
    try:
        return Record(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path} is no record of benchmarks: {error}") from error


def records(folder: Path = HISTORY) -> list[Record]:
    """Return all records, the oldest first."""
    return sorted((load(path) for path in folder.glob("*.json")), key=lambda each: each.date)


def last_here(folder: Path = HISTORY) -> Record | None:
    """Return the last record of a processor like this one."""
    return next((each for each in reversed(records(folder)) if each.cpu == _cpu()), None)


class Fall(NamedTuple):
    """A ratio that is lower than it was."""

    name: str
    before: float
    now: float
    standard_errors: float


def falls(
    before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]], errors: float
) -> list[Fall]:
    """Return the benchmarks whose ratio fell by more than so many standard errors, and 8%."""
    found = []
    for name in before.keys() & now.keys():
        fall = fall_of(name, before[name], now[name])
        if _drop(fall) > LEAST_FALL and fall.standard_errors > errors:
            found.append(fall)
    return sorted(found, key=_drop, reverse=True)


def fall_of(name: str, before: Sequence[float], now: Sequence[float]) -> Fall:
    """Return by how much a ratio fell, in standard errors of the difference."""
    logs = [[math.log(ratio) for ratio in ratios] for ratios in (before, now)]
    means = [statistics.fmean(each) for each in logs]
    squares = sum((x - mean) ** 2 for each, mean in zip(logs, means, strict=True) for x in each)
    freedom = len(before) + len(now) - 2
    spread = max(LEAST_SPREAD, math.sqrt(squares / freedom)) if freedom > 0 else LEAST_SPREAD
    error = spread * math.sqrt(1 / len(before) + 1 / len(now))
    return Fall(name, math.exp(means[0]), math.exp(means[1]), (means[0] - means[1]) / error)


def _drop(fall: Fall) -> float:
    return 1.0 - fall.now / fall.before


def _commit() -> str:
    words = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(record: Record) -> str:
    """Return where and when a record is from."""
    return f"{record.commit}, {record.date}, {record.cpu}"


def as_ratios(record: Record | None) -> dict[str, Any]:
    """Return the ratios of a record by name; none if there is no record."""
    return {} if record is None else record.medians()
