"""Draw the figures and write the tables of docs/explanation/ensemble-size.md.

cd docs/studies; python -m ensemble_size.draw [DATA]
"""

import sys
from math import isfinite
from pathlib import Path

from matplotlib.figure import Figure

from ensemble_size.__main__ import DATA
from ensemble_size.tables import (
    AGENTS,
    ARMS,
    DIMENSION,
    HARD,
    HORIZON,
    Numbers,
    all_tables,
    filled,
)
from fastes.results.curve_styles import curve_styles
from fastes.results.ticks import log_axis, number_text

DOCS = Path(__file__).parents[2]
FIGURES = DOCS / "figures"
PAGE = DOCS / "explanation/ensemble-size.md"
STYLES = dict(zip((*AGENTS, "ts"), curve_styles([*AGENTS, "ts"]), strict=True))


def main(data: Path) -> None:
    """Draw all figures, and fill the page."""
    numbers = Numbers(data)
    for name, draw in DRAWN.items():
        figure = draw(numbers)
        figure.savefig(FIGURES / f"{name}.png", dpi=200)
    PAGE.write_text(filled(PAGE.read_text(), all_tables(numbers)))


def sizes(numbers):
    """Draw regret against M at K=100, d=10, T=1,000: its mean and its 95% quantile."""
    figure, panels = _panels(2, "regret of 1,000 steps", sharey=True)
    rows = [
        row
        for row in numbers.regret
        if (row["part"], row["problem"], row["T"]) == ("arms", "K100", 1000)
    ]
    (ts,) = (row for row in rows if row["agent"] == "ts")
    for ax, name, title in zip(panels, ("mean", "q95"), ("mean", "95% quantile"), strict=True):
        for agent, label in AGENTS.items():
            its = [row for row in rows if row["agent"] == agent]
            if its:
                bars = [2 * row["se"] for row in its] if name == "mean" else None
                x, y = [row["M"] for row in its], [row[name] for row in its]
                ax.errorbar(x, y, bars, label=label, capsize=2, **STYLES[agent].line())
        ax.axhline(ts[name], label="TS", color=STYLES["ts"].colour, linestyle="--", linewidth=1.4)
        ax.set_title(title, fontsize=10)
    _finish(panels, "models M")
    return _with_legend(figure, *panels)


def dimension(numbers):
    """Draw the smallest M against d."""
    figure, panels = _panels(3, "smallest M, mean within 10%", sharey=True)
    for ax, (title, chosen) in zip(panels, DIMENSION.items(), strict=True):
        _curves(numbers, ax, "dimension", "relative", chosen, "d")
        d = [2, 100]
        ax.plot(d, d, ":", color="0.4", linewidth=1, label="M = d")
        ax.set_title(title, fontsize=10)
    _finish(panels, "dimension d")
    return _with_legend(figure, *panels)


def arms(numbers):
    """Draw the smallest M against K; the ball is at the right."""
    figure, panels = _panels(2, "smallest M, mean within 10%", sharey=True)
    for ax, (title, chosen) in zip(panels, ARMS.items(), strict=True):
        _curves(numbers, ax, "arms", "relative", chosen, "K", ball=10**7)
        ax.set_title(title, fontsize=10)
    _finish(panels, "arms K, and the ball")
    ticks = [10, 10**3, 10**5, 10**7]
    for ax in panels:
        ax.set_xticks(ticks, [*map(number_text, ticks[:-1]), "ball"])
    return _with_legend(figure, *panels)


def horizon(numbers):
    """Draw the smallest M against T, on ordinary problems and on those of Theorem D."""
    figure, panels = _panels(3, "smallest M", sharey=True)
    for ax, (title, chosen) in zip(panels, HORIZON.items(), strict=False):
        _curves(numbers, ax, "horizon", "relative", chosen, "T")
        ax.set_title(f"{title}, $d=10$: mean within 10%", fontsize=10)
    ax, K = panels[2], 11
    _curves(numbers, ax, "hard", "root", HARD[f"$K={K}$"], "T")
    T = [300, 30_000]
    ax.plot(T, [(K * t) ** 0.5 for t in T], ":", color="0.4", label=r"$M=\sqrt{KT}$")
    ax.set_title(rf"Theorem D, $K={K}$: regret $\sqrt{{KT}}$", fontsize=10)
    _finish(panels, "horizon T")
    return _with_legend(figure, *panels)


