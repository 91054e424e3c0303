"""Curves of a figure: what they are of, their points, and what to call them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastes.agents import agent_label, labelled_parameters
from fastes.checks.arrays import Floats
from fastes.results.configuration import FACTS, fact_text
from fastes.results.result import Result
from fastes.results.selection import facts_of


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


class Line(NamedTuple):
    """A line that belongs to curves, such as a bound; without `x` a level.

    It has the colour of `curve`, whose label follows its own, and is grey without one. With
    an `error`, two standard errors, it is measured, and drawn as open markers with bars.
    """

    label: str
    x: Any
    y: Any
    curve: Curve | None = None
    dashes: str = "-"
    error: Any = None


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
    return distinct(curves)


def distinct(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves, each once, with labels that differ on one problem."""
    groups: dict[Any, list[Curve]] = {}
    for curve in curves:
        of = tuple(curve.facts.get(name) for name in ("problem", "theta"))
        group = groups.setdefault((of, curve.label()), [])
        if not any(same(curve, other) for other in group):
            group.append(curve)
    found: dict[int, Curve] = {}
    for group in groups.values():
        told = [name for name, fact in FACTS.items() if fact.figures == "labelled"]
        names = [name for name in told if len(values_of(group, name)) > 1]
        for i, curve in enumerate(group):
            more = {name: fact_text(name, curve.facts.get(name)) for name in names}
            if len({tuple(map(each.facts.get, names)) for each in group}) < len(group):
                more["copy"] = f"no. {i + 1}"
            facts = {**curve.facts, "copy": i} if "copy" in more else curve.facts
            found[id(curve)] = replace(curve, words={**curve.words, **more}, facts=facts)
    return [found[id(curve)] for curve in curves if id(curve) in found]


def same(x: Curve, y: Curve) -> bool:
    """Return whether two curves are of the same and have the same points."""
    return x.facts == y.facts and np.array_equal(x.x, y.x) and np.array_equal(x.y, y.y)


def values_of(curves: Iterable[Curve], name: str) -> set[Any]:
    """Return the values that curves have of a fact, None for those without it."""
    return {curve.facts.get(name) for curve in curves}
