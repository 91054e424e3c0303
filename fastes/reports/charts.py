"""Charts of a page as plain values: curves, bounds and bands, in the styles of figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastes.results.curve_styles import styles_of
from fastes.results.curves import Curve, Line
from fastes.results.drawing import Kind
from fastes.results.facets import facets, titles

Numbers = list[float | None]
"""Numbers for JSON, None if not finite."""

_GREY = {"colour": "#767676", "dash": "dot", "symbol": "circle"}  # of no agent
_WIDTH = 2.0  # pixels of a line, the unit of dashes
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
        Its name, without facts in the title of the chart.
    key : str
        Its full name. Curves and bounds of one key are shown and hidden together in all charts.
    x, y : list
        Points. x is None for a constant.
    line : dict
        Colour, dash and symbol for Plotly.
    low, high : list, optional
        The ends of a band or of bars.
    role : {"curve", "bound", "reference"}
        A measurement, a bound on one, or a reference line.
    """

    label: str
    key: str
    x: list[Any] | None
    y: Numbers
    line: dict[str, str]
    low: Numbers | None = None
    high: Numbers | None = None
    role: str = "curve"


class Chart(NamedTuple):
    """Curves on one pair of axes; `spread` explains bands or bars."""

    title: str
    kind: Kind
    traces: list[Trace]
    spread: str

    def to_dict(self) -> dict[str, Any]:
        """Return the chart as JSON values for the page's script."""
        kind = self.kind
        return {
            "title": self.title,
            "spread": self.spread,
            "x": kind.xlabel,
            "y": kind.ylabel,
            "bars": kind.marks == "bars",
            "logx": kind.logx,
            "logy": kind.logy,
            "from_zero": kind.from_zero,
            "ticks": list(kind.ticks),
            "traces": [asdict(trace) for trace in self.traces],
        }


def charts_of(curves: Sequence[Curve], kind: Kind, among: Sequence[Curve] = ()) -> list[Chart]:
    """Return a chart for each panel of a figure of these curves.

    Styles are those of a figure of the curves `among` and these.
    """
    if not curves:
        return []
    panels = facets(curves, None, kind.apart)
    hidden = list(panels[0].values)
    styles = styles_of([*among, *curves], hidden)
    common, each = titles(panels)
    charts = []
    for panel, title in zip(panels, each, strict=True):
        traces = [_trace(c, hidden, _line(styles[c])) for c in panel.curves]
        by_curve = dict(zip(panel.curves, traces, strict=True))
        traces += [_added(line, by_curve) for line in kind.lines(panel.curves)]
        xs = {x for trace in traces for x in trace.x or []}
        everywhere = kind.ticks or sorted(xs) or [0, 1]
        heading = ", ".join(part for part in (title, common) if part)
        placed = [_placed(trace, everywhere) for trace in traces]
        charts.append(Chart(heading, kind, placed, _spread(panel.curves, kind)))
    return charts


def finite(values: Any) -> Numbers:
    """Return numbers as a list, with None for those not finite."""
    return [value if np.isfinite(value) else None for value in np.asarray(values, float).tolist()]


def _line(style: Mapping[str, Any]) -> dict[str, str]:
    """Return a matplotlib line style as one of Plotly."""
    dashes = style["linestyle"]
    dash = "solid" if dashes == "-" else ",".join(f"{_WIDTH * part:g}px" for part in dashes[1])
    return {"colour": style["color"], "dash": dash, "symbol": _SYMBOLS[style["marker"]]}


def _trace(curve: Curve, hidden: Sequence[str], line: dict[str, str]) -> Trace:
    y, error = np.asarray(curve.y, float), np.asarray(curve.error, float)
    x = None if curve.level else [v.item() if isinstance(v, np.generic) else v for v in curve.x]
    trace = Trace(curve.label(hidden), curve.label(), x, finite(y), line)
    if not np.isfinite(error).any():
        return trace
    return replace(trace, low=finite(y - error), high=finite(y + error))


def _added(line: Line, by_curve: Mapping[Curve, Trace]) -> Trace:
    """Return the trace of a line, in the style of its curve, or grey without one."""
    x, y = None if line.x is None else np.asarray(line.x).tolist(), finite(np.ravel(line.y))
    if line.curve is None:
        return Trace(line.label, line.label, x, y, _GREY, role="reference")
    its = by_curve[line.curve]
    if its.x is None:  # a constant, as its curve is
        x = None
    return Trace(f"{line.label} {its.label}", its.key, x, y, its.line, role="bound")


def _placed(trace: Trace, x: Sequence[Any]) -> Trace:
    """Return a constant trace with a point at each x; others unchanged."""
    if trace.x is not None:
        return trace
    n = len(x)
    low, high = trace.low and trace.low * n, trace.high and trace.high * n
    return replace(trace, x=list(x), y=trace.y * n, low=low, high=high)


def _spread(curves: Sequence[Curve], kind: Kind) -> str:
    if all(curve.runs[1] == 1 for curve in curves):
        return "A single run has no standard error."
    return f"{'Bars' if kind.marks == 'bars' else 'Bands'}: mean ± two standard errors over runs."
