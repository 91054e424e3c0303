"""The public function: a report of files, results and studies."""

import datetime
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fastes
from fastes.checks import numbers
from fastes.files.kinds import require_replaceable
from fastes.files.report_file import write_report
from fastes.reports.benchmarks import benchmark_section
from fastes.reports.diagnostics_section import diagnostics_section
from fastes.reports.elements import Chart, Section, Table, parts_in
from fastes.reports.library import charts_library
from fastes.reports.page import Page, page_html
from fastes.reports.provenance import provenance_section, summary_of
from fastes.reports.result_sections import result_section
from fastes.reports.sources import Given, Source, input_files, read_sources
from fastes.reports.study_section import study_section


def report(
    files: Given | Sequence[Given],
    out: str | os.PathLike[str],
    *,
    baseline: str | int | None = None,
    title: str | None = None,
    bounds: bool = True,
    force: bool = False,
    reload: int = 0,
) -> dict[str, Any]:
    """Write one page for a browser about results, studies and benchmarks.

    The page needs nothing but itself: no network, no other file. It says what was run and how to
    run it again, and shows regret, paired differences, quantiles, arms played, diagnostics beside
    their bounds, and of a study the regret against each axis. Needs
    ``pip install 'fastes[report]'``.

    Parameters
    ----------
    files : path, Result, Comparison, Sweep, or a sequence of these
        Files of results, studies and records of benchmarks; or what is at hand.
    out : path
        The page: its name ends in .html or .htm.
    baseline : str or int, optional
        What to take differences to, as in `Comparison.differences`. By default the last.
    title : str, optional
        The heading of the page.
    bounds : bool
        Whether to compute the bounds on a study's regrets: seconds for each large problem.
    force : bool
        Whether to replace a file that is no report.
    reload : int
        After how many seconds the page reads itself anew; 0: never. For a study that goes on.

    Returns
    -------
    dict
        What was written, ready for JSON: out, title, bytes, sections.

    Examples
    --------
    >>> import fastes, tempfile
    >>> bandit = fastes.LinearBandit.random(K=20, d=3)
    >>> agents = [fastes.EnsembleSampling(M=8), fastes.ThompsonSampling()]
    >>> comparison = fastes.compare(bandit, agents, T=100, runs=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = fastes.report(comparison, f"{folder}/report.html", baseline="ts")
    >>> [(each["title"], each["charts"], each["tables"]) for each in written["sections"]]
    [('Regret', 3, 3), ('What was run, and how to run it again', 0, 2)]
    """
    require_replaceable(out, "report", force)
    reload = numbers.integer("reload", reload, 0, 86_400)
    if title is not None and not isinstance(title, str):
        raise TypeError(f"title must be a text, got {numbers.shown(title)}")
    library = charts_library()
    sources = read_sources(files)
    for file in input_files(sources):
        if Path(out).exists() and Path(out).samefile(file):
            raise ValueError(f"out must be no input of the report, got {os.fspath(out)!r}")
    sections = _sections(sources, baseline, bounds)
    named = title or _title(sources)
    date = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    page = Page(
        named,
        [
            *(f"{source.name}: {summary_of(source)}" for source in sources if not source.record),
            f"Written {date[:10]} {date[11:19]} UTC by fastes {fastes.__version__}.",
        ],
        f"fastes {fastes.__version__}; charts by Plotly {library.version}. This page makes no "
        "request of any kind.",
        reload,
    )
    described = [_described(section) for section in sections]
    header = {
        "title": named,
        "sources": [{"kind": source.kind, "name": source.name} for source in sources],
        "sections": [section.title for section in sections],
        "date": date,
        "version": fastes.__version__,
    }
    size = write_report(out, page_html(page, sections), header, force)
    return {"out": os.fspath(out), "title": named, "bytes": size, "sections": described}


def _sections(sources: Sequence[Source], baseline: str | int | None, bounds: bool) -> list[Section]:
    sections: list[Section] = []
    results = [result for source in sources for result in source.results]
    if results:
        sections.append(result_section(results, baseline))
    diagnosed = [result for result in results if result.diagnostics is not None]
    if diagnosed:
        sections.append(diagnostics_section(diagnosed))
    for source in sources:
        if source.sweep is not None:
            title = f"Study {Path(source.name).name}"
            sections.append(study_section(source.sweep, title, baseline, bounds))
    records = [source.record for source in sources if source.record is not None]
    if records:
        sections.append(benchmark_section(records))
    return [*sections, provenance_section(sources)]


def _title(sources: Sequence[Source]) -> str:
    labels = dict.fromkeys(r.label for source in sources for r in source.results)
    studies = [Path(source.name).name for source in sources if source.sweep is not None]
    words = []
    if labels:
        words.append("; ".join(labels) if len(labels) <= 4 else f"{len(labels)} agents")
    words += [f"study {name}" for name in studies]
    if any(source.record is not None for source in sources):
        words.append("benchmarks")
    return f"Report: {'; '.join(words)}"


def _described(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        "charts": len(parts_in(section.parts, Chart)),
        "tables": len(parts_in(section.parts, Table)),
    }
