"""Styles of curves: a colour for each agent, and dashes and a marker of its own for each curve.

The styles are a fixed table. Colours differ in lightness as well as in hue, and no two curves of a
figure share dashes or a marker: they differ in grey print and to the colour-blind too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fastes.results.curves import Curve

if TYPE_CHECKING:
    from matplotlib.cm import ScalarMappable

MOST = 12
"""How many curves of one figure have styles of their own."""


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
"""Shades of an agent, from dark to light, and which of them a single curve has.

Agents of other names get rows that no agent of the figure has, from the last on.
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
"""Dashes and marker of a single curve of the agent in the same row of `_SHADES`."""


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
    """Return a style for each curve, by the short names of their agents.

    A curve that is the only one of its agent looks the same on every figure. Several get shades
    of the agent's colour, the first the darkest.

    Examples
    --------
    >>> es, ts = curve_styles(["es", "ts"])
    >>> curve_styles(["linucb", "ts"])[1] == ts, es.colour == ts.colour
    (True, False)
    >>> [style.colour for style in curve_styles(["es", "es", "es", "ts"])]
    ['#012d5d', '#0458ac', '#61a7fe', '#cf5606']
    """
    if len(agents) > MOST:
        raise ValueError(f"at most {MOST} curves can have styles, got {len(agents)}")
    known = list(_SHADES)
    unused = [row for row, name in enumerate(known) if name not in agents]
    rows = {a: known.index(a) if a in known else unused.pop() for a in dict.fromkeys(agents)}
    styles = []
    for i, agent in enumerate(agents):
        alone, shades = _SHADES[known[rows[agent]]]
        before, n = agents[:i].count(agent), agents.count(agent)
        shade = before * (len(shades) - 1) // (n - 1) if n > 1 else alone
        styles.append(Style(shades[shade], *_FORMS[unused.pop(0) if before else rows[agent]]))
    return styles


class Scale(NamedTuple):
    """The colours of an agent's curves, which differ in one number: a label, and both."""

    label: str
    colours: "ScalarMappable"


class Styles(NamedTuple):
    """The look and the label of curves, by their keys, as keywords of matplotlib's `plot`.

    `hidden` are facts that labels leave out, for the title of a panel says them.
    """

    hidden: Sequence[str]
    lines: dict[tuple[str, str], dict[str, Any]]
    scales: list[Scale]

    def line(self, curve: Curve) -> dict[str, Any]:
        """Return the look and the label of a curve."""
        return self.lines[curve.key(self.hidden)]


def styles_of(curves: Sequence[Curve], hidden: Sequence[str] = ()) -> Styles | None:
    """Return styles for the curves of a figure; None if they are too many.

    Up to `MOST` have a style each. Where there are more, those of the agents with the most are on
    scales of colours, if their labels differ in one number only.
    """
    keyed = {curve.key(hidden): curve for curve in curves}
    styles = Styles(hidden, {}, [])
    while len(keyed) > MOST:
        agents = [agent for agent, _ in keyed]
        agent = max(agents, key=agents.count)
        scaled = {key: keyed.pop(key) for key in list(keyed) if key[0] == agent}
        words = [{n: w for n, w in c.words.items() if n not in hidden} for c in scaled.values()]
        varied = [n for n in {n for w in words for n in w} if len({w.get(n) for w in words}) > 1]
        values = [curve.facts.get(varied[0]) for curve in scaled.values()] if varied else []
        if len(varied) != 1 or not all(type(value) in (int, float) for value in values):
            return None
        scale = Scale(f"{varied[0]} of {words[0]['agent']}", _colours(agent, values))
        styles.scales.append(scale)
        styles.lines.update(zip(scaled, _scaled(scale, values), strict=True))
    found = curve_styles([agent for agent, _ in keyed])
    for key, style in zip(keyed, found, strict=True):
        styles.lines[key] = {**style.line(), "label": key[1]}
    return styles


def _scaled(scale: Scale, values: Sequence[Any]) -> list[dict[str, Any]]:
    from matplotlib.colors import to_hex

    rows: Any = scale.colours.to_rgba(np.array(values))
    look = {"linestyle": "-", "linewidth": 1.2, "label": "_nolegend_"}
    return [{"color": to_hex(colour), **look} for colour in rows]


def _colours(agent: str, values: Sequence[Any]) -> "ScalarMappable":
    """Return colours for numbers, dark for the smallest; logarithmic over more than a decade."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    low, high = min(values), max(values)
    _, shades = _SHADES.get(agent, _SHADES["other 1"])
    norm = LogNorm if low > 0 and high > 10 * low else Normalize
    return ScalarMappable(norm(low, high), LinearSegmentedColormap.from_list(agent, shades))
