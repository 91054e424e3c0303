"""Curves on as many panels as they need, with titles, legends and room for both.

All figures of measurements are drawn here, so that none of them reuses a style, covers data with
its legend, leaves its bands unnamed or compares what cannot be compared.
"""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict

from fastes.checks.arrays import Floats
from fastes.results.curve_drawing import Kind, draw_panel, drawn_on, note, set_limits, set_ticks
from fastes.results.curve_styles import MOST
from fastes.results.curves import Curve, Panel, same, split
from fastes.results.legends import Plan, add_axes_legend, add_bars, add_figure_legend, plan
from fastes.results.titles import titles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALONE, _PANEL = (5.0, 2.9), (2.55, 1.9)  # inches, without legends and titles of the figure
_BAR = 0.9  # inches, of a colour bar
_LEAST = (1.5, 1.1)


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
    if look.get("logx"):
        kind = replace(kind, logx=True)
    if look.get("logy"):
        kind = replace(kind, logy=True)
    for curve in curves if kind.logy else ():
        if not (curve.y > 0).any():
            raise ValueError(
                f"a logarithmic axis cannot show {curve.label()}, which is nowhere above zero"
            )
    if is_axes(ax):
        return _on_axes(curves, kind, ax, look)
    panels = split(curves, look.get("facet"), kind.apart, can_be_told_apart)
    return on_figure(ax, lambda figure: _on_figure(panels, kind, figure, look))


def can_be_told_apart(curves: list[Curve], hidden: list[str]) -> bool:
    """Return whether there are styles for all these curves on one panel."""
    return plan(curves, hidden) is not None


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


def _on_axes(curves: Sequence[Curve], kind: Kind, ax: "Axes", look: Look) -> "Axes":
    if look.get("size") is not None:
        raise ValueError("size is that of a new figure: leave it out where ax is given")
    before = drawn_on(ax)
    new = [curve for curve in curves if not any(same(curve, old.curve) for old in before)]
    every = [*(old.curve for old in before), *new]
    panels = split(every, look.get("facet"), kind.apart, lambda curves, hidden: True)
    if len(panels) > 1:
        found = "; ".join(titles(panels)[1])
        raise ValueError(
            f"one axes cannot show {len(panels)} panels ({found}): leave out ax for a panel each"
        )
    hidden = list(panels[0].values)
    found_plan = plan(new, hidden, [old.style for old in before if old.style is not None])
    if found_plan is None:
        raise ValueError(
            f"one axes can show at most {MOST} curves, got {len(every)}: leave out ax for "
            "several panels"
        )
    was = titles([Panel({}, [old.curve for old in before])])[0] if before else ""
    more = draw_panel(ax, new, every, kind, found_plan)
    set_limits(ax, every, more, kind)
    set_ticks(ax, kind, 4.0)
    add_bars([ax], [found_plan])
    ax.set_xlabel(kind.xlabel)
    ax.set_ylabel(kind.ylabel)
    heading = titles([Panel(panels[0].values, every)])[0]
    lines = [look.get("title") or "", heading]
    if ax.get_title() == was or look.get("title"):
        ax.set_title("\n".join(line for line in lines if line), fontsize=10)
    add_axes_legend(ax, note(every, kind))
    return ax


