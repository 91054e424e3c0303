"""Drawing of curves on one axes: lines, bands, bars, limits and ticks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fastes.results import ticks
from fastes.results.curves import Curve, Line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Styles = Mapping[Curve, Mapping[str, Any]]


@dataclass(frozen=True)
class Kind:
    """A kind of figure, for `panels.py` and `fastes/reports/charts.py`."""

    xlabel: str
    ylabel: str
    marks: str = "band"  # or "bars": display of two standard errors
    apart: tuple[str, ...] = ()  # facts that must be equal within a panel
    logx: bool = False
    logy: bool = False
    from_zero: bool = True  # whether y starts at 0
    values: Sequence[float] = ()  # tick positions of x, if only few values occur
    names: Sequence[str] = ()  # categories of x, if it is not a number
    note: str = ""  # above the legend
    lines: Callable[[Sequence[Curve]], list[Line]] = lambda curves: []  # bounds and the like

    @property
    def ticks(self) -> Sequence[Any]:
        """The values of x to label, names or numbers; empty: automatic."""
        return self.names or (self.values if len(self.values) <= 12 else ())


def note(curves: Sequence[Curve], kind: Kind) -> str:
    """Return the text above a legend, which explains bands and bars."""
    bars = [_has_bars(curve, kind) for curve in curves if np.isfinite(curve.error).any()]
    which = "bars" if all(bars) else "bars and bands" if any(bars) else "band"
    spread = f"{which}: mean \N{PLUS-MINUS SIGN} two standard errors" if bars else ""
    return "\n".join(text for text in (kind.note, spread) if text)


def _has_bars(curve: Curve, kind: Kind) -> bool:
    return not curve.level and (kind.marks == "bars" or len(curve.x) == 1)


def draw(
    ax: "Axes", curves: Sequence[Curve], lines: Sequence[Line], kind: Kind, styles: Styles
) -> list[Any]:
    """Draw curves and their lines; return the artists."""
    ax.set_autoscale_on(False)  # bars and bands may reach below zero on a logarithmic axis
    if kind.logy:
        ax.set_yscale("log")
    if kind.logx:
        ax.set_xscale("log")
    artists: list[Any] = []
    for i, curve in enumerate(curves):
        artists += _draw_curve(ax, curve, styles[curve], kind, i, len(curves))
    for line in lines:
        labels = {artist.get_label() for artist in artists}
        artists += _draw_line(ax, line, styles, labels)
    return artists


def _draw_curve(
    ax: "Axes", curve: Curve, style: Mapping[str, Any], kind: Kind, i: int, n: int
) -> list[Any]:
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = curve.y - curve.error, curve.y + curve.error
    # Many overlapping bands must not hide the curves.
    band = {"color": style["color"], "alpha": min(0.2, 0.6 / n), "linewidth": 0}
    x = curve.x
    spread: Any = None
    known = np.isfinite(curve.error).any()
    if curve.level:
        across: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "markevery": [1, 2]}
        drawn = ax.plot([0, 0.3, 0.7, 1], np.full(4, curve.y[0]), **across, **style)
        if known:
            spread = ax.axhspan(low[0], high[0], **band)
    elif _has_bars(curve, kind):
        if kind.names:  # side by side, without connecting lines
            x = [kind.names.index(name) + 0.6 * ((i + 0.5) / n - 0.5) for name in curve.x]
            style = {**style, "linestyle": "none"}
        drawn = ax.plot(x, curve.y, **style)
        if known:
            spread = ax.vlines(x, low, high, color=style["color"], linewidth=1)
    else:
        # A few markers, at positions that differ between curves.
        marked = None if len(x) <= 12 else (0.16 * (0.1 + i * 0.382 % 1), 0.16)
        drawn = ax.plot(x, curve.y, markevery=marked, **style)
        if known:
            spread = ax.fill_between(x, low, high, **band)
    return drawn if spread is None else [*drawn, spread]


def _draw_line(ax: "Axes", line: Line, styles: Styles, drawn: set[str]) -> list[Any]:
    """Draw a line; lines with equal labels share one legend entry."""
    style: dict[str, Any] = {"color": "0.5", "linewidth": 1, "linestyle": line.dashes}
    label = line.label
    if line.curve is not None:
        its = styles[line.curve]
        dashes = its["linestyle"] if line.dashes == "-" else line.dashes
        style = {"color": its["color"], "linewidth": 0.8, "linestyle": dashes}
        if line.error is not None:
            style |= {"linestyle": "none", "marker": its["marker"], "markersize": 5}
            style |= {"markerfacecolor": "none", "label": "_nolegend_"}
        else:
            label += f" {its['label']}"
    style = {"label": "_nolegend_" if label in drawn else label, **style}
    if line.x is None:
        return [ax.axhline(line.y, zorder=1, **style)]
    artists: list[Any] = ax.plot(line.x, line.y, **style)
    if line.error is not None and np.isfinite(line.error).any():
        low, high = line.y - line.error, line.y + line.error
        artists.append(ax.vlines(line.x, low, high, color=style["color"], linewidth=0.8))
    return artists


def set_axes(
    ax: "Axes", curves: Sequence[Curve], lines: Sequence[Line], kind: Kind, inches: float
) -> None:
    """Set limits and ticks to fit the curves and lines; `inches` is the length of the x axis."""
    ax.set_ylim(*_y_limits(curves, lines, kind))
    if kind.logy:
        ticks.log_axis(ax.yaxis, *ax.get_ylim())
    else:
        ticks.number_axis(ax.yaxis, 3.0)
    if kind.names:
        ax.set_xlim(-0.5, len(kind.names) - 0.5)
        ax.set_xticks(range(len(kind.names)), kind.names)
        return
    ax.set_xlim(*_x_limits(curves, kind))
    if kind.ticks:
        ticks.ticks_at(ax.xaxis, kind.ticks, inches)
    elif kind.logx:
        ticks.log_axis(ax.xaxis, *ax.get_xlim())
    else:
        ticks.number_axis(ax.xaxis, inches, integer=kind.marks == "band")


def _y_limits(curves: Sequence[Curve], lines: Sequence[Line], kind: Kind) -> tuple[float, float]:
    """Return the limits of y; bands and bars do not extend a logarithmic axis downwards."""
    means = np.concatenate([*(curve.y for curve in curves), *(np.ravel(x.y) for x in lines)])
    if kind.logy:
        means = means[np.isfinite(means) & (means > 0)]
        return means.min() / 1.6, means.max() * 1.6
    ends = [curve.y + sign * np.nan_to_num(curve.error) for curve in curves for sign in (-1, 1)]
    every = np.concatenate([means, *ends])
    every = every[np.isfinite(every)]
    low, high = every.min(), every.max()
    if kind.from_zero:
        return (0.0, 1.05 * high) if high > 0 else (-0.05, 1.0)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _x_limits(curves: Sequence[Curve], kind: Kind) -> tuple[float, float]:
    x = np.array([float(x) for curve in curves if not curve.level for x in curve.x] or kind.values)
    low, high = x.min(), x.max()
    if kind.logx:
        return (low / 1.1, high * 1.1) if low < high else (low / 2, high * 2)
    if kind.marks == "band":
        return 0.0, 1.02 * high if low < high else 2 * high
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
