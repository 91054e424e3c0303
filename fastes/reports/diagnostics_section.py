"""The section on diagnostics: each measurement beside what bounds it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastes.checks.arrays import Floats
from fastes.reports.charts import Axes, Chart, Limit, Trace, charts_of, reference
from fastes.reports.page import Page
from fastes.reports.result_sections import regret_curves
from fastes.results.comparison import Comparison, paired_groups
from fastes.results.constants import Constants
from fastes.results.curves import Curve, curves_of
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.inequalities import diagnostics_of, inequalities, models_of
from fastes.theory.tables import inequalities_tables


def add_diagnostics(page: Page, results: Sequence[Result]) -> None:
    """Add the section of results that hold diagnostics."""
    page.heading(2, "Diagnostics beside their bounds")
    page.text(
        "p̂ (phat) is the law of the action given the agent's state, p the law of the optimal "
        "action given the history, p̄ (pbar) the mean of p̂ over the agent's own randomness. A "
        "dashed line is a bound on the curve of its colour."
    )
    charts = [*_regrets(results), *_divergences(results), *_step_regrets(results)]
    page.charts(charts)
    page.text(
        "Hel² is at most KL, whose bound, K log(6 (t + 1) M) / M, bounds both. KL is drawn where "
        "it is finite and known in all runs. G is the main regret and D the approximation error "
        "of the proof of Theorem 2; D is at most η times the root of E[Hel²(p̂, p)]. I is the "
        "information of the step about the optimal action.",
        "note",
    )
    for group in paired_groups(results):
        tables = [inequalities(result) for result in group]
        page.tables(inequalities_tables(Comparison(tuple(group)), tables))


def _regrets(results: Sequence[Result]) -> list[Chart]:
    """Return cumulative regret and its bounds, of the results that they apply to."""

    def best(curve: Curve) -> Any:
        M = models_of(_result(curve))
        known = _constants(curve)
        return M and [bounds.best_bound(known, int(t), M) for t in curve.x]

    def others(curves: Sequence[Curve]) -> list[Trace]:
        known = _constants(curves[0])
        t = np.unique(np.concatenate([curve.x for curve in curves]))
        term_a = [bounds.term_a(known, int(step)) for step in t]
        return [
            reference("bound on TS: term (a)", t, term_a),
            reference("random play", t, t * known.trivial.value),
        ]

    axes = Axes("steps", "cumulative regret, and bounds on it", logx=True, logy=True)
    covered = [result for result in results if not result.configuration.outside_theory]
    return charts_of(regret_curves(covered), axes, best, others)


def _divergences(results: Sequence[Result]) -> list[Chart]:
    def limit(curve: Curve) -> Any:
        M, known = models_of(_result(curve)), _constants(curve)
        return M and bounds.divergence_bound(known.K, diagnostics_of(_result(curve)).t, M)

    return [
        *_charts(results, "hellinger_squared", "E[Hel²(p̂, p)]", limit, logy=True),
        *_charts(results, "kl_phat_p", "E[KL(p̂ ‖ p)], nats", limit, logy=True),
    ]


def _step_regrets(results: Sequence[Result]) -> list[Chart]:
    def error(curve: Curve) -> Any:
        distance = diagnostics_of(_result(curve)).mean("hellinger_squared").value
        return _constants(curve).eta.value * np.sqrt(np.maximum(distance, 0.0))

    def ratio(curves: Sequence[Curve]) -> list[Trace]:
        if any(_result(curve).configuration.outside_theory for curve in curves):
            return []
        known = _constants(curves[0])
        return [reference("bound: ι² d", None, [known.iota**2 * known.d])]

    ratio_name = "information ratio E[G²] / E[I]"
    return [
        *_charts(results, "step_regret", "E[G + D], the regret of step t", from_zero=True),
        *_charts(results, "approximation_error", "E[D], the approximation error", error),
        *_charts(results, "information_ratio", ratio_name, references=ratio, logy=True),
    ]


def _charts(
    results: Sequence[Result],
    measurement: str,
    y: str,
    limit: Limit = lambda curve: None,
    references: Callable[[Sequence[Curve]], list[Trace]] = lambda curves: [],
    **look: Any,
) -> list[Chart]:
    """Return charts of a measurement; on a logarithmic axis, of curves that are above zero."""

    def points(result: Result) -> tuple[Any, Floats, Floats]:
        found = diagnostics_of(result)
        mean = found.mean(measurement)
        drawn = np.isfinite(mean.value)
        if measurement == "kl_phat_p":  # the mean over some of the runs is another number
            drawn &= (mean.infinite == 0) & (mean.unknown == 0)
        return found.t + 1, np.where(drawn, mean.value, np.nan), mean.se

    def applicable(curve: Curve) -> Any:
        return None if _result(curve).configuration.outside_theory else limit(curve)

    curves = curves_of(results, points)
    if look.get("logy"):
        curves = [curve for curve in curves if (np.nan_to_num(curve.y) > 0).any()]
    axes = Axes("t + 1", y, bars=True, logx=True, **look)
    return charts_of(curves, axes, applicable, references, among=regret_curves(results))


def _result(curve: Curve) -> Result:
    assert curve.result is not None  # curves_of
    return curve.result


def _constants(curve: Curve) -> Constants:
    return diagnostics_of(_result(curve)).constants
