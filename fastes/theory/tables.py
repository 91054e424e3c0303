"""Bounds, and measurements beside them, as tables."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fastes.results.comparison import Comparison
from fastes.results.tables import Parts, grid, in_brackets, rounded, setting_line, with_error

if TYPE_CHECKING:
    from rich.table import Table

_BOUNDS = {"term_b": "term (b)", "theorem1": "Theorem 1", "k_free": "free of K", "best": "best"}


def bounds_tables(table: dict[str, Any]) -> Parts:
    """Return the constants of the bounds, and a row of bounds for each ensemble size.

    `table` is what ``fastes bound --json`` prints.
    """
    eta, entropy, trivial = table["eta"], table["entropy"], table["trivial"]
    rows = []
    for row in table["rows"]:
        values = [rounded(row[name]) for name in _BOUNDS]
        note = "above random play" if row["best"] > trivial["value"] else ""
        rows.append([f"{row['M']:,}", *values, note])
    return [
        f"K={table['K']:,} arms, d={table['d']:,}, T={table['T']:,} steps",
        f"iota {rounded(table['iota'])}, eta {with_error(eta['value'], eta['se'])} "
        f"(at most {rounded(eta['closed_form'])}), "
        f"H(A*) {with_error(entropy['value'], entropy['se'])}",
        f"Thompson sampling, term (a): {rounded(table['term_a'])}",
        f"random play: {with_error(trivial['value'], trivial['se'])}",
        grid(["M", *_BOUNDS.values(), ""], rows),
        f"M = KT/d is {table['M_for_KT_over_d']:,}",
    ]


def inequalities_tables(comparison: Comparison, tables: list[dict[str, Any]]) -> Parts:
    """Return what was measured of each agent beside what bounds it (`inequalities`)."""
    parts: list[str | Table] = [
        setting_line(comparison),
        "phat: the law of the action given the agent's state; p: of the optimal action.",
        "In brackets: the standard error in units of the last place.",
    ]
    for table in tables:
        parts += [f"\n{table['agent']}", *_divergences(table), "", *_regrets(table)]
        if table["ensemble"] is not None:
            columns = {name.replace("_", " "): each for name, each in table["ensemble"].items()}
            parts += [
                "\nModels against independent draws from the posterior (each about 1)",
                _by_time(table["t"], columns),
            ]
        parts += _totals(table)
    return parts


def _divergences(table: dict[str, Any]) -> "Iterator[str | Table]":
    columns = {
        "Hel^2(phat, p)": table["hellinger_squared_of_phat"],
        "KL(phat || p)": table["kl_phat_p"],
        "KL(p || phat)": table["kl_p_phat"],
        "H(A* | H_t)": table["entropy"],
    }
    bound = table["bounds"] and table["bounds"]["kl_phat_p"]
    yield _by_time(table["t"], columns, {"bound on the KL": bound} if bound else {})
    for name, words in (("kl_phat_p", "KL(phat || p)"), ("kl_p_phat", "KL(p || phat)")):
        yield from _left_out(table, name, "infinite", f"{words} is infinite")


def _left_out(table: dict[str, Any], name: str, why: str, words: str) -> Iterator[str]:
    worst = max(table[name][why])
    if worst > 0:
        runs = "1 run" if worst == 1 else f"up to {worst} runs"
        yield f"{words} in {runs}, which its mean leaves out."


def _regrets(table: dict[str, Any]) -> "Iterator[str | Table]":
    columns = {
        "G_t": table["main_regret_of_phat"],
        "D_t": table["approximation_error_of_phat"],
        "G_t + D_t": table["step_regret"],
        "given theta": table["step_regret_given_theta"],
        "G_t^2 / I_t": table["information_ratio"],
    }
    bounds = table["bounds"]
    yield _by_time(
        table["t"], columns, {"bound on D_t": bounds["approximation_error"]} if bounds else {}
    )
    if bounds:
        yield f"Bound on G_t^2 / I_t: {rounded(bounds['information_ratio'])}."
    yield from _left_out(table, "information_ratio", "unknown", "G_t^2 / I_t is not known")


def _by_time(
    t: list[int],
    columns: Mapping[str, Mapping[str, list[float | None]]],
    bounds: Mapping[str, list[float | None]] | None = None,
) -> "Table":
    """Return measurements, one column each, and bounds, one row for each time."""
    rows = []
    for i, step in enumerate(t):
        cells = [in_brackets(each["mean"][i], each["se"][i]) for each in columns.values()]
        cells += [rounded(bound[i]) for bound in (bounds or {}).values()]
        rows.append([f"{step:,}", *cells])
    return grid(["t", *columns, *(bounds or {})], rows)


def _totals(table: dict[str, Any]) -> Iterator[str]:
    totals = table["totals"]
    how = "" if totals["every_step"] else ", interpolated between these times"
    yield f"\nRegret: {with_error(**totals['regret'])}"
    yield f"Sum of G_t + D_t{how}: {with_error(**totals['sum_of_step_regrets'])}"
    if table["bounds"] is None:
        yield "The bounds are on means over the prior: none for a fixed theta."
        return
    yield f"Theorem 2 with phat as measured{how}: {rounded(totals['theorem2_of_phat'])}"
    if totals["theorem1"] is not None:
        yield f"Theorem 1: {rounded(totals['theorem1'])}"
        yield f"Best bound: {rounded(totals['best'])}"
    yield f"Random play: {rounded(totals['trivial'])}"
