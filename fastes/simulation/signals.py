"""Handling of Ctrl-C and SIGTERM."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, unless the program has a handler for it."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def end_at_once(number: int, frame: FrameType | None) -> NoReturn:
    """End a process at once: the handler before and after a command's work.

    An exception raised during an import can be lost, or end in a traceback.
    """
    with contextlib.suppress(OSError):
        os.write(2, b"Error: stopped\n")
    os._exit(1)
