"""Construction of objects from files: any error becomes one sentence that names the file."""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from fastes.files.kinds import FileFormatError

_Made = TypeVar("_Made")


@contextlib.contextmanager
def made_of(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn any error while an object is made from a file into one sentence that names the file.

    Accidental damage is found earlier, by the seal. Beyond that, only sizes (before memory is
    allocated) and what compiled code indexes by are checked. RuntimeError passes: it is about this
    process, such as an agent whose module is not imported.
    """
    try:
        yield
    except (FileFormatError, OSError, MemoryError, RuntimeError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FileFormatError(f"{os.fspath(path)} is not a valid {kind}: {reason}") from error


def typed(kind: type[_Made], described: Mapping[str, Any]) -> _Made:
    """Return a dataclass or named tuple made from a description, or raise TypeError.

    Fields must have the declared types; fields that are dataclasses are made likewise.

    >>> from fastes.problem.constants import Estimate
    >>> typed(Estimate, {"value": 1.0, "se": "small"})
    Traceback (most recent call last):
    TypeError: se must be of <class 'float'>, got 'small'
    """
    declared, values = get_type_hints(kind), dict(described)
    for name in declared.keys() & values.keys():
        hint: Any = declared[name]
        if isinstance(hint, type) and dataclasses.is_dataclass(hint):
            values[name] = typed(hint, values[name])
        elif not isinstance(values[name], getattr(hint, "__origin__", hint)):
            raise TypeError(f"{name} must be of {hint}, got {values[name]!r}")
    return kind(**values)
