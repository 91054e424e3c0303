"""Saving and printing of the results of a command."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.options import check_outputs

if TYPE_CHECKING:
    from fastes.results.comparison import Comparison


def check_files(options: dict[str, Any]) -> None:
    """Refuse, before the work begins, output files that cannot or must not be written."""
    outputs = {name: options.get(name) for name in ("out", "csv", "plot", "checkpoint")}
    others = [value for name, value in options.items() if name not in outputs]
    inputs = [options.get("arms"), *(value for value in others if isinstance(value, Path))]
    check_outputs(outputs, inputs, force=options["force"])


def save_and_print(
    comparison: "Comparison", options: dict[str, Any], as_json: bool, quiet: bool
) -> None:
    """Write the requested files, then print the results.

    In this order, so that a closed pipe or a full disk behind stdout loses nothing. Results are
    printed even if a file cannot be written.
    """
    try:
        _save(comparison, options)
    finally:
        if as_json:
            click.echo(json.dumps(comparison.to_dict(options["baseline"]), allow_nan=False))
        elif not quiet:
            comparison.summary(options["baseline"])


def _save(comparison: "Comparison", options: dict[str, Any]) -> None:
    if options["out"] is not None:
        comparison.save(options["out"], options["force"])
    if options["csv"] is not None:
        comparison.to_csv(options["csv"], options["force"])
    if options["plot"] is not None:
        from fastes.results.figures import plot_regret, save_figure

        save_figure(
            lambda figure: plot_regret(comparison.results, figure),
            options["plot"],
            options["force"],
        )
