"""Curves of a figure: which to draw, what to call them, and which may share axes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastes.agents import agent_label, labelled_parameters
from fastes.checks.arrays import Floats
from fastes.checks.parameters import FLAGS
from fastes.results.result import Result
from fastes.results.selection import facts_of

MOST_PANELS = 24


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve before it has a place and a style.

    Attributes
    ----------
    facts : mapping
        What it is of: agent, parameters, K, d, T and more, by name.
    words : mapping
        What its label says, by the name of the fact.
    x, y, error : arrays
        Points, and two standard errors of y; nan where there is none.
    runs : (int, int)
        The fewest and the most runs of a point.
    level : bool
        Whether it is one number, the same at every x.
    result : Result or None
        What it was measured in, if that is one result.
    """

    facts: Mapping[str, Any]
    words: Mapping[str, str]
    x: Any
    y: Floats
    error: Floats
    runs: tuple[int, int]
    level: bool = False
    result: Result | None = None

    def label(self, hidden: Iterable[str] = ()) -> str:
        """Return the label, without what the title of its panel says."""
        said = self.words.items()
        return ", ".join(text for name, text in said if name == "agent" or name not in hidden)

    def key(self, hidden: Iterable[str] = ()) -> tuple[str, str]:
        """Return its agent and its label: curves with equal ones have equal styles."""
        return self.facts["agent"], self.label(hidden)


class Panel(NamedTuple):
    """Curves that share axes, and the facts that set them apart from other panels."""

    values: dict[str, Any]
    curves: list[Curve]


def curves_of(
    results: Sequence[Result], points: Callable[[Result], tuple[Any, Any, Any]]
) -> list[Curve]:
    """Return a curve for each result; `points` gives its x, y and standard error of y.

    Two that would have equal labels also say in what they differ; what is there twice is drawn
    once.
    """
    curves: list[Curve] = []
    for result in results:
        c = result.configuration
        x, y, se = points(result)
        words = {"agent": agent_label(c.agent, {})}
        shown = labelled_parameters(c.agent, c.parameters)
        words |= {k: agent_label("", {k: v}).removeprefix(", ") for k, v in shown.items()}
        error = 2 * np.asarray(se)
        runs = (c.runs, c.runs)
        curves.append(Curve(facts_of(result), words, x, y, error, runs, result=result))
    return told_apart(curves)


_TELLING = ("engine", "T", "runs", "seed", "truth", "delay")
"""Facts that labels say where curves differ in them."""


def told_apart(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves, each once, with labels that differ on one problem."""
    groups: dict[Any, list[Curve]] = {}
    for curve in curves:
        of = tuple(curve.facts.get(name) for name in ("problem", "theta"))
        group = groups.setdefault((of, curve.label()), [])
        if not any(same(curve, other) for other in group):
            group.append(curve)
    found: dict[int, Curve] = {}
    for group in groups.values():
        names = [n for n in _TELLING if len(_values(group, n)) > 1]
        for i, curve in enumerate(group):
            more = {name: fact_text(name, curve.facts.get(name)) for name in names}
            if len(group) > 1 and len({tuple(map(c.facts.get, names)) for c in group}) == 1:
                more["copy"] = f"no. {i + 1}"
            facts = {**curve.facts, "copy": i} if "copy" in more else curve.facts
            found[id(curve)] = replace(curve, words={**curve.words, **more}, facts=facts)
    return [found[id(curve)] for curve in curves if id(curve) in found]


def same(x: Curve, y: Curve) -> bool:
    """Return whether two curves have the same points."""
    return (
        len(x.x) == len(y.x)
        and all(np.array_equal(a, b) for a, b in ((x.x, y.x), (x.y, y.y)))
        and x.facts == y.facts
    )


def fact_text(name: str, value: Any) -> str:
    """Return a fact for a title or a label.

    >>> fact_text("K", 1000), fact_text("noise", 0.5), fact_text("runs", 1)
    ('K=1,000', 'noise=0.5', '1 run')
    """
    if name == "agent":
        return agent_label(value, {})
    if name == "runs":
        return f"{value:,} run{'s' if value > 1 else ''}"
    if name == "theta":
        return "theta from the prior" if value == "prior" else "theta fixed"
    if name == "problem":
        return f"problem {value[:6]}"
    if name == "truth":
        return "as believed" if value in (None, "belief") else f"truth: {value}"
    if name == "delay":
        return f"delay={value or 0:,}"
    if name == "actions":
        return str(value)
    if isinstance(value, bool):
        return f"{name}={FLAGS[value]}"
    if isinstance(value, float):
        return f"{name}={value:g}"
    return f"{name}={value:,}" if isinstance(value, int) else f"{name}={value}"


def split(
    curves: Sequence[Curve],
    facet: str | None,
    apart: Sequence[str],
    fits: Callable[[list[Curve], list[str]], bool],
    most: int | None = MOST_PANELS,
) -> list[Panel]:
    """Return the panels of a figure, or raise ValueError if they are more than `most`.

    One for each value of the fact `facet`; none with curves that differ in a fact of `apart`,
    which cannot be compared; and as few more as are needed for all of them to be readable. A
    curve that lacks a fact (Thompson sampling has no M) is in every panel.
    """
    names: list[str] = []
    if facet is not None:
        known = list(dict.fromkeys(name for curve in curves for name in curve.facts))
        if facet not in known:
            raise ValueError(f"facet must be one of {', '.join(known)}, got {facet!r}")
        if all(curve.facts.get(facet) is None for curve in curves):
            raise ValueError(f"facet must be a fact of some curve, but none has {facet}")
        names.append(facet)
    panels = _partition(curves, names)
    for name in apart:
        if any(len(_values(panel.curves, name)) > 1 for panel in panels):
            names.append(name)
            panels = _partition(curves, names)
    while any(not fits(panel.curves, names) for panel in panels):
        crowded = [panel.curves for panel in panels if not fits(panel.curves, names)]
        said = dict.fromkeys(n for group in crowded for curve in group for n in curve.words)
        ways: list[tuple[int, bool, bool, int, int, str]] = []
        for name in said:
            if any(len(_values(group, name) - {None}) > 1 for group in crowded):
                tried = _partition(curves, [*names, name])
                left = sum(not fits(panel.curves, [*names, name]) for panel in tried)
                one_legend = fits(list(curves), [*names, name])
                ways.append((left, len(tried) > 6, not one_legend, len(tried), -len(ways), name))
        names.append(min(ways)[-1])
        panels = _partition(curves, names)
    if most is not None and len(panels) > most:
        raise ValueError(
            f"the figure would have {len(panels)} panels, at most {most} are readable: "
            "choose fewer results with where"
        )
    return panels


def _partition(curves: Sequence[Curve], names: Sequence[str]) -> list[Panel]:
    keys = dict.fromkeys(tuple(curve.facts.get(name) for name in names) for curve in curves)
    # What lacks a fact that another key has is in that one's panel, and needs none of its own.
    own = [key for key in keys if not any(key != other and _within(key, other) for other in keys)]
    if len(names) == 1 and all(isinstance(key[0], (int, float)) for key in own):
        own.sort()
    panels = []
    for key in own:
        here = [c for c in curves if _within([c.facts.get(name) for name in names], key)]
        panels.append(Panel(dict(zip(names, key, strict=True)), here))
    return panels


def _within(key: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(value is None or value == its for value, its in zip(key, other, strict=True))


def _values(curves: Iterable[Curve], name: str) -> set[Any]:
    return {curve.facts.get(name) for curve in curves}
