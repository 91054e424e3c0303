"""One run shared by several threads, where a single step is work enough for them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

from fastes.kernels.argmax import merge, workspace
from fastes.kernels.arms import Arms
from fastes.kernels.ensemble import Ensemble, flush, forget_pending, is_full, weights
from fastes.kernels.loop import Environment, Record
from fastes.kernels.stepwise import pick, prepare, scan_tiles, settle
from fastes.kernels.streams import Source

WORTH_SHARING = 2e6
"""Multiply-adds in a step, above which handing out the work pays: about half a millisecond."""


class Team:
    """Threads that share each step's scan over arms and update of models.

    Each takes a range of tiles; what they find is put together in a fixed order, so that the
    outcome is the one of a single thread to the bit.
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
        agent: Any,
        arms: Arms,
        environment: Environment,
        record: Record,
        source: Source,
        start: int,
        stop: int,
    ) -> int:
        """Do as `kernels.loop.advance`, with the work of each step shared."""
        work = [workspace(arms) for _ in range(self.threads)]
        for t in range(start, stop):
            if not prepare(agent, source, t):
                return t
            scans = self._share(
                len(arms.tiles),
                lambda i, first, last: scan_tiles(agent, arms, first, last, work[i]),
            )
            arm = pick(agent, arms, source, t, *merge(scans), work[0])
            if arm < 0:
                return t
            if isinstance(agent, Ensemble) and is_full(agent.models):
                self._flush(agent, source)
            settle(agent, arms, environment, record, source, t, arm)
        return stop

    def _flush(self, agent: Ensemble, source: Source) -> None:
        models = agent.models
        self._share(
            len(models.tiles),
            lambda i, first, last: flush(models, source, first, last, weights(models)),
        )
        forget_pending(models)

    def _share(self, tiles: int, part: Callable[[int, int, int], Any]) -> list[Any]:
        """Call `part(i, first, last)` for ranges that cover all tiles, at the same time."""
        cuts = [tiles * i // self.threads for i in range(self.threads + 1)]
        return list(self._pool.map(part, range(self.threads), cuts[:-1], cuts[1:]))
