"""Curves on one axes: lines, bands and bars, limits, ticks, and what bands and bars are."""

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastes.checks.arrays import Floats
from fastes.results import ticks
from fastes.results.curve_styles import Style
from fastes.results.curves import Curve
from fastes.results.legends import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


@dataclass(frozen=True)
class Kind:
    """A kind of figure.

    Attributes
    ----------
    xlabel, ylabel : str
        Of the axes.
    marks : {"band", "bars"}
        How two standard errors are shown.
    apart : tuple of str
        Facts that are equal for all curves of a panel.
    logx, logy, from_zero : bool
        Whether axes are logarithmic, and whether y begins at zero.
    values : sequence of float
        Of x where only a few are of interest: its ticks.
    names : sequence of str
        Of x where it is no number.
    more : function, optional
        Draws what belongs to curves, such as their bounds, and returns the y of it.
    """

    xlabel: str
    ylabel: str
    marks: str = "band"
    apart: tuple[str, ...] = ()
    logx: bool = False
    logy: bool = False
    from_zero: bool = True
    values: Sequence[float] = ()
    names: Sequence[str] = ()
    more: "Callable[[Axes, Sequence[Curve], Plan], list[Floats]] | None" = None


class Drawn(NamedTuple):
    """A curve on axes, and its style unless its colour is a scale's."""

    curve: Curve
    style: Style | None


# Curves that were drawn on axes of a caller's: what comes next looks different, and fits them.
_DRAWN: "weakref.WeakKeyDictionary[Line2D, Drawn]" = weakref.WeakKeyDictionary()


def drawn_on(ax: "Axes") -> list[Drawn]:
    """Return the curves that were drawn on axes."""
    return [_DRAWN[line] for line in ax.get_lines() if line in _DRAWN]


def note(curves: Sequence[Curve], kind: Kind) -> str:
    """Return what bands and bars are, or nothing where there are none."""
    shown = [curve for curve in curves if np.isfinite(curve.error).any()]
    if not shown:
        return ""
    bars = [_has_bars(curve, kind) for curve in shown]
    which = "bars" if all(bars) else "bars and bands" if any(bars) else "band"
    return f"{which}: mean \N{PLUS-MINUS SIGN} two standard errors"


def _has_bars(curve: Curve, kind: Kind) -> bool:
    return not curve.level and (kind.marks == "bars" or len(curve.x) == 1)


def draw_panel(
    ax: "Axes", curves: Sequence[Curve], every: Sequence[Curve], kind: Kind, styles: Plan
) -> list[Floats]:
    """Draw curves and what belongs to them; return the y of the latter."""
    if kind.logy:
        ax.set_autoscaley_on(False)  # bars and bands may reach below zero
        ax.set_yscale("log")
    if kind.logx:
        ax.set_xscale("log")
    alpha = min(0.2, 0.6 / len(every))  # many bands over each other must not hide the curves
    for i, curve in enumerate(curves):
        aside = 0.6 * ((i + 0.5) / len(curves) - 0.5)
        line = _draw_curve(ax, curve, styles.line(curve), kind, alpha, i, aside)
        _DRAWN[line] = Drawn(curve, styles.style(curve))
    return kind.more(ax, curves, styles) if kind.more is not None else []


def _draw_curve(
    ax: "Axes",
    curve: Curve,
    look: dict[str, Any],
    kind: Kind,
    alpha: float,
    i: int,
    aside: float,
) -> "Line2D":
    band = {"color": look["color"], "alpha": alpha, "linewidth": 0}
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = curve.y - curve.error, curve.y + curve.error
    known = np.isfinite(curve.error).any()
    if curve.level:
        across: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "markevery": [2, 6]}
        (line,) = ax.plot(np.linspace(0, 1, 9), np.full(9, curve.y[0]), **across, **look)
        if known:
            ax.axhspan(low[0], high[0], **band)
    elif _has_bars(curve, kind):
        x = curve.x
        if kind.names:  # beside each other, and nothing between two names
            x = [kind.names.index(name) + aside for name in curve.x]
            look = {**look, "linestyle": "none"}
        label = look.pop("label")
        bars: dict[str, Any] = {"capsize": 2 + i % 4, "elinewidth": 1}
        drawn = ax.errorbar(x, curve.y, curve.error if known else None, **bars, **look)
        drawn.set_label("_nolegend_")
        line = drawn.lines[0]
        line.set_label(label)  # in a legend it stands among other lines, in the order drawn
    else:
        marked = _marked(np.asarray(curve.x, dtype=float), i, kind.logx)
        (line,) = ax.plot(curve.x, curve.y, markevery=marked, **look)
        if known:
            ax.fill_between(curve.x, low, high, **band)
    return line


def _marked(x: Floats, i: int, logarithmic: bool) -> list[int]:
    """Return which points of a curve have a marker: a few, not where other curves have theirs."""
    if len(x) <= 12:
        return list(range(len(x)))
    place = np.log(x) if logarithmic else x
    shares = (np.arange(6) + 0.35 + 0.6 * (i * 0.382 % 1)) / 6
    at = place[0] + shares * (place[-1] - place[0])
    return np.unique(np.minimum(np.searchsorted(place, at), len(x) - 1)).tolist()


def set_limits(ax: "Axes", curves: Sequence[Curve], more: list[Floats], kind: Kind) -> None:
    """Set the limits; no bar or band decides where a logarithmic axis begins."""
    if kind.logy:
        values = np.concatenate([*(np.asarray(curve.y) for curve in curves), *more])
        values = values[np.isfinite(values) & (values > 0)]
        ax.set_ylim(values.min() / 1.6, values.max() * 1.6)
    elif kind.from_zero:
        highest = max(np.max(curve.y) for curve in curves)
        ax.set_ylim(*((0, None) if highest > 0 else (-0.05, 1)))
    if kind.names:
        ax.set_xlim(-0.5, len(kind.names) - 0.5)
        return
    x = np.array([float(x) for curve in curves if not curve.level for x in curve.x] or kind.values)
    low, high = x.min(), x.max()
    if kind.logx:
        ax.set_xlim(*((low / 1.1, high * 1.1) if low < high else (low / 2, high * 2)))
    elif kind.marks == "band":
        ax.set_xlim(0, 1.02 * high if low < high else 2 * high)


def set_ticks(ax: "Axes", kind: Kind, inches: float) -> None:
    """Set the numbers along axes, of which x has about this length in inches."""
    if kind.logy:
        ticks.log_axis(ax.yaxis, *ax.get_ylim())
    else:
        ticks.number_axis(ax.yaxis, 2.6)
    if kind.names:
        ax.set_xticks(range(len(kind.names)), kind.names)
    elif kind.values and len(kind.values) <= 12:
        ticks.ticks_at(ax.xaxis, kind.values, inches)
    elif kind.logx:
        ticks.log_axis(ax.xaxis, *ax.get_xlim())
    else:
        ticks.number_axis(ax.xaxis, inches, integer=kind.marks == "band")
