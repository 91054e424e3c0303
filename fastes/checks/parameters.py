"""A parameter, declared once (help, default, range) for command line, studies and labels."""

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

from fastes.checks import numbers

FLAGS = {True: "yes", False: "no"}
"""Text of a flag."""


@dataclass(frozen=True)
class Parameter:
    """The declaration of a parameter.

    Attributes
    ----------
    help : str
        One sentence, for the command line.
    kind : {"integer", "number", "choice", "flag", "text"}
        Type of its values; a flag is True or False, on the command line yes or no. A text begins
        with a letter.
    usual : object
        Default on the command line and in studies. None: each agent has its own.
    minimum, maximum : number, optional
        The range of an integer or a number. Without a maximum, the least value of a number is 0 or
        None.
    choices : tuple of str
        The values of a choice.
    labelled : {"always", "unusual", "never"}
        When labels and tables show it.
    also : function, optional
        Returns whether a text outside the choices is allowed too.
    also_text : str
        Describes such a text in messages.
    read : function, optional
        Returns the usual form of a text, given the parameter's name and a value, or raises.
    option : str
        Its name as an option, an axis and a fact, where the field's is that of another parameter.
    """

    help: str
    kind: str
    usual: Any
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    labelled: str = "always"
    also: Callable[[str], bool] | None = None
    also_text: str = ""
    read: Callable[[str, Any], Any] | None = None
    option: str = ""

    @property
    def allowed(self) -> str:
        """The choices, and what else there may be, as text."""
        return ", ".join((*self.choices, *filter(None, [self.also_text])))

    def is_labelled(self, value: Any) -> bool:
        """Return whether labels show this value."""
        return self.labelled == "always" or (self.labelled == "unusual" and value != self.usual)

    def checked(self, name: str, value: Any) -> Any:
        """Return a value of this parameter, or raise ValueError."""
        if value is None and self.usual is None:
            return None
        if self.kind == "flag":
            return numbers.flag(name, value)
        if self.read is not None:
            return self.read(name, value)
        if self.kind == "choice":
            text = str(value)
            if value not in self.choices and not (self.also is not None and self.also(text)):
                near = suggestion(text, self.choices, self.also)
                raise ValueError(f"{name} must be one of {self.allowed}, got {value!r}{near}")
            return value if value in self.choices else text
        if self.kind == "integer":
            most = int(self.maximum or numbers.MAX_SIZE)
            return numbers.integer(name, value, int(self.minimum or 0), most)
        if self.maximum is not None:
            return numbers.between(name, value, self.minimum or 0, self.maximum)
        return (numbers.real if self.minimum is None else numbers.nonnegative)(name, value)

    def text(self, value: Any) -> str:
        """Return a value as the command line writes it."""
        if self.kind == "flag":
            return FLAGS[value]
        return f"{value:g}" if self.kind == "number" else str(value)

    def merged(self, other: "Parameter") -> "Parameter":
        """Return the common parameter of two agents that have one of the same name and kind."""
        assert self.kind == other.kind
        choices = tuple(dict.fromkeys(self.choices + other.choices))
        usual = self.usual if self.usual == other.usual else None
        return replace(self, choices=choices, usual=usual)


def suggestion(word: str, choices: Iterable[str], also: Callable[[str], bool] | None = None) -> str:
    """Return "; did you mean ...?" if a choice is similar to `word`, else ""."""
    import difflib

    with_colon = ":".join(word.rsplit(".", 1))  # mine.Agent, for mine:Agent
    more = [with_colon] if also is not None and also(with_colon) else []
    near = difflib.get_close_matches(word, [*choices, *more], 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def parameter(help: str, kind: str, usual: Any, *, default: Any = MISSING, **rest: Any) -> Any:  # noqa: A002
    """Declare a field of a dataclass as a parameter; `default` is that of its constructor."""
    metadata = {"parameter": Parameter(help, kind, usual, **rest)}
    return field(default=default, metadata=metadata)


@functools.cache
def parameters_of(kind: type) -> Mapping[str, Parameter]:
    """Return the parameters that a dataclass declares, by name, those only by keyword last."""
    return {
        each.name: each.metadata["parameter"]
        for each in sorted(fields(kind), key=lambda each: bool(each.kw_only))
        if "parameter" in each.metadata
    }


def options_of(kind: type) -> Mapping[str, str]:
    """Return the names of the fields that are parameters, by the names of their options."""
    return {each.option or name: name for name, each in parameters_of(kind).items()}
