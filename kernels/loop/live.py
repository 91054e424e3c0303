"""The two halves of a step of a live agent: to act, in several ways, and to observe."""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..actions.offer import FixedActions
from ..actions.whitening import first_refused, store_whitened, whiten
from ..agents.interface import learn, needs_capacity, prepare, random_arm
from ..arithmetic.tile_product import TILE
from ..jit.boxed import box_entry
from ..search.certificate import snapshot_due
from ..search.slate import choose_slate
from ..streams.philox import Source
from .step import choose_arm, observe_reward


class Live(NamedTuple):
    """What calls of a live agent use. They get it in a box (jit/boxed.py)."""

    agent: Any
    actions: Any  # on offer, or room for those that are offered as rows
    work: Any  # of the search
    source: Source
    learned: np.ndarray  # (1,) int64: how many rewards
    row: np.ndarray  # (r,): scratch
    whitening: Any = None  # of rows, and how large their values may be
    most: Any = None


@box_entry
def act(box, t):
    """Return the agent's t-th choice, or -1 if it needs capacity or all scores are nan."""
    live = box.value
    if needs_capacity(live.agent):
        return -1
    return choose_arm(live.agent, live.actions, live.source, t, live.work)


@box_entry
def observe(box, arms, rewards):
    """Let the agent learn rewards. Return how many: not all if it needs capacity.

    They are counted here and not in Python, where a signal may interrupt.
    """
    live = box.value
    count = live.learned
    for i in range(arms.shape[0]):
        if needs_capacity(live.agent):
            return i
        observe_reward(
            live.agent, live.actions, arms[i], rewards[i], live.source, count[0], live.row
        )
        count[0] += 1
    return arms.shape[0]


@box_entry
def act_on_rows(box, rows, t):
    """Do as `act` for arms that are offered as rows (n x d), which become those of `actions`.

    Return -2 - i where row i is the first that is not allowed.
    """
    live = box.value
    wrong = store_whitened(live.actions.arms, live.whitening, rows, live.row, live.most)
    if wrong >= 0:
        return -2 - wrong
    if needs_capacity(live.agent):
        return -1
    return choose_arm(live.agent, live.actions, live.source, t, live.work)


@box_entry
def act_slate(box, t, out):
    """out[:] = a slate instead of the agent's t-th choice; its first arm is what `act` returns.

    Return how many were chosen, fewer if scores are nan; or -1 if the agent needs capacity. The
    work is a `SlateSearch`.
    """
    live = box.value
    if needs_capacity(live.agent):
        return -1
    prepare(live.agent, live.source, t)
    first = random_arm(live.agent, live.actions.arms.K, live.source, t)
    return choose_slate(live.agent, live.actions.arms, live.source, t, first, live.work, out)


@box_entry
def act_often(box, t, first, last, out):
    """out[i] = the agent's choice t + i for i = first, ..., last - 1. Return the i reached.

    It is below `last` if the agent needs capacity, the search is to be renewed, or all scores are
    nan.
    """
    live = box.value
    for i in range(first, last):
        if needs_capacity(live.agent) or snapshot_due(live.work):
            return i
        arm = choose_arm(live.agent, live.actions, live.source, t + i, live.work)
        if arm < 0:
            return i
        out[i] = arm
    return last


@box_entry
def act_on_offers(box, rows, ends, t, first, last, out):
    """Do as `act_often`, with an offer for each choice: rows ends[i], ..., ends[i + 1] - 1.

    Rows are allowed, and no offer is larger than there is room for.
    """
    live = box.value
    room = live.actions.arms
    for i in range(first, last):
        if needs_capacity(live.agent):
            return i
        n = ends[i + 1] - ends[i]
        tiles = -(-n // TILE)
        copies = room.tiles32, room.offsets32, room.rows32, room.largest, room.codes
        arms = Arms(room.tiles[:tiles], room.offsets[:tiles], *copies, n)
        store_whitened(arms, live.whitening, rows[ends[i] : ends[i + 1]], live.row, live.most)
        arm = choose_arm(live.agent, FixedActions(arms), live.source, t + i, live.work)
        if arm < 0:
            return i
        out[i] = arm
    return last


@box_entry
def observe_rows(box, rows, rewards):
    """Do as `observe` for arms that were offered, (n, d), by their rows.

    Return -1 - i, and learn nothing, where row i is the first that is not allowed.
    """
    live = box.value
    count, b = live.learned, live.row
    wrong = first_refused(live.whitening, rows, live.most, b)
    if wrong >= 0:
        return -1 - wrong
    for i in range(rows.shape[0]):
        if needs_capacity(live.agent):
            return i
        offset = whiten(live.whitening, rows[i], b)
        learn(live.agent, b, offset, count[0], rewards[i], live.source, count[0])
        count[0] += 1
    return rows.shape[0]
