"""What diagnostics say in a few lines: regret beside its bounds, and whether any is exceeded."""

import math
import textwrap
from collections.abc import Iterator
from functools import partial
from typing import Any

from fastes.results.comparison import Comparison
from fastes.results.tables import (
    Column,
    Parts,
    grid,
    rounded,
    with_error,
)
from fastes.theory.tables import heading

_OF_STEPS = (
    ("KL(phat||p)", "kl_phat_p", "kl_phat_p"),
    ("KL(phat||p), Proposition 1", "kl_phat_p", "kl_phat_p_proposition1"),
    ("approximation error", "approximation_error_of_phat", "approximation_error"),
    ("information ratio", "information_ratio", "information_ratio"),
)
"""Title, measurement and bound of each inequality on a step, as `inequalities` names them."""

_OF_REGRET = {
    "Theorem 2": "theorem2_of_phat",
    "Theorem B": "first_order_of_phat",
    "Theorem 1": "theorem1",
    "best bound": "best",
}
_NOTES = {
    "Theorem 2": "its right side, with Hellinger distances as measured.",
    "Theorem 1": "the paper's bound on ensemble sampling.",
    "best bound": "the smallest that is proven of ensemble sampling.",
}
_SURE = 3.0  # standard errors by which a bound must be exceeded to be called exceeded


def checks(table: dict[str, Any]) -> list[dict[str, Any]]:
    """Return each inequality at the step where it is tightest, of one agent.

    `table` is what `fastes.theory.inequalities.inequalities` returns. Each has its `name`, the
    step `t` or None for regret, `measured`, its `se`, the `bound`, and `exceeded`: whether what was
    measured is above the bound by more than three standard errors.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.inequalities import inequalities
    >>> bandit = fastes.LinearBandit.random(K=10, d=2)
    >>> agent = fastes.EnsembleSampling(M=10)
    >>> result = fastes.simulate(bandit, agent, T=10, runs=20, diagnostics=range(10))
    >>> found = checks(inequalities(result))
    >>> any(each["exceeded"] for each in found)
    False
    """
    if table["bounds"] is None:
        return []
    found = []
    for name, measured, bound in _OF_STEPS:
        every = [
            _check(name, t, table[measured]["mean"][i], table[measured]["se"][i], limit)
            for i, t in enumerate(table["t"])
            if (limit := _at(table["bounds"][bound], i))
            and table[measured]["mean"][i] is not None
            and not table[measured]["unknown"][i]
        ]
        found += [max(every, key=_share)] if every else []
    regret = table["totals"]["regret"]
    found += [
        _check(f"regret, {name}", None, regret["mean"], regret["se"], table["totals"][key])
        for name, key in _OF_REGRET.items()
        if table["totals"].get(key)
    ]
    return found


def _at(bound: Any, i: int) -> float | None:
    return bound[i] if isinstance(bound, list) else bound


def _check(name: str, t: int | None, measured: float, se: float | None, bound: float) -> Any:
    exceeded = measured - _SURE * (se or 0.0) > bound
    return {"name": name, "t": t, "measured": measured, "se": se, "bound": bound} | {
        "exceeded": exceeded
    }


def _share(check: dict[str, Any]) -> float:
    return float(check["measured"] / check["bound"])


def summary_tables(comparison: Comparison, tables: list[dict[str, Any]]) -> Parts:
    """Return a row for each agent, regret beside its bounds, and a verdict."""
    c = comparison.results[0].configuration
    columns = [
        Column("agent", lambda table: table["agent"]),
        Column("regret", lambda table: with_error(**table["totals"]["regret"])),
        Column("Hel^2", _distance, "squared Hellinger distance of phat and p, last probe."),
        *(
            Column(name, partial(_total, key=key), _NOTES[name])
            for name, key in _OF_REGRET.items()
            if name in _NOTES and any(table["totals"].get(key) is not None for table in tables)
        ),
    ]
    every = [(table["agent"], each) for table in tables for each in checks(table)]
    return [
        *heading(comparison),
        grid(columns, tables, left=1),
        *(f"{column.title}: {column.note}" for column in columns if column.note),
        *(_verdict(every, tables) if every else [c.instead_of_bounds]),
        *["A single run has no standard error."] * (c.runs == 1),
        "--full: every quantity at every probed step.",
    ]


def _distance(table: dict[str, Any]) -> str:
    return _text(table["hellinger_squared_of_phat"]["mean"][-1])


def _text(value: float | None) -> str:
    return "-" if value is None else rounded(value)


def _total(table: dict[str, Any], key: str) -> str:
    return _text(table["totals"].get(key))


def _verdict(every: list[tuple[str, Any]], tables: list[dict[str, Any]]) -> Iterator[str]:
    """Yield whether bounds are exceeded, and which inequality is the tightest."""
    exceeded = [(agent, each) for agent, each in every if each["exceeded"]]
    for agent, each in exceeded:
        yield f"EXCEEDED: {_shown(agent, each)}"
    if not exceeded:
        agent, each = max(every, key=lambda pair: _share(pair[1]))
        yield f"All {len(every):,} inequalities hold. The tightest:"
        yield _shown(agent, each)
    play = tables[0]["totals"].get("trivial")
    if play is not None and math.isfinite(play):
        useful = [t["agent"] for t in tables if (t["totals"].get("best") or math.inf) < play]
        which = "; ".join(useful) if useful else "none"
        yield from textwrap.wrap(f"Best bounds below random play, {rounded(play)}: {which}.", 79)


def _shown(agent: str, each: dict[str, Any]) -> str:
    at = "" if each["t"] is None else f" at t={each['t']:,}"
    measured, bound = rounded(each["measured"]), rounded(each["bound"])
    return f"{agent}, {each['name']}{at}: {measured}, bound {bound}"
