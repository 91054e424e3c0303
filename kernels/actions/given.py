"""Given sets of arms, one for each step, repeated periodically."""

from typing import NamedTuple

import numpy as np

from .arms import Arms, empty_arms
from .offer import arm_key, offer
from .whitening import Whitening, is_allowed, store_arm, whiten


class Scratch(NamedTuple):
    """What an offer writes to."""

    a: np.ndarray  # (d,): a row
    b: np.ndarray  # (r,): the same in canonical coordinates


class GivenActions(NamedTuple):
    """Step t offers rows[t % n]."""

    arms: Arms
    whitening: Whitening
    rows: np.ndarray  # (n, K, d)
    most: np.ndarray  # (2,): the largest allowed |b|^2 and |o|
    scratch: Scratch


def given_actions(rows: np.ndarray, whitening: Whitening, most: np.ndarray) -> GivenActions:
    """Return sets of rows (n, K, d), with space for one of them."""
    _, K, d = rows.shape
    r = whitening.matrix.shape[1]
    scratch = Scratch(np.zeros(d), np.zeros(r))
    return GivenActions(empty_arms(K, r), whitening, rows, most, scratch)


@offer.body(GivenActions)
def _offer(actions, source, t):
    """Store the set of step t. If a row is not allowed, the scores of all arms are nan."""
    rows, a, b = actions.rows[t % actions.rows.shape[0]], actions.scratch.a, actions.scratch.b
    allowed = True
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            a[j] = rows[i, j]
        offset = whiten(actions.whitening, a, b)
        allowed = allowed and is_allowed(b, offset, actions.most)
        store_arm(actions.arms, i, b, offset)
    if not allowed:
        for i in range(rows.shape[0]):
            store_arm(actions.arms, i, b, np.nan)


@arm_key.body(GivenActions)
def _arm_key(actions, arm, t):
    return (t % actions.rows.shape[0]) * actions.arms.K + arm
