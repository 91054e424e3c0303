"""Errors become one sentence here and nowhere else."""

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
_obeyed: list[bool] = []  # whether the command that runs ends in order by itself


class Failure(click.ClickException):
    """Anything that is not the fault of the command's words: exit code 1."""

    exit_code = 1


class _Usage(click.ClickException):
    """Words or values that the command cannot take: exit code 2."""

    exit_code = 2


def was_stopped() -> bool:
    """Return whether Ctrl-C or SIGTERM has stopped a command of this process."""
    return bool(_received)


def end_in_order() -> None:
    """Let no further signal interrupt a command that was stopped and saves what it has."""
    _obeyed.append(True)


@contextlib.contextmanager
def closed_stdout() -> Iterator[None]:
    """Let a command end in order where nobody reads on: what was to be saved is saved by then.

    A full disk behind stdout is an error all the same.
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
    """Show a warning on stderr as a sentence, without the line of code that gave it."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: click.echo(f"Warning: {message}", err=True)
        yield


def no_warnings() -> None:
    """Show no warnings for the rest of a command."""
    warnings.showwarning = lambda *_: None


def _drop_stdout() -> None:
    """Let what is still to be written to stdout go nowhere, or Python would fail at its end."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def user_errors(debug: bool, to_go_on: str = "", kept: Path | None = None) -> Iterator[None]:
    """Turn what the library raises into one line and an exit code; with `debug`, let it pass.

    What is stopped says by which command it goes on from the file that it is kept in.
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
        # A compiler that is interrupted may answer with an error of its own.
        if interrupted and not isinstance(error, OSError):
            there = kept is not None and kept.exists()
            hint = f"; to go on: {to_go_on} {shlex.quote(str(kept))}" if there else ""
            raise Failure(f"stopped{hint}") from None
        raise _as_click(error) from None


@contextlib.contextmanager
def _interrupts(seen: list[int]) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM raise KeyboardInterrupt, and add to `seen` the signal that did.

    There are no locks in what a handler does: it may have interrupted one who holds them.
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
            # The first signal is being handled, and the last checkpoint perhaps written. Many a
            # launcher sends a signal twice.
            return
        raise KeyboardInterrupt

    def insist(number: signal.Signals) -> None:
        # What is raised where C calls Python may be lost: then it is raised again.
        while True:
            time.sleep(_INSIST_SECONDS)
            if over or _obeyed:
                return
            _thread.interrupt_main(number)

    def ignored(unraisable: "sys.UnraisableHookArgs") -> None:
        # Lost, as above. By default it is printed, with a traceback.
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
            over.append(True)  # or a first signal could cut short what follows
    finally:
        for number, handler in before.items():
            # A process that was stopped has only that to say.
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
