"""The report of a study, kept current while it runs."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator

from fastes.reports.api import report
from fastes.studies.sweep import SweepProgress

RELOAD_SECONDS = 10
_LEAST_SECONDS = 5.0
_MOST_SHARE = 0.05  # of the time of the process that hands out the tasks


@contextlib.contextmanager
def kept_current(
    path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    force: bool = False,
    on_stop: Callable[[], None] | None = None,
) -> Iterator[Callable[[SweepProgress], None]]:
    """Give a function that writes the report of a study anew, if that is due.

    It is called with how far the study is, as often as one likes. The page is written at once, then
    every five seconds at most, less often where that takes long, and only after a task has ended.
    While the block runs the page reloads itself, and has no bounds: to compute them may take long.
    At its end the page is written once more, and does not reload; with bounds unless the block was
    cut short. `on_stop` is called first where it was interrupted. A page that cannot be written
    stops no study: only the last one raises OSError.
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
    report(path, out, force=force, bounds=False)  # whole, whatever becomes of the bounds
    report(path, out, force=force)
