"""Named tuples whose fields have docstrings, taken from the class's."""

import inspect
import re
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type[Any])


def documented(kind: Class) -> Class:
    """Set the docstring of each field of a named tuple to its text in ``Attributes``.

    Python's default is "Alias for field number 0".

    Examples
    --------
    >>> from typing import NamedTuple
    >>> @documented
    ... class Point(NamedTuple):
    ...     '''A point.
    ...
    ...     Attributes
    ...     ----------
    ...     x, y : float
    ...         Its coordinates.
    ...     '''
    ...
    ...     x: float
    ...     y: float
    >>> Point.y.__doc__
    'Its coordinates.'
    """
    _, _, section = inspect.cleandoc(kind.__doc__ or "").partition("Attributes\n----------\n")
    for names, text in re.findall(r"^(\w[\w, ]*) : .*\n((?:    .*\n?)+)", section, re.MULTILINE):
        for name in names.split(", "):
            getattr(kind, name).__doc__ = " ".join(text.split())
    return kind
