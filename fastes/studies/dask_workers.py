"""Workers of a dask cluster: all that we know of it is an address."""

import contextlib
import logging
from collections.abc import Iterator
from concurrent.futures import Executor

from fastes.studies.tasks import BuildMismatchError, build_id, refusal

_SECONDS = 10.0


@contextlib.contextmanager
def connected(address: str) -> Iterator[Executor]:
    """Give an executor whose tasks are done by the workers of a scheduler.

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
    with _silenced("distributed.client"), client:
        for worker, found in client.run(build_id, on_error="return").items():
            if isinstance(found, BaseException):
                raise BuildMismatchError(f"worker {worker} cannot do the tasks: {found}")
            if found != build_id():
                raise BuildMismatchError(refusal(worker, found))
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:
            executor.shutdown(wait=False)


@contextlib.contextmanager
def _silenced(name: str) -> Iterator[None]:
    """Silence a logger: what goes wrong is said in one sentence of ours."""
    logger = logging.getLogger(name)
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(level)
