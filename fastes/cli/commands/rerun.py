"""fastes rerun: a saved result done again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fastes.cli.errors import Failure, user_errors
from fastes.cli.options import INPUT, THREADS, output_options
from fastes.cli.startup import load_numba

if TYPE_CHECKING:
    from fastes.results.result import Result


@click.command()
@click.argument("file", type=INPUT)
@THREADS
@output_options
def rerun(file: Path, threads: int | None, as_json: bool, quiet: bool, debug: bool) -> None:
    """Do again what a saved result, or a study, says was done, and compare every bit.

    With the same versions the numbers are the same on any number of threads and machines. If a
    bit differs, a sentence says which versions do, and the exit code is 1.

    \b
    fastes simulate --agent es,ts --out result.npz
    fastes rerun result.npz
    """
    with user_errors(debug):
        load_numba()
        from fastes.files.kinds import FileFormatError
        from fastes.simulation.rerun import rerun as do_again
        from fastes.simulation.rerun import why_different

        rows: list[dict[str, Any]] = []
        for old in _results(file):
            try:
                new = do_again(old, threads=threads, progress=not (quiet or as_json))
            except FileFormatError as error:
                raise Failure(f"{file}: {error}") from error
            why = why_different(old, new)
            rows.append({"label": old.label, "same": why is None, "why": why})
        apart = [row["why"] for row in rows if not row["same"]]
        if as_json:
            click.echo(json.dumps({"file": str(file), "same": not apart, "agents": rows}))
        elif not quiet and not apart:
            results = "the result" if len(rows) == 1 else f"all {len(rows)} results"
            click.echo(f"{file}: {results} done again, and every bit is the same")
        if apart:
            raise Failure(f"{file}: {apart[0]}")


def _results(file: Path) -> "list[Result]":
    """Return the results in a file, one an agent or a setting."""
    from fastes.results.comparison import Comparison
    from fastes.results.result import Result
    from fastes.saved.loading import load
    from fastes.studies.sweep import Sweep

    loaded = load(file)
    if isinstance(loaded, Sweep):
        return [result for _, result in loaded.results()]
    if isinstance(loaded, Comparison):
        return [*loaded]
    if isinstance(loaded, Result):
        return [loaded]
    raise click.UsageError(f"{file} holds no result: fastes show {file} tells what it is")
