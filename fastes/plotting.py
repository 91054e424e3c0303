"""Figures of results, readable in grey and at half a page's width."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastes.result import Result

FORMATS = ("png", "svg", "pdf")

_SIZE = (5.0, 3.4)

# Colours that differ in lightness too, with dashes that differ where colour is lost.
_STYLES = [
    ("#0b3c5d", "-"),
    ("#d1495b", "--"),
    ("#66a182", "-."),
    ("#edae49", ":"),
    ("#7d5ba6", (0, (5, 1, 1, 1, 1, 1))),
    ("#8d99ae", (0, (1, 2))),
]


def plot_regret(results: "Sequence[Result]", ax: "Axes | None" = None) -> "Axes":
    """Draw mean cumulative regret against time, with bands of two standard errors.

    Without `ax`, the figure is pyplot's: a notebook shows it, and so does ``plt.show()``.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    for i, result in enumerate(results):
        colour, dashes = _STYLES[i % len(_STYLES)]
        mean, se = result.regret.mean, np.nan_to_num(result.regret.se)
        ax.plot(result.t, mean, color=colour, linestyle=dashes, label=result.label)
        ax.fill_between(
            result.t, mean - 2 * se, mean + 2 * se, color=colour, alpha=0.2, linewidth=0
        )
    ax.set_xlabel("steps")
    ax.set_ylabel("cumulative regret")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return ax


def save_plot(results: "Sequence[Result]", path: str | os.PathLike[str]) -> None:
    """Draw results and write the figure, whole or not at all."""
    # A figure of its own, not pyplot's: no window, no global state, nothing to close.
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    plot_regret(results, figure.add_subplot())
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=200)


def save_bounds(table: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Draw bounds against M and write the figure, whole or not at all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    ax = figure.add_subplot()
    rows = sorted(table["rows"], key=lambda row: row["M"])
    lines = (("theorem1", "Theorem 1"), ("k_free", "free of K"), ("best", "best of both"))
    for (name, label), (colour, dashes) in zip(lines, _STYLES, strict=False):
        ax.loglog(
            [row["M"] for row in rows],
            [row[name] for row in rows],
            color=colour,
            linestyle=dashes,
            marker=".",
            label=label,
        )
    ax.axhline(table["term_a"], color="0.4", linewidth=1, linestyle=(0, (1, 1)), label="term (a)")
    ax.axhline(table["trivial"]["value"], color="0.7", linewidth=1, label="random play")
    ax.set_xlabel("models M")
    ax.set_ylabel(f"bound on the regret of {table['T']:,} steps")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=200)


def check_format(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless the name ends in a format that can be drawn."""
    suffix = Path(path).suffix.lstrip(".").lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"a figure's name must end in {', '.join(FORMATS)}, got {os.fspath(path)!r}"
        )
