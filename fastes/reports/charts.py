"""Charts of a page as plain values: curves, their bounds and bands, in the styles of figures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastes.results.curve_styles import styles_of
from fastes.results.curves import Curve
from fastes.results.facets import split, titles

Numbers = list[float | None]
"""Numbers for JSON: None for what is not finite."""

_WIDTH = 2.0  # pixels of a line; dashes are given in units of it
_SYMBOLS = {
    **{"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"},
    **{"X": "x", "P": "cross", "*": "star", "<": "triangle-left", ">": "triangle-right"},
    **{"d": "diamond-tall", "h": "hexagon"},
}


@dataclass(frozen=True)
class Trace:
    """One curve of a chart.

    Attributes
    ----------
    label : str
        Its name, without what the title of the chart says.
    key : str
        Its full name. Curves of one key are shown and hidden together in all charts, and with them
        the bounds of that key.
    x, y : list
        Points. x is None for one value that holds everywhere.
    line : dict
        Colour, dash and symbol, as Plotly takes them.
    low, high : list, optional
        The ends of a band or of bars.
    role : {"curve", "bound", "reference"}
        A measurement, a bound on one, or a line to compare it with.
    """

    label: str
    key: str
    x: list[Any] | None
    y: Numbers
    line: dict[str, str]
    low: Numbers | None = None
    high: Numbers | None = None
    role: str = "curve"


class Axes(NamedTuple):
    """The axes of a chart.

    `ticks` are the values of x to label, names or numbers; empty: any. `bars` draws standard errors
    as bars at points, not as a band. Curves that differ in a fact of `apart` are not on one chart.
    """

    x: str
    y: str
    bars: bool = False
    logx: bool = False
    logy: bool = False
    from_zero: bool = False
    ticks: Sequence[Any] = ()
    apart: tuple[str, ...] = ("problem", "theta")


class Chart(NamedTuple):
    """Curves on one pair of axes; `spread` says what bands or bars are."""

    title: str
    axes: Axes
    traces: list[Trace]
    spread: str


Limit = Callable[[Curve], Any]
"""The values of a bound at the points of a curve, or None if it has none."""


def charts_of(
    curves: Sequence[Curve],
    axes: Axes,
    limit: Limit = lambda curve: None,
    references: Callable[[Sequence[Curve]], list[Trace]] = lambda curves: [],
    among: Sequence[Curve] = (),
) -> list[Chart]:
    """Return a chart for each panel that a figure of these curves would have.

    A curve has the style that it has in a figure of the curves `among` and these.
    """
    if not curves:
        return []
    panels = split(curves, None, axes.apart)
    hidden = list(panels[0].values)
    shared = styles_of([*among, *curves], hidden)
    common, each = titles(panels)
    charts = []
    for panel, title in zip(panels, each, strict=True):
        styles = shared or styles_of(panel.curves, hidden)
        assert styles is not None  # `split` leaves one agent on a panel at last
        traces, limits = [], []
        for curve in panel.curves:
            traces.append(_trace(curve, hidden, _line(styles.line(curve))))
            values = limit(curve)
            if values is not None:
                limits.append(_bound(traces[-1], values))
        traces += [*limits, *references(panel.curves)]
        xs = {x for trace in traces for x in trace.x or []}
        everywhere = axes.ticks or sorted(xs) or [0, 1]
        heading = ", ".join(part for part in (title, common) if part)
        placed = [_placed(trace, everywhere) for trace in traces]
        charts.append(Chart(heading, axes, placed, _spread(panel.curves, axes.bars)))
    return charts


def reference(label: str, x: Any, y: Any) -> Trace:
    """Return a grey line of no agent; x is None for one value that holds everywhere."""
    line = {"colour": "#767676", "dash": "dot", "symbol": "circle"}
    points = None if x is None else np.asarray(x).tolist()
    return Trace(label, label, points, finite(y), line, role="reference")


def finite(values: Any) -> Numbers:
    """Return numbers as a list, None for those that are not finite."""
    return [value if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]


def _line(style: dict[str, Any]) -> dict[str, str]:
    """Return the style of a line in matplotlib's terms in those of Plotly."""
    dashes = style["linestyle"]
    dash = "solid" if dashes == "-" else ",".join(f"{_WIDTH * part:g}px" for part in dashes[1])
    symbol = _SYMBOLS[style.get("marker", "o")]
    return {"colour": style["color"], "dash": dash, "symbol": symbol}


def _trace(curve: Curve, hidden: Sequence[str], line: dict[str, str]) -> Trace:
    y, error = np.asarray(curve.y, float), np.asarray(curve.error, float)
    x = None if curve.level else [v.item() if isinstance(v, np.generic) else v for v in curve.x]
    trace = Trace(curve.label(hidden), curve.label(), x, finite(y), line)
    if not np.isfinite(error).any():
        return trace
    return replace(trace, low=finite(y - error), high=finite(y + error))


def _bound(trace: Trace, values: Any) -> Trace:
    label = f"bound on {trace.label}"
    return Trace(label, trace.key, trace.x, finite(values), trace.line, role="bound")


def _placed(trace: Trace, x: Sequence[Any]) -> Trace:
    """Return a trace whose one value holds everywhere with a point at each x."""
    if trace.x is not None:
        return trace
    n = len(x)
    low, high = trace.low and trace.low * n, trace.high and trace.high * n
    return replace(trace, x=list(x), y=trace.y * n, low=low, high=high)


def _spread(curves: Sequence[Curve], bars: bool) -> str:
    if all(curve.runs[1] == 1 for curve in curves):
        return "A single run has no standard error."
    return f"{'Bars' if bars else 'Bands'}: mean ± two standard errors over runs."
