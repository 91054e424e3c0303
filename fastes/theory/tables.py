"""Bounds, and measurements beside them, as tables."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastes.results.comparison import Comparison
from fastes.results.tables import (
    Grid,
    Parts,
    in_brackets,
    rounded,
    setting_line,
    with_error,
    world_lines,
)

_BOUNDS = {
    "theorem1": "Theorem 1",
    "information": "information",
    "fresh": "A",
    "first_order": "B",
    "reuse": "C",
}


def bounds_tables(table: dict[str, Any]) -> Parts:
    """Return the constants of the bounds, and a row of bounds for each ensemble size.

    `table` is what ``fastes bound --json`` prints.
    """
    eta, delta, entropy, trivial = (table[n] for n in ("eta", "delta", "entropy", "trivial"))
    rows = []
    for row in table["rows"]:
        known = [name for name in _BOUNDS if row[name] is not None]
        winner = min(known, key=lambda name: row[name])
        cells = [rounded(row[name]) + "*" * (name == winner) for name in _BOUNDS]
        above = row["best"] > trivial["value"]
        rows.append([f"{row['M']:,}", *cells, rounded(row["best"]) + "!" * above])
    return [
        f"K={table['K']:,} arms, d={table['d']:,}, T={table['T']:,} steps",
        f"iota {rounded(table['iota'])}, eta {with_error(eta['value'], eta['se'])} "
        f"(at most {rounded(eta['closed_form'])}), "
        f"Delta {with_error(delta['value'], delta['se'])}",
        f"H(A*) {with_error(entropy['value'], entropy['se'])}",
        f"Thompson sampling, term (a): {rounded(table['term_a'])}",
        f"random play: {with_error(trivial['value'], trivial['se'])}",
        Grid(["M", *_BOUNDS.values(), "best"], rows),
        "Bounds on the regret of ensemble sampling. Theorem 1 is the paper's; information",
        "is its Theorem 2 with the information bound. Theorems A: fresh models; B: first",
        "order in the divergence; C: reuse of models, M > T. best: with the smallest",
        "divergence at each step. *: smallest of a row; !: above random play.",
        f"M = KT/d is {table['M_for_KT_over_d']:,}",
    ]


def inequalities_tables(comparison: Comparison, tables: list[dict[str, Any]]) -> Parts:
    """Return what was measured of each agent beside what bounds it (`inequalities`)."""
    c = comparison.results[0].configuration
    runs, believed = c.runs, c.truth == "belief"
    parts: list[str | Grid] = [
        setting_line(comparison.results),
        *world_lines(comparison.results),
        "phat: the law of the action given the agent's state; p: of the optimal action.",
        *([] if believed else ["p is that of the agent's belief, which is not the truth."]),
    ]
    for table in tables:
        parts += [f"\n{table['agent']}", _divergences(table, runs), "", _regrets(table, runs)]
        if table["ensemble"] is not None:
            columns = {name.replace("_", " "): each for name, each in table["ensemble"].items()}
            parts += ["", _by_time(table["t"], columns, runs)]
        parts += ["", *_models(table, runs)]
        if table["pbar"] is not None:
            parts += ["", _pbar(table, runs)]
        parts += _totals(table, _NO_BOUNDS.get(c.outside_theory, ""))
    return [*parts, "", *_footer(tables, runs, believed)]


_NO_BOUNDS = {
    "theta was fixed": "The bounds are on means over the prior: none for a fixed theta.",
    "the world was not what the agent believes": (
        "The bounds are for a world as the agent believes it: none for another truth."
    ),
    "rewards were late": "The bounds are for rewards that come at once: none for late ones.",
}
"""What is said in the place of bounds, by `Configuration.outside_theory`."""


def _divergences(table: dict[str, Any], runs: int) -> Grid:
    bound = table["bounds"] and table["bounds"]["kl_phat_p"]
    columns = {
        "Hellinger^2": table["hellinger_squared_of_phat"],
        "KL(phat||p)": table["kl_phat_p"],
        **({"its bound": bound} if bound else {}),
        "KL(p||phat)": table["kl_p_phat"],
        "entropy": table["entropy"],
    }
    return _by_time(table["t"], columns, runs)


def _models(table: dict[str, Any], runs: int) -> Iterator[Grid]:
    """Yield what is known of pbar, and of how optimistic the models are."""
    bounds, columns = table["bounds"] or {}, {}
    if table["information_of_phat"] is not None:
        columns["KL(pbar||p) at most"] = table["information_of_phat"]
        columns |= {name: bounds[key] for key, name in _PBAR.items() if bounds.get(key)}
    if table["totals"]["least_exceedance"] is not None:
        columns["exceedance"] = table["exceedance"]
    if columns:
        yield _by_time(table["t"], columns, runs)


def _pbar(table: dict[str, Any], runs: int) -> Grid:
    """Return what a particle filter found of pbar, beside what bounds it."""
    found = table["pbar"]
    columns = {
        "KL(pbar||p)": found["kl_pbar_p"],
        "Hel^2(pbar,p)": found["hellinger_squared_of_pbar"],
        **{name: found["bounds"][key] for key, name in _BOUNDS_OF_PBAR.items()},
        "particles": found["effective"]["median"],
        "least": found["effective"]["least"],
    }
    return _by_time(table["t"], columns, runs)


_BOUNDS_OF_PBAR = {"information": "information", "proposition1": "Prop. 1", "paper": "paper"}
_PBAR = {"kl_pbar_p": "information", "hellinger_squared_of_pbar": "fresh"}


def _regrets(table: dict[str, Any], runs: int) -> Grid:
    bounds = table["bounds"]
    columns = {
        "main regret": table["main_regret_of_phat"],
        "error": table["approximation_error_of_phat"],
        **({"bound": bounds["approximation_error"]} if bounds else {}),
        "step regret": table["step_regret"],
        "given theta": table["step_regret_given_theta"],
        "info ratio": table["information_ratio"],
    }
    return _by_time(table["t"], columns, runs)


def _by_time(
    t: list[int], columns: Mapping[str, Mapping[str, Any] | list[float | None]], runs: int
) -> Grid:
    """Return measurements and bounds, one column each, one row for each time."""
    rows = []
    for i, step in enumerate(t):
        cells = [
            rounded(each[i]) if isinstance(each, list) else _cell(each, i, runs)
            for each in columns.values()
        ]
        rows.append([f"{step:,}", *cells])
    return Grid(["t", *columns], rows)


def _cell(each: Mapping[str, Any], i: int, runs: int) -> str:
    """Return a mean with its error, and of how many runs it is not a plain mean."""
    if each["infinite"][i]:
        return f"inf in {each['infinite'][i]:,}"
    shown = in_brackets(each["mean"][i], each["se"][i])
    if "bounded" in each and each["bounded"][i]:
        shown = f"<={shown} in {each['bounded'][i]:,}"
    return f"{shown} of {runs - each['unknown'][i]:,}" if each["unknown"][i] else shown


def _footer(tables: list[dict[str, Any]], runs: int, believed: bool) -> Iterator[str]:
    """Yield what each column is, a line each, and what stands beside a mean."""
    yield "Hellinger^2: squared Hellinger distance of phat and p, from 0 to 2."
    yield "KL(phat||p): divergence in nats; its bound: K log(6 (t + 1) M) / M."
    yield "KL(p||phat): infinite where phat misses an arm that can be the best."
    yield "entropy: of the optimal action given the history, in nats."
    yield "main regret: G_t of the proof of Theorem 2; error: its D_t; bound: on D_t."
    if believed:
        yield "step regret: G_t + D_t; given theta: the same given theta too, of equal mean."
    else:
        yield "step regret: G_t + D_t, as the agent believes; given theta: as it is in truth."
    ratios = {table["bounds"] and table["bounds"]["information_ratio"] for table in tables}
    bound = f", at most {rounded(ratios.pop())}" if None not in ratios else ""
    yield f"info ratio: E[G_t^2] / E[I_t], I_t the information of the step{bound}."
    if any(table["ensemble"] is not None for table in tables):
        yield "variance, mean error, cov error: models against posterior draws, each about 1."
    if any(table["information_of_phat"] is not None for table in tables):
        yield "KL(pbar||p) at most: KL(phat||p) summed before t, over M, the information bound;"
        yield "information: the same, proven; fresh: a bound on Hellinger^2 of pbar and p."
    if any(table["pbar"] is not None for table in tables):
        yield "KL(pbar||p), Hel^2(pbar,p): by a particle filter, its noise is in the error;"
        yield "particles, least: effective number of them, median and least of the runs."
    if any(table["totals"]["least_exceedance"] is not None for table in tables):
        yield "exceedance: share of models with max a'z >= max a'theta."
    yield from _notes(tables, runs)
    yield "docs/explanation/diagnostics.md explains each."


def _notes(tables: list[dict[str, Any]], runs: int) -> Iterator[str]:
    """Yield what stands beside some mean, where it does."""
    measured = [each for table in tables for each in table.values() if isinstance(each, dict)]
    if runs == 1:
        yield "A single run has no standard error."
    else:
        yield "1.23(4): a mean over runs, its standard error in units of the last place."
    for count, words in (
        ("infinite", "inf in 3: infinite in 3 runs, and so is the mean."),
        ("unknown", "1.2 of 9: the mean of 9 runs; in the others it is not known."),
        ("bounded", "<=1.2 in 3: an upper bound, for in 3 runs only a bound is known."),
    ):
        if any(any(each.get(count, ())) for each in measured):
            yield words


def _totals(table: dict[str, Any], no_bounds: str) -> Iterator[str]:
    totals = table["totals"]
    how = "" if totals["every_step"] else ", interpolated between these times"
    yield f"\nRegret: {with_error(**totals['regret'])}"
    yield f"Sum of G_t + D_t{how}: {with_error(**totals['sum_of_step_regrets'])}"
    if totals["least_exceedance"] is not None:
        yield f"Least exceedance at these times: {with_error(**totals['least_exceedance'])}"
    if table["bounds"] is None:
        yield no_bounds
        return
    yield f"Theorem 2 with phat as measured{how}: {rounded(totals['theorem2_of_phat'])}"
    yield f"Theorem B with phat as measured{how}: {rounded(totals['first_order_of_phat'])}"
    if totals["theorem1"] is not None:
        yield f"Theorem 1: {rounded(totals['theorem1'])}"
        yield f"Best bound: {rounded(totals['best'])}"
    yield f"Random play: {rounded(totals['trivial'])}"
