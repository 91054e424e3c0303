"""Figures of what is measured beside what bounds it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from fastes.checks.arrays import Floats
from fastes.results.curve_drawing import Kind
from fastes.results.curve_styles import curve_styles
from fastes.results.curves import Curve, curves_of
from fastes.results.figures import chosen
from fastes.results.legends import Plan, add_axes_legend
from fastes.results.panels import Look, draw_curves, finish, is_axes, on_figure
from fastes.results.result import Result
from fastes.results.ticks import log_axis
from fastes.theory import bounds
from fastes.theory.inequalities import diagnostics_of, models_of, require_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GREY: dict[str, Any] = {"color": "0.5", "linewidth": 1}
_BOUND: dict[str, Any] = {"linewidth": 0.8, "alpha": 0.9}
_BOUNDS = {
    "theorem1": "Theorem 1",
    "information": "information",
    "fresh": "Theorem A, fresh models",
    "first_order": "Theorem B, first order",
    "reuse": "Theorem C, reuse of models",
}
_HELLINGER, _KL = "\\mathrm{Hel}^2(\\hat p_t, p_t)", "\\mathrm{KL}(\\hat p_t \\| p_t)"


def draw_bounds(table: Mapping[str, Any], ax: "Axes | Figure | None" = None) -> "Axes":
    """Draw the bounds of a problem against M; `table` is what ``fastes bound --json`` prints."""
    if is_axes(ax):
        axes: Any = ax
        _draw_table(table, axes)
        add_axes_legend(axes, "")
        return axes

    def draw(figure: Any) -> "Axes":
        axes = figure.subplots()
        axes.spines[["top", "right"]].set_visible(False)
        _draw_table(table, axes)
        heading = f"K={table['K']:,}, d={table['d']:,}, T={table['T']:,}"
        finish(figure, [axes], [heading], "", (5.0, 2.9))
        return axes

    return on_figure(ax, draw)


def _draw_table(table: Mapping[str, Any], axes: "Axes") -> None:
    rows = sorted(table["rows"], key=lambda row: row["M"])
    sizes = [row["M"] for row in rows]
    *others, best = curve_styles(["ts", "greedy", "linucb", "uniform", "ts", "es"])
    # The best is one of the others almost everywhere: a broad line below them.
    broad = {"color": best.colour, "linewidth": 5, "alpha": 0.35}
    axes.loglog(sizes, [row["best"] for row in rows], label="bound for ES: best of all", **broad)
    for (name, label), style in zip(_BOUNDS.items(), others, strict=True):
        known = [(row["M"], row[name]) for row in rows if row[name] is not None]
        if known:
            axes.loglog(*zip(*known, strict=True), label=f"bound for ES: {label}", **style.line())
    if table["term_a"] > 0:
        axes.axhline(table["term_a"], linestyle=":", label="bound for TS: term (a)", **_GREY)
    if table["trivial"]["value"] > 0:
        axes.axhline(table["trivial"]["value"], label="random play", **_GREY)
    axes.set_xlabel("models M")
    axes.set_ylabel("regret, at most")
    for axis, limits in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        log_axis(axis, *limits)


def draw_regret_and_bounds(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw regret against time, below the best bound that is known for each agent.

    Thin lines are bounds, of the colour of the agent that they are for. The arguments are those
    of `fastes.results.figures.plot_regret`.
    """
    is_axes(ax)
    kept = chosen(results, look)
    for result in kept:
        diagnostics_of(result)
        require_bounds(result)
    kind = Kind(
        *("steps", "cumulative regret, and bounds"),
        apart=("problem", "theta"),
        logx=True,
        logy=True,
        more=_regret_bounds,
    )
    curves = curves_of(kept, lambda result: (result.t, result.regret.mean, result.regret.se))
    return draw_curves(curves, kind, ax, look)


def _regret_bounds(ax: "Axes", curves: Sequence[Curve], styles: Plan) -> list[Floats]:
    """Draw the bounds for the agents of one problem."""
    drawn = []
    for curve in curves:
        assert curve.result is not None
        M = models_of(curve.result)
        if M is not None:
            known = diagnostics_of(curve.result).constants
            bound = np.array([bounds.best_bound(known, int(t), M) for t in curve.x])
            drawn.append(_draw_bound(ax, curve, styles, bound, "best bound for "))
    assert curves[0].result is not None
    known = diagnostics_of(curves[0].result).constants
    t = np.unique(np.concatenate([curve.x for curve in curves]))
    level = np.array([bounds.term_a(known, int(step)) for step in t])
    random = t * known.trivial.value
    for values, dashes, label in (
        (level, ":", "bound for TS: term (a)"),
        (random, "-", "random play"),
    ):
        if (values > 0).all():
            ax.plot(t, values, linestyle=dashes, label=label, **_GREY)
            drawn.append(values)
    return drawn


def _draw_bound(
    ax: "Axes", curve: Curve, styles: Plan, values: Floats, words: str, **more: Any
) -> Floats:
    """Draw a bound for a curve, thin, in its colour; a scale of colours has one entry for all."""
    line = styles.line(curve)
    scaled = styles.style(curve) is None
    label = words + ("each M, in its colour" if scaled else line["label"])
    if scaled and label in ax.get_legend_handles_labels()[1]:
        label = "_nolegend_"
    look = {"color": line["color"], "linestyle": line["linestyle"], **_BOUND, **more}
    ax.plot(curve.x, values, label=label, **look)
    return values


