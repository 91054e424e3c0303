"""Figures of one or more panels, with titles and a legend outside."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from fastes.results.curve_styles import styles_of
from fastes.results.curves import Curve, distinct
from fastes.results.drawing import Kind, Styles, draw, note, set_axes
from fastes.results.facets import Panel, facets, titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONE, _PANEL = (5.0, 2.9), (2.55, 1.9)  # inches, without legend and title of the figure
_LINE = 0.17  # inches per line of a legend
_LEAST = (1.5, 1.1)
MOST_PANELS, MOST_CURVES = 24, 60
_OF_PROBLEMS = {"problem", "theta", "K", "d", "T", "noise", "arms", "prior_mean", "prior_cov"}
_LEGEND: dict[str, Any] = {
    **{"fontsize": 8, "title_fontsize": 8, "frameon": False},
    **{"handlelength": 3.2, "columnspacing": 1.4},
}


class Look(TypedDict, total=False):
    """Keywords of the functions that draw.

    Attributes
    ----------
    where : mapping
        Draw only results with these values: ``{"K": 50}``, ``{"M": [2, 8]}``.
    facet : str
        One panel for each value of this fact: "K", "agent", "M".
    logx : bool
        A logarithmic x axis.
    logy : bool
        A logarithmic y axis.
    title : str
        A line above the figure, in addition to K, d, T and runs.
    size : (float, float)
        Width and height in inches.
    """

    where: Mapping[str, Any] | None
    facet: str | None
    logx: bool
    logy: bool
    title: str | None
    size: tuple[float, float] | None


def check_look(look: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError unless these are keywords of `Look` with valid values."""
    for name in look:
        if name not in Look.__annotations__:
            known = ", ".join(Look.__annotations__)
            raise TypeError(f"unknown keyword {name!r} of a figure: the keywords are {known}")
    where, size = look.get("where"), look.get("size")
    if where is not None and not isinstance(where, Mapping):
        raise TypeError(f"where must map names to values, such as {{'K': 50}}, got {where!r}")
    if size is not None:
        try:
            good = len(size) == 2 and all(0 < float(each) <= 100 for each in size)
        except (TypeError, ValueError):
            good = False
        if not good:
            raise ValueError(f"size must be a width and a height up to 100 inches, got {size!r}")


def draw_curves(curves: Sequence[Curve], kind: Kind, ax: Any, look: Look) -> "Axes":
    """Draw curves on axes, on a figure, or on a new pyplot figure.

    A figure gets as many panels as needed; axes that would need several raise ValueError.
    Return the axes, the first of several.
    """
    if not curves:
        raise ValueError("nothing to draw")
    logx, logy = kind.logx or look.get("logx", False), kind.logy or look.get("logy", False)
    kind = replace(kind, logx=logx, logy=logy)
    for curve in curves if logy else ():
        if not (curve.y > 0).any():
            raise ValueError(
                f"a logarithmic axis cannot show {curve.label()}, which is never above zero"
            )
    if is_axes(ax):
        return _on_axes(curves, kind, ax, look)
    panels = facets(curves, look.get("facet"), kind.apart)
    if ax is not None:
        _make_room(ax)
        return _on_figure(panels, kind, ax, look)
    from matplotlib import pyplot

    figure = pyplot.figure(layout="constrained")
    try:
        return _on_figure(panels, kind, figure, look)
    except Exception:
        pyplot.close(figure)
        raise


def is_axes(ax: Any) -> bool:
    """Return True for axes, False for a figure or None; else raise TypeError."""
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    if ax is None or isinstance(ax, FigureBase):
        return False
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be matplotlib Axes, got {ax!r}: to save a figure, use fastes plot or "
            "ax.figure.savefig"
        )
    return True


class _Drawn(NamedTuple):
    """The curves and artists on axes, and the title set with them."""

    curves: list[Curve]
    artists: list[Any]
    title: str = ""


def _on_axes(curves: Sequence[Curve], kind: Kind, ax: Any, look: Look) -> "Axes":
    """Draw curves together with those drawn on these axes earlier."""
    if look.get("size") is not None:
        raise ValueError("size applies to a new figure only: leave it out if ax is given")
    before = getattr(ax, "_fastes", None)
    if before is None or before.artists[0].axes is not ax:  # new or cleared
        before = _Drawn([], [])
    every = distinct([*before.curves, *curves])
    panels = facets(every, look.get("facet"), kind.apart)
    if len(panels) > 1:
        found = "; ".join(titles(panels)[1])
        raise ValueError(f"one axes cannot show {len(panels)} panels ({found}): leave out ax")
    styles = _styles(panels)
    for artist in before.artists:
        artist.remove()
    _make_room(ax.figure)
    _fill([ax], panels, styles, kind, False, 4.0)
    ax.set(xlabel=kind.xlabel, ylabel=kind.ylabel)
    if look.get("title") or ax.get_title() in ("", before.title):
        heading = titles(panels)[0]
        lines = [look.get("title"), heading if ax.figure.get_suptitle() != heading else ""]
        ax.set_title("\n".join(line for line in lines if line), fontsize=10)
        ax._fastes = ax._fastes._replace(title=ax.get_title())
    entries, text = _entries([ax]), note(every, kind) or None
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    ax.legend(list(entries.values()), list(entries), title=text, **beside, **_LEGEND)
    return ax


