"""The models of a deferred ensemble that have been read so far."""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import entry, inlined
from .deviations import Deviations

_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd

_MOST_COUNTERS = 2**20
"""Counters of plays, one a model and arm, up to which they are kept: 4 MiB."""


class CachedModels(NamedTuple):
    """The models that have been read, found by a hash table with linear probing."""

    M: int
    deviations: Deviations
    table: np.ndarray  # (2^k, 2) uint32: model + 1 (0 where free), and its slot
    model: np.ndarray  # (slots,) uint32: the model in a slot
    xi: np.ndarray  # (slots, r): the model as it was last read
    read_at: np.ndarray  # (slots,) int64: how many plays it has taken in
    plays: np.ndarray  # (slots, K) uint32: of each slot of the log (play_log.py); or (slots, 0)
    used: np.ndarray  # (1,) int64: slots taken


def counters(K: int, M: int) -> int:
    """Return how many counters a model has: K, or none where they would take too much memory.

    It depends on nothing else, for what a model missed is listed in another order with them.
    """
    return K if K * M <= _MOST_COUNTERS else 0


def no_models(K: int, M: int, deviations: Deviations, r: int, slots: int) -> CachedModels:
    """Return room for as many models as there are slots, with a table at most half full."""
    return CachedModels(
        M,
        deviations,
        np.zeros((1 << (2 * slots - 1).bit_length(), 2), np.uint32),
        np.zeros(slots, np.uint32),
        np.zeros((slots, r)),
        np.zeros(slots, np.int64),
        np.zeros((slots, counters(K, M)), np.uint32),
        np.zeros(1, np.int64),
    )


@entry
def models_need_capacity(models):
    """Return whether the next model that is read first might not fit."""
    return models.used[0] == models.model.shape[0] and models.used[0] < models.M


def models_with_capacity(models: CachedModels, K: int) -> CachedModels:
    """Return the models with room for twice as many."""
    used, slots = int(models.used[0]), len(models.model)
    model, xi, read_at = models.model[:used], models.xi[:used], models.read_at[:used]
    larger = restored_models(K, models.M, models.deviations, model, xi, read_at, 2 * slots)
    larger.plays[:used] = models.plays[:used]
    return larger


def restored_models(
    K: int,
    M: int,
    deviations: Deviations,
    model: np.ndarray,
    xi: np.ndarray,
    read_at: np.ndarray,
    slots: int,
) -> CachedModels:
    """Return the given models with room for some more, their plays yet to be counted."""
    used = len(model)
    models = no_models(K, M, deviations, xi.shape[1], min(M, max(slots, used)))
    models.model[:used] = model
    models.xi[:used] = xi
    models.read_at[:used] = read_at
    models.used[0] = used
    _fill_table(models)
    return models


@inlined
def _find(models, m):
    """Return the entry of a model in the table, or the one where it belongs."""
    size = models.table.shape[0]
    key = np.uint32(m + 1)
    # Bits of the product's upper half, as many as the size, a power of two, has values.
    entry = np.int64(((np.uint64(m) * _HASH) >> np.uint64(32)) & np.uint64(size - 1))
    while models.table[entry, 0] != key and models.table[entry, 0] != 0:
        entry = (entry + 1) & (size - 1)
    return entry


@entry
def _fill_table(models):
    """Enter all slots into an empty table."""
    for slot in range(models.used[0]):
        entry = _find(models, np.int64(models.model[slot]))
        models.table[entry, 0] = models.model[slot] + 1
        models.table[entry, 1] = slot


@inlined
def slot_of(models, m):
    """Return the slot of a model that has been read, or -1."""
    entry = _find(models, m)
    return np.int64(models.table[entry, 1]) if models.table[entry, 0] != 0 else -1


@inlined
def add_model(models, m):
    """Give a model that was never read a slot, and return it."""
    entry = _find(models, m)
    slot = models.used[0]
    models.used[0] = slot + 1
    models.model[slot] = m
    models.table[entry, 0] = m + 1
    models.table[entry, 1] = slot
    return slot
