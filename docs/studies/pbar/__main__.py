"""Measure how far pbar_t is from p_t: ``cd docs/studies; python -m pbar``.

    python -m pbar --M 1,4,16 --K 5 --d 2 --runs 100 --out pbar.png

For each ensemble size it simulates runs, estimates pbar_t in each of them by a particle filter,
and prints the mean divergences from p_t beside what bounds them. It is for small problems and
some tens of steps.
"""

import argparse
from pathlib import Path

import numpy as np

import fastes
from fastes.checks.lists import progression
from fastes.results.diagnostics import Mean
from fastes.results.tables import Column, Grid, grid, in_brackets, print_parts, rounded
from pbar.figure import draw_pbar
from pbar.history_laws import HistoryLaws, bounds_on, history_laws

NOTES = """\
KL, Hel^2: of pbar from p, means over runs; in brackets the standard error in units of the last
place, which includes the noise of the filters. 1.2 of 9: in the other runs no particle was left.
particles: effective number, median of runs; least: the least of a run."""


def main(words: list[str] | None = None) -> None:
    """Simulate, filter, print and draw."""
    chosen = _parser().parse_args(words)
    bandit = fastes.LinearBandit.random(chosen.K, chosen.d)
    results = [
        fastes.simulate(
            *(bandit, fastes.EnsembleSampling(M), max(chosen.times) + 1),
            runs=chosen.runs,
            diagnostics=chosen.times,
            keep=("actions", "rewards"),
        )
        for M in chosen.M
    ]
    measured = [history_laws(result, chosen.particles) for result in results]
    bounds = [bounds_on(result) for result in results]
    labels = [result.label for result in results]
    for label, found, its in zip(labels, measured, bounds, strict=True):
        print_parts([label, table(found, its), ""])
    print(NOTES)
    if chosen.out is not None:
        draw_pbar(measured, bounds, labels).savefig(chosen.out, dpi=200)


def table(found: HistoryLaws, bounds: dict[str, np.ndarray]) -> Grid:
    """Return a row for each step: what was measured, its bounds, and the particles left."""
    kl, hellinger = found.mean("kl"), found.mean("hellinger_squared")
    columns = [
        Column("t", lambda i: str(found.t[i])),
        Column("KL", lambda i: _cell(kl, i, len(found.kl))),
        Column("Hel^2", lambda i: _cell(hellinger, i, len(found.kl))),
        Column("information", lambda i: rounded(bounds["information"][i])),
        Column("Prop. 1", lambda i: rounded(bounds["proposition1"][i])),
        Column("paper", lambda i: rounded(bounds["paper"][i])),
        Column("particles", lambda i: rounded(np.median(found.effective[:, i]))),
        Column("least", lambda i: rounded(found.effective[:, i].min())),
    ]
    return grid(columns, range(len(found.t)))


def _cell(mean: Mean, i: int, runs: int) -> str:
    lost = mean.unknown[i]
    if lost == runs:
        return "-"
    shown = in_brackets(mean.value[i], mean.se[i])
    return f"{shown} of {runs - lost}" if lost else shown


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m pbar", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--M", type=_integers, default=[1, 4, 16], help="ensemble sizes")
    parser.add_argument("--K", type=int, default=5, help="arms, on the unit sphere")
    parser.add_argument("--d", type=int, default=2, help="dimension")
    parser.add_argument(
        "--times",
        type=_integers,
        default=[0, 1, 2, 3, 4, 5, 7, 9, 12, 16, 21, 29],
        help="steps, from 0, before which pbar is estimated",
    )
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--particles", type=int, default=1024, help="ensembles of a filter")
    parser.add_argument("--out", type=Path, help="the figure (png, svg or pdf)")
    return parser


def _integers(text: str) -> list[int]:
    return progression("the option", text)


if __name__ == "__main__":
    main()
