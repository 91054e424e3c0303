"""Panels of a figure: which curves share axes, and the panels' titles."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from fastes.results.configuration import fact_text
from fastes.results.curves import Curve, values_of


class Panel(NamedTuple):
    """Curves that share axes, and the facts that distinguish them from other panels."""

    values: dict[str, Any]
    curves: list[Curve]


def facets(curves: Sequence[Curve], facet: str | None, apart: Sequence[str]) -> list[Panel]:
    """Return a panel for each value of `facet`; curves in a panel agree in the facts of `apart`.

    A curve that lacks a fact (Thompson sampling has no M) is in every panel.
    """
    known = list(dict.fromkeys(name for curve in curves for name in curve.facts))
    if facet is not None and facet not in known:
        raise ValueError(f"facet must be one of {', '.join(known)}, got {facet!r}")
    if facet is not None and values_of(curves, facet) == {None}:
        raise ValueError(f"facet must be a fact of some curve, but no curve has {facet}")
    names = [] if facet is None else [facet]
    panels = _partition(curves, names)
    for name in apart:
        if any(len(values_of(panel.curves, name)) > 1 for panel in panels):
            names.append(name)
            panels = _partition(curves, names)
    return panels


def _partition(curves: Sequence[Curve], names: Sequence[str]) -> list[Panel]:
    keys = dict.fromkeys(tuple(curve.facts.get(name) for name in names) for curve in curves)
    # A key that lacks a fact belongs to the panels of keys that have it, and gets no panel itself.
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


_AT_NEED = ("noise", "theta", "problem")
"""Facts in titles only if panels would otherwise have equal titles."""


def titles(panels: Sequence[Panel]) -> tuple[str, list[str]]:
    """Return the common title, and the title of each panel."""
    tables = [_texts(panel) for panel in panels]
    for name in _AT_NEED:
        if len({tuple(table.values()) for table in tables}) < len(tables):
            for table, panel in zip(tables, panels, strict=True):
                values = values_of(panel.curves, name)
                if len(values) == 1 and None not in values:
                    table[name] = fact_text(name, values.pop())
    names = list(dict.fromkeys(name for table in tables for name in table))
    apart = {name for name in names if len({table.get(name) for table in tables}) > 1}
    if apart & {"K", "d"}:  # a problem has both
        apart |= {"K", "d"}
    shared = [tables[0][name] for name in names if name not in apart and name not in _AT_NEED]
    each = [", ".join(table[n] for n in names if n in apart and n in table) for table in tables]
    return ", ".join(shared), each


def _texts(panel: Panel) -> dict[str, str]:
    """Return the texts for the title of a panel, by the names of the facts."""
    curves = panel.curves
    ranges = {name: values_of(curves, name) - {None} for name in ("K", "d", "T")}
    elsewhere = {*ranges, "actions", "runs", *_AT_NEED}
    texts = {
        name: fact_text(name, value)
        for name, value in panel.values.items()
        if name not in elsewhere and value is not None
    }
    actions = values_of(curves, "actions") - {None}
    if actions:
        texts["actions"] = " or ".join(sorted(actions))
    for name, values in ranges.items():
        if len(values) == 1:
            texts[name] = fact_text(name, *values)
        elif values and not any(name in curve.texts for curve in curves):  # not in labels
            texts[name] = f"{fact_text(name, min(values))} to {max(values):,}"
    low, high = min(curve.runs[0] for curve in curves), max(curve.runs[1] for curve in curves)
    if high:
        texts["runs"] = fact_text("runs", high) if low == high else f"{low:,} to {high:,} runs"
    return texts