def draw_divergence(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw how far what is played is from what is best, with the bound on it.

    Curves are E[Hel^2(phat_t, p_t)]; open markers E[KL(phat_t || p_t)], at times at which it is
    finite in all runs; thin lines the paper's bound on the latter, K log(6(t+1)M)/M, which bounds
    both, since Hel^2 is at most KL. The arguments are those of
    `fastes.results.figures.plot_regret`.
    """
    is_axes(ax)
    kept = chosen(results, look)
    for result in kept:
        diagnostics_of(result)
        require_bounds(result)
    curves = [
        replace(curve, y=np.where(curve.y > 0, curve.y, np.nan))
        for curve in curves_of(kept, _hellinger)
        if (curve.y > 0).any()  # Thompson sampling has no distance, nor a place on such an axis
    ]
    if not curves:
        raise ValueError("no result has a divergence above zero to draw")
    kind = Kind(
        *("$t + 1$", "divergence of $\\hat p_t$ from $p_t$"),
        marks="bars",
        apart=("problem", "theta"),
        logx=True,
        logy=True,
        more=_divergence_bounds,
    )
    return draw_curves(curves, kind, ax, look)


def _hellinger(result: Result) -> tuple[Any, Any, Any]:
    found = diagnostics_of(result)
    distance = found.mean("hellinger_squared")
    return found.t + 1, distance.value, distance.se


def _divergence_bounds(ax: "Axes", curves: Sequence[Curve], styles: Plan) -> list[Floats]:
    """Draw what is bounded, KL, and its bound."""
    drawn, measured = [], False
    for curve in curves:
        assert curve.result is not None
        found, c = diagnostics_of(curve.result), curve.result.configuration
        divergence = found.mean("kl_phat_p")
        known = (divergence.infinite == 0) & (divergence.unknown == 0)
        whole = known & (divergence.value > 0)
        line = styles.line(curve)
        if whole.any():
            values = np.where(whole, divergence.value, np.nan)
            bars = 2 * divergence.se if c.runs > 1 else None
            look: dict[str, Any] = {
                "marker": line.get("marker", "o"),
                "markerfacecolor": "none",
                "markersize": 5,
            }
            look |= {"color": line["color"], "linestyle": "none", "elinewidth": 0.8}
            ax.errorbar(curve.x, values, bars, **look)
            drawn.append(values)
            measured = True
        M = models_of(curve.result)
        if M is not None:
            bound = bounds.divergence_bound(found.constants.K, found.t, M)
            words = f"bound on $E[{_KL}]$, "
            drawn.append(_draw_bound(ax, curve, styles, bound, words, linestyle="-"))
    ax.plot([], [], color="0.4", marker="o", label=f"filled: $E[{_HELLINGER}]$, at most KL")
    if measured:
        open_markers: dict[str, Any] = {
            "marker": "o",
            "markerfacecolor": "none",
            "linestyle": "none",
        }
        ax.plot([], [], color="0.4", label=f"open: $E[{_KL}]$, where finite", **open_markers)
    return drawn


def draw_final_regret(
    results: Sequence[Result], ax: "Axes | Figure | None" = None, **look: Unpack[Look]
) -> "Axes":
    """Draw the final regret of ensembles against M, beside that of other agents.

    The arguments are those of `fastes.results.figures.plot_regret`.
    """
    is_axes(ax)
    kept = chosen(results, look)
    finals = curves_of(kept, lambda r: (r.t[-1:], r.regret.mean[-1:], r.regret.se[-1:]))
    if not any("M" in curve.facts for curve in finals):
        raise ValueError("the figure of regret against M needs results of ensemble sampling")
    groups: dict[Any, list[Curve]] = {}
    for curve in finals:
        fixed = tuple(curve.facts.get(name) for name in ("problem", "theta", "T"))
        groups.setdefault((curve.key(["M"]), fixed), []).append(curve)
    curves = [_against_size(group) for group in groups.values()]
    sizes = sorted({curve.facts["M"] for curve in finals if "M" in curve.facts})
    times = {curve.facts["T"] for curve in finals}
    kind = Kind(
        "models M",
        f"regret of {times.pop():,} steps" if len(times) == 1 else "regret of T steps",
        marks="bars",
        apart=("problem", "theta", "T"),
        logx=True,
        values=sizes,
    )
    if look.get("facet") == "M":
        raise ValueError("facet must be another fact than M, which is x")
    return draw_curves(curves, kind, ax, look)


def _against_size(group: list[Curve]) -> Curve:
    """Return the curve of an agent's results against M, or its level if it has no M."""
    first = group[0]
    if "M" not in first.facts:
        return replace(first, level=True)
    group = sorted(group, key=lambda curve: curve.facts["M"])
    return replace(
        first,
        facts={name: value for name, value in first.facts.items() if name != "M"},
        words={name: text for name, text in first.words.items() if name != "M"},
        x=[curve.facts["M"] for curve in group],
        y=np.concatenate([curve.y for curve in group]),
        error=np.concatenate([curve.error for curve in group]),
        runs=(min(c.runs[0] for c in group), max(c.runs[1] for c in group)),
        result=None,
    )
