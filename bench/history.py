"""Records of ratios over time, and the rule by which a fall of one is more than noise.

A ratio to a baseline that was timed in turns with its subject does not depend on how fast the
machine was that day, nearly. What is left differs from process to process (where arrays lie in
memory, for one) and from hour to hour (what else runs): so every figure is taken in several
processes, and the commit of a record is measured again, in turns with the current code.

The rule. A process gives one number: the fastest round of the baseline over the fastest of the
subject. All benchmarks are measured in three processes of each; one whose mean logarithm fell by
more than 5% looks slower. It is then measured anew, by itself, in n processes of each. Let f be the
mean of the n falls in the logarithm, s their standard deviation, at least 2%, and e = s / sqrt(n).
If f is more than 8% and more than 4 e at n = 16, that is an alarm. It is given up, without alarm,
at any n from 4 on where f is less than 4%.
"""

import contextlib
import datetime
import json
import math
import platform
import statistics
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from bench.session import ROOT, Figure

HISTORY = ROOT / "bench" / "history"

LEAST_FALL, LEAST_SUSPICION = 0.08, 0.05
LEAST_ERRORS = 4.0  # standard errors
LEAST_SPREAD = 0.02
TURNS, FEWEST_TURNS = 16, 4


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


def record_of(commit: str, sessions: Sequence[Sequence[Figure]]) -> Record:
    """Return a record of the figures that sessions of a commit in several processes gave."""
    times: dict[str, list[float]] = {}
    for figure in (figure for session in sessions for figure in session):
        times.setdefault(figure["name"], []).append(figure["subject_seconds"])
    return Record(
        commit=commit,
        date=datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"),
        cpu=_cpu(),
        versions=_versions(),
        ratios=ratios_of(sessions),
        seconds={name: statistics.median(values) for name, values in times.items()},
    )


def ratios_of(sessions: Iterable[Sequence[Figure]]) -> dict[str, list[float]]:
    """Return the ratios of each benchmark, one of each session."""
    ratios: dict[str, list[float]] = {}
    for figure in (figure for session in sessions for figure in session):
        ratios.setdefault(figure["name"], []).append(figure["fastest"])
    return ratios


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
    """How a ratio differs between two commits, measured in turns."""

    before: float
    now: float
    standard_errors: float

    @property
    def is_alarm(self) -> bool:
        """Return whether it fell by more than noise."""
        return self.now < (1.0 - LEAST_FALL) * self.before and self.standard_errors > LEAST_ERRORS

    @property
    def is_nothing(self) -> bool:
        """Return whether it fell by so little that more turns would hardly make it an alarm."""
        return self.now > (1.0 - LEAST_FALL / 2) * self.before


def suspects(
    before: Mapping[str, Sequence[float]], now: Mapping[str, Sequence[float]]
) -> list[str]:
    """Return the benchmarks that look slower than they were, the slowest first."""
    both = before.keys() & now.keys()
    fallen = {name: _mean_log(now[name]) - _mean_log(before[name]) for name in both}
    found = [name for name, change in fallen.items() if change < math.log(1.0 - LEAST_SUSPICION)]
    return sorted(found, key=lambda name: fallen[name])


def fall_of(before: Sequence[float], now: Sequence[float]) -> Fall:
    """Return by how much a ratio fell, given what processes in turns measured."""
    falls = [math.log(b / n) for b, n in zip(before, now, strict=True)]
    spread = max(LEAST_SPREAD, statistics.stdev(falls))
    errors = statistics.fmean(falls) / spread * math.sqrt(len(falls))
    return Fall(math.exp(_mean_log(before)), math.exp(_mean_log(now)), errors)


def fall_in_turns(measure: Callable[[], tuple[float, float]]) -> Fall:
    """Measure a ratio before and now, until it is plain that nothing fell, or to the end."""
    pairs: list[tuple[float, float]] = []
    while len(pairs) < TURNS:
        pairs.append(measure())
        if len(pairs) >= FEWEST_TURNS and fall_of(*zip(*pairs, strict=True)).is_nothing:
            break
    return fall_of(*zip(*pairs, strict=True))


def _mean_log(ratios: Sequence[float]) -> float:
    return statistics.fmean(map(math.log, ratios))


def commit_of_now() -> str:
    """Return the commit that is checked out. Raise ValueError if that is not all there is."""
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise ValueError("commit first: a record is of a commit, to be measured again")
    return _git("rev-parse", "--short=12", "HEAD")


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except FileNotFoundError:
        raise ValueError("git is not installed: a record is of a commit") from None
    if done.returncode != 0:
        raise ValueError(f"git {words[0]} failed in {ROOT}: {done.stderr.strip()}")
    return done.stdout.strip()


def circumstances() -> str:
    """Return on which day, processor and versions something is measured, in a line."""
    words = ", ".join(f"{name} {number}" for name, number in _versions().items())
    return f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}; {_cpu()}; one thread; {words}"


def _versions() -> dict[str, str]:
    names = ("fastes", "numba", "numpy", "scipy")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def _cpu() -> str:
    """Return the processor's name and model: one name may stand for several generations."""
    known: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            name, _, value = line.partition(":")
            known.setdefault(name.strip(), value.strip())
    if "model name" not in known:
        return platform.processor() or platform.machine()
    return f"{known['model name']}, family {known.get('cpu family')}, model {known.get('model')}"
