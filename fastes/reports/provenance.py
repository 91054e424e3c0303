"""The section on what was run, with which versions, and how to run it again."""

import shlex
from collections.abc import Sequence
from typing import Any

from fastes.problem.bandit import LinearBandit
from fastes.reports.commands import result_commands, result_python, study_command
from fastes.reports.elements import Code, Part, Section, Table, Text
from fastes.reports.sources import Source
from fastes.results.curves import fact_text
from fastes.results.result import Result
from fastes.results.tables import setting_line, world_lines
from fastes.studies.store import Store
from fastes.studies.sweep import Sweep


def provenance_section(sources: Sequence[Source]) -> Section:
    """Return what each file holds and how it was made; one part a file."""
    parts: list[Part] = []
    for source in sources:
        if source.results:
            its = _of_results(source.results, source.file)
        elif source.sweep is not None:
            its = _of_study(source.sweep)
        else:
            continue
        parts.append(Section(source.name, its, name="source"))
    records = [source for source in sources if source.record is not None]
    if records:
        words = f"{len(records):,} record{'s' if len(records) > 1 else ''} of benchmarks."
        again = Code("To take another, in a checkout", "python -m bench record")
        parts.append(Section("Benchmarks", [Text(words), again], name="source"))
    return Section("What was run, and how to run it again", parts, name="provenance")


def summary_of(source: Source) -> str:
    """Return in a line what a source holds."""
    if source.sweep is not None:
        study = source.sweep.study
        varied = ", ".join(study.varied()) or "nothing"
        return (
            f"{len(study.settings):,} settings of {study.runs:,} runs, seed {study.seed}; "
            f"varied: {varied}"
        )
    labels = "; ".join(result.label for result in source.results)
    setting = "; ".join([setting_line(source.results), *world_lines(source.results)])
    return f"{setting}: {labels}"


def _of_results(results: Sequence[Result], file: str | None) -> list[Part]:
    first, c = results[0], results[0].configuration
    dates = [result.configuration.date for result in results]
    facts: dict[str, Any] = {
        "problem": f"{fact_text('K', c.K)} arms, {fact_text('d', c.d)}, noise {c.noise:g}",
        "arms": _arms(first),
        "theta": "drawn from the prior in every run" if c.theta == "prior" else "fixed",
        "truth": "as the agents believe" if c.truth == "belief" else c.truth,
        "rewards": f"late by {c.delay:,} steps" if c.delay else "observed at once",
        "steps, T": f"{c.T:,}",
        "runs": ", ".join(dict.fromkeys(f"{r.configuration.runs:,}" for r in results)),
        "seed": str(c.seed),
        "recorded times": f"{len(first.t):,}",
        "date": " to ".join(dict.fromkeys([min(dates), max(dates)])),
        "versions": ", ".join(f"{name} {value}" for name, value in c.versions.items()),
        "problem's fingerprint": c.problem,
    }
    if first.diagnostics is not None:
        probed = first.diagnostics
        facts["diagnostics"] = f"{len(probed.t):,} times, {probed.samples:,} draws of theta each"
    parts: list[Part] = [_facts("How it was made", facts), _agents(results)]
    missing = _runs_missing(results)
    if missing:
        parts.append(Text(missing, "warning"))
    if file is not None:
        command = shlex.join(["fastes", "rerun", file])
        parts.append(Code("Do it again, and compare every bit", command))
    lines = result_commands(results, file)
    if lines:
        parts.append(Code("The same from a command line", "\n".join(lines)))
    parts.append(Code("The same from Python", result_python(results, file)))
    return parts


def _arms(result: Result) -> str:
    problem = result.problem
    parts = problem.parts(drawn_again=True) if isinstance(problem, LinearBandit) else problem
    if "arms_family" in parts:
        return f"{parts['arms_family']}, drawn with seed {parts['arms_seed']}"
    return "given"


def _runs_missing(results: Sequence[Result]) -> str:
    most = max(int(result.run_numbers[-1]) + 1 for result in results)
    short = [r.label for r in results if r.configuration.runs < most]
    if not short:
        return ""
    return f"It was stopped: of {most:,} runs some are missing for {', '.join(short)}."


def _agents(results: Sequence[Result]) -> Table:
    rows: list[list[str | float | None]] = []
    for result in results:
        c = result.configuration
        speed = c.T * c.runs / c.seconds
        rows.append([result.label, c.engine, c.runs, c.threads, c.seconds, speed])
    header = ["agent", "engine", "runs", "threads", "seconds", "steps per second"]
    return Table("Agents", header, rows, left=2)


def _facts(caption: str, facts: dict[str, Any]) -> Table:
    return Table(caption, ["", ""], [[name, value] for name, value in facts.items()], left=2)


def _of_study(sweep: Sweep) -> list[Part]:
    study = sweep.study
    with Store(sweep.path) as store:
        written, begun = store.written, store.begun_by
    facts: dict[str, Any] = {
        "settings": f"{len(study.settings):,}",
        **{name: _values(values) for name, values in study.axes.items() if len(values) > 1},
        "runs of each": f"{study.runs:,}",
        "seed": str(study.seed),
        "theta": "drawn from the prior in every run" if study.theta is None else "fixed",
        "begun": written,
        "versions": f"fastes {begun.version}, kernels {begun.kernels}",
    }
    code = [
        Code("Go on with it, or look at it", shlex.join(["fastes", "sweep", sweep.path])),
        Code("Do it again, and compare every bit", shlex.join(["fastes", "rerun", sweep.path])),
        Code("The same study in a new file", "\n".join(study_command(study, sweep.path))),
        Code(
            "From Python",
            f"import fastes\n\nsweep = fastes.load({sweep.path!r})\n"
            "new = [fastes.rerun(result) for setting, result in sweep.results()]",
        ),
    ]
    return [_facts("How it was made", facts), *code]


def _values(values: Sequence[Any]) -> str:
    return ", ".join(f"{v:,}" if isinstance(v, int) else str(v) for v in values)
