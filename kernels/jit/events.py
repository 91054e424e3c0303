"""Events of compilation: its start and duration."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import event


@contextlib.contextmanager
def announce_compilation(announce: Callable[[], None]) -> Iterator[None]:
    """Call `announce` once, when the first kernel inside the block has to be compiled."""

    class Listener(event.Listener):  # type: ignore[misc]
        announced = False

        def on_start(self, event: Any) -> None:
            if not self.announced:
                self.announced = True
                announce()

        def on_end(self, event: Any) -> None:
            """Do nothing."""

    with event.install_listener("numba:compile", Listener()):
        yield


@contextlib.contextmanager
def compilation_timer() -> Iterator[Callable[[], float]]:
    """Yield a function that returns the seconds spent compiling so far."""
    with event.install_listener("numba:compile", event.TimingListener()) as timer:
        yield lambda: timer.duration if timer.done else 0.0
