"""Curves as charts: the same panels, titles, colours and dashes as figures have."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastes.reports.elements import Chart, Trace, finite_list
from fastes.results.curve_styles import on_dark
from fastes.results.curves import Curve, split
from fastes.results.legends import Plan, plan
from fastes.results.panels import can_be_told_apart
from fastes.results.titles import titles

_SYMBOLS = {
    **{"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down"},
    **{"X": "x", "P": "cross", "*": "star", "<": "triangle-left", ">": "triangle-right"},
    **{"d": "diamond-tall", "h": "hexagon"},
}
_WIDTH = 2.0  # pixels of a line: dashes are given in units of it
GREY = {"colour": "#767676", "dark": "#9a9a9a", "dash": "dot", "symbol": "circle"}
"""The line of what belongs to no agent."""


class Axes(NamedTuple):
    """What the charts of some curves have in common; the words are those of `Chart`."""

    x: str
    y: str
    marks: str = "band"
    apart: tuple[str, ...] = ("problem", "theta")
    logx: bool = False
    logy: bool = False
    from_zero: bool = False
    names: Sequence[str] = ()
    ticks: Sequence[float] = ()


More = Callable[[Sequence[Curve], Callable[[Curve], dict[str, str]]], list[Trace]]
"""What a panel has beside its curves, given these and how each of them is drawn."""


def charts_of(
    curves: Sequence[Curve],
    axes: Axes,
    more: More | None = None,
    among: Sequence[Curve] = (),
) -> list[Chart]:
    """Return a chart for each panel that a figure of these curves would have.

    A curve looks as it does among other curves of its section, if these are given.
    """
    panels = split(curves, None, axes.apart, can_be_told_apart, most=None)
    hidden = list(panels[0].values)
    union = plan([*among, *curves], hidden)
    common, each = titles(panels)
    charts = []
    for panel, title in zip(panels, each, strict=True):
        styles = union or plan(panel.curves, hidden)
        assert styles is not None  # can_be_told_apart

        def look(curve: Curve, styles: Plan = styles) -> dict[str, str]:
            return line_of(styles.line(curve))

        traces = [_trace(curve, look(curve), hidden, axes) for curve in panel.curves]
        added = more(panel.curves, look) if more else []
        charts.append(
            Chart(
                ", ".join(words for words in (title, common) if words),
                axes.x,
                axes.y,
                [*traces, *added],
                _spread(panel.curves, axes.marks),
                axes.logx,
                axes.logy,
                axes.from_zero,
                axes.names,
                axes.ticks,
            )
        )
    return charts


def line_of(drawn: dict[str, Any]) -> dict[str, str]:
    """Return the line of a figure, in matplotlib's words, in those of the charts' library."""
    style = drawn["linestyle"]
    dash = "solid" if style == "-" else ",".join(f"{_WIDTH * part:g}px" for part in style[1])
    return {
        "colour": drawn["color"],
        "dark": on_dark(drawn["color"]),
        "dash": dash,
        "symbol": _SYMBOLS[drawn.get("marker", "o")],
    }


def _trace(curve: Curve, line: dict[str, str], hidden: Sequence[str], axes: Axes) -> Trace:
    y, error = np.asarray(curve.y, float), np.asarray(curve.error, float)
    known = bool(np.isfinite(error).any())
    x = [None] if curve.level else list(curve.x)
    return Trace(
        curve.label(hidden),
        curve.label(),
        [value.item() if isinstance(value, np.generic) else value for value in x],
        finite_list(y),
        line,
        finite_list(y - error) if known else None,
        finite_list(y + error) if known else None,
        marks=axes.marks,
    )


def bound_for(curve: Curve, label: str, values: Any, line: dict[str, str]) -> Trace:
    """Return a bound at the points of a curve, as a thin line in its colour."""
    x = [None] if curve.level else list(curve.x)
    return Trace(
        label,
        label,
        [value.item() if isinstance(value, np.generic) else value for value in x],
        finite_list(values),
        line,
        role="bound",
        marks="line",
        owner=curve.label(),
    )


def reference(label: str, x: Any, y: Any, dash: str = "dot") -> Trace:
    """Return a grey line that belongs to no agent; one value without x is a level."""
    points = [None] if x is None else np.asarray(x).tolist()
    line = {**GREY, "dash": dash}
    return Trace(label, label, points, finite_list(y), line, role="reference", marks="line")


def _spread(curves: Sequence[Curve], marks: str) -> str:
    if marks == "line":
        return ""
    if all(curve.runs[1] == 1 for curve in curves):
        return "A single run has no standard error."
    what = "Bands" if marks == "band" else "Bars"
    return f"{what}: mean ± two standard errors over runs."
