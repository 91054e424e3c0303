"""Styles of curves: a colour for each agent, dashes and a marker for each curve.

The styles are a fixed table. Colours differ in lightness as well as hue, and no two of twelve
curves share dashes or a marker: they can be distinguished in grey print and by the colour-blind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastes.results.curves import Curve

_SHADES = {
    "es": (1, ("#012d5d", "#024284", "#0458ac", "#2171cd", "#3e8be9", "#61a7fe")),
    "ts": (3, ("#622502", "#853400", "#aa4502", "#cf5606", "#ed7131", "#ff9462")),
    "greedy": (5, ("#003c29", "#01553c", "#017050", "#028c65", "#1fa87c", "#46c395")),
    "linucb": (3, ("#5b0050", "#7c0f6d", "#972f86", "#b34aa0", "#cf64bb", "#ec7ed6")),
    "uniform": (4, ("#363636", "#4c4c4c", "#636363", "#7b7b7b", "#949494", "#aeaeae")),
    "es++": (3, ("#4a0f82", "#602e9d", "#7849b8", "#9162d4", "#aa7cf1", "#c19efe")),
    "phe": (5, ("#473b03", "#615104", "#7d6804", "#998004", "#b59a26", "#cfb448")),
    "bayes-ucb": (0, ("#770124", "#9c0f34", "#b9334b", "#d64f63", "#f46a7b", "#fe959e")),
    "eps-greedy": (2, ("#003d42", "#04555d", "#046f79", "#018b96", "#16a6b3", "#42c1ce")),
    "ids": (5, ("#104301", "#185d01", "#2b7815", "#459133", "#5fac4e", "#79c768")),
    "other 1": (1, ("#503301", "#6d4803", "#8b5d02", "#a67628", "#c18f44", "#dda95f")),
    "other 2": (4, ("#023849", "#025067", "#026986", "#0184a7", "#169fc7", "#41bae3")),
}
"""Shades of each agent from dark to light, and the index of the one for a single curve.

Other agents get rows that no agent of the figure uses, from the last on.
"""

_FORMS: tuple[tuple[Any, str], ...] = (
    ("-", "o"),
    ((0, (5, 1.5)), "s"),
    ((0, (5, 1.3, 1, 1.3)), "^"),
    ((0, (1, 1.2)), "D"),
    ((0, (9, 1.8)), "v"),
    ((0, (5, 1.2, 1, 1.2, 1, 1.2)), "X"),
    ((0, (2.5, 1.3)), "P"),
    ((0, (9, 1.5, 2.5, 1.5)), "*"),
    ((0, (1, 2.5)), "<"),
    ((0, (9, 1.3, 1, 1.3)), ">"),
    ((0, (2.5, 1, 2.5, 1, 1, 1)), "h"),
    ((0, (4, 3.5)), "d"),
)
"""Dashes and marker of a single curve, by row of `_SHADES`."""


@dataclass(frozen=True)
class Style:
    """The colour (#rrggbb), dashes and marker of one curve."""

    colour: str
    dashes: Any
    marker: str

    def line(self) -> dict[str, Any]:
        """Return the style as keywords of matplotlib's `plot`."""
        return {
            "color": self.colour,
            "linestyle": self.dashes,
            "linewidth": 1.4,
            "marker": self.marker,
            "markersize": 5,
            "markeredgewidth": 0.8,
        }


def curve_styles(agents: Sequence[str]) -> list[Style]:
    """Return a style for each curve, given the short names of their agents.

    The only curve of an agent looks the same in every figure. Several get shades of the agent's
    colour, the first the darkest. Beyond twelve curves, dashes and markers recur with another
    colour.

    Examples
    --------
    >>> es, ts = curve_styles(["es", "ts"])
    >>> curve_styles(["linucb", "ts"])[1] == ts, es.colour == ts.colour
    (True, False)
    >>> [style.colour for style in curve_styles(["es", "es", "es", "ts"])]
    ['#012d5d', '#0458ac', '#61a7fe', '#cf5606']
    """
    known, names = list(_SHADES), list(dict.fromkeys(agents))
    unused = [row for row, name in enumerate(known) if name not in agents]
    others = [name for name in names if name not in known]
    rows = {name: known.index(name) for name in names if name in known}
    for i, name in enumerate(others):
        rows[name] = unused.pop() if unused else i % len(known)
    styles: list[Style] = []
    forms: dict[str, int] = {}
    for i, agent in enumerate(agents):
        alone, shades = _SHADES[known[rows[agent]]]
        before, n = agents[:i].count(agent), agents.count(agent)
        shade = before * (len(shades) - 1) // (n - 1) if n > 1 else alone
        if before:
            form = unused.pop(0) if unused else (forms[agent] + 1) % len(_FORMS)
        else:
            form = rows[agent]
        forms[agent] = form
        styles.append(Style(shades[shade], *_FORMS[form]))
    return styles


def styles_of(curves: Sequence[Curve], hidden: Sequence[str] = ()) -> dict[Curve, dict[str, Any]]:
    """Return the style and label of each curve, as keywords of matplotlib's `plot`.

    Labels omit the facts in `hidden`, which the panel's title has. Curves of equal agent and label,
    in different panels, look the same.
    """
    keys = list(dict.fromkeys(curve.key(hidden) for curve in curves))
    styles = dict(zip(keys, curve_styles([agent for agent, _ in keys]), strict=True))
    return {
        curve: {**styles[curve.key(hidden)].line(), "label": curve.label(hidden)}
        for curve in curves
    }
