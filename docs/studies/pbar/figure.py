"""The figure of pbar_t: its measured divergence from p_t, below all that bounds it."""

import numpy as np
from matplotlib.figure import Figure

from fastes.results.curve_styles import curve_styles
from fastes.results.ticks import log_axis

BOUNDS = {
    "paper": "$K\\log(6(t+1)M)/M$, the paper's",
    "proposition1": "Proposition 1",
    "information": "information bound, proven",
    "information_of_phat": "information bound, with measured $\\mathrm{KL}(\\hat p_s\\|p_s)$",
}


def draw_pbar(measured: list, bounds: list[dict], titles: list[str]) -> Figure:
    """Return a figure of E KL(pbar_t || p_t) and its bounds against t, a panel for each ensemble.

    `measured` has what `history_laws` returns of each, `bounds` what `bounds_on` returns. Points
    within two standard errors of zero are left out: a logarithmic axis has no place for them.
    """
    figure = Figure(figsize=(3.4 * max(1.3, len(titles)), 3.6), layout="constrained")
    panels = figure.subplots(1, len(titles), sharey=True, squeeze=False)[0]
    for ax, found, its, title in zip(panels, measured, bounds, titles, strict=True):
        ax.spines[["top", "right"]].set_visible(False)
        _draw(ax, found, its)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("$t + 1$")
    for ax in panels:
        log_axis(ax.xaxis, *ax.get_xlim())
        log_axis(ax.yaxis, *panels[0].get_ylim())
    panels[0].set_ylabel("divergence of $\\bar p_t$ from $p_t$")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        *(handles, labels), loc="outside lower center", ncols=min(3, len(titles)), frameon=False
    )
    return figure


def _draw(ax, found, bounds: dict) -> None:
    x = found.t + 1
    es, *others = curve_styles(["es", "ts", "greedy", "linucb", "uniform"])
    for (name, label), style in zip(BOUNDS.items(), others, strict=True):
        positive = np.where(bounds[name] > 0, bounds[name], np.nan)
        ax.loglog(x, positive, label=label, **style.line())
    for name, label, fill in (
        ("kl", "measured $E[\\mathrm{KL}(\\bar p_t\\|p_t)]$", es.colour),
        ("hellinger_squared", "measured $E[\\mathrm{Hel}^2(\\bar p_t,p_t)]$", "white"),
    ):
        mean = found.mean(name)
        clear = mean.value > 2 * np.nan_to_num(mean.se)
        look = {**es.line(), "linestyle": "none", "markerfacecolor": fill, "elinewidth": 0.8}
        ax.errorbar(x[clear], mean.value[clear], 2 * mean.se[clear], label=label, **look)
