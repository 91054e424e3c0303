"""fastes resume: go on with a simulation from its checkpoint."""

import time
from pathlib import Path
from typing import Any

import click

from fastes.cli.errors import user_errors
from fastes.cli.options import (
    BASELINE,
    EVERY,
    INPUT,
    INTEGER,
    THREADS,
    file_options,
    output_options,
)
from fastes.cli.output import check_files, save_and_print
from fastes.cli.startup import load_numba


@click.command()
@click.argument("file", type=INPUT)
@click.option("--T", "T", type=INTEGER, show_default="as it was", help="A longer horizon.")
@THREADS
@BASELINE
@EVERY
@file_options
@output_options
def resume(
    file: Path, T: int | None, as_json: bool, quiet: bool, debug: bool, **options: Any
) -> None:
    """Go on with a simulation from its checkpoint.

    The result is the one of a simulation that was never stopped, to the bit, on any number of
    threads. FILE is kept up to date on the way, and can be extended when it is done.

    \b
    fastes simulate --T 1000000000 --checkpoint long.ckpt
    fastes resume long.ckpt
    fastes resume long.ckpt --T 2000000000 --plot regret.png
    """
    with user_errors(debug, "fastes resume", file):
        load_numba()
        from fastes.results.comparison import Comparison
        from fastes.simulation.checkpoint import resume as go_on

        check_files({**options, "file": file})
        visible, began = not (quiet or as_json), time.perf_counter()
        done = go_on(file, T, threads=options["threads"], every=options["every"], progress=visible)
        comparison = done if isinstance(done, Comparison) else Comparison((done,))
        seconds = time.perf_counter() - began
        save_and_print(comparison, options, as_json, quiet)
        if visible:
            click.echo(f"This call took {seconds:.2f} seconds; the table has those of all calls.")
