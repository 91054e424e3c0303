"""Time a step against M, K, d, T, runs and threads, beside NumPy, the eager engine and the limit.

``python -m bench.scaling`` writes scaling.csv and scaling.png in docs/figures; a minute or two.
"""

import csv
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np
from matplotlib.figure import Figure

import fastes
from bench.baselines import numpy_es
from bench.limits import limits, scan_and_update
from bench.measure import seconds
from bench.session import ROOT
from fastes.agents.agent import Agent
from fastes.results.curve_styles import curve_styles

LINES = ("fastes", "eager", "NumPy", "limit of a full scan")


class Point(NamedTuple):
    """One measurement: microseconds a step."""

    study: str
    x: int
    line: str
    microseconds: float


def ours(
    bandit: fastes.LinearBandit, agent: Agent, T: int, runs: int = 1, threads: int = 1
) -> float:
    """Return seconds a run-step, the best of three, after a short run that may compile."""
    fastes.simulate(bandit, agent, T=min(T, 50), runs=runs, threads=threads)
    call = lambda: fastes.simulate(bandit, agent, T=T, runs=runs, threads=threads)  # noqa: E731
    return min(seconds(call) for _ in range(3)) / (T * runs)


def in_numpy(bandit: fastes.LinearBandit, M: int) -> float:
    """Return seconds a step of ensemble sampling in NumPy, the faster of two ways."""
    T = max(20, min(500, int(2e8 / (bandit.d * (M + bandit.K)))))
    ways = numpy_es.in_place, numpy_es.in_blocks
    return min(seconds(lambda: way(bandit.actions, M, T, 1)) for _ in range(3) for way in ways) / T  # noqa: B023 (called at once)


def limit(K: int, d: int) -> float:
    """Return the least seconds for a step that scores all arms: its products, or its reading."""
    return limits().seconds(scan_and_update(K, d))


def against_models(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary M at K=1,000, d=50."""
    bandit = fastes.LinearBandit.random(1_000, 50)
    for M in _powers(10, min(top, 10**7)):
        yield M, "fastes", ours(bandit, fastes.EnsembleSampling(M), 20_000)
        if M <= 100_000:
            steps = max(200, 2_000_000 // M)
            yield M, "eager", ours(bandit, fastes.EnsembleSampling(M, engine="eager"), steps)
            yield M, "NumPy", in_numpy(bandit, M)
        yield M, "limit of a full scan", limit(1_000, 50)


def against_arms(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary K at d=20, M=1,000."""
    for K in _powers(10, min(top, 10**6)):
        bandit = fastes.LinearBandit.random(K, 20)
        yield K, "fastes", ours(bandit, fastes.EnsembleSampling(1_000), 100_000)
        yield K, "NumPy", in_numpy(bandit, 1_000)
        yield K, "limit of a full scan", limit(K, 20)


def against_dimensions(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary d at K=1,000, M=1,000."""
    for d in (2, 5, 10, 20, 50, 100, 200):
        bandit = fastes.LinearBandit.random(1_000, d)
        yield d, "fastes", ours(bandit, fastes.EnsembleSampling(1_000), 10_000)
        yield d, "NumPy", in_numpy(bandit, 1_000)
        yield d, "limit of a full scan", limit(1_000, d)


def against_steps(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary T at K=1,000, d=20, M=1,000."""
    bandit = fastes.LinearBandit.random(1_000, 20)
    for T in _powers(1_000, min(top, 10**6)):
        yield T, "fastes", ours(bandit, fastes.EnsembleSampling(1_000), T)
        yield T, "limit of a full scan", limit(1_000, 20)


def against_runs(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary the number of runs at K=10,000, d=100, M=1,000, one thread."""
    bandit = fastes.LinearBandit.random(10_000, 100)
    for runs in (1, 2, 4, 8, 16, 32, 64):
        yield runs, "fastes", ours(bandit, fastes.EnsembleSampling(1_000), 300, runs=runs)
        yield runs, "NumPy", in_numpy(bandit, 1_000)
        yield runs, "limit of a full scan", limit(10_000, 100)


def against_threads(top: int) -> Iterator[tuple[int, str, float]]:
    """Vary the number of threads for 32 runs at K=1,000, d=50, M=1,000."""
    bandit = fastes.LinearBandit.random(1_000, 50)
    for threads in range(1, len(os.sched_getaffinity(0)) + 1):
        agent = fastes.EnsembleSampling(1_000)
        yield threads, "fastes", ours(bandit, agent, 1_000, runs=32, threads=threads)


STUDIES: dict[str, Callable[[int], Iterator[tuple[int, str, float]]]] = {
    "models M": against_models,
    "arms K": against_arms,
    "dimension d": against_dimensions,
    "steps T": against_steps,
    "runs": against_runs,
    "threads": against_threads,
}


def _powers(first: int, last: int) -> Iterator[int]:
    while first <= last:
        yield first
        first *= 10


def draw(points: list[Point], out: Path) -> None:
    """Draw one panel for each study."""
    figure = Figure(figsize=(9.0, 5.4), layout="constrained")
    for ax, study in zip(figure.subplots(2, 3).flat, STUDIES, strict=True):
        for line, style in zip(LINES, curve_styles(LINES), strict=True):
            here = [p for p in points if p.study == study and p.line == line]
            if here:
                times = [p.microseconds for p in here]
                ax.plot([p.x for p in here], times, label=line, **style.line())
        ax.set(xlabel=study, yscale="log", xscale="linear" if study == "threads" else "log")
        low, high = ax.get_ylim()
        ax.set_ylim(low / 2, high * 2)
        ax.spines[["top", "right"]].set_visible(False)
    axes = figure.axes
    axes[0].set_ylabel("microseconds a step")
    axes[3].set_ylabel("microseconds a run-step")
    axes[5].set_xticks(sorted({p.x for p in points if p.study == "threads"}))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, frameon=False, ncols=4, loc="outside upper center")
    figure.savefig(out, dpi=200)


def _read(folder: Path) -> list[Point]:
    with (folder / "scaling.csv").open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [Point(study, int(x), line, float(each)) for study, x, line, each in rows]


@click.command()
@click.option("--largest", default=10**7, show_default=True, help="The largest M, K and T.")
@click.option(
    "--only", type=click.Choice(list(STUDIES)), help="Measure one study, and keep the others."
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, exists=True, path_type=Path),
    default=ROOT / "docs" / "figures",
    show_default="docs/figures",
)
def main(largest: int, only: str | None, out: Path) -> None:
    """Measure all studies and write scaling.csv and scaling.png."""
    points = [] if only is None else [p for p in _read(out) if p.study != only]
    for study, measure in STUDIES.items():
        if only not in (None, study):
            continue
        for x, line, each in measure(largest):
            points.append(Point(study, x, line, float(np.round(1e6 * each, 4))))
            click.echo(f"{study} {x:,}, {line}: {1e6 * each:.4g} us")
    with (out / "scaling.csv").open("w", newline="") as file:
        csv.writer(file).writerows([Point._fields, *points])
    draw(points, out / "scaling.png")


if __name__ == "__main__":
    main()
