"""Sharing the model update of one run between several threads."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.ensembles.eager import EagerEnsemble, flush, forget_pending, room, weights
from fastes.kernels.loop.advance import advance
from fastes.kernels.loop.environment import Environment
from fastes.kernels.loop.record import Record
from fastes.kernels.streams.philox import Source


class SharedUpdate:
    """Threads that share the update of all models of an eager ensemble.

    Each takes a range of tiles, which are independent: the result is that of a single thread, to
    the bit.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exception: object) -> None:
        # After an interrupt, do not wait for a thread that may be compiling.
        self._pool.shutdown(wait=kind is None, cancel_futures=kind is not None)

    def advance(
        self,
        agent: EagerEnsemble,
        actions: FixedActions,
        environment: Environment,
        record: Record,
        source: Source,
        work: Any,
        start: int,
        stop: int,
    ) -> int:
        """As `fastes.kernels.loop.advance`, with shared updates of the models."""
        t = start
        while t < stop:
            if room(agent.models) == 0:
                self._flush(agent, source)
            goal = min(stop, t + room(agent.models))
            t = advance(agent, actions, environment, record, source, work, t, goal)
            if t < goal:
                break
        return t

    def _flush(self, agent: EagerEnsemble, source: Source) -> None:
        models = agent.models
        self._share(
            len(models.tiles),
            lambda first, last: flush(models, source, first, last, weights(models)),
        )
        forget_pending(models)

    def _share(self, tiles: int, update: Callable[[int, int], Any]) -> None:
        """Call `update(first, last)` in parallel for ranges that cover all tiles."""
        cuts = [tiles * i // self.threads for i in range(self.threads + 1)]
        list(self._pool.map(update, cuts[:-1], cuts[1:]))