def dip(numbers):
    """Draw how far ensembles, and shrunk Thompson sampling, are below Thompson sampling."""
    figure, panels = _panels(2, "regret minus that of TS, percent", sharey=True)
    rows = [row for row in numbers.regret if row["part"] == "dip"]
    ts = {row["T"]: row["mean"] for row in rows if row["agent"] == "ts" and row["inflation"] == 1}
    kinds = (
        ("es", "M", (16, 32, 64, 256), "ES, M={}", "ensembles"),
        ("ts", "inflation", (0.7, 0.8, 0.9), "TS, inflation {}", "TS with less variance"),
    )
    for ax, (agent, column, values, label, title) in zip(panels, kinds, strict=True):
        for value, style in zip(values, curve_styles([agent] * len(values)), strict=True):
            its = [row for row in rows if row["agent"] == agent and row[column] == value]
            if not its:
                continue
            gaps = [100 * row["gap"] / ts[row["T"]] for row in its]
            bars = [200 * row["gap_se"] / ts[row["T"]] for row in its]
            x, words = [row["T"] for row in its], {**style.line(), "label": label.format(value)}
            ax.errorbar(x, gaps, bars, capsize=2, **words)
        ax.axhline(0.0, color="0.4", linewidth=0.8)
        ax.set(xlim=(25, 36_000), ylim=(-30, 60))
        ax.set_title(title, fontsize=10)
    _finish(panels, "horizon T", logy=False)
    return _with_legend(figure, *panels)


DRAWN = {
    "ensemble-size": sizes,
    "smallest-dimension": dimension,
    "smallest-arms": arms,
    "smallest-horizon": horizon,
    "dip": dip,
}


def _panels(n, ylabel, **rest):
    figure = Figure(figsize=(1.0 + 3.0 * n, 3.4), layout="constrained")
    panels = figure.subplots(1, n, **rest)
    panels[0].set_ylabel(ylabel)
    return figure, panels


def _curves(numbers, ax, part, rule, chosen, x, ball=None):
    """Draw the smallest M of every kind of ensemble, with its 95% interval."""
    for agent, label in AGENTS.items():
        rows = [r for r in numbers.smallest_of(part, rule, agent, chosen) if isfinite(r["M"])]
        if not rows:
            continue
        # No line leads to the ball: between it and a million arms there is no scale.
        for some in ([r for r in rows if r[x] is not None], [r for r in rows if r[x] is None]):
            at = [ball if row[x] is None else row[x] for row in some]
            M = [row["M"] for row in some]
            below = [row["M"] - row["low"] for row in some]
            above = [min(row["high"], row["largest"]) - row["M"] for row in some]
            bars = [[max(0.0, y) for y in each] for each in (below, above)]
            if some:
                ax.errorbar(at, M, bars, label=label, capsize=2, **STYLES[agent].line())


def _finish(panels, xlabel, logy=True):
    """Set the axes of panels whose curves are all drawn: their limits are common."""
    for ax in panels:
        ax.set_xscale("log")
        log_axis(ax.xaxis, *ax.get_xlim())
        if logy:
            ax.set_yscale("log")
            log_axis(ax.yaxis, *ax.get_ylim())
        ax.set_xlabel(xlabel)
        ax.spines[["top", "right"]].set_visible(False)


def _with_legend(figure, *panels):
    """Put one legend below the panels, for the curves of all of them."""
    pairs = [zip(*ax.get_legend_handles_labels(), strict=True) for ax in panels]
    found = {label: handle for each in pairs for handle, label in each}
    columns = 2 * len(panels)
    figure.legend(found.values(), found, loc="outside lower center", ncols=columns, frameon=False)
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DATA)
