"""Options that commands share, and parsing of their values."""

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from fastes.checks.lists import flags, progression
from fastes.checks.parameters import Parameter, suggestion
from fastes.cli.errors import no_warnings
from fastes.cli.sections import Command, section
from fastes.files.kinds import require_replaceable
from fastes.results.configuration import PARAMETERS

OUTPUT = click.Path(dir_okay=False, path_type=Path)
INPUT = click.Path(exists=True, dir_okay=False, path_type=Path)


class _Integer(click.ParamType):  # type: ignore[type-arg]
    name = "integer"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> int:
        """Read 2000, 2_000 or 2e3."""
        if isinstance(value, int):
            return value
        try:
            (number,) = progression("the option", value)
        except ValueError:
            number = 0.5
        if not isinstance(number, int):
            self.fail(f"{value!r} is not an integer such as 2000, 1e6 or 1_000_000")
        return number


INTEGER = _Integer()


class _Text(click.ParamType):  # type: ignore[type-arg]
    """A text of a parameter that has a usual form."""

    name = "text"

    def __init__(self, name: str, read: Callable[[str, Any], Any] | None) -> None:
        self._name, self._read = name, read

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return its usual form."""
        try:
            return value if self._read is None else self._read(self._name, value)
        except ValueError as error:
            self.fail(str(error))


class _List(click.ParamType):  # type: ignore[type-arg]
    """A list of values: 10,100 or 2,4,8,...,1024 for numbers; a,b for choices."""

    name = "list"

    def __init__(
        self,
        kind: str,
        choices: Iterable[str] = (),
        also: Callable[[str], bool] | None = None,
        allowed: str = "",
    ) -> None:
        self.kind, self.choices, self.also = kind, tuple(choices), also
        self.allowed = allowed or ", ".join(self.choices)

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return its name in help."""
        return "LIST"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> list[Any]:
        """Read a list without duplicates."""
        if isinstance(value, list):
            return value
        if self.kind == "flag":
            try:
                return flags("the option", value)
            except ValueError:
                self.fail(f"{value!r} is not yes, no, or both as in no,yes")
        if self.kind == "choice":
            items = [item.strip() for item in value.split(",")]
            for item in items:
                if item not in self.choices and not (self.also and self.also(item)):
                    near = suggestion(item, self.choices, self.also)
                    self.fail(f"{item!r} is not one of {self.allowed}{near}")
            return list(dict.fromkeys(items))
        try:
            values = progression("the option", value)
        except ValueError:
            values = []
        if self.kind == "integer" and not all(isinstance(each, int) for each in values):
            values = []
        if not values:
            what = "integers" if self.kind == "integer" else "numbers"
            self.fail(f"{value!r} is not a list of {what} such as 10,100 or 2,4,8,...,64")
        return list(dict.fromkeys(values))


INTEGERS = _List("integer")
NUMBERS = _List("number")
YES_OR_NO = _List("flag")


def choice_list(
    choices: Iterable[str], also: Callable[[str], bool] | None = None, allowed: str = ""
) -> _List:
    """Return the type of a list of choices, and of others that `also` accepts."""
    return _List("choice", choices, also, allowed)


def joined(
    context: click.Context, parameter: click.Parameter, values: tuple[list[Any], ...]
) -> list[Any]:
    """Join a repeated list option: --agent es,ts or --agent es --agent ts."""
    return list(dict.fromkeys(value for values_ in values for value in values_))


def _hush(context: click.Context, parameter: click.Parameter, quiet: bool) -> bool:
    if quiet:
        no_warnings()
    return quiet


output_options = section(
    "Output",
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option("--quiet", is_flag=True, callback=_hush, help="Print errors only."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)
"""Add --json, --quiet and --debug."""


def seconds(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Read a duration, such as 90, 90s, 5m or 2h."""
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


FORCE = click.option("--force", is_flag=True, help="Replace files of any kind.")


file_options = section(
    "Files",
    click.option("--out", type=OUTPUT, help="Save the results (npz)."),
    click.option("--csv", type=OUTPUT, help="Save the curves (CSV)."),
    click.option("--plot", type=OUTPUT, help="Save a figure (png, svg or pdf)."),
    FORCE,
)
"""Add --out, --csv, --plot and --force."""


def option_of(name: str, declared: Parameter, **instead: Any) -> Callable[[Command], Command]:
    """Return the option of a parameter as declared, with keywords replaced by `instead`."""
    text = _Text(name, declared.read)
    types: dict[str, Any] = {"integer": INTEGER, "number": float, "text": text}
    known = {
        "type": click.Choice(declared.choices) if declared.choices else types.get(declared.kind),
        "default": declared.usual,
        "show_default": "as believed" if declared.usual is None else True,
        "help": declared.help,
    }
    return click.option(f"--{name.replace('_', '-')}", name, **{**known, **instead})


def given_option(name: str, declared: Parameter, **instead: Any) -> Callable[[Command], Command]:
    """Return an option that is None if not given; help shows the default."""
    usual = declared.text(declared.usual)
    return option_of(name, declared, **{"default": None, "show_default": usual, **instead})


SEED = option_of("seed", PARAMETERS["seed"])

THREADS = click.option("--threads", type=INTEGER, show_default="all processors", help="Threads.")

BASELINE = click.option(
    "--baseline",
    metavar="AGENT",
    show_default="the last",
    help="Agent to compare with: 'ES, M=30' or ts.",
)

EVERY = click.option(
    "--every",
    default="60s",
    show_default=True,
    metavar="TIME",
    callback=seconds,
    help="Time between checkpoints: 30s, 5m, 2h.",
)

_KINDS = {"out": "result", "csv": "table", "plot": "figure"}


def check_outputs(
    outputs: dict[str, Path | None],
    inputs: Iterable[Path | str | None] = (),
    *,
    force: bool = False,
    kinds: dict[str, str] = _KINDS,
) -> None:
    """Refuse, before the work begins, output files that cannot or must not be written.

    An output must differ from inputs and other outputs; an existing file must be of the same kind,
    unless `force`.
    """
    options = {f"--{name}": path for name, path in outputs.items() if path is not None}
    if len({path.resolve() for path in options.values()}) < len(options):
        raise click.UsageError(f"{', '.join(options)} must be different files")
    for hint, path in options.items():
        for other in inputs:
            if other is not None and _is_same(path, Path(other)):
                raise click.BadParameter(f"{path} is an input of this command", param_hint=hint)
        if not path.parent.is_dir():
            raise click.BadParameter(f"the folder {path.parent} does not exist", param_hint=hint)
        try:
            if hint.removeprefix("--") in kinds:
                require_replaceable(path, kinds[hint.removeprefix("--")], force)
            tempfile.TemporaryFile(dir=path.resolve().parent).close()
        except (ValueError, FileExistsError) as error:
            raise click.BadParameter(str(error), param_hint=hint) from None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise click.BadParameter(
                f"{path} cannot be written: {reason}", param_hint=hint
            ) from None


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are the same file, following links."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return path.resolve() == other.resolve()
