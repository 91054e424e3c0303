"""One run shared by several threads, where a single step is work enough for them."""

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
    """Threads that share the eager update of all models.

    Each takes a range of tiles, and no number depends on another tile's: the outcome is the one
    of a single thread to the bit.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._pool.shutdown()

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
        """Do as `fastes.kernels.loop.advance`, with updates of the models shared."""
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

    def _share(self, tiles: int, part: Callable[[int, int], Any]) -> None:
        """Call `part(first, last)` for ranges that cover all tiles, at the same time."""
        cuts = [tiles * i // self.threads for i in range(self.threads + 1)]
        list(self._pool.map(part, cuts[:-1], cuts[1:]))
