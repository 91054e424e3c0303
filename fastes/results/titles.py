"""Titles of figures and their panels: on which problem, for how long and in how many runs."""

from collections.abc import Sequence

from fastes.results.curves import Curve, Panel, fact_text

_ALWAYS = ("K", "d", "T")
_IF_KNOWN = ("actions",)
_AT_NEED = ("noise", "theta", "problem")


def titles(panels: Sequence[Panel]) -> tuple[str, list[str]]:
    """Return what is the same for all panels, and what each of them is.

    Panels of different problems have different titles: where K, d and the rest are equal, noise,
    theta or the problem's fingerprint tells them apart.
    """
    tables = [_words(panel) for panel in panels]
    for name in _AT_NEED:
        if len({tuple(table.values()) for table in tables}) < len(tables):
            for table, panel in zip(tables, panels, strict=True):
                values = {curve.facts.get(name) for curve in panel.curves}
                if len(values) == 1 and None not in values:
                    table[name] = fact_text(name, values.pop())
    names = list(dict.fromkeys(name for table in tables for name in table))
    apart = [name for name in names if len({table.get(name) for table in tables}) > 1]
    if {"K", "d"} & set(apart):  # a problem has both
        apart += [name for name in ("K", "d") if name not in apart]
    shared = [tables[0][name] for name in names if name not in apart and name not in _AT_NEED]
    each = [", ".join(table[n] for n in names if n in apart and n in table) for table in tables]
    return ", ".join(shared), each


def _words(panel: Panel) -> dict[str, str]:
    words = {
        name: fact_text(name, value)
        for name, value in panel.values.items()
        if name not in (*_ALWAYS, *_IF_KNOWN, *_AT_NEED, "runs") and value is not None
    }
    for name in _IF_KNOWN:
        values = {curve.facts.get(name) for curve in panel.curves} - {None}
        words |= {name: " or ".join(sorted(map(str, values)))} if values else {}
    for name in _ALWAYS:
        text = _range(panel.curves, name)
        if text:
            words[name] = text
    low = min(curve.runs[0] for curve in panel.curves)
    high = max(curve.runs[1] for curve in panel.curves)
    words["runs"] = fact_text("runs", high) if low == high else f"{low:,} to {high:,} runs"
    return words


def _range(curves: Sequence[Curve], name: str) -> str:
    """Return the value of a fact or its range; nothing where labels or an axis say it."""
    told = any(name in curve.words for curve in curves)
    values = {curve.facts[name] for curve in curves if curve.facts.get(name) is not None}
    if len(values) == 1:
        return fact_text(name, values.pop())
    if not values or told:
        return ""
    return f"{fact_text(name, min(values))} to {max(values):,}"
