"""The section on what was run, with which versions, and how to repeat it."""

import shlex
from collections.abc import Sequence
from typing import Any

from fastes.reports.page import Page
from fastes.reports.sources import ReportInput
from fastes.results.configuration import FACTS, fact_text
from fastes.results.result import Result
from fastes.results.tables import Grid
from fastes.studies.axes import value_text
from fastes.studies.store import Store
from fastes.studies.sweep import Sweep


def add_provenance(page: Page, sources: Sequence[ReportInput]) -> None:
    """Add the content and origin of each file."""
    page.heading(2, "What was run, and how to repeat it")
    for source in sources:
        page.heading(3, source.name)
        if source.sweep is not None:
            facts = _of_study(source.sweep)
        else:
            facts = _of_results(source.results)
            page.text(_runs_missing(source.results), "warning")
        command = "fastes.rerun, in Python"
        if source.file is not None:
            command = shlex.join(["fastes", "rerun", source.file])
        facts["to repeat it"] = command
        rows = [[name, value] for name, value in facts.items()]
        page.tables([Grid(["", ""], rows, left=2)])


def _of_results(results: Sequence[Result]) -> dict[str, str]:
    first, c = results[0], results[0].configuration
    counted = "" if c.K is None else f"{fact_text('K', c.K)} arms, "
    dates = [result.configuration.date for result in results]
    facts: dict[str, Any] = {
        "problem": f"{counted}{fact_text('d', c.d)}, {c.reward_text}",
        "arms": first.arms,
        "recorded times": f"{len(first.t):,}",
    }
    for name, fact in FACTS.items():
        if fact.row is not None:
            title, text = fact.row
            values = (getattr(result.configuration, name) for result in results)
            facts[title] = ", ".join(dict.fromkeys(map(text, values)))
    facts["date"] = " to ".join(dict.fromkeys([min(dates), max(dates)]))
    if first.diagnostics is not None:
        probed = first.diagnostics
        facts["diagnostics"] = f"{len(probed.t):,} times, {probed.samples:,} draws of theta each"
    return facts


def _runs_missing(results: Sequence[Result]) -> str:
    most = max(int(result.run_numbers[-1]) + 1 for result in results)
    short = [r.label for r in results if r.configuration.runs < most]
    if not short:
        return ""
    return f"It was stopped: some of {most:,} runs are missing for {', '.join(short)}."


def _of_study(sweep: Sweep) -> dict[str, str]:
    study = sweep.study
    with Store(sweep.path) as store:
        written, begun = store.written, store.begun_by
    return {
        "settings": f"{len(study.settings):,}",
        **{name: _values(values) for name, values in study.axes.items() if len(values) > 1},
        "runs of each": f"{study.runs:,}",
        "seed": str(study.seed),
        "theta": "drawn from the prior for every run" if study.theta is None else "fixed",
        "begun": written,
        "versions": f"fastes {begun.version}, kernels {begun.kernels}",
    }


def _values(values: Sequence[Any]) -> str:
    shown = ["none" if value is None else value_text(value) for value in values]
    return ", ".join(f"{each:,}" if isinstance(each, int) else str(each) for each in shown)
