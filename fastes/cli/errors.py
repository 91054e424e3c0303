"""Conversion of errors to one-line messages and exit codes."""

import _thread
import contextlib
import os
import shlex
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import click

from fastes.simulation.signals import STOP_SIGNALS, end_at_once

_INSIST_SECONDS = 0.1
_received: list[int] = []  # signals that stopped a command of this process
_obeyed: list[bool] = []  # nonempty once the running command is ending in order


class Failure(click.ClickException):
    """An error that is not due to the arguments: exit code 1."""

    exit_code = 1


class _Usage(click.ClickException):
    """Invalid arguments: exit code 2."""

    exit_code = 2


def was_stopped() -> bool:
    """Return whether Ctrl-C or SIGTERM has stopped a command of this process."""
    return bool(_received)


def end_in_order() -> None:
    """Ignore further signals: the command was stopped and is saving its results."""
    _obeyed.append(True)


@contextlib.contextmanager
def closed_stdout() -> Iterator[None]:
    """End a command in order if its output is closed; by then it has written its files.

    A full disk behind stdout is an error.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    except OSError as error:
        _drop_stdout()
        raise Failure(
            f"the output cannot be written: {(error.strerror or str(error)).lower()}"
        ) from None


@contextlib.contextmanager
def one_line_warnings() -> Iterator[None]:
    """Show warnings on stderr as one line, without the line of code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: click.echo(f"Warning: {message}", err=True)
        yield


def no_warnings() -> None:
    """Show no warnings for the rest of a command."""
    warnings.showwarning = lambda *_: None


def _drop_stdout() -> None:
    """Redirect stdout to the null device, or Python would fail when it exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def user_errors(debug: bool, to_continue: str = "", kept: Path | None = None) -> Iterator[None]:
    """Turn exceptions of the library into one line and an exit code; not with `debug`.

    If a command is stopped, the message says how to continue from the file `kept`.
    """
    interrupted: list[int] = []
    try:
        with _interrupts(interrupted):
            yield
    except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if debug:
            raise
        # An interrupted compiler may raise another error.
        if interrupted and not isinstance(error, OSError):
            there = kept is not None and kept.exists()
            hint = f"; to continue: {to_continue} {shlex.quote(str(kept))}" if there else ""
            raise Failure(f"stopped{hint}") from None
        raise _as_click(error) from None


@contextlib.contextmanager
def _interrupts(seen: list[int]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, and add to `seen` the signal that did.

    Handlers take no locks: they may have interrupted a holder.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over: list[bool] = []
    _obeyed.clear()

    def interrupt(number: int, frame: FrameType | None) -> None:
        if over or _obeyed:
            return
        if not seen:
            seen.append(number)
            _received.append(number)
            _thread.start_new_thread(insist, (signal.Signals(number),))
        elif sys.exc_info()[1] is not None:
            # The first signal is being handled, perhaps by writing the last checkpoint; some
            # launchers send a signal twice.
            return
        raise KeyboardInterrupt

    def insist(number: signal.Signals) -> None:
        # An exception raised where C calls Python may be lost; then raise it again.
        while True:
            time.sleep(_INSIST_SECONDS)
            if over or _obeyed:
                return
            _thread.interrupt_main(number)

    def ignored(unraisable: "sys.UnraisableHookArgs") -> None:
        # Lost, as above; by default it would be printed with a traceback.
        if not isinstance(unraisable.exc_value, KeyboardInterrupt):
            hook(unraisable)

    hook, sys.unraisablehook = sys.unraisablehook, ignored
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    try:
        try:
            for number in STOP_SIGNALS:
                signal.signal(number, interrupt)
            yield
        finally:
            over.append(True)  # from now on signals must not interrupt what follows
    finally:
        for number, handler in before.items():
            # A process that was stopped reports only that.
            ending = seen and handler is end_at_once
            signal.signal(number, signal.SIG_IGN if ending else handler)
        sys.unraisablehook = hook


def _as_click(error: BaseException) -> click.ClickException:
    from fastes.agents.own import OwnAgentError, own_traceback
    from fastes.files.kinds import FileFormatError

    if isinstance(error, OwnAgentError):
        return Failure("\n".join([str(error), own_traceback(error)]).rstrip())
    if isinstance(error, OSError) and error.filename is not None:
        return Failure(f"{error.filename}: {(error.strerror or str(error)).lower()}")
    if isinstance(error, OSError) and error.strerror is not None:
        return Failure(f"the output cannot be written: {error.strerror.lower()}")
    if isinstance(error, (FileFormatError, OSError, MemoryError, ImportError, ArithmeticError)):
        return Failure(str(error) or "out of memory")
    if isinstance(error, (ValueError, TypeError)):
        return _Usage(str(error))
    return Failure(f"{type(error).__name__}: {error} (--debug shows where)")
