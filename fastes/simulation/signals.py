"""Ctrl-C and SIGTERM."""

import contextlib
import signal
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def orderly_termination() -> Iterator[None]:
    """Let SIGTERM raise SystemExit, unless the program has its own idea of it."""
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
