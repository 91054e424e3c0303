"""Rows offered to or observed by a live agent: checks, and arrays for those on offer."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents.agent import Agent
from fastes.agents.search import offer_bytes, offer_workspace
from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.checks.memory import require
from fastes.checks.numbers import shown
from fastes.kernels.actions.arms import Arms, empty_arms, tile_count
from fastes.kernels.actions.offer import FixedActions
from fastes.kernels.actions.subset import Pool, gather
from fastes.problem.whitening import Canonical


class Choice(NamedTuple):
    """The arms and the search of a choice, for kernels."""

    actions: Any
    work: Any


class Room:
    """Arrays for the arms of a call of `act`, which grow as needed."""

    def __init__(self, agent: Agent, canonical: Canonical) -> None:
        self._agent, self._canonical = agent, canonical
        self._pool: Pool | None = None
        self._make_room(64)

    def _make_room(self, n: int) -> None:
        r = self._canonical.rank
        needed = empty_arms.nbytes(n, r) + offer_bytes(self._agent, n, r)
        require(f"{n:,} arms on offer", needed)
        arms: Arms = empty_arms(n, r)
        self.last = Choice(FixedActions(arms), offer_workspace(self._agent, arms))
        """The choice of the last call, at first among all arms that there is room for."""
        self._arms = arms

    def of(self, n: int) -> Choice:
        """Return the choice among n arms, to be stored by a kernel."""
        if self.last.actions.arms.K != n:
            if n > self._arms.K:
                self._make_room(max(n, 2 * self._arms.K))
            tiles = tile_count(n)
            used = {"tiles": self._arms.tiles[:tiles], "offsets": self._arms.offsets[:tiles]}
            actions = FixedActions(self._arms._replace(**used, K=n))
            self.last = self.last._replace(actions=actions)
        return self.last

    def some(self, chosen: NDArray[np.int64]) -> Choice:
        """Return the choice among some of the known arms."""
        if self._pool is None:
            self._pool = Pool(*self._canonical.rows_and_offsets())
        choice = self.of(len(chosen))
        gather(choice.actions.arms, self._pool, chosen)
        return choice


def checked_rows(name: str, given: ArrayLike, d: int) -> Floats:
    """Return arms as rows, (n, d), or raise; kernels check the values.

    They can be written to, or are copied: for others, kernels would be compiled once more.
    """
    rows = given if type(given) is np.ndarray else np.asarray(given)
    if rows.dtype != np.float64:
        rows = arrays.array(name, given)
    if rows.ndim == 1 and name == "row":
        rows = rows[None]
    if rows.ndim != 2 or (rows.shape[1] != d and rows.size):
        raise ValueError(f"{name} must be rows of {d} numbers, got shape {np.shape(given)}")
    rows = np.ascontiguousarray(rows)
    return rows if rows.flags.writeable else rows.copy()


def offered_to_many(offers: Any, d: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return the rows of all offers, and where each begins and the last ends; or raise."""
    if isinstance(offers, np.ndarray) and offers.ndim == 3:
        users, n, length = offers.shape
        parts, sizes = [checked_rows("offers", offers.reshape(users * n, length), d)], [n] * users
    else:
        if not isinstance(offers, Sequence | np.ndarray) or isinstance(offers, str):
            raise TypeError(f"offers must be a sequence of arms on offer, got {shown(offers)}")
        parts = [checked_rows(f"offers[{i}]", each, d) for i, each in enumerate(offers)]
        sizes = [len(part) for part in parts]
    if 0 in sizes:
        raise ValueError(f"offers[{sizes.index(0)}] must have at least one arm, got none")
    rows = parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, d)), *parts])
    return rows, np.cumsum([0, *sizes], dtype=np.int64)


def refused(name: str, row: Floats) -> ValueError:
    """Return the error for an arm that a kernel refused."""
    return ValueError(
        f"{name} must be finite, and its value within the limits of a problem, got {row}"
    )
