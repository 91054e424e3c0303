"""How curves are told apart: a colour family for each agent, and dashes and markers of their own.

Nothing is left to colour alone: of up to `MOST` curves no two share their colour, its lightness,
their dashes or their marker, so that they are told apart in grey print too.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fastes.checks.arrays import Floats

MOST = 12
"""How many curves of one figure can be told apart by colour, dashes and marker."""

_DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (5, 1.3, 1, 1.3)),
    (0, (1, 1.2)),
    (0, (9, 1.8)),
    (0, (5, 1.2, 1, 1.2, 1, 1.2)),
    (0, (2.5, 1.3)),
    (0, (9, 1.5, 2.5, 1.5)),
    (0, (1, 2.5)),
    (0, (9, 1.3, 1, 1.3)),
    (0, (4, 3.5)),
    (0, (2.5, 1, 2.5, 1, 1, 1)),
)
_MARKERS = ("o", "s", "^", "D", "v", "X", "P", "*", "<", ">", "d", "h")


@dataclass(frozen=True)
class _Family:
    """A hue and a chroma (OKLCH), and what a single curve of the family looks like.

    `offset` keeps lightnesses of different families apart: shades are 0.042 from each other.
    """

    hue: float
    chroma: float
    shade: int
    form: int
    offset: float


_KNOWN = {
    "es": _Family(255, 0.16, shade=2, form=0, offset=0.0),
    "ts": _Family(45, 0.17, shade=7, form=1, offset=0.008),
    "greedy": _Family(165, 0.13, shade=10, form=2, offset=0.016),
    "linucb": _Family(335, 0.17, shade=4, form=3, offset=0.024),
    "uniform": _Family(0, 0.0, shade=8, form=4, offset=0.032),
    "es++": _Family(300, 0.17, shade=5, form=5, offset=0.004),
    "ids": _Family(140, 0.15, shade=6, form=9, offset=0.036),
    "phe": _Family(95, 0.13, shade=9, form=6, offset=0.012),
    "bayes-ucb": _Family(15, 0.17, shade=3, form=7, offset=0.020),
    "eps-greedy": _Family(205, 0.11, shade=8, form=8, offset=0.028),
}

_OTHER_HUES = (25, 60, 75, 115, 120, 180, 185, 225, 275, 320)
"""Of agents that are not known here, by a hash of the name: none is a known agent's."""


@dataclass(frozen=True)
class Style:
    """What one curve looks like: `shade` and `form` count its colours, and dashes and markers."""

    agent: str
    shade: int
    form: int

    @property
    def colour(self) -> str:
        """Its colour, as #rrggbb."""
        return _colour(_family(self.agent), self.shade)

    def line(self) -> dict[str, Any]:
        """Return its colour, dashes and marker, as matplotlib's `plot` takes them."""
        return {
            "color": self.colour,
            "linestyle": _DASHES[self.form],
            "linewidth": 1.4,
            "marker": _MARKERS[self.form],
            "markersize": 5,
            "markeredgewidth": 0.8,
        }


def curve_styles(agents: Sequence[str], taken: Sequence[Style] = ()) -> list[Style]:
    """Return a style for each curve, by the short names of their agents.

    A curve that is the only one of its agent looks the same on every figure. Several get shades
    of the agent's colour, the first the darkest. `taken` are styles of curves that are drawn
    already.

    Examples
    --------
    >>> es, ts = curve_styles(["es", "ts"])
    >>> curve_styles(["linucb", "ts"])[1] == ts, es.colour == ts.colour
    (True, False)
    >>> len({style.colour for style in curve_styles(["es"] * 9 + ["ts", "greedy"])})
    11
    """
    if len(agents) + len(taken) > MOST:
        raise ValueError(f"at most {MOST} curves can be told apart, got {len(agents) + len(taken)}")
    used = {style.form for style in taken}
    forms: dict[int, int] = {}
    firsts = [i for i, agent in enumerate(agents) if agent not in agents[:i]]
    for i in [*firsts, *(i for i in range(len(agents)) if i not in firsts)]:
        preferred = _family(agents[i]).form
        order = [preferred, *range(MOST)] if i in firsts else list(range(MOST))
        forms[i] = next(form for form in order if form not in used)
        used.add(forms[i])
    shades: dict[int, int] = {}
    for agent in dict.fromkeys(agents):
        members = [i for i, name in enumerate(agents) if name == agent]
        drawn = {style.shade for style in taken if _family(style.agent) == _family(agent)}
        shades.update(zip(members, _shades(agent, len(members), drawn), strict=True))
    return [Style(agent, shades[i], forms[i]) for i, agent in enumerate(agents)]


