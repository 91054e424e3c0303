"""The process of the command ``fastes``; ``python -m fastes`` is the same."""

import contextlib
import os
import signal
import sys
import threading
from pathlib import Path

from fastes.simulation.signals import STOP_SIGNALS, end_at_once


def run() -> None:
    """Do the command of this process's arguments, and end the process.

    From here on Ctrl-C and SIGTERM end it in order at any time: with one sentence and exit
    code 1. Until the imports below are done, and after the work, there is nothing to clean up.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, end_at_once)
    _open_streams()
    from fastes.cli import main
    from fastes.cli.errors import was_stopped

    try:
        main(prog_name="fastes")
    except SystemExit as end:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # too late: the process ends anyway
        # Threads that still run may be in LLVM, which crashes if the interpreter, or its own
        # static objects, are taken down beneath it. To wait for numba's compiler lock instead
        # would take as long as a compilation, ten seconds and more. All files are closed by now.
        if was_stopped() or (end.code and threading.active_count() > 1):
            _leave(end.code)
        raise


def _open_streams() -> None:
    """Open the null device in the place of standard streams that were closed by who started us.

    In order of their descriptors, for each opening takes the first that is free: or a file that is
    opened later would be one of these streams.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115


def _leave(code: object) -> None:
    """End the process with an exit code, without taking down the interpreter."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    run()
