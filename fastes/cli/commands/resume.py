"""fastes resume: continue a simulation from its checkpoint."""

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
@click.option("--T", "T", type=INTEGER, show_default="unchanged", help="A longer horizon.")
@THREADS
@BASELINE
@EVERY
@file_options
@output_options
def resume(
    file: Path, T: int | None, as_json: bool, quiet: bool, debug: bool, **options: Any
) -> None:
    """Continue a simulation from its checkpoint.

    The result equals that of an uninterrupted simulation, to the bit, on any number of threads.
    FILE is updated along the way. A completed simulation can be extended with --T.

    \b
    fastes simulate --T 1000000000 --checkpoint long.ckpt
    fastes resume long.ckpt
    fastes resume long.ckpt --T 2000000000 --plot regret.png
    """
    with user_errors(debug, "fastes resume", file):
        load_numba()
        from fastes.results.comparison import Comparison
        from fastes.simulation.checkpoint import resume as continue_

        check_files({**options, "file": file})
        visible, began = not (quiet or as_json), time.perf_counter()
        done = continue_(
            file, T, threads=options["threads"], every=options["every"], progress=visible
        )
        comparison = done if isinstance(done, Comparison) else Comparison((done,))
        seconds = time.perf_counter() - began
        save_and_print(comparison, options, as_json, quiet)
        if visible:
            click.echo(f"This call took {seconds:.2f} seconds; the table has the total.")
