"""Workers of a dask cluster, known by its scheduler's address."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from fastes.checks.extras import installed
from fastes.studies.tasks import BuildMismatchError, build_id, refusal

_SECONDS = 10.0
# Loggers that may print a traceback when the scheduler goes away.
_NOISY_LOGGERS = ("distributed.client", "tornado.application", "asyncio")


@contextlib.contextmanager
def connected(address: str, shared: Any) -> Iterator[Callable[..., "Future[Any]"]]:
    """Yield a function that submits calls `function(shared, ...)` to the workers of a scheduler.

    `shared` is sent once, as the result of a task, so that it survives the death of a worker. Dask
    reassigns the tasks of a dead worker. Workers of another build are refused by name; one that
    joins later refuses its first task itself.
    """
    with installed("a sweep on dask", "distributed", "dask"):
        from distributed import Client
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no dask scheduler answers at {address}: {error}") from error
    with _silenced(*_NOISY_LOGGERS), client:
        for worker, found in client.run(build_id, on_error="return").items():
            if isinstance(found, BaseException):
                raise BuildMismatchError(f"worker {worker} cannot run the tasks: {found}")
            if found != build_id():
                raise BuildMismatchError(refusal(worker, found))
        executor = client.get_executor(pure=False)
        try:
            there = client.submit(_itself, shared, pure=False)
            yield lambda function, *more: executor.submit(function, there, *more)
        finally:
            executor.shutdown(wait=False)


def _itself(shared: Any) -> Any:
    return shared


@contextlib.contextmanager
def _silenced(*names: str) -> Iterator[None]:
    """Silence loggers: errors are reported in one sentence instead."""
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
