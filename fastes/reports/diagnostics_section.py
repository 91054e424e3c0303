"""The section on diagnostics: measurements and their bounds."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastes.checks.arrays import Floats
from fastes.reports.charts import Chart, charts_of
from fastes.reports.page import Page
from fastes.results.comparison import Comparison, paired_groups
from fastes.results.curves import Curve, Line, curves_of
from fastes.results.diagnostics import Diagnostics
from fastes.results.drawing import Kind
from fastes.results.figures import regret_curves
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.figures import REGRET_AND_BOUNDS, diagnosed
from fastes.theory.inequalities import diagnostics_of, distance_at_most, inequalities
from fastes.theory.tables import inequalities_tables


def add_diagnostics(page: Page, results: Sequence[Result]) -> None:
    """Add the section on results with diagnostics."""
    page.heading(2, "Diagnostics and their bounds")
    page.text(
        "p̂ (phat) is the law of the action given the agent's state, p the law of the optimal "
        "action given the history, p̄ (pbar) the mean of p̂ over the agent's own randomness. A "
        "dashed line is a bound on the curve of its colour."
    )
    charts = [*_regrets(results), *_divergences(results), *_step_regrets(results)]
    page.charts(charts)
    page.text(
        "Hel² is at most KL, so the bound K log(6 (t + 1) M) / M holds for both. KL is drawn where "
        "it is finite and known in all runs. G is the main regret and D the approximation error "
        "of the proof of Theorem 2; D is at most η₀ times the root of E[Hel²(p̂, p)]. I is the "
        "information gain of the step about the optimal action.",
        "note",
    )
    for group in paired_groups(results):
        tables = [inequalities(result) for result in group]
        page.tables(inequalities_tables(Comparison(tuple(group)), tables))


def _regrets(results: Sequence[Result]) -> list[Chart]:
    """Return charts of cumulative regret and its bounds, for results to which they apply."""
    covered = [result for result in results if not result.configuration.outside_theory]
    return charts_of(regret_curves(covered), REGRET_AND_BOUNDS)


def _divergences(results: Sequence[Result]) -> list[Chart]:
    def limit(found: Diagnostics, M: int | None) -> Any:
        return M and bounds.divergence_bound(found.constants.K, found.t, M)

    return [
        *_charts(results, "hellinger_squared", "E[Hel²(p̂, p)]", limit, logy=True),
        *_charts(results, "kl_phat_p", "E[KL(p̂ ‖ p)], nats", limit, logy=True),
    ]


def _step_regrets(results: Sequence[Result]) -> list[Chart]:
    def error(found: Diagnostics, M: int | None) -> Any:
        return found.constants.eta0_at_most * np.sqrt(distance_at_most(found))

    def ratio(curves: Sequence[Curve]) -> list[Line]:
        if not all(_covered(curve) for curve in curves):
            return []
        known = diagnosed(curves[0])[0].constants
        return [Line("bound: ι² d", None, known.iota**2 * known.d)]

    name = "information ratio E[G²] / E[I]"
    return [
        *_charts(results, "step_regret", "E[G + D], the regret of step t", from_zero=True),
        *_charts(results, "approximation_error", "E[D], the approximation error", error),
        *_charts(results, "information_ratio", name, lines=ratio, logy=True),
    ]


def _charts(
    results: Sequence[Result],
    measurement: str,
    y: str,
    limit: Callable[[Diagnostics, int | None], Any] = lambda found, M: None,
    **look: Any,
) -> list[Chart]:
    """Return charts of a measurement; on a logarithmic axis, of positive curves only."""

    def points(result: Result) -> tuple[Any, Floats, Floats]:
        found = diagnostics_of(result)
        mean = found.mean(measurement)
        drawn = np.isfinite(mean.value)
        if measurement == "kl_phat_p":  # a mean over some of the runs would mislead
            drawn &= (mean.infinite == 0) & (mean.unknown == 0)
        return found.t + 1, np.where(drawn, mean.value, np.nan), mean.se

    def limits(curves: Sequence[Curve]) -> list[Line]:
        values = [(curve, limit(*diagnosed(curve))) for curve in curves if _covered(curve)]
        return [Line("bound for", c.x, its, c) for c, its in values if its is not None]

    curves = curves_of(results, points)
    if look.get("logy"):
        curves = [curve for curve in curves if (np.nan_to_num(curve.y) > 0).any()]
    usual = {"marks": "bars", "apart": ("problem", "theta"), "from_zero": False, "lines": limits}
    kind = Kind("t + 1", y, logx=True, **{**usual, **look})
    return charts_of(curves, kind, among=regret_curves(results))


def _covered(curve: Curve) -> bool:
    return curve.result is not None and not curve.result.configuration.outside_theory
