"""fastes diagnose: measure the quantities of the theory, beside their bounds."""

import json
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.agent_options import agent_options, simulate_from_options
from fastes.cli.errors import user_errors
from fastes.cli.options import FORCE, INPUT, INTEGER, INTEGERS, OUTPUT, output_options
from fastes.cli.output import check_files
from fastes.cli.problem_options import problem_options
from fastes.cli.sections import SectionedCommand, section
from fastes.cli.startup import load_numba
from fastes.cli.truth_options import leaves_theory, truth_options

if TYPE_CHECKING:
    from fastes.results.comparison import Comparison


@click.command(cls=SectionedCommand)
@agent_options
@problem_options
@truth_options
@section(
    "Simulation",
    click.option("--theta", type=INPUT, help="Fix theta to a .npy file; without bounds."),
)
@section(
    "Diagnostics",
    click.option(
        "--times",
        type=INTEGERS,
        show_default="about 12, evenly spaced in log t",
        help="Steps, counted from 0, before which to probe the agents.",
    ),
    click.option(
        "--probe-samples",
        type=INTEGER,
        default=4096,
        show_default=True,
        help="Draws of theta per probe.",
    ),
    click.option("--full", is_flag=True, help="Print every quantity at every probed step."),
)
@section(
    "Files",
    click.option("--out", type=OUTPUT, help="Save the results (npz), for fastes plot."),
    click.option("--csv", type=OUTPUT, help="Save measurements and bounds (CSV)."),
    click.option("--plot", type=OUTPUT, help="Save the divergence figure (png, svg or pdf)."),
    FORCE,
)
@output_options
def diagnose(as_json: bool, quiet: bool, debug: bool, **options: Any) -> None:
    """Measure the quantities of the paper's theory, beside its bounds.

    At chosen times of each run, compare the agent's action law phat with the law p of the
    optimal action: Hellinger distance, KL divergences, the main regret G_t and approximation
    error D_t of the proof of Theorem 2, and the information ratio. No action changes.
    Prints a summary: regret beside its bounds, and whether all inequalities hold.

    \b
    fastes diagnose --agent es,ts --M 10,100 --T 250 --full
    fastes diagnose --agent es,ts --M 10,100 --T 250 --plot divergence.png
    fastes diagnose --agent es,ts --M 10,100 --T 250 --out study.npz
    fastes plot study.npz --figure bounds --out bounds.png
    """
    with user_errors(debug):
        check_files(options)
        load_numba()
        from fastes.checks import numbers
        from fastes.files.archive import load_npy
        from fastes.theory.inequalities import probe_times

        T = numbers.integer("T", options["T"], 1, numbers.MAX_STEPS)
        chosen: dict[str, Any] = {"samples": options["probe_samples"]}
        if options["theta"] is not None:
            if options["plot"] is not None:
                raise click.UsageError(
                    "--plot draws bounds, which need theta from the prior: leave out --theta"
                )
            chosen["theta"] = load_npy("--theta", options["theta"])
        if leaves_theory(options) and options["plot"] is not None:
            raise click.UsageError(
                "--plot draws bounds, which need a world as agents believe and no delay: "
                "leave out --truth-..., --noise-law and --delay"
            )
        if options["rewards"] not in (None, "gaussian") and options["plot"] is not None:
            raise click.UsageError("--plot draws bounds, which are for --rewards gaussian")
        chosen["diagnostics"] = options["times"] or probe_times(T)
        comparison, stopped = simulate_from_options(options, not (quiet or as_json), **chosen)
        _save_and_print(comparison, options, as_json, quiet)
        if stopped is not None:
            raise stopped


def _save_and_print(
    comparison: "Comparison", options: dict[str, Any], as_json: bool, quiet: bool
) -> None:
    """Write the requested files, then print, even if writing fails."""
    from fastes.theory.inequalities import inequalities
    from fastes.theory.summary import checks

    tables = [inequalities(result) for result in comparison]
    try:
        if options["out"] is not None:
            comparison.save(options["out"], options["force"])
        _save(comparison, tables, options)
    finally:
        if as_json:
            facts = comparison.to_dict()
            for described, table in zip(facts["agents"], tables, strict=True):
                described["diagnostics"] = table | {"checks": checks(table)}
            click.echo(json.dumps(facts, allow_nan=False))
        elif not quiet:
            from fastes.results.tables import print_parts
            from fastes.theory.summary import summary_tables
            from fastes.theory.tables import inequalities_tables

            shown = inequalities_tables if options["full"] else summary_tables
            print_parts(shown(comparison, tables))


def _save(comparison: "Comparison", tables: list[dict[str, Any]], options: dict[str, Any]) -> None:
    force = options["force"]
    if options["csv"] is not None:
        from fastes.results.files import write_table
        from fastes.theory.tables import inequality_rows

        rows = [row for table in tables for row in inequality_rows(table)]
        write_table(options["csv"], rows, force)
    if options["plot"] is not None:
        from fastes.results.figures import save_figure
        from fastes.theory.figures import draw_divergence

        save_figure(
            lambda figure: draw_divergence(comparison.results, figure), options["plot"], force
        )
