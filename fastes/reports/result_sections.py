"""The section on results: regret over time, its quantiles, paired differences, arms played."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.reports.charts import charts_of
from fastes.reports.page import Page
from fastes.results.comparison import Difference, check_baseline, difference, paired_groups
from fastes.results.curves import curves_of
from fastes.results.drawing import Kind
from fastes.results.figures import REGRET, difference_curves, difference_kind, regret_curves
from fastes.results.result import Result
from fastes.results.tables import result_tables

Baseline = str | int | None

_MOST_RANKS = 200


def add_results(page: Page, results: Sequence[Result], baseline: Baseline) -> None:
    """Add the section on results; different problems have separate charts."""
    differences = differences_to(results, baseline)
    page.heading(2, "Regret")
    groups = paired_groups(results)
    for group in groups:
        if len(groups) > 1:
            page.heading(3, "; ".join(result.label for result in group))
        its = [differences[result] for result in group if result in differences]
        page.tables(result_tables(group, its))
    page.charts(charts_of(regret_curves(results), REGRET))
    add_differences(page, results, differences)
    add_arms_played(page, results)


def differences_to(results: Sequence[Result], baseline: Baseline) -> dict[Result, Difference]:
    """Return paired differences, by result.

    Results are grouped by theta and noise, with a baseline in each group; a group without the
    baseline has no differences. ValueError if no group has it.
    """
    groups = [group for group in paired_groups(results) if len(group) > 1]
    found: dict[Result, Difference] = {}
    for group in groups:
        names = [(result.label, result.configuration.agent) for result in group]
        try:
            base = group[check_baseline(baseline, names)]
        except ValueError:
            continue
        found |= {each: difference(each, base) for each in group if each is not base}
    if groups and not found:
        labels = ", ".join(repr(result.label) for group in groups for result in group)
        raise ValueError(f"baseline must be one of {labels}, got {baseline!r}")
    return found


def add_differences(
    page: Page, results: Sequence[Result], differences: dict[Result, Difference]
) -> None:
    """Add charts of paired differences against time, if any."""
    if not differences:
        return

    kept = {result: differences[result] for result in results if result in differences}
    names = {each.baseline for each in kept.values()}
    page.heading(3, f"Differences from {min(names) if len(names) == 1 else 'the baseline'}")
    curves, kind = difference_curves(kept), difference_kind(names)
    page.charts(charts_of(curves, kind, among=regret_curves(results)))
    page.text(
        "All agents face the same theta and noise in a run. Agents differ where a band of two "
        "standard errors excludes zero. A negative difference favours the agent.",
        "note",
    )


def add_arms_played(page: Page, results: Sequence[Result]) -> None:
    """Add charts of the distribution of plays over arms, for results with numbered arms."""
    results = [result for result in results if len(result.counts)]
    if not results:
        return
    page.heading(3, "Arms played")
    kind = Kind(
        *("number of arms, the most played first", "share of all plays"),
        apart=("problem", "theta"),
        logx=True,
        from_zero=False,
    )
    page.charts(charts_of(curves_of(results, lambda r: _shares(r.counts)), kind))
    page.text(
        "The share of all plays, over all runs, of the arms played most. Theta differs from run "
        f"to run unless it was fixed. At most {_MOST_RANKS} points are drawn.",
        "note",
    )


def _shares(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Return numbers of arms, the share of plays of that many arms, and no error."""
    ranks = np.unique(np.round(np.geomspace(1, len(counts), _MOST_RANKS)).astype(np.int64))
    total = np.cumsum(np.sort(counts)[::-1]) / counts.sum()
    return ranks, total[ranks - 1], np.full(len(ranks), np.nan)
