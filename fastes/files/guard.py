"""What objects are made of files by: whatever goes wrong is one sentence that names the file."""

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_type_hints

from fastes.files.kinds import FileFormatError

_Made = TypeVar("_Made")


@contextlib.contextmanager
def made_of(path: str | os.PathLike[str], kind: str) -> Iterator[None]:
    """Turn any error while objects are made of a file into one sentence that names the file.

    A file that was changed by accident is refused before, by its seal. One that is wrong all the
    same was written so, and what it holds is not checked field by field, but for sizes before
    memory is taken and for what compiled code indexes by. What is wrong with this process and not
    with the file, an agent whose module is not imported say, is a RuntimeError and passes.
    """
    try:
        yield
    except (FileFormatError, OSError, MemoryError, RuntimeError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())
        raise FileFormatError(f"{os.fspath(path)} holds no whole {kind}: {reason}") from error


def typed(kind: type[_Made], described: Mapping[str, Any]) -> _Made:
    """Return a dataclass or named tuple of a description, or raise TypeError.

    Its fields must have the types that are declared; those that are dataclasses are made likewise.

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
