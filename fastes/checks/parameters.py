"""A parameter, declared once: help, default, range. Command line, studies and labels read it."""

import functools
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from fastes.checks import numbers


@dataclass(frozen=True)
class Parameter:
    """What there is to say about a parameter.

    Attributes
    ----------
    help : str
        One sentence, for the command line.
    kind : {"integer", "number", "choice"}
        What its values are.
    usual : object
        Its value where the command line or a study says nothing.
    minimum, maximum : number, optional
        The range of an integer; the least value of a number, 0 or None.
    choices : tuple of str
        The values of a choice.
    labelled : bool
        Whether labels and tables show it, because agents differ by it.
    """

    help: str
    kind: str
    usual: Any
    minimum: int | None = None
    maximum: int = numbers.MAX_SIZE
    choices: tuple[str, ...] = ()
    labelled: bool = True

    def checked(self, name: str, value: Any) -> Any:
        """Return a value of this parameter, or raise ValueError."""
        if value is None and self.usual is None:
            return None
        if self.kind == "choice":
            if value not in self.choices:
                raise ValueError(f"{name} must be one of {', '.join(self.choices)}, got {value!r}")
            return value
        if self.kind == "integer":
            return numbers.integer(name, value, self.minimum or 0, self.maximum)
        return (numbers.real if self.minimum is None else numbers.nonnegative)(name, value)


def parameter(help: str, kind: str, usual: Any, *, default: Any = MISSING, **rest: Any) -> Any:  # noqa: A002
    """Declare a field of a dataclass to be a parameter; `default` is that of its constructor."""
    metadata = {"parameter": Parameter(help, kind, usual, **rest)}
    return field(default=default, metadata=metadata)


@functools.cache
def parameters_of(kind: type) -> Mapping[str, Parameter]:
    """Return the parameters that a dataclass declares, by name."""
    return {
        each.name: each.metadata["parameter"]
        for each in fields(kind)
        if "parameter" in each.metadata
    }
