"""The report of a study, updated while it runs."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from fastes.reports.api import report
from fastes.studies.sweep import SweepProgress

RELOAD_SECONDS = 10
_LEAST_SECONDS = 5.0
_MOST_SHARE = 0.05  # of the time of the process that submits the tasks


@contextlib.contextmanager
def kept_current(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    on_stop: Callable[[], None] | None = None,
) -> Iterator[Callable[[SweepProgress], None]]:
    """Yield a function that takes the progress of a study and writes its report if due.

    The page is written at the start and when tasks end, at most every five seconds, and less often
    if writing is slow. It reloads itself and has no bounds, which may be slow. At the end of the
    block the page is written once more, without reloading, and with bounds unless the block
    raised. `on_stop` is called first after an interrupt. Only the last write may raise OSError.
    """
    due = 0.0
    last: SweepProgress | None = None

    def write(now: SweepProgress) -> None:
        nonlocal due, last
        began = time.monotonic()
        if now == last or began < due:
            return
        with contextlib.suppress(OSError):
            report(path, out, force=force, bounds=False, reload=RELOAD_SECONDS)
        ended = time.monotonic()
        last = now
        due = ended + max(_LEAST_SECONDS, (ended - began) / _MOST_SHARE)

    try:
        yield write
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) and on_stop is not None:
            on_stop()
        with contextlib.suppress(OSError):
            report(path, out, force=force, bounds=False)
        raise
    report(path, out, force=force, bounds=False)  # complete, even if the bounds fail
    report(path, out, force=force)
