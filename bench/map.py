"""The map: time a step over K = 10 ... 1,000,000 arms by d = 2 ... 200, beside the machine's limit.

The limit is that of a step which scores all arms and updates the posterior, at the rates of BLAS
and of memory (limits.py). A share of 40% is a step that takes 2.5 times as long; one above 100%
is a step that need not score all arms, or scores them in lower precision.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

import fastes
from bench.limits import limits, scan_and_update
from bench.measure import in_units, seconds
from fastes.results.figures import save_figure

ARMS = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
DIMENSIONS = (2, 5, 10, 20, 50, 100, 200)
QUICK_ARMS, QUICK_DIMENSIONS = (10, 1_000, 100_000), (2, 20, 200)
M = 1_000
FEWEST_STEPS, MOST_STEPS = 300, 100_000


class Cell(NamedTuple):
    """One size: seconds a step, and the limit's share of them."""

    K: int
    d: int
    seconds: float
    share: float


def measure(arms: Sequence[int], dimensions: Sequence[int], quick: bool) -> Iterator[Cell]:
    """Yield a cell for each size: the fastest of a few runs of about half a second each."""
    for K in arms:
        for d in dimensions:
            bandit, agent = fastes.LinearBandit.random(K, d), fastes.EnsembleSampling(M)

            def run(T: int, bandit: fastes.LinearBandit = bandit) -> float:
                call = lambda: fastes.simulate(bandit, agent, T=T, threads=1)  # noqa: E731, B023 (called at once)
                return seconds(call) / T

            run(3)  # it may compile
            budget, rounds = (0.05, 2) if quick else (0.5, 5)
            T = max(FEWEST_STEPS, min(MOST_STEPS, int(budget / run(FEWEST_STEPS))))
            each = min(run(T) for _ in range(rounds))
            yield Cell(K, d, each, limits().seconds(scan_and_update(K, bandit.rank)) / each)


def table(cells: Sequence[Cell], markdown: bool) -> list[str]:
    """Return the lines of a table: a row for each K, in each cell the time and the share."""
    dimensions = sorted({cell.d for cell in cells})
    rows = [["K", *(f"d={d}" for d in dimensions)]]
    for K in sorted({cell.K for cell in cells}):
        here = {cell.d: cell for cell in cells if cell.K == K}
        words = (f"{in_units(here[d].seconds)} {here[d].share:.0%}" for d in dimensions)
        rows.append([f"{K:,}", *words])
    if markdown:
        return [f"| {' | '.join(row)} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])]
    wide = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(map(str.rjust, row, wide)) for row in rows]


def draw(cells: Sequence[Cell], out: Path) -> None:
    """Draw the shares: dark where a step takes long beside the limit."""
    arms = sorted({cell.K for cell in cells})
    dimensions = sorted({cell.d for cell in cells})
    shares = {(cell.K, cell.d): cell.share for cell in cells}

    def paint(figure: Figure) -> None:
        from matplotlib.colors import LogNorm

        figure.set_size_inches(5.0, 3.6)
        ax = figure.subplots()
        image = [[100 * shares[K, d] for d in dimensions] for K in arms]
        shown = ax.imshow(
            image, cmap="cividis", norm=LogNorm(1, 1000), aspect="auto", origin="lower"
        )
        for i, row in enumerate(image):
            for j, share in enumerate(row):
                colour = "white" if share < 30 else "black"
                words = f"{share:,.0f}" if share >= 10 else f"{share:.1f}"
                ax.text(j, i, words, ha="center", va="center", color=colour, size=7)
        ax.set_xticks(range(len(dimensions)), map(str, dimensions))
        ax.set_yticks(range(len(arms)), [f"{K:,}" for K in arms])
        ax.set(xlabel="dimension d", ylabel="arms K")
        figure.colorbar(shown, label="share of the limit of a full scan, %")

    save_figure(paint, out)
