"""A uniformly random subset of a pool of arms at each step."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.tile_product import TILE
from ..jit.decorators import entry, inlined
from ..streams.draws import integer
from ..streams.layout import OFFERS
from .arms import Arms, empty_arms
from .offer import arm_key, offer
from .whitening import store_arm

_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd


class Pool(NamedTuple):
    """All arms, one per row, so that subsets can be gathered."""

    rows: np.ndarray  # (K, r): b
    offsets: np.ndarray  # (K,): o


class SubsetActions(NamedTuple):
    """A uniform subset of a pool at every step."""

    arms: Arms  # on offer
    pool: Pool
    chosen: np.ndarray  # (size,) int64: which arms of the pool these are
    table: np.ndarray  # (2^k,) int64: scratch, those chosen so far, at least half empty; -1 is free


def subset_actions(rows: np.ndarray, offsets: np.ndarray, size: int) -> SubsetActions:
    """Return a pool of rows b (K, r) and offsets (K), with space for a subset."""
    table = np.full(1 << (2 * size - 1).bit_length(), -1)
    chosen = np.zeros(size, np.int64)
    return SubsetActions(empty_arms(size, rows.shape[1]), Pool(rows, offsets), chosen, table)


@inlined
def _enter(table, number):
    """Insert a number into the table. Return whether it is new."""
    mask = np.int64(table.shape[0] - 1)
    entry = np.int64((np.uint64(number) * _HASH) >> np.uint64(32)) & mask
    while table[entry] >= 0:
        if table[entry] == number:
            return False
        entry = (entry + 1) & mask
    table[entry] = number
    return True


@inlined
def draw_subset(source, t, K, table, chosen):
    """Draw a uniformly random set of distinct numbers below K.

    Floyd's algorithm: for j = K - n, ..., K - 1 draw one up to j; if it was drawn before, take j.
    Cost O(n).
    """
    n = chosen.shape[0]
    for i in range(table.shape[0]):
        table[i] = -1
    for i in range(n):
        j = K - n + i
        number = integer(source, OFFERS, t * n + i, j + 1)
        if not _enter(table, number):
            _enter(table, j)
            number = j
        chosen[i] = number


@entry
def gather(arms, pool, chosen):
    """Store the chosen arms of a pool, and clear the rest of their tiles."""
    n = chosen.shape[0]
    for i in range(n):
        store_arm(arms, i, pool.rows[chosen[i]], pool.offsets[chosen[i]])
    for i in range(n, arms.tiles.shape[0] * TILE):
        arms.offsets[i // TILE, i % TILE] = -np.inf


@offer.body(SubsetActions)
def _offer(actions, source, t):
    draw_subset(source, t, actions.pool.rows.shape[0], actions.table, actions.chosen)
    gather(actions.arms, actions.pool, actions.chosen)


@arm_key.body(SubsetActions)
def _arm_key(actions, arm, t):
    return actions.chosen[arm]