def _on_figure(panels: Sequence[Panel], kind: Kind, figure: Any, look: Look) -> "Axes":
    n, styles = len(panels), _styles(panels)
    if n > MOST_PANELS:
        raise ValueError(
            f"the figure would have {n} panels, more than {MOST_PANELS}: "
            "select fewer results with where"
        )
    columns = min(n, 2 if n <= 4 else 3 if n <= 9 else 4)
    rows = -(-n // columns)
    width, height = _ALONE if n == 1 else (columns * _PANEL[0], rows * _PANEL[1])
    size = look.get("size")
    inches = (size[0] if size else width) / columns - 0.6
    share = n > 1 and not set(panels[0].values) & _OF_PROBLEMS
    axes = _grid(figure, rows, columns, n, share)
    common, title = titles(panels)
    for i, ax in enumerate(axes):
        ax.set_title(textwrap.fill(title[i], max(12, int(inches / 0.068))), fontsize=9)
        # Only on the last panel of each column: one for the whole figure would cover the legend.
        ax.set_xlabel(kind.xlabel if i + columns >= n else "")
    if n == 1:
        axes[0].set_ylabel(kind.ylabel)
    else:
        figure.supylabel(kind.ylabel, fontsize=10)
    _fill(axes, panels, styles, kind, share, inches)
    heading, text = [look.get("title"), common], note(list(styles), kind)
    legend = _finish(figure, axes, heading, text, (width, height), size, (columns, rows))
    if n == 1 and legend is not None:  # replaced if curves are added to the axes later
        axes[0]._fastes.artists.append(legend)
    return axes[0]


def _styles(panels: Sequence[Panel]) -> Styles:
    """Return the styles of all curves; ValueError if there are too many to distinguish."""
    curves = [curve for panel in panels for curve in panel.curves]
    styles = styles_of(curves, list(panels[0].values))
    labels = {style["label"] for style in styles.values()}
    if len(labels) > MOST_CURVES:
        raise ValueError(
            f"a figure can show at most {MOST_CURVES} different curves, got {len(labels)}: select "
            "fewer results with where, or use facet for a panel per value"
        )
    return styles


def _fill(
    axes: Sequence[Any],
    panels: Sequence[Panel],
    styles: Styles,
    kind: Kind,
    share: bool,
    inches: float,
) -> None:
    """Draw the curves of each panel; with `share`, all panels have one scale."""
    lines = [kind.lines(panel.curves) for panel in panels]
    for ax, panel, its in zip(axes, panels, lines, strict=True):
        ax._fastes = _Drawn(panel.curves, draw(ax, panel.curves, its, kind, styles))
        shown = (list(styles), [*chain(*lines)]) if share else (panel.curves, its)
        set_axes(ax, *shown, kind, inches)


def _grid(figure: Any, rows: int, columns: int, n: int, share: bool) -> list[Any]:
    """Return the first n axes of a grid, and remove the others."""
    every = list(figure.subplots(rows, columns, squeeze=False, sharey=share).flat)
    for unused in every[n:]:
        unused.remove()
    for ax in every[:n]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8 if n > 1 else 10)
    return every[:n]


def _make_room(figure: Any) -> None:
    """Use a layout with space for a legend outside, unless the figure has a layout."""
    if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        figure.set_layout_engine("constrained")


def _finish(
    figure: Any,
    axes: "Sequence[Axes]",
    heading: Sequence[str | None],
    text: str,
    natural: tuple[float, float],
    size: tuple[float, float] | None,
    grid: tuple[int, int],
) -> Any:
    """Add a title, and a legend below all axes; resize the figure; return the legend.

    `size` defaults to what axes of the `natural` size need. ValueError if it is too small for the
    `grid` of (columns, rows) panels.
    """
    width, height = size or natural
    per_line = max(12, int(width / 0.085))
    title = [part for line in heading if line for part in textwrap.wrap(line, per_line)]
    if title:
        figure.suptitle("\n".join(title), fontsize=10)
    entries, added, legend = _entries(axes), 0.2 * len(title), None
    if entries or text:
        columns = _columns(list(entries), width)
        place = {"loc": "outside lower center", "ncols": columns, "title": text or None}
        legend = figure.legend(entries.values(), entries, **place, **_LEGEND)
        added += _LINE * (-(-len(entries) // columns) + len(text.splitlines())) + 0.1
    least = grid[0] * _LEAST[0], grid[1] * _LEAST[1] + added
    if size is not None and (width < least[0] or height < least[1]):
        raise ValueError(
            f"size must be at least {least[0]:.1f}x{least[1]:.1f} inches for this figure and "
            f"its legend, got {width:g}x{height:g}"
        )
    if hasattr(figure, "set_size_inches"):  # a subfigure cannot be resized
        figure.set_size_inches(width, height if size else height + added)
    return legend


def _columns(labels: Sequence[str], width: float) -> int:
    """Return how many columns of a legend, at most four, fit into a width in inches."""
    for n in range(min(4, len(labels)), 1, -1):
        longest = [max(map(len, column)) for column in np.array_split(labels, n)]
        if sum(0.6 + 0.062 * characters for characters in longest) <= width:
            return n
    return 1


def _entries(axes: "Sequence[Axes]") -> dict[str, Any]:
    """Return the legend handles of these axes, by label."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries
