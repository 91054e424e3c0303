"""Which style each curve of a figure has, and the legend or colour bar that says so."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastes.results.curve_styles import MOST, Style, colour_scale, curve_styles
from fastes.results.curves import Curve
from fastes.results.ticks import number_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.legend import Legend


_APART = 0.13  # of a colour bar's length, from one number to the next


class Scale(NamedTuple):
    """Curves of one agent that differ in one number: their colours say which."""

    agent: str
    title: str
    name: str
    values: tuple[float, ...]

    @property
    def logarithmic(self) -> bool:
        """Whether the values span more than a decade, and so have a logarithmic scale."""
        return min(self.values) > 0 and max(self.values) > 10 * min(self.values)

    def position(self, value: float) -> float:
        """Return where a value is on the scale, from 0 to 1."""
        low, high = min(self.values), max(self.values)
        if self.logarithmic:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return (value - low) / (high - low)

    def colour(self, value: float) -> str:
        """Return the colour of a value, dark for the smallest."""
        return colour_scale(self.agent, [self.position(value)])[0]

    def ticks(self) -> list[float]:
        """Return the smallest and the largest value, and those between that there is room for."""
        low, *between, high = sorted(self.values)
        shown = [low]
        for value in between:
            at = self.position(value)
            if at - self.position(shown[-1]) >= _APART and 1 - at >= _APART:
                shown.append(value)
        return [*shown, high]

    def add_bar(self, axes: "Sequence[Axes]") -> None:
        """Add the colour bar beside axes."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

        colours = colour_scale(self.agent, [i / 31 for i in range(32)])
        norm = (LogNorm if self.logarithmic else Normalize)(min(self.values), max(self.values))
        drawn = ScalarMappable(norm, LinearSegmentedColormap.from_list(self.agent, colours))
        figure: Any = axes[0].figure
        bar = figure.colorbar(drawn, ax=list(axes), label=f"{self.name} of {self.title}")
        shown = self.ticks()
        bar.set_ticks(shown, labels=[number_text(value) for value in shown])
        bar.ax.minorticks_off()


class Plan(NamedTuple):
    """The styles of curves, by agent and label, and the scale of those that have none."""

    hidden: list[str]
    styles: dict[tuple[str, str], Style]
    scale: Scale | None = None

    def style(self, curve: Curve) -> Style | None:
        """Return a curve's style, or None where its colour is the scale's."""
        return self.styles.get(curve.key(self.hidden))

    def line(self, curve: Curve) -> dict[str, Any]:
        """Return colour, dashes, marker and label, as matplotlib's `plot` takes them."""
        style = self.style(curve)
        if style is not None:
            return {**style.line(), "label": curve.label(self.hidden)}
        assert self.scale is not None
        colour = self.scale.colour(curve.facts[self.scale.name])
        return {"color": colour, "linestyle": "-", "linewidth": 1.2, "label": "_nolegend_"}


def plan(
    curves: Sequence[Curve], hidden: Sequence[str] = (), taken: Sequence[Style] = ()
) -> Plan | None:
    """Return styles by which these curves can be told apart; None if there are too many."""
    keys = dict.fromkeys(curve.key(hidden) for curve in curves)
    if len(keys) + len(taken) <= MOST:
        found = curve_styles([agent for agent, _ in keys], taken)
        return Plan(list(hidden), dict(zip(keys, found, strict=True)))
    agents = [agent for agent, _ in keys]
    agent = max(agents, key=agents.count)
    name = _one_number([c for c in curves if c.facts["agent"] == agent], hidden)
    if name is None or taken:
        return None
    others = plan([curve for curve in curves if curve.facts["agent"] != agent], hidden)
    if others is None or others.scale is not None:
        return None
    its = [curve for curve in curves if curve.facts["agent"] == agent]
    values = tuple(dict.fromkeys(curve.facts[name] for curve in its))
    return others._replace(scale=Scale(agent, its[0].words["agent"], name, values))


def _one_number(curves: Sequence[Curve], hidden: Sequence[str]) -> str | None:
    """Return the only fact in which the labels of curves differ, if it is a number."""
    names = dict.fromkeys(n for c in curves for n in c.words if n not in hidden)
    told = [name for name in names if len({curve.words.get(name) for curve in curves}) > 1]
    if len(told) != 1:
        return None
    values = [curve.facts.get(told[0]) for curve in curves]
    return told[0] if all(type(value) in (int, float) for value in values) else None


def add_bars(axes: "Sequence[Axes]", plans: Sequence[Plan | None]) -> None:
    """Add the colour bars of axes with these plans: one for all if they have one plan."""
    scales = [None if each is None else each.scale for each in plans]
    if all(each is plans[0] for each in plans):
        if scales[0] is not None:
            scales[0].add_bar(axes)
        return
    for ax, scale in zip(axes, scales, strict=True):
        if scale is not None:
            scale.add_bar([ax])


def add_figure_legend(
    figure: "Figure | SubFigure", axes: "Sequence[Axes]", note: str, inches: float
) -> "Legend | None":
    """Add one legend for all axes of a figure below them, no wider than the figure."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    if not entries and not note:
        return None
    legend: Legend | None = None
    for columns in range(min(4, max(1, len(entries))), 0, -1):
        if legend is not None:
            legend.remove()
        legend = figure.legend(
            list(entries.values()),
            list(entries),
            loc="outside lower center",
            ncols=columns,
            **_words(note),
        )
        if legend.get_window_extent().width <= figure.dpi * (inches - 0.1):
            break
    return legend


def add_axes_legend(ax: "Axes", note: str, below: bool = False) -> None:
    """Add a legend to axes: in a corner without data if there is one, else beside or below."""
    handles, labels = ax.get_legend_handles_labels()
    if not handles and not note:
        return
    for corner in () if below else ("upper left", "upper right", "lower right", "lower left"):
        legend = ax.legend(handles, labels, loc=corner, **_words(note))
        if not covers_data(ax, legend):
            return
    if below:
        from matplotlib.transforms import ScaledTranslation

        figure: Any = ax.figure
        under = ax.transAxes + ScaledTranslation(0, -0.42, figure.dpi_scale_trans)  # its numbers
        place: dict[str, Any] = {"bbox_to_anchor": (0.5, 0.0), "bbox_transform": under}
        ax.legend(handles, labels, loc="upper center", **place, **_words(note))
    else:
        ax.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.01, 1.0), **_words(note))


def _words(note: str) -> dict[str, Any]:
    return {
        "title": note or None,
        "fontsize": 8,
        "title_fontsize": 8,
        "frameon": False,
        "handlelength": 3.2,
        "columnspacing": 1.4,
    }


def covers_data(ax: "Axes", legend: "Legend") -> bool:
    """Return whether a legend lies over a line, a band or a bar of axes."""
    box = legend.get_window_extent()
    paths = [line.get_transform().transform_path(line.get_path()) for line in ax.get_lines()]
    for group in ax.collections:
        paths += [group.get_transform().transform_path(path) for path in group.get_paths()]
    for patch in ax.patches:
        paths.append(patch.get_transform().transform_path(patch.get_path()))
    return any(path.intersects_bbox(box, filled=False) for path in paths) or any(
        box.contains(x, y) for path in paths for x, y in np.asarray(path.vertices)
    )
