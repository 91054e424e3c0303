"""The public function `report`."""

import datetime
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastes
from fastes.checks import numbers
from fastes.files.kinds import require_replaceable
from fastes.files.report_file import write_report
from fastes.reports.diagnostics_section import add_diagnostics
from fastes.reports.library import charts_library
from fastes.reports.page import Page
from fastes.reports.provenance import add_provenance
from fastes.reports.result_sections import add_results
from fastes.reports.sources import ReportInput, ReportItem, read_sources
from fastes.reports.study_section import add_study


def report(
    files: ReportItem | Sequence[ReportItem],
    out: str | os.PathLike[str],
    *,
    baseline: str | int | None = None,
    title: str | None = None,
    bounds: bool = True,
    force: bool = False,
    reload: int = 0,
) -> dict[str, Any]:
    """Write an HTML report of results and studies.

    The page is one file and needs no network. It says what was run and how to repeat it, and shows
    regret, its quantiles, paired differences, diagnostics beside their bounds, and for a study the
    regret against each axis. Needs ``pip install 'fastes[report]'``.

    Parameters
    ----------
    files : path, Result, Comparison, Sweep, or a sequence of these
        Files of results and studies, or results and studies in memory.
    out : path
        The page, with suffix .html or .htm.
    baseline : str or int, optional
        The agent to compare with, as in `Comparison.differences`. By default the last.
    title : str, optional
        The heading of the page.
    bounds : bool
        Whether to compute bounds for studies, which takes seconds for each large problem.
    force : bool
        Whether to replace a file that is not a report.
    reload : int
        Seconds after which the page reloads itself, for a running study; 0: never.

    Returns
    -------
    dict
        out, title, bytes, and for each section its title and numbers of charts and tables.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=20, d=3)
    >>> agents = [fastes.EnsembleSampling(M=8), fastes.ThompsonSampling()]
    >>> comparison = fastes.compare(bandit, agents, T=100, runs=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = fastes.report(comparison, f"{folder}/report.html", baseline="ts")
    >>> [(each["title"], each["charts"], each["tables"]) for each in written["sections"]]
    [('Regret', 3, 1), ('What was run, and how to repeat it', 0, 1)]
    """
    require_replaceable(out, "report", force)
    reload = numbers.integer("reload", reload, 0, 86_400)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a text, got {numbers.shown(title)}")
    library = charts_library()
    sources = read_sources(files)
    for source in sources:
        if source.file and Path(out).exists() and Path(out).samefile(source.file):
            raise ValueError(f"out must not be an input of the report, got {os.fspath(out)!r}")
    page = Page()
    results = [result for source in sources for result in source.results]
    if results:
        add_results(page, results, baseline)
    diagnosed = [result for result in results if result.diagnostics is not None]
    if diagnosed:
        add_diagnostics(page, diagnosed)
    for source in sources:
        if source.sweep is not None:
            add_study(page, source.sweep, baseline, bounds)
    add_provenance(page, sources)
    heading = title or _title(sources)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    header = {
        "title": heading,
        "sources": [
            {"kind": "result" if source.results else "study", "name": source.name}
            for source in sources
        ],
        "sections": [section["title"] for section in page.sections],
        "date": date,
        "version": fastes.__version__,
    }
    summary = f"Written {date[:10]} {date[11:19]} UTC by fastes {fastes.__version__}."
    footer = f"Charts by Plotly {library.version}. This page makes no network requests."
    size = write_report(out, page.html(heading, summary, footer, reload), header, force)
    return {"out": os.fspath(out), "title": heading, "bytes": size, "sections": page.sections}


def _title(sources: Sequence[ReportInput]) -> str:
    labels = dict.fromkeys(r.label for source in sources for r in source.results)
    agents = [*labels] if len(labels) <= 4 else [f"{len(labels)} agents"]
    studies = [f"study {Path(s.name).name}" for s in sources if s.sweep is not None]
    return f"Report: {'; '.join([*agents, *studies])}"
