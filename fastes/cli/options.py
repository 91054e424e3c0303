"""Options that commands share."""

import tempfile
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


def integers(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> list[int] | None:
    """Read an option that is a list of integers."""
    if value is None:
        return None
    try:
        return [int(word) for word in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list of integers such as 10,100") from None


def seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Read an option that is a duration, such as 90, 90s, 5m or 2h."""
    if value is None:
        return None
    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (value[:-1], value[-1]) if value[-1:] in units else (value, "s")
    try:
        duration = float(number) * units[unit]
    except ValueError:
        duration = float("nan")
    if not 0 < duration < float("inf"):
        raise click.BadParameter(f"{value!r} is not a duration such as 30s, 5m or 2h")
    return duration


def file_options(command: Command) -> Command:
    """Add --out, --csv and --plot."""
    for option in (
        click.option("--plot", type=OUTPUT, help="Save a figure (png, svg or pdf)."),
        click.option("--csv", type=OUTPUT, help="Save the curves (CSV)."),
        click.option("--out", type=OUTPUT, help="Save the results (npz)."),
    ):
        command = option(command)
    return command


EVERY = click.option(
    "--every",
    default="60s",
    show_default=True,
    metavar="TIME",
    callback=seconds,
    help="From one checkpoint to the next: 30s, 5m, 2h.",
)


def load_npy(option: str, path: Path) -> Any:
    """Return the array in a .npy file, never unpickling."""
    import numpy as np

    from fastes.files.archive import FileFormatError

    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(
            f"{option}: {path} is not a .npy file of numbers, or it is incomplete"
        ) from error


def check_outputs(**paths: Path | None) -> None:
    """Refuse files that cannot be written before the work begins, not after."""
    options = {
        name if name == "FILE" else f"--{name}": path
        for name, path in paths.items()
        if path is not None
    }
    if len({path.resolve() for path in options.values()}) < len(options):
        raise click.UsageError(f"{', '.join(options)} must be different files")
    for hint, path in options.items():
        if not path.parent.is_dir():
            raise click.BadParameter(f"the folder {path.parent} does not exist", param_hint=hint)
        try:
            tempfile.TemporaryFile(dir=path.resolve().parent).close()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise click.BadParameter(
                f"{path} cannot be written: {reason}", param_hint=hint
            ) from None
