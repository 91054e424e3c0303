"""Bounds, and measurements beside them, as tables."""

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import starmap
from typing import Any, NamedTuple

from fastes.results.comparison import Comparison
from fastes.results.tables import (
    Column,
    Grid,
    Parts,
    grid,
    in_brackets,
    rounded,
    rounded_up,
    setting_lines,
    with_error,
)
from fastes.theory.bounds import BOUNDS


def bounds_tables(table: dict[str, Any]) -> Parts:
    """Return the constants of the bounds, and a row of bounds for each ensemble size.

    `table` is what ``fastes bound --json`` prints.
    """
    delta, entropy, trivial = (table[n] for n in ("delta", "entropy", "trivial"))
    fewer = table["contenders"] < table["K"]

    def text(row: dict[str, Any], name: str) -> str:
        if name == "best":
            return rounded(row["best"]) + "!" * (row["best"] > trivial["value"])
        known = [each for each in BOUNDS if each != "best" and row[each] is not None]
        return rounded(row[name]) + "*" * (name == min(known, key=lambda each: row[each]))

    columns = [
        Column("M", lambda row: f"{row['M']:,}"),
        *(Column(b.title, partial(text, name=name), b.note) for name, b in BOUNDS.items()),
    ]
    return [
        f"K={table['K']:,} arms, d={table['d']:,}, T={table['T']:,} steps",
        *[f"{table['contenders']:,} arms can be the best and differ"] * fewer,
        f"iota {rounded(table['iota'])}, eta {_capped(table['eta'])}",
        f"eta0 {_capped(table['eta0'])}",
        f"Delta {with_error(delta['value'], delta['se'])}, "
        f"H(A*) {with_error(entropy['value'], entropy['se'])}",
        f"Thompson sampling, term (a): {rounded(table['term_a'])}",
        f"random play: {with_error(trivial['value'], trivial['se'])}",
        grid(columns, table["rows"]),
        "Bounds on regret of ensemble sampling, constants three standard errors high.",
        *_explained(columns),
        "*: smallest of a row; !: above random play.",
        f"M = KT/d is {table['M_for_KT_over_d']:,}",
    ]


def _capped(constant: Mapping[str, float]) -> str:
    """Return a constant with its error, and what it is at most."""
    shown = with_error(constant["value"], constant["se"])
    return f"{shown} (at most {rounded_up(constant['closed_form'], shown)})"


def heading(comparison: Comparison) -> list[str]:
    """Return what was simulated, and what phat and p are."""
    believed = comparison.results[0].configuration.truth == "belief"
    return [
        *setting_lines(comparison.results),
        "phat: the law of the action given the agent's state; p: of the optimal action.",
        *([] if believed else ["p is that of the agent's belief, which is not the truth."]),
    ]


def inequalities_tables(comparison: Comparison, tables: list[dict[str, Any]]) -> Parts:
    """Return what was measured of each agent beside what bounds it (`inequalities`)."""
    c = comparison.results[0].configuration
    runs = c.runs
    parts: list[str | Grid] = [*heading(comparison)]
    shown: list[_Quantity] = []
    for table in tables:
        parts.append(f"\n{table['agent']}")
        for group in _MEASURED:
            known = [each for each in starmap(_Quantity, group) if _is_known(table, each.key)]
            parts += [_by_time(table, known, runs), ""] if known else []
            shown += known
        parts[-1:] = _totals(table, c.instead_of_bounds)
    return [*parts, "", *_explained(shown), *_notes(tables, runs), _PAGE]


class _Quantity(NamedTuple):
    """A column of what was measured: where it is in what `inequalities` returns, and what it is."""

    title: str
    key: str
    note: str


_MEASURED = (
    (
        (
            *("Hellinger^2", "hellinger_squared_of_phat"),
            "squared Hellinger distance of phat and p, from 0 to 2.",
        ),
        ("KL(phat||p)", "kl_phat_p", "divergence in nats."),
        ("its bound", "bounds.kl_phat_p", "K log(6 (t + 1) M) / M."),
        ("KL(p||phat)", "kl_p_phat", "infinite where phat misses an arm that can be the best."),
        ("entropy", "entropy", "of the optimal action given the history, in nats."),
    ),
    (
        ("main regret", "main_regret_of_phat", "G_t of the proof of Theorem 2."),
        ("error", "approximation_error_of_phat", "D_t of the same proof."),
        ("bound", "bounds.approximation_error", "on D_t: eta0 times the root of Hellinger^2."),
        ("step regret", "step_regret", "G_t + D_t, as the agent believes."),
        ("given theta", "step_regret_given_theta", "the same given the true theta too."),
        ("info ratio", "information_ratio", "E[G_t^2] / E[I_t], I_t the step's information."),
    ),
    (
        ("variance", "ensemble.variance", "of the models; about 1 for posterior draws."),
        ("mean error", "ensemble.mean_error", "of the models; about 1 for posterior draws."),
        ("cov error", "ensemble.cov_error", "of the models; about 1 for posterior draws."),
    ),
    (
        ("least eigenvalue", "eigenvalues.least", "of the models' second moment over S."),
        ("largest", "eigenvalues.largest", "eigenvalue of the same."),
        ("below 1", "eigenvalues.least.below_one", "runs that explore too little somewhere."),
    ),
    (
        ("KL(pbar||p) at most", "information_of_phat", "KL(phat||p) summed before t, over M."),
        ("information", "bounds.kl_pbar_p", "the information bound on KL(pbar||p), proven."),
        ("fresh", "bounds.hellinger_squared_of_pbar", "a bound on Hellinger^2 of pbar and p."),
        ("exceedance", "exceedance", "share of models with max a'z >= max a'theta."),
        ("draws", "effective_samples", "independent draws of theta that p is worth."),
    ),
)
"""Tables of columns: title, place in what `inequalities` returns, explanation."""

