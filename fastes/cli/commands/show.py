"""fastes show: print the content and origin of a file."""

import json
from pathlib import Path
from typing import Any

import click

from fastes.checks.parameters import FLAGS
from fastes.cli.errors import user_errors
from fastes.cli.options import INPUT, output_options
from fastes.cli.startup import load_numba


@click.command()
@click.argument("file", type=INPUT)
@output_options
def show(file: Path, as_json: bool, quiet: bool, debug: bool) -> None:
    """Print the content and origin of a fastes file.

    FILE is a result, a checkpoint, a study, a problem, a saved agent, a replay or a report. It is
    read completely, so that damage is found.

    \b
    fastes show result.npz
    fastes show long.ckpt --json
    """
    with user_errors(debug):
        load_numba()
        from fastes.saved.contents import contents

        found = contents(file)
        if as_json:
            click.echo(json.dumps(found, allow_nan=False))
        elif not quiet:
            from fastes.results.tables import Grid, print_parts

            print_parts([f"{file}: a fastes {found['kind']}", Grid(["", ""], _rows(found), left=2)])


def _rows(found: dict[str, Any]) -> list[list[str]]:
    """Return a row for each known fact, and for each item of a list."""
    rows = []
    for name, value in found.items():
        if name in ("kind", "file") or value is None:
            continue
        items = value if isinstance(value, list) else [value]
        for i, item in enumerate(items):
            rows.append([_plain(name) if i == 0 else "", _text(item)])
    return rows


def _text(value: Any) -> str:
    if isinstance(value, dict):
        known = {name: each for name, each in value.items() if each is not None}
        return ", ".join(f"{_plain(name)} {_text(each)}" for name, each in known.items())
    if isinstance(value, list):
        return " and ".join(_text(each) for each in value)
    if value is None or isinstance(value, bool):
        return "none" if value is None else FLAGS[value]
    return f"{value:,}" if isinstance(value, int) else str(value)


def _plain(name: str) -> str:
    return name.replace("_", " ")
