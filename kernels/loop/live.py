"""The two halves of a step of a live agent: to act and to observe."""

from typing import Any, NamedTuple

import numpy as np

from ..actions.whitening import first_refused, store_whitened, whiten
from ..agents.interface import learn, needs_capacity
from ..jit.boxed import box_entry
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