_PAGE = 'The documentation explains each, under "Diagnostics".'

_TOTALS = {
    "Regret": "regret",
    "Sum of G_t + D_t": "sum_of_step_regrets",
    "Least exceedance at these times": "least_exceedance",
    "Theorem 2 with phat as measured": "theorem2_of_phat",
    "Theorem B with phat as measured": "first_order_of_phat",
    "Theorem E with the eigenvalues as measured": "mixing_of_eigenvalues",
    "Theorem 1": "theorem1",
    "Best bound": "best",
    "Random play": "trivial",
}


def _found(table: Mapping[str, Any], key: str) -> Any:
    """Return what is under a key with dots; None where something on the way is none."""
    found: Any = table
    for name in key.split("."):
        found = None if found is None else found.get(name)
    return found


def _is_known(table: Mapping[str, Any], key: str) -> bool:
    if key == "exceedance" and table["totals"]["least_exceedance"] is None:
        return False  # in no run
    return _found(table, key) is not None


def _by_time(table: dict[str, Any], quantities: list[_Quantity], runs: int) -> Grid:
    """Return a column for each quantity, a row for each time."""

    def text(i: int, key: str) -> str:
        found = _found(table, key)
        if not isinstance(found, list):
            return _cell(found, i, runs)
        return f"{found[i]:,}" if isinstance(found[i], int) else rounded(found[i])

    columns = [Column(each.title, partial(text, key=each.key)) for each in quantities]
    times = Column("t", lambda i: f"{table['t'][i]:,}")
    return grid([times, *columns], range(len(table["t"])))


def _cell(each: Mapping[str, Any], i: int, runs: int) -> str:
    """Return a mean with its error, and of how many runs it is not a plain mean."""
    if each["infinite"][i]:
        return f"inf in {each['infinite'][i]:,}"
    shown = in_brackets(each["mean"][i], each["se"][i])
    if "bounded" in each and each["bounded"][i]:
        shown = f"<={shown} in {each['bounded'][i]:,}"
    return f"{shown} of {runs - each['unknown'][i]:,}" if each["unknown"][i] else shown


def _explained(columns: Iterable[Column | _Quantity]) -> list[str]:
    """Return a line for each column that has an explanation, each once."""
    return list(dict.fromkeys(f"{each.title}: {each.note}" for each in columns if each.note))


def _notes(tables: list[dict[str, Any]], runs: int) -> Iterator[str]:
    """Yield an explanation of each mark that a mean in the tables has."""
    measured = [each for table in tables for each in table.values() if isinstance(each, dict)]
    if runs == 1:
        yield "A single run has no standard error."
    else:
        yield "1.23(4): a mean over runs, its standard error in units of the last place."
    for count, note in (
        ("infinite", "inf in 3: infinite in 3 runs, and so is the mean."),
        ("unknown", "1.2 of 9: the mean of 9 runs; in the others it is not known."),
        ("bounded", "<=1.2 in 3: an upper bound, for in 3 runs only a bound is known."),
    ):
        if any(any(each.get(count, ())) for each in measured):
            yield note


def _totals(table: dict[str, Any], no_bounds: str) -> Iterator[str]:
    """Yield the totals over steps: measurements, then bounds or why there are none."""
    totals = table["totals"]
    how = "" if totals["every_step"] else ", interpolated between these times"
    yield ""
    for name, key in _TOTALS.items():
        found = totals.get(key)
        if found is not None:
            at = how if "_t" in name or "measured" in name else ""
            shown = with_error(**found) if isinstance(found, dict) else rounded(found)
            yield f"{name}{at}: {shown}"
    if table["bounds"] is None:
        yield no_bounds
    else:
        yield f"Info ratio at most: {rounded(table['bounds']['information_ratio'])}"


_COUNTS = ("infinite", "unknown", "bounded", "below_one")


def inequality_rows(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what `inequalities` returned as rows of a CSV file, one for each time.

    Each measurement has a column for its mean, its standard error and each count of runs, each
    bound one of its own. What is not known, or does not apply, is None or left out.
    """
    ensemble = {
        f"{group}_{name}": each
        for group in ("ensemble", "eigenvalues")
        for name, each in (table[group] or {}).items()
    }
    measured = {
        name: each
        for name, each in {**table, **ensemble}.items()
        if isinstance(each, dict) and "se" in each
    }
    for i, t in enumerate(table["t"]):
        row = {"agent": table["agent"], "t": t}
        for name, each in measured.items():
            infinite = each["infinite"][i] > 0
            row[f"{name}_mean"] = math.inf if infinite else each["mean"][i]
            row[f"{name}_se"] = each["se"][i]
            row |= {f"{name}_{count}": each[count][i] for count in _COUNTS if count in each}
        for name, bound in (table["bounds"] or {}).items():
            row[f"bound_{name}"] = bound[i] if isinstance(bound, list) else bound
        yield row
