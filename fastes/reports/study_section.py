"""The section on a study: regret against each axis, with bounds, and against time."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from fastes.reports.charts import Axes, bound_for, charts_of
from fastes.reports.elements import Chart, Part, Section, Table, Text, Trace
from fastes.reports.result_sections import (
    arms_section,
    difference_parts,
    regret_charts,
    regret_table,
)
from fastes.results.constants import Constants
from fastes.results.curves import Curve
from fastes.results.result import Result
from fastes.studies.axes import AXES, in_words
from fastes.studies.figures import curves_against, grouped, numbers_of
from fastes.studies.study import Setting
from fastes.studies.sweep import Sweep
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.inequalities import models_of

_constants: dict[str, Constants] = {}
_MOST_CONSTANTS = 4096

Results = Sequence[tuple[Setting, Result]]


def study_section(
    sweep: Sweep, title: str, baseline: str | int | None = None, with_bounds: bool = True
) -> Section:
    """Return the section of a study, of what is done of it so far."""
    progress, results, failures = sweep.progress(), sweep.results(), sweep.failures()
    unfinished = progress.done < progress.total
    parts: list[Part] = [
        Text(
            f"{progress.done:,} of {progress.total:,} tasks are done"
            + (f", {len(failures):,} failed." if failures else "."),
            "warning" if unfinished else "plain",
        )
    ]
    if failures:
        rows = [[str(number), why] for number, why in failures.items()]
        parts.append(Table("Tasks that failed three times", ["task", "why"], rows, left=2))
    if not results:
        return Section(title, [*parts, Text("There are no results yet.")], name="study")
    parts.append(_settings_table(results))
    # Agents are the curves of every chart: an axis only where nothing else is varied.
    against = [name for name in _varied(results) if name != "agent"] or ["agent"]
    parts += [_against(results, x, with_bounds) for x in against]
    parts += _over_time([result for _, result in results], baseline)
    return Section(title, parts, name="study")


def _varied(results: Results) -> list[str]:
    found = [name for name in AXES if len({s.axes[name] for s, _ in results} - {None}) > 1]
    return found or ["agent"]


def _settings_table(results: Results) -> Table:
    """Return a row for each setting: its value on the varied axes, and its regret at T."""
    varied = _varied(results)
    plain = regret_table([result for _, result in results])
    first = list(plain.header).index("runs")
    rows = [
        [*(in_words(setting.axes[name]) for name in varied), *row[first:]]
        for (setting, _), row in zip(results, plain.rows, strict=True)
    ]
    caption = "Regret at T of each setting, and its quantiles over runs"
    return Table(caption, [*varied, *plain.header[first:]], rows)


def _against(results: Results, x: str, with_bounds: bool) -> Section:
    """Return final regret against an axis, with the bounds of the agents that have one."""
    values = [s.axes[x] for s, _ in results if s.axes[x] is not None]
    numbers = numbers_of(values)
    times = {setting.T for setting, _ in results}
    curves = curves_against(results, x)
    owners = {id(c): g for c, g in zip(curves, grouped(results, x).values(), strict=True)}
    missing: list[str] = []

    def more(panel: Sequence[Curve], look: Callable[[Curve], dict[str, str]]) -> list[Trace]:
        added = []
        for curve in panel:
            limits = _bounds([result for _, result in owners[id(curve)]], missing)
            if any(limit is not None for limit in limits):
                filled = [math.nan if limit is None else limit for limit in limits]
                added.append(bound_for(curve, f"bound on {curve.label()}", filled, look(curve)))
        return added

    axes = Axes(
        {"M": "models M", "agent": "agent"}.get(x, x),
        f"regret at T={times.pop():,}" if len(times) == 1 else "regret at T",
        marks="bars",
        apart=(),
        logx=bool(numbers) and numbers[0] > 0 and numbers[-1] >= 10 * numbers[0],
        from_zero=not with_bounds,
        names=[] if numbers else list(dict.fromkeys(n for c in curves for n in c.x)),
        ticks=numbers,
    )
    charts = charts_of(curves, axes, more if with_bounds and x != "agent" else None)
    charts = [_logarithmic_if_bounded(chart) for chart in charts]
    parts: list[Part] = [*charts]
    if any(trace.role == "bound" for chart in charts for trace in chart.traces):
        parts.append(
            Text(
                "Dashed lines are bounds on the curve of their colour, means over the prior: for "
                "ensemble sampling the best that is known, for Thompson sampling term (a) of "
                "Theorem 1. Other agents, and variants of these, have none.",
                "note",
            )
        )
    parts += [Text(why, "note") for why in dict.fromkeys(missing)]
    return Section(f"Regret against {axes.x}", parts, name="axis", switches=True)


def _logarithmic_if_bounded(chart: Chart) -> Chart:
    """Return a chart whose y axis is logarithmic if bounds, which may be far above, are on it."""
    bounded = any(trace.role == "bound" for trace in chart.traces)
    numbers = [y for trace in chart.traces for y in trace.y if y is not None]
    positive = bool(numbers) and min(numbers) > 0
    return replace(chart, logy=bounded and positive, from_zero=not bounded)


def _bounds(results: Sequence[Result], missing: list[str]) -> list[float | None]:
    """Return a bound on each regret, None where theory has none; add to `missing` why."""
    found: list[float | None] = []
    for result in results:
        c, M = result.configuration, models_of(result)
        exact = c.agent == "ts" and c.parameters.get("inflation", 1.0) == 1.0
        known: Any = None
        if not c.outside_theory and (M is not None or exact):
            try:
                known = constants_of(result)
            except (ValueError, MemoryError) as error:
                missing.append(f"Some bounds are missing: {error}.")
        if known is None:
            found.append(None)
        elif M is not None:
            found.append(bounds.best_bound(known, c.T, M))
        else:
            found.append(bounds.term_a(known, c.T))
    return found


def constants_of(result: Result) -> Constants:
    """Return the constants of a result's problem; computed once, however often a page is made."""
    problem = result.configuration.problem
    if problem not in _constants:
        if len(_constants) >= _MOST_CONSTANTS:
            _constants.clear()
        _constants[problem] = constants(result.bandit)
    return _constants[problem]


def _over_time(results: Sequence[Result], baseline: str | int | None) -> list[Part]:
    parts: list[Part] = [*regret_charts(results)]
    parts += difference_parts(results, baseline)
    parts.append(arms_section(results, top=False))
    return [Section("Regret against time", parts, name="time", switches=True)]