def _on_figure(panels: Sequence[Panel], kind: Kind, figure: Any, look: Look) -> "Axes":
    hidden = list(panels[0].values)
    union = plan([curve for panel in panels for curve in panel.curves], hidden)
    own = [union or plan(panel.curves, hidden) for panel in panels]
    columns = 1 if len(panels) == 1 else 2 if len(panels) <= 4 else 3 if len(panels) <= 9 else 4
    rows = -(-len(panels) // columns)
    share = len(panels) > 1 and not set(hidden) & _OF_PROBLEMS
    axes = _grid(figure, rows, columns, len(panels), share)
    width, height = _ALONE if len(panels) == 1 else (columns * _PANEL[0], rows * _PANEL[1])
    size = look.get("size")
    inches = (size[0] if size else width) / columns - 0.6
    common, each = titles(panels)
    _fill(axes, panels, kind, [some for some in own if some is not None], share, inches)
    for i, (ax, title) in enumerate(zip(axes, each, strict=True)):
        ax.set_title(textwrap.fill(title, max(12, int(inches / 0.068))), fontsize=9)
        # Only the last of each column has one: common to all, it would lie over the legend.
        ax.set_xlabel(kind.xlabel if i + columns >= len(axes) else "")
        if union is None and [curve.label(hidden) for curve in panels[i].curves] != [title]:
            add_axes_legend(ax, "", below=True)
            height += 0.17 * len(ax.get_legend_handles_labels()[0]) / columns
    add_bars(axes, own)
    if len(axes) == 1:
        axes[0].set_ylabel(kind.ylabel)
    else:
        figure.supylabel(kind.ylabel, fontsize=10)
        width += _BAR if any(some is not None and some.scale is not None for some in own) else 0
    every = [curve for panel in panels for curve in panel.curves]
    heading = [look.get("title"), common]
    entries = axes if union is not None else []
    finish(figure, entries, heading, note(every, kind), (width, height), size, (columns, rows))
    return axes[0]


def _grid(figure: Any, rows: int, columns: int, n: int, share: bool) -> "list[Axes]":
    """Return the first n axes of a grid, and take away the others."""
    every = list(figure.subplots(rows, columns, squeeze=False, sharey=share).flat)
    for unused in every[n:]:
        unused.remove()
    for ax in every[:n]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.tick_params(labelsize=8 if n > 1 else 10)
    return every[:n]


def _fill(
    axes: "Sequence[Axes]",
    panels: Sequence[Panel],
    kind: Kind,
    plans: Sequence[Plan],
    share: bool,
    inches: float,
) -> None:
    """Draw the curves of each panel, with limits that are those of all if they share an axis."""
    more: list[list[Floats]] = []
    for ax, panel, styles in zip(axes, panels, plans, strict=True):
        more.append(draw_panel(ax, panel.curves, panel.curves, kind, styles))
    every = [curve for panel in panels for curve in panel.curves]
    all_more = [values for its in more for values in its]
    for ax, panel, its in zip(axes, panels, more, strict=True):
        set_limits(ax, every if share else panel.curves, all_more if share else its, kind)
        set_ticks(ax, kind, inches)


_OF_PROBLEMS = {"problem", "theta", "K", "d", "T", "noise", "arms", "prior_mean", "prior_cov"}


def on_figure(figure: Any, draw: "Callable[[Any], Axes]") -> "Axes":
    """Draw on a figure, or without one on a new one of pyplot's, which is shown if all goes well.

    A notebook shows it, and so does ``plt.show()``.
    """
    if figure is not None:
        if figure.get_layout_engine() is None and hasattr(figure, "set_layout_engine"):
            figure.set_layout_engine("constrained")  # which makes room for a legend outside
        return draw(figure)
    from matplotlib import pyplot

    figure = pyplot.figure(layout="constrained")
    try:
        return draw(figure)
    except Exception:
        pyplot.close(figure)
        raise


def finish(
    figure: Any,
    axes: "Sequence[Axes]",
    heading: Sequence[str | None],
    words: str,
    natural: tuple[float, float],
    size: tuple[float, float] | None = None,
    grid: tuple[int, int] = (1, 1),
) -> None:
    """Add a figure's title and its legend below the axes, and make room for them.

    The size is as asked for, or what axes of the `natural` size need; ValueError if that is too
    small for the numbers of panels across and down in `grid`.
    """
    width, height = size or natural
    per_line = max(12, int(width / 0.085))
    lines = [text for line in heading if line for text in textwrap.wrap(line, per_line)]
    if lines:
        figure.suptitle("\n".join(lines), fontsize=10)
    legend = add_figure_legend(figure, axes, words, width)
    added = 0.2 * len(lines)
    if legend is not None:
        added += legend.get_window_extent().height / figure.dpi
    least = grid[0] * _LEAST[0], grid[1] * _LEAST[1] + added
    if size is not None and (width < least[0] or height < least[1]):
        raise ValueError(
            f"size must be at least {least[0]:.1f}x{least[1]:.1f} inches for this figure and "
            f"its legend, got {width:g}x{height:g}"
        )
    if hasattr(figure, "set_size_inches"):  # a part of a figure has the size that it has
        figure.set_size_inches(width, height if size else height + added)
