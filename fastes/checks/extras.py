"""Packages that are installed on request."""

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def installed(user: str, package: str, extra: str) -> Iterator[None]:
    """Turn an ImportError in the block into one with the command that installs the package.

    >>> with installed("a cake", "flour", "baking"):
    ...     import flour
    Traceback (most recent call last):
    ImportError: a cake needs flour: install it with pip install 'fastes[baking]'
    """
    try:
        yield
    except ImportError as error:
        raise ImportError(
            f"{user} needs {package}: install it with pip install 'fastes[{extra}]'"
        ) from error
