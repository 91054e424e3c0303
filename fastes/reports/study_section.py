"""The section on a study: regret against each axis, with bounds, and against time."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fastes.problem.constants import Constants
from fastes.reports.charts import charts_of
from fastes.reports.page import Page
from fastes.reports.result_sections import (
    Baseline,
    add_arms_played,
    add_differences,
    differences_to,
)
from fastes.results.curves import Line
from fastes.results.figures import REGRET as REGRET_AGAINST_TIME
from fastes.results.figures import regret_curves
from fastes.results.result import Result
from fastes.results.tables import PER_STEP, REGRET, RUNS, Grid, notes
from fastes.studies.axes import AXES
from fastes.studies.figures import curves_against, grouped, kind_against
from fastes.studies.study import Setting
from fastes.studies.sweep import Sweep
from fastes.studies.tables import settings_table, tasks_line
from fastes.theory import bounds
from fastes.theory.constants import constants
from fastes.theory.inequalities import models_of

Results = Sequence[tuple[Setting, Result]]
Limits = dict[Result, float]


def add_study(page: Page, sweep: Sweep, baseline: Baseline, with_bounds: bool) -> None:
    """Add the section on a study, for its completed tasks."""
    progress, results, failures = sweep.progress(), sweep.results(), sweep.failures()
    page.heading(2, f"Study {Path(sweep.path).name}")
    unfinished = progress.done < progress.total
    line = tasks_line(Path(sweep.path).name, progress.done, progress.total)
    page.text(f"{line}.", "warning" if unfinished else "")
    if failures:
        rows = [[str(number), why] for number, why in failures.items()]
        page.tables(["Tasks that failed three times", Grid(["task", "why"], rows, left=2)])
    if not results:
        page.text("There are no results yet.")
        return
    columns = [RUNS, REGRET, PER_STEP]
    cells = [(setting, [c.text(result) for c in columns]) for setting, result in results]
    page.tables([settings_table(sweep.study, [c.title for c in columns], cells)])
    page.text(" ".join(notes(columns)), "note")
    every = [result for _, result in results]
    limits = _limits(page, every) if with_bounds else {}
    # Agents are the curves of each chart: an axis only if nothing else is varied.
    varied = [name for name in AXES if len({s.axes[name] for s, _ in results} - {None}) > 1]
    for name in [name for name in varied if name != "agent"] or ["agent"]:
        _add_against(page, results, name, limits)
    page.heading(3, "Regret against time")
    page.charts(charts_of(regret_curves(every), REGRET_AGAINST_TIME))
    add_differences(page, every, differences_to(every, baseline))
    add_arms_played(page, every)


def _add_against(page: Page, results: Results, x: str, limits: Limits) -> None:
    """Add final regret against an axis, with the agents' bounds if any."""
    curves = curves_against(results, x)
    lines = []
    for curve, points in zip(curves, grouped(results, x).values(), strict=True):
        values = np.array([limits.get(result, np.nan) for _, result in points])
        if x != "agent" and not np.isnan(values).all():
            lines.append(Line("bound for", curve.x, values, curve))
    kind = replace(
        kind_against(results, x),
        logy=bool(lines) and all((curve.y > 0).all() for curve in curves),  # bounds are far above
        from_zero=not lines,
        lines=lambda _: lines,
    )
    page.heading(3, f"Regret against {kind.xlabel}")
    page.charts(charts_of(curves, kind))
    if lines:
        page.text(
            "Dashed lines are bounds on the curve of their colour: for ensemble sampling the best "
            "known, for Thompson sampling term (a) of Theorem 1. Other agents, and variants, have "
            "none.",
            "note",
        )


def _limits(page: Page, results: Sequence[Result]) -> Limits:
    """Return the bounds on regret, by result; add a note if some are missing."""
    known: dict[str, Constants | None] = {}
    found = {}
    for result in results:
        c, M = result.configuration, models_of(result)
        usual = {"inflation": 1.0, "noise": "known", "discount": 1.0, "window": 0}
        exact = c.agent == "ts" and all(c.parameters.get(n, v) == v for n, v in usual.items())
        if c.outside_theory or not (M or exact):
            continue
        if c.problem not in known:
            try:
                known[c.problem] = constants(result.bandit)
            except (ValueError, MemoryError) as error:
                known[c.problem] = None
                page.text(f"Some bounds are missing: {error}.", "note")
        its = known[c.problem]
        if its is not None:
            found[result] = bounds.best_bound(its, c.T, M) if M else bounds.term_a(its, c.T)
    return found
