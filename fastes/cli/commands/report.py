"""fastes report: an HTML report of results and studies."""

import json
from pathlib import Path
from typing import Any

import click

from fastes.checks.numbers import counted
from fastes.cli.errors import user_errors
from fastes.cli.options import (
    BASELINE,
    FORCE,
    INPUT,
    OUTPUT,
    check_outputs,
    output_options,
)
from fastes.cli.startup import load_numba


@click.command()
@click.argument("files", type=INPUT, nargs=-1, required=True, metavar="FILE...")
@click.option("--out", type=OUTPUT, required=True, help="The page (html).")
@BASELINE
@click.option("--title", metavar="TEXT", help="The heading of the page.")
@click.option(
    "--bounds/--no-bounds",
    default=True,
    show_default=True,
    help="For a study: compute bounds (seconds for each large problem).",
)
@FORCE
@output_options
def report(
    files: tuple[Path, ...],
    out: Path,
    force: bool,
    as_json: bool,
    quiet: bool,
    debug: bool,
    **options: Any,
) -> None:
    """Write an HTML report of results and studies.

    FILE is a result or a study. The page is one file and needs no network. It says what was run
    and how to repeat it. Charts show values on hover and can be zoomed, curves can be hidden,
    tables copied. fastes sweep --report updates the page of a study while it runs. Needs
    pip install 'fastes[report]'.

    \b
    fastes simulate --agent es,ts --M 2,8,32 --out result.npz
    fastes report result.npz --baseline ts --out report.html
    fastes report study.db --title "How many models?" --out study.html
    """
    with user_errors(debug):
        check_outputs({"out": out}, files, force=force, kinds={"out": "report"})
        load_numba()
        from fastes.reports.api import report as write_page

        written = write_page([*files], out, force=force, **options)
        if as_json:
            click.echo(json.dumps(written))
        elif not quiet:
            charts, tables = (
                sum(each[name] for each in written["sections"]) for name in ("charts", "tables")
            )
            click.echo(
                f"wrote {out}: {counted(charts, 'chart')}, {counted(tables, 'table')}, "
                f"{written['bytes'] / 1e6:.1f} MB"
            )
