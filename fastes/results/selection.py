"""Selection of results by the values of their facts."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from fastes.agents import parameters_by_option
from fastes.checks.parameters import FLAGS
from fastes.results.configuration import FACTS
from fastes.results.result import Result

Item = TypeVar("Item")


def facts_of(result: Result) -> dict[str, Any]:
    """Return the facts of a result by name, for `where` and `facet`."""
    c = result.configuration
    drawn = {name: getattr(c, name) for name, fact in FACTS.items() if fact.figures != "never"}
    if c.actions == "fixed":
        del drawn["actions"]
    return {"agent": c.agent, **parameters_by_option(c.agent, c.parameters), **drawn}


def selected(
    items: Sequence[tuple[Mapping[str, Any], Item]], where: Mapping[str, Any] | None
) -> list[Item]:
    """Return the items whose facts have these values; ValueError if there are none.

    A value may be a list, or a text as on the command line: "50", "2,8", "yes", "none".

    Examples
    --------
    >>> items = [({"agent": "es", "M": 2}, "a"), ({"agent": "ts"}, "b")]
    >>> selected(items, {"M": 2}), selected(items, {"agent": "es,ts"}), selected(items, None)
    (['a'], ['a', 'b'], ['a', 'b'])
    """
    kept = list(items)
    for name, wanted in (where or {}).items():
        known = list(dict.fromkeys(key for facts, _ in items for key in facts))
        if name not in known:
            raise ValueError(f"where must name one of {', '.join(known)}, got {name!r}")
        values = [facts.get(name) for facts, _ in items]
        accepted = _listed(wanted, values)
        for each in accepted:
            if not any(_equals(value, each) for value in values):
                there = " or ".join(dict.fromkeys(map(_shown, values)))
                raise ValueError(f"where asks for {name}={each}, but {name} is {there}")
        kept = [i for i in kept if any(_equals(i[0].get(name), each) for each in accepted)]
    if not kept and items:
        asked = " and ".join(f"{name}={value}" for name, value in (where or {}).items())
        raise ValueError(f"no result has {asked}")
    return [item for _, item in kept]


def _listed(wanted: Any, values: Sequence[Any]) -> list[Any]:
    """Return the requested values; a text that is itself a value may contain commas."""
    if isinstance(wanted, (list, tuple)):
        return [each for one in wanted for each in _listed(one, values)]
    if not isinstance(wanted, str) or any(_equals(value, wanted) for value in values):
        return [wanted]
    return [each.strip() for each in wanted.split(",")]


def _shown(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return "none" if value is None else FLAGS[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _equals(value: Any, wanted: Any) -> bool:
    if not isinstance(wanted, str) or isinstance(value, str):
        return bool(value == wanted)
    if value is None or isinstance(value, bool):
        return wanted.lower() == _shown(value)
    try:
        return bool(float(value) == float(wanted))
    except (TypeError, ValueError):
        return False
