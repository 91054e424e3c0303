"""fastes sweep: simulate all settings of a grid, here or on a cluster."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.checks.numbers import counted
from fastes.cli.agent_options import help_of, shown_default
from fastes.cli.errors import end_in_order, user_errors
from fastes.cli.options import (
    FORCE,
    INPUT,
    INTEGER,
    OUTPUT,
    check_outputs,
    given_option,
    output_options,
    seconds,
)
from fastes.cli.sections import Command, SectionedCommand, section
from fastes.cli.startup import load_numba
from fastes.cli.truth_options import TRUTH_SECTION
from fastes.problem import random_problem, world
from fastes.studies.axes import AXES, COMMON, OWNERS

if TYPE_CHECKING:
    from fastes.studies.execution import StudyPlan
    from fastes.studies.store import Store
    from fastes.studies.study import Study
    from fastes.studies.sweep import SweepProgress


_SECTIONS = {
    **dict.fromkeys(OWNERS, "Agents"),
    **dict.fromkeys(random_problem.PARAMETERS, "Problem"),
    **dict.fromkeys(world.PARAMETERS, TRUTH_SECTION),
}


def _study_options(command: Command) -> Command:
    common = (given_option(name, each) for name, each in COMMON.items())
    command = section("Simulation", *common)(command)
    for name, axis in reversed(AXES.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            name,
            metavar="LIST",
            show_default=shown_default(name, axis, OWNERS.get(name)),
            help=help_of(axis, OWNERS.get(name)),
        )
        command = section(_SECTIONS.get(name, "Simulation"), option)(command)
    return command


@click.command(cls=SectionedCommand)
@click.argument("file", type=INPUT, required=False, metavar="[STUDY.toml|STUDY.db]")
@_study_options
@section(
    "Problem",
    click.option(
        "--problem", type=INPUT, help="One problem for all settings, saved by Bandit.save."
    ),
    click.option("--theta", type=INPUT, help="Fix theta to a .npy file."),
)
@section(
    "Tasks",
    click.option(
        "--threads", type=INTEGER, show_default="all processors", help="Concurrent tasks."
    ),
    click.option("--dask", metavar="ADDRESS", help="A dask scheduler, such as tcp://host:8786."),
    click.option(
        "--task",
        "task_seconds",
        default="5s",
        show_default=True,
        metavar="TIME",
        callback=seconds,
        help="Approximate duration of a task.",
    ),
    click.option("--dry-run", is_flag=True, help="Only print the tasks and their estimated cost."),
)
@section(
    "Files",
    click.option(
        "--out",
        type=OUTPUT,
        show_default="STUDY.db, or sweep.db",
        help="The file of the study; continue if it exists.",
    ),
    click.option(
        "--report",
        "page",
        type=OUTPUT,
        help="An HTML report, updated while the sweep runs.",
    ),
    FORCE,
)
@output_options
def sweep(
    file: Path | None,
    out: Path | None,
    threads: int | None,
    dask: str | None,
    task_seconds: float,
    page: Path | None,
    force: bool,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **options: Any,
) -> None:
    """Simulate all settings of a grid, and keep the results in one file.

    A LIST is 10,100,1000 or a progression such as 2,4,8,...,1024. Settings are all combinations.
    The same command continues a sweep that was stopped or killed. STUDY.toml has a line such as
    M = [2, 4, 8] for each option of agents, problem, world and simulation.

    \b
    fastes sweep --agent es,ts --M 2,4,8,...,1024 --K 50,500 --runs 99 --dry-run
    fastes sweep study.toml --out study.db
    fastes sweep study.toml --out study.db --dask tcp://scheduler:8786
    fastes sweep study.toml --out study.db --report study.html
    fastes plot study.db --x M --out regret.png
    """
    given = {name: value for name, value in options.items() if value is not None}
    out = out or _home_of(file)
    with user_errors(debug, "fastes sweep", out):
        load_numba()
        from fastes.simulation.bars import compilation_notice
        from fastes.studies.execution import (
            check_workers,
            create_file,
            plan,
            run_tasks,
            sweep_report,
        )
        from fastes.studies.store import Store
        from fastes.studies.sweep import progress_in
        from fastes.studies.tables import tasks_line

        inputs = [options["problem"], options["theta"], None if file == out else file]
        check_outputs(
            {"out": out, "report": page},
            inputs,
            force=force,
            kinds={"report": "report", **({} if out.exists() else {"out": "study"})},
        )
        check_workers(threads, dask)
        if page is not None:
            from fastes.reports.library import charts_library

            charts_library()  # raises now if plotly is missing
        study = _study(file, given)
        visible = not (quiet or as_json)
        begun = out.exists()
        if begun:
            with Store(out) as store:
                store.require(study)
        if dry_run or not begun:
            with compilation_notice() if visible else nullcontext():
                planned = plan(study, task_seconds, _calibrating(visible))
            if dry_run:
                _print_plan(planned, as_json, quiet)
                if visible and begun:
                    with Store(out) as store:
                        done = progress_in(store)
                    click.echo(tasks_line(str(out), done.done, done.total))
                return
            if visible:
                click.echo(_cost(planned), err=True)
            create_file(out, planned)
        with sweep_report(visible) as draw, _kept_current(out, page, force) as write:

            def progress(now: "SweepProgress") -> None:
                for each in (draw, write):
                    if each is not None:
                        each(now)

            run_tasks(out, study, threads=threads, dask=dask, progress=progress)
        with Store(out) as store:
            _print_done(store, as_json, quiet)


def _kept_current(
    out: Path, page: Path | None, force: bool
) -> "AbstractContextManager[Callable[[SweepProgress], None] | None]":
    """Return the context that updates the report of a running study, if requested."""
    if page is None:
        return nullcontext()
    from fastes.reports.live import kept_current

    return kept_current(out, page, force=force, on_stop=end_in_order)


def _home_of(file: Path | None) -> Path:
    """Return the default file of a study: its own, or one beside its description."""
    from fastes.files.kinds import is_database

    if file is None:
        return Path("sweep.db")
    return file if is_database(file) else file.with_suffix(".db")


def _study(file: Path | None, given: dict[str, Any]) -> "Study":
    from fastes.studies.store import Store
    from fastes.studies.study import Study

    if file is None:
        return Study(**given)
    if given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise click.UsageError(f"{file} already describes the study: leave out {names}")
    from fastes.files.kinds import is_database

    if not is_database(file):
        return Study.read(file)
    with Store(file) as store:
        return store.study


def _calibrating(visible: bool) -> Callable[[int, int], None] | None:
    if not (visible and sys.stderr.isatty()):
        return None
    # The next line overwrites it.
    return lambda i, n: click.echo(f"\r{f'calibrating {i + 1} of {n}':<40}\r", nl=False, err=True)


def _cost(planned: "StudyPlan") -> str:
    from fastes.simulation.plan import processors

    study, n = planned.study, processors()
    return (
        f"{counted(len(study.settings), 'setting')} of {counted(study.runs, 'run')} "
        f"in {counted(len(planned.tasks), 'task')}\n"
        f"about {planned.seconds / 3600:.2g} core-hours: {_duration(planned.seconds / n)} on the "
        f"{counted(n, 'processor')} here"
    )


def _duration(seconds_: float) -> str:
    for unit, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds_ >= 2 * unit:
            return f"{seconds_ / unit:.2g} {name}"
    return f"{seconds_:.2g} seconds"


def _print_plan(planned: "StudyPlan", as_json: bool, quiet: bool) -> None:
    of_setting = Counter(task.setting for task in planned.tasks)
    tasks = [of_setting[i] for i in range(len(planned.costs))]
    rows = zip(planned.study.settings, planned.costs, tasks, strict=True)
    if as_json:
        settings = [
            {**setting.axes, "seconds_per_run": cost, "tasks": n} for setting, cost, n in rows
        ]
        plan = {
            "study": planned.study.description(),
            "tasks": len(planned.tasks),
            "core_hours": planned.seconds / 3600,
            "settings": settings,
        }
        click.echo(json.dumps(plan))
    elif not quiet:
        from fastes.results.tables import print_parts
        from fastes.studies.tables import settings_table

        cells = [(setting, [f"{cost:.3g}", f"{n:,}"]) for setting, cost, n in rows]
        print_parts([settings_table(planned.study, ["seconds per run", "tasks"], cells)])
        click.echo(_cost(planned))


def _print_done(store: "Store", as_json: bool, quiet: bool) -> None:
    failures = store.failures()
    if as_json:
        from fastes.results.result import agent_facts
        from fastes.studies.sweep import progress_in, results_in

        settings = []
        for setting, result in results_in(store):
            facts = agent_facts(result)
            measured = {name: facts[name] for name in ("label", "runs", "regret", "seconds")}
            settings.append({**setting.axes, **measured})
        summary = {
            "study": store.study.description(),
            "out": str(store.path),
            "tasks": progress_in(store).total,
            "failures": failures,
            "settings": settings,
        }
        click.echo(json.dumps(summary, allow_nan=False))
    elif not quiet:
        from fastes.results.tables import print_parts
        from fastes.studies.tables import sweep_tables

        print_parts(sweep_tables(store))
    if failures:
        number, message = next(iter(failures.items()))
        raise click.ClickException(
            f"{counted(len(failures), 'task')} failed, such as task {number}: {message}; "
            "run the same command to try again"
        )
