"""Sections on results: regret over time, paired differences, quantiles, the arms played."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.reports.charts import Axes, charts_of, reference
from fastes.reports.elements import Chart, Part, Section, Table, Text, Trace, finite
from fastes.results.comparison import check_baseline, difference, paired_groups
from fastes.results.curves import Curve, curves_of
from fastes.results.result import Result

_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MOST_RANKS = 200
_TOP = 10
_SHARED = ("K", "d", "T", "noise", "seed", "theta", "truth", "delay")


def result_section(results: Sequence[Result], baseline: str | int | None) -> Section:
    """Return the section of results, those of different problems in charts of their own."""
    parts: list[Part] = [regret_table(results), *regret_charts(results)]
    parts += difference_parts(results, baseline)
    parts += [arms_section(results)]
    return Section("Regret", parts, name="results", switches=True)


def regret_charts(results: Sequence[Result]) -> list[Chart]:
    """Return cumulative regret against time."""
    axes = Axes("steps", "cumulative regret", from_zero=True)
    return charts_of(regret_curves(results), axes)


def regret_curves(results: Sequence[Result]) -> list[Curve]:
    """Return a curve of mean regret for each result."""
    return curves_of(results, lambda r: (r.t, r.regret.mean, r.regret.se))


def regret_table(results: Sequence[Result]) -> Table:
    """Return the regret of each result at T: mean, standard error, quantiles over runs."""
    told = _told(results)
    header = [
        *("agent", *told, "runs", "mean regret at T", "standard error"),
        *(f"{100 * q:g}% quantile" if q != 0.5 else "median" for q in _QUANTILES),
        *("regret per step", "seconds"),
    ]
    rows = []
    for result in results:
        c, regret = result.configuration, result.regret
        several = c.runs > 1
        quantiles = np.quantile(regret.final, _QUANTILES) if several else [np.nan] * 5
        rows.append(
            [
                *(result.label, *(_fact(result, name) for name in told), c.runs),
                *(finite(regret.mean[-1]), finite(regret.se[-1]), *map(finite, quantiles)),
                *(float(regret.mean[-1]) / c.T, c.seconds),
            ]
        )
    return Table("Regret at T, and its quantiles over runs", header, rows)


def _told(results: Sequence[Result]) -> list[str]:
    """Return the facts of the problem in which results differ, and so must be said of each."""
    told = [name for name in _SHARED if len({_fact(result, name) for result in results}) > 1]
    problems = {result.configuration.problem for result in results}
    if len(problems) > len({tuple(_fact(r, name) for name in _SHARED) for r in results}):
        told.append("problem")
    return told


def _fact(result: Result, name: str) -> str | float:
    value = getattr(result.configuration, name)
    if name == "theta":
        return "prior" if value == "prior" else "fixed"
    return value[:6] if name == "problem" else value


def difference_parts(results: Sequence[Result], baseline: str | int | None) -> list[Part]:
    """Return the paired differences, where results have runs in common with a baseline.

    Raise ValueError if a baseline is named that no group of results has.
    """
    curves: list[Curve] = []
    rows: list[list[str | float | None]] = []
    names = []
    groups = [group for group in paired_groups(results) if len(group) > 1]
    told = _told(results)
    for group in groups:
        base = _baseline(group, baseline, required=len(groups) == 1)
        if base is None:
            continue
        pairs = {id(each): difference(each, base) for each in group if each is not base}
        others = [each for each in group if id(each) in pairs]

        def points(result: Result, pairs: dict[int, Any] = pairs) -> tuple[Any, Any, Any]:
            found = pairs[id(result)]
            return found.t, found.regret.mean, found.regret.se

        names.append(base.label)
        curves += curves_of(others, points)
        for each in others:
            found = pairs[id(each)]
            shared = [_fact(each, name) for name in told]
            mean, se = finite(found.mean), finite(found.se)
            ratio = None if mean is None or not se else mean / se
            rows.append(
                [each.label, base.label, *shared, len(found.regret.per_run), mean, se, ratio]
            )
    if groups and not names:
        labels = ", ".join(repr(each.label) for group in groups for each in group)
        raise ValueError(f"baseline must be one of {labels}, got {baseline!r}")
    if not curves:
        return []
    what = names[0] if len(set(names)) == 1 else "the baseline"
    header = ["agent", "minus", *told, "runs", "mean difference at T", "standard error"]
    caption = "Paired differences at T: regret minus the baseline's, run by run"
    axes = Axes("steps", f"regret minus that of {what}")
    note = (
        "Both agents face the same theta and noise in a run. Where a band of two standard errors "
        "does not hold zero, the agents differ. A negative difference is in the agent's favour."
    )
    found_charts = charts_of(curves, axes, _zero, among=regret_curves(results))
    table = Table(caption, [*header, "mean / standard error"], rows, left=2)
    section = Section(f"Differences from {what}", [*found_charts, Text(note, "note"), table])
    return [section]


def _baseline(group: Sequence[Result], baseline: Any, required: bool) -> Result | None:
    names = [(each.label, each.configuration.agent) for each in group]
    try:
        return group[check_baseline(baseline, names)]
    except ValueError:
        if required:
            raise
        return None


def _zero(curves: Sequence[Curve], look: Any) -> list[Trace]:
    return [reference("no difference", None, [0.0], "solid")]


def arms_section(results: Sequence[Result], top: bool = True) -> Section:
    """Return how plays are spread over arms: the share of those that are played most."""
    curves = curves_of(results, lambda r: _shares(r.counts))
    axes = Axes("number of arms, the most played first", "share of all plays", marks="line")
    charts = charts_of(curves, axes._replace(logx=True, from_zero=True))
    words = [
        "The share of all plays, over all runs, that the most played arms have together. Theta "
        "differs from run to run unless it was fixed, and with it the best arm."
    ]
    largest = max(len(result.counts) for result in results)
    if largest > _MOST_RANKS:
        words.append(
            f"Of up to {largest:,} numbers of arms at most {_MOST_RANKS} are drawn, evenly in "
            "the logarithm."
        )
    parts: list[Part] = [*charts, Text(" ".join(words), "note")]
    if top:
        parts.append(_top_arms(results))
    return Section("Arms played", parts)


def _shares(counts: NDArray[np.int64]) -> tuple[NDArray[np.int64], Floats, Floats]:
    K = len(counts)
    total = np.cumsum(np.sort(counts)[::-1]) / counts.sum()
    ranks = np.arange(1, K + 1)
    if K > _MOST_RANKS:
        ranks = np.unique(np.round(np.geomspace(1, K, _MOST_RANKS)).astype(np.int64))
    shares = np.asarray(total[ranks - 1], float)
    return ranks, shares, np.full(len(ranks), np.nan)


def _top_arms(results: Sequence[Result]) -> Table:
    rows: list[list[str | float | None]] = []
    told = _told(results)
    for result in results:
        order = np.argsort(-result.counts, kind="stable")[:_TOP]
        total = int(result.counts.sum())
        facts = [_fact(result, name) for name in told]
        for rank, arm in enumerate(order.tolist(), start=1):
            n = int(result.counts[arm])
            rows.append([result.label, *facts, rank, arm, n, n / total])
    header = ["agent", *told, "rank", "arm", "plays", "share of plays"]
    return Table(f"The {_TOP} most played arms of each agent, numbered from 0", header, rows)
