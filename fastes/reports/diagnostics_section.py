"""The section on diagnostics: what was measured, each beside what bounds it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastes.checks.arrays import Floats
from fastes.reports.charts import Axes, bound_for, charts_of, reference
from fastes.reports.elements import Chart, Part, Section, Table, Text, Trace
from fastes.reports.result_sections import regret_curves
from fastes.results.curves import Curve, curves_of
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.inequalities import diagnostics_of, inequalities, models_of

_T = "t + 1"
_BARS = Axes(_T, "", marks="bars", logx=True)


def diagnostics_section(results: Sequence[Result]) -> Section:
    """Return the section of results that hold diagnostics."""
    prior = [result for result in results if not result.configuration.outside_theory]
    parts: list[Part] = [
        Text(
            "p̂ is the law of the action given the agent's state, p the law of the optimal action "
            "given the history, p̄ the mean of p̂ over the agent's own randomness. A dashed line "
            "is a bound on the curve of its colour."
        )
    ]
    reasons = dict.fromkeys(result.configuration.outside_theory for result in results)
    parts += [Text(_NO_BOUNDS[why]) for why in reasons if why]
    if prior:
        parts += _regret_and_bounds(prior)
    parts += _divergences(results)
    parts += _step_regrets(results)
    several = len({result.configuration.problem for result in results}) > 1
    tables = []
    for result in results:
        c = result.configuration
        on = f", K={c.K:,}, d={c.d:,}, T={c.T:,}" if several else ""
        tables.append({**inequalities(result), "agent": f"{result.label}{on}"})
    parts += [_totals(tables), *(each for table in tables for each in _by_time(table))]
    return Section("Diagnostics beside their bounds", parts, name="diagnostics", switches=True)


_NO_BOUNDS = {
    "theta was fixed": "Bounds are on means over the prior: a result with a fixed theta has none.",
    "the world was not what the agent believes": (
        "Bounds are for a world as the agent believes it: a result of another truth has none, and "
        "its p is the law under the agent's belief."
    ),
    "rewards were late": "Bounds are for rewards that come at once: none where they are late.",
}
"""What is said in the place of bounds, by `Configuration.outside_theory`."""


def _regret_and_bounds(results: Sequence[Result]) -> list[Chart]:
    axes = Axes("steps", "cumulative regret, and bounds on it", logx=True, logy=True)
    return charts_of(regret_curves(results), axes, _regret_bounds)


def _regret_bounds(curves: Sequence[Curve], look: Callable[[Curve], dict[str, str]]) -> list[Trace]:
    added = []
    for curve in curves:
        M = models_of(_result(curve))
        if M is not None:
            known = diagnostics_of(_result(curve)).constants
            values = [bounds.best_bound(known, int(t), M) for t in curve.x]
            label = f"best bound on {curve.label()}"
            added.append(bound_for(curve, label, values, look(curve)))
    known = diagnostics_of(_result(curves[0])).constants
    t = np.unique(np.concatenate([curve.x for curve in curves]))
    levels = [bounds.term_a(known, int(step)) for step in t]
    return [
        *added,
        reference("bound on TS: term (a)", t, levels),
        reference("random play", t, t * known.trivial.value, "solid"),
    ]


def _result(curve: Curve) -> Result:
    assert curve.result is not None
    return curve.result


def _divergences(results: Sequence[Result]) -> list[Part]:
    squared = _charts(results, "hellinger_squared", "E[Hel²(p̂, p)]", _kl_bounds)
    kl = _charts(results, "kl_phat_p", "E[KL(p̂ ‖ p)], nats", _kl_bounds)
    note = (
        "Hel² is at most KL, whose bound, K log(6 (t + 1) M) / M, so bounds both. The bound that "
        "is free of K is on the distance of p̄ and p, which is not measured: the tables have it. "
        "KL is not drawn at times at which it is infinite, or not known, in some run: the tables "
        "say in how many."
    )
    return [*squared, *kl, Text(note, "note")]


def _charts(
    results: Sequence[Result],
    name: str,
    words: str,
    more: Callable[[Sequence[Curve], Callable[[Curve], dict[str, str]]], list[Trace]],
) -> list[Chart]:
    """Return charts of a measurement, of which only what is above zero has a place."""
    curves = [
        curve for curve in curves_of(results, _measured(name)) if (np.nan_to_num(curve.y) > 0).any()
    ]
    return (
        charts_of(curves, _BARS._replace(y=words, logy=True), more, regret_curves(results))
        if curves
        else []
    )


def _measured(name: str) -> Callable[[Result], tuple[Any, Floats, Floats]]:
    def points(result: Result) -> tuple[Any, Floats, Floats]:
        found = diagnostics_of(result)
        mean = found.mean(name)
        drawn = np.isfinite(mean.value)
        if name == "kl_phat_p":  # the mean over some of the runs is another number
            drawn &= (mean.infinite == 0) & (mean.unknown == 0)
        return found.t + 1, np.where(drawn, mean.value, np.nan), mean.se

    return points


def _has_bounds(curve: Curve) -> bool:
    result = _result(curve)
    return not result.configuration.outside_theory and models_of(result) is not None


def _kl_bound(curve: Curve, line: dict[str, str]) -> Trace:
    c, found = _result(curve).configuration, diagnostics_of(_result(curve))
    values = bounds.divergence_bound(found.constants.K, found.t, c.parameters["M"])
    return bound_for(curve, f"bound on KL, {curve.label()}", values, line)


def _kl_bounds(curves: Sequence[Curve], look: Callable[[Curve], dict[str, str]]) -> list[Trace]:
    return [_kl_bound(curve, look(curve)) for curve in curves if _has_bounds(curve)]


def _step_regrets(results: Sequence[Result]) -> list[Part]:
    def error_bounds(
        curves: Sequence[Curve], look: Callable[[Curve], dict[str, str]]
    ) -> list[Trace]:
        added = []
        for curve in curves:
            result = _result(curve)
            if not result.configuration.outside_theory:
                found = diagnostics_of(result)
                distance = np.maximum(found.mean("hellinger_squared").value, 0.0)
                values = found.constants.eta.value * np.sqrt(distance)
                label = f"bound on D, {curve.label()}"
                added.append(bound_for(curve, label, values, look(curve)))
        return added

    def ratio_bounds(
        curves: Sequence[Curve], look: Callable[[Curve], dict[str, str]]
    ) -> list[Trace]:
        if any(_result(curve).configuration.outside_theory for curve in curves):
            return []
        known = diagnostics_of(_result(curves[0])).constants
        return [reference("bound: ι² d", None, [known.iota**2 * known.d], "dash")]

    step = curves_of(results, _measured("step_regret"))
    error = curves_of(results, _measured("approximation_error"))
    return [
        *charts_of(step, _BARS._replace(y="E[G + D], the regret of step t", from_zero=True)),
        *charts_of(error, _BARS._replace(y="E[D], the approximation error"), error_bounds),
        *_charts(results, "information_ratio", "information ratio E[G²] / E[I]", ratio_bounds),
        Text(
            "G is the main regret and D the approximation error of the proof of Theorem 2; D is at "
            "most η times the root of E[Hel²(p̂, p)]. I is the information of the step about the "
            "optimal action.",
            "note",
        ),
    ]


_DIVERGENCES = {
    "hellinger_squared_of_phat": "Hel²(p̂, p)",
    "kl_phat_p": "KL(p̂‖p)",
    "kl_p_phat": "KL(p‖p̂)",
    "entropy": "entropy of A*",
}
_REGRETS = {
    "main_regret_of_phat": "G",
    "approximation_error_of_phat": "D",
    "step_regret": "G + D",
    "step_regret_given_theta": "G + D given theta",
    "information": "I",
    "information_ratio": "information ratio",
}
_ENSEMBLE = {
    "variance": "variance of models",
    "mean_error": "error of their mean",
    "cov_error": "error of their covariance",
}
_DIVERGENCE_BOUNDS = {
    "kl_phat_p": "bound on KL(p̂‖p)",
    "hellinger_squared_of_pbar": "bound on Hel²(p̄, p)",
}
_REGRET_BOUNDS = {"approximation_error": "bound on D"}


def _by_time(table: dict[str, Any]) -> list[Table]:
    """Return tables with a row for each time: means, standard errors, and bounds."""
    known = table["bounds"] or {}
    found = [
        _rows("divergences", table, table, _DIVERGENCES, known, _DIVERGENCE_BOUNDS),
        _rows("regret of a step", table, table, _REGRETS, known, _REGRET_BOUNDS),
    ]
    if table["ensemble"] is not None:
        words = "models against posterior draws, each about 1"
        found.append(_rows(words, table, table["ensemble"], _ENSEMBLE, {}, {}))
    return found


def _rows(
    what: str,
    table: dict[str, Any],
    means: dict[str, Any],
    columns: dict[str, str],
    known: dict[str, Any],
    bounded: dict[str, str],
) -> Table:
    limits = {words: known[name] for name, words in bounded.items() if known.get(name)}
    header = ["t", *(name for words in columns.values() for name in (words, "standard error"))]
    rows: list[list[str | float | None]] = []
    for i, t in enumerate(table["t"]):
        row: list[str | float | None] = [t]
        for name in columns:
            row += [_cell(means[name], i), means[name]["se"][i]]
        rows.append([*row, *(values[i] for values in limits.values())])
    return Table(f"{table['agent']}, before step t: {what}", [*header, *limits], rows)


def _cell(each: dict[str, Any], i: int) -> str | float | None:
    """Return a mean, or a text where it is not the plain mean of all runs."""
    if each["infinite"][i]:
        return f"infinite in {each['infinite'][i]:,} runs"
    mean = each["mean"][i]
    if mean is None:
        return None
    if "bounded" in each and each["bounded"][i]:
        return f"at most {mean:.4g}: a bound in {each['bounded'][i]:,} runs"
    return f"{mean:.4g}, not known in {each['unknown'][i]:,} runs" if each["unknown"][i] else mean


def _totals(tables: Sequence[dict[str, Any]]) -> Table:
    names = {
        "theorem2_of_phat": "Theorem 2, p̂ as measured",
        "theorem1": "Theorem 1",
        "best": "best bound",
        "term_a": "term (a), the bound on TS",
        "trivial": "random play",
    }
    rows: list[list[str | float | None]] = []
    for table in tables:
        totals = table["totals"]
        measured = (totals["regret"], totals["sum_of_step_regrets"])
        pairs = [value for each in measured for value in (each["mean"], each["se"])]
        rows.append([table["agent"], *pairs, *(totals.get(name) for name in names)])
    steps = "sum of G + D over steps"
    if not all(table["totals"]["every_step"] for table in tables):
        steps += ", interpolated between times"
    header = ["agent", "regret at T", "standard error", steps, "its standard error"]
    return Table("Regret at T, and bounds on it", [*header, *names.values()], rows)
