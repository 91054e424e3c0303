"""Figures of results, readable in grey and at half a page's width."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.files.atomic import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastes.results.result import Result


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


def style(i: int) -> dict[str, Any]:
    """Return the colour and dashes of the i-th line of a figure."""
    colour, dashes = _STYLES[i % len(_STYLES)]
    return {"color": colour, "linestyle": dashes}


def plot_regret(results: "Sequence[Result]", ax: "Axes | None" = None) -> "Axes":
    """Draw mean cumulative regret against time, with bands of two standard errors.

    Without `ax`, the figure is pyplot's: a notebook shows it, and so does ``plt.show()``.
    """
    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(figsize=_SIZE, layout="constrained")[1]
    for i, result in enumerate(results):
        mean, se = result.regret.mean, np.nan_to_num(result.regret.se)
        ax.plot(result.t, mean, label=result.label, **style(i))
        band = {"color": style(i)["color"], "alpha": 0.2, "linewidth": 0}
        ax.fill_between(result.t, mean - 2 * se, mean + 2 * se, **band)
    ax.set_xlabel("steps")
    ax.set_ylabel("cumulative regret")
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False)
    return ax


def save_figure(draw: "Callable[[Axes], object]", path: str | os.PathLike[str]) -> None:
    """Let a function draw on new axes, and write the figure, whole or not at all."""
    # A figure of its own, not pyplot's: no window, no global state, nothing to close.
    from matplotlib.figure import Figure

    figure = Figure(figsize=_SIZE, layout="constrained")
    ax = figure.add_subplot()
    ax.spines[["top", "right"]].set_visible(False)
    draw(ax)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=200)


def check_format(path: str | os.PathLike[str]) -> None:
    """Raise ValueError unless the name ends in a format that can be drawn."""
    suffix = Path(path).suffix.lstrip(".").lower()
    if suffix not in FORMATS:
        raise ValueError(
            f"a figure's name must end in {', '.join(FORMATS)}, got {os.fspath(path)!r}"
        )
