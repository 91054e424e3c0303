"""Options that commands share."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Command = Callable[..., Any]

OUTPUT = click.Path(dir_okay=False, path_type=Path)
INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)


def output_options(command: Command) -> Command:
    """Add --json, --quiet and --debug."""
    for option in (
        click.option("--debug", is_flag=True, help="Show the traceback of an error."),
        click.option("--quiet", is_flag=True, help="Print nothing but errors."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    ):
        command = option(command)
    return command


def number_or_file(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> float | Path | None:
    """Read an option that is a number, or the name of a .npy file with an array."""
    if value is None:
        return None
    with contextlib.suppress(ValueError):
        return float(value)
    if not value.endswith(".npy"):
        raise click.BadParameter(f"{value!r} is neither a number nor the name of a .npy file")
    return Path(value)


def load_npy(option: str, path: Path) -> Any:
    """Return the array in a .npy file, never unpickling."""
    import numpy as np

    from fastes.files import FileFormatError

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(
            f"{option}: {path} is not a .npy file of numbers, or it is incomplete"
        ) from error


def check_output_folder(option: str, path: Path | None) -> None:
    """Refuse a file whose folder is not there before the work begins, not after."""
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"the folder {path.parent} does not exist", param_hint=option)
