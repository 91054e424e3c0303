"""fastes rerun: repeat a saved result."""

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
    """Repeat a saved result or study, and compare every bit.

    With the same versions the numbers are equal on any number of threads and machines. If a bit
    differs, the message says which versions differ, and the exit code is 1.

    \b
    fastes simulate --agent es,ts --out result.npz
    fastes rerun result.npz
    """
    with user_errors(debug):
        load_numba()
        from fastes.files.kinds import FileFormatError
        from fastes.simulation.rerun import rerun as repeat
        from fastes.simulation.rerun import why_different

        rows: list[dict[str, Any]] = []
        for old in _results(file):
            try:
                new = repeat(old, threads=threads, progress=not (quiet or as_json))
            except FileFormatError as error:
                raise Failure(f"{file}: {error}") from error
            why = why_different(old, new)
            rows.append({"label": old.label, "same": why is None, "why": why})
        apart = [row["why"] for row in rows if not row["same"]]
        if as_json:
            click.echo(json.dumps({"file": str(file), "same": not apart, "agents": rows}))
        elif not quiet and not apart:
            results = "the result" if len(rows) == 1 else f"all {len(rows)} results"
            click.echo(f"{file}: repeated {results}, every bit is equal")
        if apart:
            raise Failure(f"{file}: {apart[0]}")


def _results(file: Path) -> "list[Result]":
    """Return the results in a file, one per agent or setting."""
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
    raise click.UsageError(f"{file} is not a result or study: see fastes show {file}")
