"""Errors become one sentence here and nowhere else."""

import _thread
import contextlib
import pickle
import shlex
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click


class _Failure(click.ClickException):
    """Anything that is not the fault of the command's words: exit code 1."""

    exit_code = 1


class _Usage(click.ClickException):
    """Words or values that the command cannot take: exit code 2."""

    exit_code = 2


@contextlib.contextmanager
def user_errors(debug: bool, to_go_on: str = "", kept: Path | None = None) -> Iterator[None]:
    """Turn what the library raises into one line and an exit code; with `debug`, let it pass.

    What is stopped says by which command it goes on from the file that it is kept in.
    """
    with _interrupts() as interrupted:
        try:
            yield
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if debug:
                raise
            # A compiler that is interrupted may answer with an error of its own.
            if interrupted and not isinstance(error, OSError):
                there = kept is not None and kept.exists()
                hint = f"; to go on: {to_go_on} {shlex.quote(str(kept))}" if there else ""
                raise _Failure(f"stopped{hint}") from None
            raise _as_click(error) from None


@contextlib.contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Give a list that tells of Ctrl-C or SIGTERM, which both raise KeyboardInterrupt."""
    seen: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield seen
        return

    def note(number: int, frame: FrameType | None) -> None:
        seen.append(number)
        raise KeyboardInterrupt

    def ignored(unraisable: "sys.UnraisableHookArgs") -> None:
        # Raised where a compiler calls Python, it would be ignored, with a traceback.
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            threading.Timer(0.02, _thread.interrupt_main).start()
        else:
            hook(unraisable)

    hook, sys.unraisablehook = sys.unraisablehook, ignored
    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _as_click(error: BaseException) -> click.ClickException:
    from fastes.files.archive import FileFormatError

    if isinstance(error, OSError) and error.filename is not None:
        return _Failure(f"{error.filename}: {(error.strerror or str(error)).lower()}")
    if isinstance(error, (EOFError, pickle.UnpicklingError)):
        from fastes.kernels.jit.cache import cache_folder

        return _Failure(f"the compiled code in {cache_folder()} is damaged: delete that folder")
    if isinstance(error, (FileFormatError, OSError, MemoryError, ImportError, ArithmeticError)):
        return _Failure(str(error) or "out of memory")
    if isinstance(error, (ValueError, TypeError)):
        return _Usage(str(error))
    return _Failure(f"{type(error).__name__}: {error} (--debug shows where)")
