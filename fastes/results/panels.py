"""Curves on as many panels as they need, with titles, a legend outside and room for both."""

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

_ALONE, _PANEL = (5.0, 2.9), (2.55, 1.9)  # inches, without legends and titles of the figure
_LINE = 0.17  # inches, of a line in a legend
_LEAST = (1.5, 1.1)
MOST_PANELS, MOST_CURVES = 24, 60
_OF_PROBLEMS = {"problem", "theta", "K", "d", "T", "noise", "arms", "prior_mean", "prior_cov"}
_LEGEND: dict[str, Any] = {
    **{"fontsize": 8, "title_fontsize": 8, "frameon": False},
    **{"handlelength": 3.2, "columnspacing": 1.4},
}


class Look(TypedDict, total=False):
    """How a figure is to look: keywords of the functions that draw.

    Attributes
    ----------
    where : mapping
        Draw only what has these values: ``{"K": 50}``, ``{"M": [2, 8]}``.
    facet : str
        One panel for each value of this: "K", "agent", "M".
    logx : bool
        A logarithmic x axis.
    logy : bool
        A logarithmic y axis.
    title : str
        A line above the figure; it still says K, d, T and runs.
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
    """Raise TypeError or ValueError unless these are keywords of `Look`, with values of theirs."""
    for name in look:
        if name not in Look.__annotations__:
            known = ", ".join(Look.__annotations__)
            raise TypeError(f"a figure has no {name!r}: its keywords are {known}")
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
    """Draw curves on axes, on a figure or, without either, on a new figure of pyplot's.

    On a figure there are as many panels as are needed; axes that cannot hold all raise
    ValueError. Return the axes, the first of several.
    """
    if not curves:
        raise ValueError("there is nothing to draw")
    logx, logy = kind.logx or look.get("logx", False), kind.logy or look.get("logy", False)
    kind = replace(kind, logx=logx, logy=logy)
    for curve in curves if logy else ():
        if not (curve.y > 0).any():
            raise ValueError(
                f"a logarithmic axis cannot show {curve.label()}, which is nowhere above zero"
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
    """Return whether `ax` is axes, rather than a figure or None; else raise TypeError."""
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    if ax is None or isinstance(ax, FigureBase):
        return False
    if not isinstance(ax, Axes):
        raise TypeError(
            f"ax must be matplotlib Axes, got {ax!r}: save a figure with fastes plot or "
            "ax.figure.savefig"
        )
    return True


class _Drawn(NamedTuple):
    """What is drawn on axes, and the title that they got with it."""

    curves: list[Curve]
    artists: list[Any]
    title: str = ""


def _on_axes(curves: Sequence[Curve], kind: Kind, ax: Any, look: Look) -> "Axes":
    """Draw curves together with those that were drawn on these axes before."""
    if look.get("size") is not None:
        raise ValueError("size is that of a new figure: leave it out where ax is given")
    before = getattr(ax, "_fastes", None)
    if before is None or before.artists[0].axes is not ax:  # new, or cleared
        before = _Drawn([], [])
    every = distinct([*before.curves, *curves])
    panels = facets(every, look.get("facet"), kind.apart)
    if len(panels) > 1:
        found = "; ".join(titles(panels)[1])
        raise ValueError(
            f"one axes cannot show {len(panels)} panels ({found}): leave out ax for a panel each"
        )
    styles = _styles(panels)
    for artist in before.artists:
        artist.remove()
    _make_room(ax.figure)
    _fill([ax], panels, styles, kind, False, 4.0)
    ax.set(xlabel=kind.xlabel, ylabel=kind.ylabel)
    if look.get("title") or ax.get_title() in ("", before.title):
        heading = titles(panels)[0]
        said = [look.get("title"), heading if ax.figure.get_suptitle() != heading else ""]
        ax.set_title("\n".join(text for text in said if text), fontsize=10)
        ax._fastes = ax._fastes._replace(title=ax.get_title())
    entries, words = _entries([ax]), note(every, kind) or None
    beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    ax.legend(list(entries.values()), list(entries), title=words, **beside, **_LEGEND)
    return ax


def _on_figure(panels: Sequence[Panel], kind: Kind, figure: Any, look: Look) -> "Axes":
    n, styles = len(panels), _styles(panels)
    if n > MOST_PANELS:
        raise ValueError(
            f"the figure would have {n} panels, at most {MOST_PANELS} are readable: "
            "choose fewer results with where"
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
        # Only the last of each column has one: common to all, it would lie over the legend.
        ax.set_xlabel(kind.xlabel if i + columns >= n else "")
    if n == 1:
        axes[0].set_ylabel(kind.ylabel)
    else:
        figure.supylabel(kind.ylabel, fontsize=10)
    _fill(axes, panels, styles, kind, share, inches)
    heading, words = [look.get("title"), common], note(list(styles), kind)
    legend = _finish(figure, axes, heading, words, (width, height), size, (columns, rows))
    if n == 1 and legend is not None:  # curves that are added to the axes later replace it
        axes[0]._fastes.artists.append(legend)
    return axes[0]


def _styles(panels: Sequence[Panel]) -> Styles:
    """Return the styles of all curves; ValueError if they are too many to be told apart."""
    curves = [curve for panel in panels for curve in panel.curves]
    styles = styles_of(curves, list(panels[0].values))
    labels = {style["label"] for style in styles.values()}
    if len(labels) > MOST_CURVES:
        raise ValueError(
            f"a figure can show at most {MOST_CURVES} different curves, got {len(labels)}: choose "
            "fewer results with where, or a panel for each value of a fact with facet"
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
    """Draw the curves of each panel, on one scale if panels `share` it."""
    lines = [kind.lines(panel.curves) for panel in panels]
    for ax, panel, its in zip(axes, panels, lines, strict=True):
        ax._fastes = _Drawn(panel.curves, draw(ax, panel.curves, its, kind, styles))
        shown = (list(styles), [*chain(*lines)]) if share else (panel.curves, its)
        set_axes(ax, *shown, kind, inches)


def _grid(figure: Any, rows: int, columns: int, n: int, share: bool) -> list[Any]:
    """Return the first n axes of a grid, and take away the others."""
    every = list(figure.subplots(rows, columns, squeeze=False, sharey=share).flat)
    for unused in every[n:]:
        unused.remove()
    for ax in every[:n]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8 if n > 1 else 10)
    return every[:n]


def _make_room(figure: Any) -> None:
    """Let a figure make room for a legend outside, unless it has a layout already."""
    if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
        figure.set_layout_engine("constrained")


def _finish(
    figure: Any,
    axes: "Sequence[Axes]",
    heading: Sequence[str | None],
    words: str,
    natural: tuple[float, float],
    size: tuple[float, float] | None,
    grid: tuple[int, int],
) -> Any:
    """Add a figure's title and one legend for all axes below them, make room, return the legend.

    The size is as asked for, or what axes of the `natural` size need; ValueError if that is too
    small for the numbers of panels across and down in `grid`.
    """
    width, height = size or natural
    per_line = max(12, int(width / 0.085))
    title = [text for line in heading if line for text in textwrap.wrap(line, per_line)]
    if title:
        figure.suptitle("\n".join(title), fontsize=10)
    entries, added, legend = _entries(axes), 0.2 * len(title), None
    if entries or words:
        columns = _columns(list(entries), width)
        place = {"loc": "outside lower center", "ncols": columns, "title": words or None}
        legend = figure.legend(entries.values(), entries, **place, **_LEGEND)
        added += _LINE * (-(-len(entries) // columns) + len(words.splitlines())) + 0.1
    least = grid[0] * _LEAST[0], grid[1] * _LEAST[1] + added
    if size is not None and (width < least[0] or height < least[1]):
        raise ValueError(
            f"size must be at least {least[0]:.1f}x{least[1]:.1f} inches for this figure and "
            f"its legend, got {width:g}x{height:g}"
        )
    if hasattr(figure, "set_size_inches"):  # a part of a figure has the size that it has
        figure.set_size_inches(width, height if size else height + added)
    return legend


def _columns(labels: Sequence[str], width: float) -> int:
    """Return how many columns of a legend, up to four, fit into a width in inches."""
    for n in range(min(4, len(labels)), 1, -1):
        longest = [max(map(len, column)) for column in np.array_split(labels, n)]
        if sum(0.6 + 0.062 * characters for characters in longest) <= width:
            return n
    return 1


def _entries(axes: "Sequence[Axes]") -> dict[str, Any]:
    """Return what legends of these axes hold, by label."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    return entries
