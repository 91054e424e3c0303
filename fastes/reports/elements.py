"""What a page is made of: sections of text, facts, code, tables and charts, as plain values."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    text: str
    tone: str = "plain"
    """Or "note", small print below a chart; or "warning"."""


@dataclass(frozen=True)
class Code:
    """Something to be copied and run."""

    caption: str
    text: str


@dataclass(frozen=True)
class Table:
    """A table, of which each cell is a text or a number; None is a value that does not exist.

    Its first `left` columns are flush left, and the first of them names the row. Numbers are shown
    to three digits or so, and copied in full.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | float | None]]
    left: int = 1


@dataclass(frozen=True)
class Trace:
    """One curve of a chart.

    Attributes
    ----------
    label : str
        What the legend says.
    key : str
        Curves with equal keys are switched on and off together in all charts of a section.
    x, y : list
        Points; None where y is not a finite number.
    low, high : list, optional
        The ends of a band, or of bars.
    line : dict
        colour, dark (the colour on a dark page), dash and symbol, as the charts' library has them.
    role : {"curve", "bound", "reference"}
        What was measured; what bounds it; or what it is held against.
    marks : {"band", "bars", "points"}
        A line with a band; a line and points with bars; points with bars.
    owner : str
        The key of the curve that a bound is for, and goes with.
    """

    label: str
    key: str
    x: list[Any]
    y: list[float | None]
    line: dict[str, str]
    low: list[float | None] | None = None
    high: list[float | None] | None = None
    role: str = "curve"
    marks: str = "band"
    owner: str = ""


@dataclass(frozen=True)
class Chart:
    """Curves on one pair of axes.

    `spread` says in a few words what bands or bars are.
    """

    title: str
    x: str
    y: str
    traces: Sequence[Trace]
    spread: str = ""
    logx: bool = False
    logy: bool = False
    from_zero: bool = False
    names: Sequence[str] = ()
    """The values of x in order, where they are no numbers."""
    ticks: Sequence[float] = ()
    """The values of x that are of interest, where they are few."""


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading of its own.

    The charts of a section, with those of its own parts, share one list of switches.
    """

    title: str
    parts: "Sequence[Part]"
    name: str = field(default="", kw_only=True)
    """What kind of section it is, for those who read pages by program."""
    switches: bool = field(default=False, kw_only=True)


Part = Text | Code | Table | Chart | Section
Kind = TypeVar("Kind", Chart, Table)


def parts_in(parts: "Iterable[Part]", kind: type[Kind]) -> list[Kind]:
    """Return the charts, or the tables, of a section and of all below it, in order."""
    found: list[Kind] = []
    for part in parts:
        if isinstance(part, kind):
            found.append(part)
        elif isinstance(part, Section):
            found += parts_in(part.parts, kind)
    return found


def finite(value: Any) -> float | None:
    """Return a number, or None where it is not finite."""
    return float(value) if value is not None and math.isfinite(value) else None


def finite_list(values: Any) -> list[float | None]:
    """Return numbers, None for those that are not finite."""
    return [finite(value) for value in np.asarray(values, float).tolist()]
