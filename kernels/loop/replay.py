"""Replay of logged plays: an agent chooses in each row of a log, and may learn its reward."""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import load_arm
from ..actions.subset import Pool, gather
from ..actions.whitening import Whitening, store_whitened
from ..agents.interface import learn, needs_capacity
from ..jit.boxed import box_entry
from ..jit.decorators import generic, inlined
from ..search.certificate import snapshot_due
from .step import choose_arm


class AllArms(NamedTuple):
    """Rows of a log at which all fixed arms are on offer."""

    first: int  # the number of the first row: not used, but a tuple needs a field


class SomeArms(NamedTuple):
    """Rows of a log at which equally many of the fixed arms are on offer."""

    pool: Pool
    numbers: np.ndarray  # (m, n) int64: which ones


class NewArms(NamedTuple):
    """Rows of a log at which equally many arms are on offer that are not known in advance."""

    rows: np.ndarray  # (m, n, d)
    whitening: Whitening
    most: np.ndarray


class Plays(NamedTuple):
    """What was logged in these rows."""

    places: np.ndarray  # (m,) int64: of the arm played, among those on offer
    rewards: np.ndarray  # (m,): in units of the noise
    kept: np.ndarray  # (m,) bool: the others are passed over
    first: int  # number of the first of these rows in the log
    draws: int  # choices per row
    always: bool  # learn from each row that is kept, or only where the choice is the logged arm


@generic
def lay_out(offers, live, i):
    """Set `live.actions.arms` to the arms on offer in row i. By default they stay."""


@generic
def key_of(offers, i, place, count):
    """Return the key of an arm on offer in row i (agents/interface.py)."""
    return place


@lay_out.body(SomeArms)
def _lay_out_some(offers, live, i):
    gather(live.actions.arms, offers.pool, offers.numbers[i])


@key_of.body(SomeArms)
def _key_of_some(offers, i, place, count):
    return offers.numbers[i, place]


@lay_out.body(NewArms)
def _lay_out_new(offers, live, i):
    store_whitened(live.actions.arms, offers.whitening, offers.rows[i], live.row, offers.most)


@key_of.body(NewArms)
def _key_of_new(offers, i, place, count):
    return count


@inlined
def _hits(live, place, t, draws):
    """Return how many of the choices t, t + 1, ... are the arm at a place; -1 if one fails."""
    hits = 0
    for k in range(draws):
        if needs_capacity(live.agent) or snapshot_due(live.work):
            return -1
        arm = choose_arm(live.agent, live.actions, live.source, t + k, live.work)
        if arm < 0:
            return -1
        if arm == place:
            hits += 1
    return hits


@box_entry
def replay_rows(box, offers: Any, plays: Plays, start: int, hits: np.ndarray) -> int:
    """Replay the rows start, start + 1, ... of `plays`; hits[i] = choices that are the logged arm.

    Return how many rows are done: not all if the agent needs capacity, if a snapshot is due, or if
    all scores are nan. The choices of row i have the times draws i, ..., draws (i + 1) - 1, also
    when a row is begun again.
    """
    live, count = box.value, box.value.learned
    for i in range(start, plays.places.shape[0]):
        if not plays.kept[i]:
            hits[i] = 0
            continue
        lay_out(offers, live, i)
        place = plays.places[i]
        found = _hits(live, place, (plays.first + i) * plays.draws, plays.draws)
        if found < 0 or needs_capacity(live.agent):
            return i
        hits[i] = found
        if plays.always or found > 0:
            offset = load_arm(live.actions.arms, place, live.row)
            key = key_of(offers, i, place, count[0])
            learn(live.agent, live.row, offset, key, plays.rewards[i], live.source, count[0])
            count[0] += 1
    return plays.places.shape[0]
