"""From the files of the sweeps to two tables: regret of every setting, and the smallest M."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import fastes
from ensemble_size.parts import ENSEMBLES, Problem
from ensemble_size.smallest import with_interval

REGRET = (
    *("part", "problem", "K", "d", "T", "agent", "M", "inflation", "runs"),
    *("mean", "se", "median", "q95", "worst", "gap", "gap_se"),
)
SMALLEST = ("part", "problem", "K", "d", "T", "agent", "rule", "M", "low", "high", "largest")


def file_of(folder: Path, problem: Problem, variant: str) -> Path:
    """Return the file of the sweep of a problem and a kind of agent."""
    return folder / f"{problem.part}-{problem.name}-{variant}.db"


def curves(folder: Path, problem: Problem) -> dict[tuple, np.ndarray]:
    """Return regret at the horizons, (runs, horizons), by kind of agent, M and inflation."""
    found = {}
    for variant in problem.variants:
        path = file_of(folder, problem, variant)
        if not path.exists():
            continue
        for setting, result in fastes.load(path).results():
            ts = setting.agent.name == "ts"
            inflation = getattr(setting.agent, "inflation", 1.0) if ts else None
            key = ("ts" if ts else variant, None if ts else setting.agent.M, inflation)
            found[key] = at_horizons(result, problem.horizons)
    return found


def at_horizons(result: fastes.Result, horizons: tuple[int, ...]) -> np.ndarray:
    """Return the regret of every run at the horizons, linear between recorded times."""
    times = np.concatenate([[0], result.t])
    rows = np.column_stack([np.zeros(len(result.regret.per_run)), result.regret.per_run])
    return np.array([np.interp(horizons, times, row) for row in rows])


def regret_rows(problem: Problem, found: dict[tuple, np.ndarray]) -> Iterator[list]:
    """Yield a row for each agent and horizon; the gap to TS is paired run by run."""
    ts = found["ts", None, 1.0]
    for (agent, M, inflation), regrets in found.items():
        for i, T in enumerate(problem.horizons):
            regret, gap = regrets[:, i], regrets[:, i] - ts[:, i]
            n = len(regret)
            errors = [x.std(ddof=1) / np.sqrt(n) for x in (regret, gap)]
            numbers = [
                *(regret.mean(), errors[0], np.median(regret), np.quantile(regret, 0.95)),
                *(regret.max(), gap.mean(), errors[1]),
            ]
            facts = [problem.part, problem.name, problem.K, problem.d, T, agent, M, inflation, n]
            yield [*facts, *(f"{x:.6g}" for x in numbers)]


def smallest_rows(group: list[Problem], found: list[dict[tuple, np.ndarray]]) -> Iterator[list]:
    """Yield a row for each kind of ensemble, horizon and rule.

    A group is one problem with several sizes, or one problem for each size.
    """
    first = group[0]
    rules = ["relative", "step", "tail", *(["root"] if first.part == "hard" else [])]
    name = first.name.partition("-M")[0]
    for variant in ENSEMBLES:
        pairs = [
            (key[1], regrets, each["ts", None, 1.0])
            for each in found
            for key, regrets in each.items()
            if key[0] == variant
        ]
        if not pairs:
            continue
        sizes = [M for M, _, _ in pairs]
        for i, T in enumerate(first.horizons):
            regret, ts = (np.array([pair[k][:, i] for pair in pairs]) for k in (1, 2))
            for rule in rules:
                at = with_interval(sizes, regret, ts, T, first.K, rule)
                facts = [first.part, name, first.K, first.d, T, variant, rule]
                yield [*facts, *(f"{M:.4g}" for M in at), sizes[-1]]


def collect(folder: Path, problems: list[Problem], data: Path) -> None:
    """Write regret.csv and smallest.csv."""
    groups: dict[tuple, list] = {}
    regrets = []
    for problem in problems:
        found = curves(folder, problem)
        if found:
            regrets.extend(regret_rows(problem, found))
            key = problem.part, problem.name.partition("-M")[0]
            groups.setdefault(key, []).append((problem, found))
    smallest = []
    for (part, _), members in groups.items():
        if part != "dip":
            smallest.extend(smallest_rows(*map(list, zip(*members, strict=True))))
    data.mkdir(parents=True, exist_ok=True)
    write(data / "regret.csv", REGRET, regrets)
    write(data / "smallest.csv", SMALLEST, smallest)


def write(path: Path, columns: tuple[str, ...], rows: list[list]) -> None:
    """Write a table as CSV; what is not there is empty."""
    with path.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(rows)


def read(path: Path) -> list[dict]:
    """Return the rows of a table, with numbers as numbers and None for what is not there."""
    with path.open(newline="") as file:
        return [{k: _value(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _value(text: str):
    if text == "":
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text
