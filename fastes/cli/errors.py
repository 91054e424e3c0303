"""Errors become one sentence here and nowhere else."""

import contextlib
from collections.abc import Iterator

import click


class _Failure(click.ClickException):
    """Anything that is not the fault of the command's words: exit code 1."""

    exit_code = 1


class _Usage(click.ClickException):
    """Words or values that the command cannot take: exit code 2."""

    exit_code = 2


@contextlib.contextmanager
def one_sentence(debug: bool) -> Iterator[None]:
    """Turn what the library raises into one line and an exit code; with `debug`, let it pass."""
    from fastes.files import FileFormatError

    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except KeyboardInterrupt:
        if debug:
            raise
        raise _Failure("stopped") from None
    except Exception as error:
        if debug:
            raise
        raise _as_click(error, FileFormatError) from None


def _as_click(error: Exception, damaged: type[Exception]) -> click.ClickException:
    if isinstance(error, OSError) and error.filename is not None:
        return _Failure(f"{error.filename}: {(error.strerror or str(error)).lower()}")
    if isinstance(error, (damaged, OSError, MemoryError, ImportError, ArithmeticError)):
        return _Failure(str(error) or "out of memory")
    if isinstance(error, (ValueError, TypeError)):
        return _Usage(str(error))
    return _Failure(f"{type(error).__name__}: {error} (--debug shows where)")
