"""The figure of pbar_t: its measured divergence from p_t, below all that bounds it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.results.curve_styles import curve_styles
from fastes.results.panels import finish, on_figure
from fastes.results.ticks import log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BOUNDS = {
    "paper": "$K\\log(6(t+1)M)/M$, the paper's",
    "proposition1": "Proposition 1",
    "information": "information bound, proven",
    "information_of_phat": "information bound, with measured $\\mathrm{KL}(\\hat p_s\\|p_s)$",
}


def draw_pbar(tables: Sequence[dict[str, Any]], figure: "Figure | None" = None) -> "Axes":
    """Draw E KL(pbar_t || p_t) and its bounds against t; return the first panel.

    There is a panel for each ensemble. `tables` are what `inequalities` returns, with `pbar`
    filled in by `history_laws_table`. Steps at which a quantity is zero, as all but the paper's
    and Proposition 1 are at t = 0, have no place on the axis.
    """
    shown = [table for table in tables if table["pbar"] is not None]

    def draw(canvas: Any) -> "Axes":
        panels = list(canvas.subplots(1, len(shown), sharey=True, squeeze=False)[0])
        for axes, table in zip(panels, shown, strict=True):
            axes.spines[["top", "right"]].set_visible(False)
            _draw_table(table, axes)
            axes.set_title(table["agent"], fontsize=10)
        for axes in panels:
            log_axis(axes.yaxis, *panels[0].get_ylim())
            axes.set_xlabel("$t + 1$")
        panels[0].set_ylabel("divergence of $\\bar p_t$ from $p_t$")
        finish(canvas, panels, [], "", (3.4 * max(1.3, len(shown)), 3.0))
        return panels[0]

    return on_figure(figure, draw)


def _draw_table(table: dict[str, Any], axes: "Axes") -> None:
    found, x = table["pbar"], np.array(table["t"]) + 1
    es, *others = curve_styles(["es", "ts", "greedy", "linucb", "uniform"])
    for (name, label), style in zip(_BOUNDS.items(), others, strict=True):
        bound = np.array(found["bounds"][name], dtype=float)
        axes.loglog(x, np.where(bound > 0, bound, np.nan), label=label, **style.line())
    for name, label, fill in (
        ("kl_pbar_p", "measured $E[\\mathrm{KL}(\\bar p_t\\|p_t)]$", es.colour),
        ("hellinger_squared_of_pbar", "measured $E[\\mathrm{Hel}^2(\\bar p_t,p_t)]$", "white"),
    ):
        mean, se = (np.array(found[name][part], dtype=float) for part in ("mean", "se"))
        clear = mean > 2 * np.nan_to_num(se)  # what is not told from zero is none on this axis
        look = {**es.line(), "linestyle": "none", "markerfacecolor": fill, "elinewidth": 0.8}
        axes.errorbar(x[clear], mean[clear], 2 * se[clear], label=label, **look)
    log_axis(axes.xaxis, *axes.get_xlim())
