"""Workers of a dask cluster: all that we know of it is an address."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

from fastes.studies.tasks import BuildMismatchError, build_id, refusal

_SECONDS = 10.0
# Loggers that print a traceback when a scheduler goes away; which, depends on the moment.
_SPEAKS_OF_LOSS = ("distributed.client", "tornado.application", "asyncio")


@contextlib.contextmanager
def connected(address: str, shared: Any) -> Iterator[Callable[..., "Future[Any]"]]:
    """Give a function that has the workers of a scheduler call another: with `shared`, and more.

    What is shared is sent once and not with every call. It is the outcome of a task of its own, so
    that it is computed again when a worker that has it dies.
    Dask sends a task of a worker that died to another one. Workers that would give other bits
    are refused by their names; one that comes later refuses its first task itself.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ImportError(
            "a sweep on dask needs distributed: install it with pip install 'fastes[dask]'"
        ) from error
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"no dask scheduler answers at {address}: {error}") from error
    with _silenced(*_SPEAKS_OF_LOSS), client:
        for worker, found in client.run(build_id, on_error="return").items():
            if isinstance(found, BaseException):
                raise BuildMismatchError(f"worker {worker} cannot do the tasks: {found}")
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
    """Silence loggers: what goes wrong is said in one sentence of ours."""
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
