"""Curves of a figure: their facts, points and labels."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fastes.agents import agent_label, labelled_parameters, parameters_by_option
from fastes.checks.arrays import Floats
from fastes.results.configuration import FACTS, fact_text
from fastes.results.result import Result
from fastes.results.selection import facts_of


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve, before it is assigned a panel and a style.

    Attributes
    ----------
    facts : mapping
        Agent, parameters, K, d, T and more, by name.
        texts : mapping
        Texts of its label, by the name of the fact.
    x, y, error : arrays
        Points, and two standard errors of y; nan if unknown.
    runs : (int, int)
        Minimum and maximum number of runs over the points.
    level : bool
        Whether it is a constant, the same at every x.
    result : Result or None
        The result that it shows, if it is a single one.
    """

    facts: Mapping[str, Any]
    texts: Mapping[str, str]
    x: Any
    y: Floats
    error: Floats
    runs: tuple[int, int]
    level: bool = False
    result: Result | None = None

    def label(self, hidden: Iterable[str] = ()) -> str:
        """Return the label, without facts in `hidden`, which the panel's title has."""
        texts = self.texts.items()
        return ", ".join(text for name, text in texts if name == "agent" or name not in hidden)

    def key(self, hidden: Iterable[str] = ()) -> tuple[str, str]:
        """Return its agent and its label: curves with equal ones have equal styles."""
        return self.facts["agent"], self.label(hidden)


class Line(NamedTuple):
    """A line that belongs to a curve, such as a bound; horizontal if `x` is None.

    It has the colour of `curve`, whose label is appended to its own, and its dashes unless `dashes`
    says otherwise; without a curve it is grey. With `error`, two standard errors, it is drawn as
    open markers with bars.
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

    Curves with equal labels are also labelled by the facts in which they differ; duplicates are
    dropped.
    """
    curves: list[Curve] = []
    for result in results:
        c = result.configuration
        x, y, se = points(result)
        texts = {"agent": agent_label(c.agent, {})}
        for name, value in labelled_parameters(c.agent, c.parameters).items():
            (option,) = parameters_by_option(c.agent, {name: value})
            texts[option] = agent_label("", {name: value}).removeprefix(", ")
        error = 2 * np.asarray(se)
        runs = (c.runs, c.runs)
        curves.append(Curve(facts_of(result), texts, x, y, error, runs, result=result))
    return distinct(curves)


def distinct(curves: Sequence[Curve]) -> list[Curve]:
    """Return the curves without duplicates, with distinct labels on each problem."""
    groups: dict[Any, list[Curve]] = {}
    for curve in curves:
        of = tuple(curve.facts.get(name) for name in ("problem", "theta"))
        group = groups.setdefault((of, curve.label()), [])
        if not any(same(curve, other) for other in group):
            group.append(curve)
    found: dict[int, Curve] = {}
    for group in groups.values():
        labelled = [name for name, fact in FACTS.items() if fact.figures == "labelled"]
        names = [name for name in labelled if len(values_of(group, name)) > 1]
        for i, curve in enumerate(group):
            more = {name: fact_text(name, curve.facts.get(name)) for name in names}
            if len({tuple(map(each.facts.get, names)) for each in group}) < len(group):
                more["copy"] = f"no. {i + 1}"
            facts = {**curve.facts, "copy": i} if "copy" in more else curve.facts
            found[id(curve)] = replace(curve, texts={**curve.texts, **more}, facts=facts)
    return [found[id(curve)] for curve in curves if id(curve) in found]


def same(x: Curve, y: Curve) -> bool:
    """Return whether two curves have the same facts and points."""
    return x.facts == y.facts and np.array_equal(x.x, y.x) and np.array_equal(x.y, y.y)


def values_of(curves: Iterable[Curve], name: str) -> set[Any]:
    """Return the curves' values of a fact, with None for those without it."""
    return {curve.facts.get(name) for curve in curves}
