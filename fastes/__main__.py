"""The process of the command ``fastes``; ``python -m fastes`` is the same."""

import contextlib
import os
import signal
import sys
import threading

from fastes.simulation.signals import STOP_SIGNALS, end_at_once


def run() -> None:
    """Do the command of this process's arguments, and end the process.

    From here on Ctrl-C and SIGTERM end it in order at any time: with one sentence and exit
    code 1. Until the imports below are done, and after the work, there is nothing to clean up.
    """
    for number in STOP_SIGNALS:
        signal.signal(number, end_at_once)
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


def _leave(code: object) -> None:
    """End the process with an exit code, without taking down the interpreter."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    cache = sys.modules.get("fastes.kernels.jit.cache")
    if cache is not None and cache._process_folder.cache_info().currsize:
        cache._process_folder().cleanup()  # as the interpreter would at its end
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    run()
