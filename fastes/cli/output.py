"""What a command that simulates does with its results."""

import json
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.options import check_outputs

if TYPE_CHECKING:
    from fastes.results.comparison import Comparison
    from fastes.results.tables import Parts


def check_files(options: dict[str, Any], **more: Any) -> None:
    """Refuse files that cannot be written before the work begins, not after."""
    check_outputs(out=options["out"], csv=options["csv"], plot=options["plot"], **more)
    if options["plot"] is not None:
        from fastes.results.figures import check_format

        check_format(options["plot"])


def save_and_print(
    comparison: "Comparison", options: dict[str, Any], as_json: bool, quiet: bool
) -> None:
    """Write the files that were asked for, then print the results.

    In this order: a closed pipe or a full disk behind stdout loses nothing. A file that cannot be
    written does not keep the results from being printed.
    """
    try:
        _save(comparison, options)
    finally:
        if as_json:
            single = len(comparison.results) == 1
            summary = comparison.results[0].summary() if single else comparison.summary()
            click.echo(json.dumps(summary, allow_nan=False))
        elif not quiet:
            from fastes.results.tables import comparison_tables

            print_parts(comparison_tables(comparison))


def _save(comparison: "Comparison", options: dict[str, Any]) -> None:
    if options["out"] is not None:
        comparison.save(options["out"])
    if options["csv"] is not None:
        comparison.to_csv(options["csv"])
    if options["plot"] is not None:
        from fastes.results.figures import plot_regret, save_figure

        save_figure(lambda ax: plot_regret(comparison.results, ax), options["plot"])


def print_parts(parts: "Parts") -> None:
    """Print lines and tables, one below the other, on stdout."""
    from rich.console import Console

    console = Console(highlight=False)
    for part in parts:
        if isinstance(part, str):
            click.echo(part)
        else:
            console.print(part)