def colour_scale(agent: str, positions: Sequence[float]) -> list[str]:
    """Return colours of an agent's family for positions from 0, dark, to 1, light."""
    family = _family(agent)
    return [_colour(family, -1 + 13 * position) for position in positions]


def on_dark(colour: str) -> str:
    """Return a colour for a dark background: of the same hue, lighter, and in the same order.

    The darkest shade of a family, 0.30 in lightness, becomes 0.62; the lightest, 0.79, 0.90.

    >>> on_dark(curve_styles(["es"])[0].colour)
    '#5d97e0'
    """
    gamma = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(gamma <= 0.04045, gamma / 12.92, ((gamma + 0.055) / 1.055) ** 2.4)
    cones = np.linalg.solve(_FROM_CONES, linear)
    lightness, a, b = np.linalg.solve(_TO_CONES, np.cbrt(cones))
    hue = float(np.degrees(np.arctan2(b, a)))
    return _colour_at(0.62 + (lightness - 0.30) * 0.57, float(np.hypot(a, b)), hue)


def _shades(agent: str, n: int, drawn: set[int]) -> list[int]:
    """Return n of a family's shades, as far apart as can be, that are not drawn yet."""
    free = [shade for shade in range(MOST) if shade not in drawn]
    preferred = _family(agent).shade
    if n == 1 and preferred in free:
        return [preferred]
    if n + 2 <= len(free):  # the darkest and the lightest only where they are needed
        free = free[1:-1]
    return [free[i] for i in np.round(np.linspace(0, len(free) - 1, n)).astype(int)]


def _family(agent: str) -> _Family:
    if agent in _KNOWN:
        return _KNOWN[agent]
    number = zlib.crc32(agent.encode())
    hue = _OTHER_HUES[number % len(_OTHER_HUES)]
    rest = number // len(_OTHER_HUES)
    return _Family(hue, 0.14, 2 + rest % 8, 5 + rest // 8 % 7, 0.001 * (rest // 56 % 40))


def _colour(family: _Family, shade: float) -> str:
    return _colour_at(0.30 + 0.042 * shade + family.offset, family.chroma, family.hue)


def _colour_at(lightness: float, most_chroma: float, hue: float) -> str:
    """Return a colour in hexadecimal; where a screen has no such colour, one that is paler."""
    for chroma in np.linspace(most_chroma, 0.0, 60):
        rgb = _rgb(lightness, chroma, np.radians(hue))
        if (rgb >= 0).all() and (rgb <= 1).all():
            break
    return "#" + "".join(f"{round(255 * part):02x}" for part in np.clip(rgb, 0, 1))


# OKLab (Ottosson, 2020): (lightness, a, b) to cube roots of cone responses, and these to sRGB.
_TO_CONES = np.array(
    [
        [1.0, 0.3963377774, 0.2158037573],
        [1.0, -0.1055613458, -0.0638541728],
        [1.0, -0.0894841775, -1.2914855480],
    ]
)
_FROM_CONES = np.array(
    [
        [4.0767416621, -3.3077115913, 0.2309699292],
        [-1.2684380046, 2.6097574011, -0.3413193965],
        [-0.0041960863, -0.7034186147, 1.7076147010],
    ]
)


def _rgb(lightness: float, chroma: float, hue: float) -> Floats:
    """Return a colour of OKLCH as red, green and blue of sRGB."""
    a, b = chroma * np.cos(hue), chroma * np.sin(hue)
    linear = _FROM_CONES @ (_TO_CONES @ np.array([lightness, a, b])) ** 3
    gamma = 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, gamma)
