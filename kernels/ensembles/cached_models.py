"""The models of a deferred ensemble that have been read so far."""

from typing import Any, NamedTuple

import numpy as np

from ..beliefs.interface import draw_xi
from ..jit.decorators import entry, generic, inlined
from ..states.layout import allocated, copy_saved, zeros
from .deviations import Deviations

_HASH = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd

_MOST_COUNTERS = 2**20
"""Most counters of plays, one per model and arm: 4 MiB."""


class CachedModels(NamedTuple):
    """The models that have been read, found by a hash table with linear probing."""

    M: int
    deviations: Deviations
    table: np.ndarray  # (2^k, 2) uint32: model + 1 (0 where free), and its slot
    model: np.ndarray  # (slots,) uint32: the model in a slot
    xi: np.ndarray  # (slots, r): the model as it was last read
    read_at: np.ndarray  # (slots,) int64: how many plays it has taken in
    plays: np.ndarray  # (slots, K): what the log counts of each arm (log.py); or (slots, 0)
    used: np.ndarray  # (1,) int64: slots taken


def counters(K: int, M: int) -> int:
    """Return the number of counters of a model: K, or 0 if they would take too much memory.

    It depends on nothing else, for what a model missed is listed in another order with them.
    """
    return K if K * M <= _MOST_COUNTERS else 0


@allocated
def no_models(
    M: int, deviations: Deviations, r: int, slots: int, counters: int, counted: Any = np.uint32
) -> CachedModels:
    """Return space for as many models as slots, with a table at most half full.

    `counted` is the type of what the log counts.
    """
    return CachedModels(
        M,
        deviations,
        table=zeros((1 << (2 * slots - 1).bit_length(), 2), np.uint32),
        model=zeros(slots, np.uint32),
        xi=zeros((slots, r)),
        read_at=zeros(slots, np.int64),
        plays=zeros((slots, counters), counted),
        used=zeros(1, np.int64),
    )


@entry
def models_need_capacity(models):
    """Return whether the next new model might not fit."""
    return models.used[0] == models.model.shape[0] and models.used[0] < models.M


def models_with_capacity(models: CachedModels) -> CachedModels:
    """Return the models with twice the capacity."""
    used, slots = int(models.used[0]), len(models.model)
    parts = (part[:used] for part in (models.model, models.xi, models.read_at, models.plays))
    r = models.xi.shape[1]
    return restored_models(models.M, models.deviations, r, 2 * slots, *parts)


def restored_models(
    M: int,
    deviations: Deviations,
    r: int,
    slots: int,
    model: np.ndarray,
    xi: np.ndarray,
    read_at: np.ndarray,
    plays: np.ndarray,
) -> CachedModels:
    """Return these models, one per row, with capacity for as many as slots, or raise."""
    used = len(model)
    room = min(M, max(slots, used))
    models = no_models(M, deviations, r, room, plays.shape[1], plays.dtype)
    copy_saved("model", model, models.model[:used])
    copy_saved("xi", xi, models.xi[:used])
    copy_saved("read_at", read_at, models.read_at[:used])
    copy_saved("plays", plays, models.plays[:used])
    if (model >= M).any() or len(np.unique(model)) < used:
        raise ValueError("the models of an ensemble do not fit")
    models.used[0] = used
    _fill_table(models)
    return models


@generic
def draw_first_read(deviations, agent, source, stream, counter, xi):
    """Draw a new model in its current state: by default xi ~ N(0, P)."""
    draw_xi(agent.belief, source, stream, counter, agent.scratch.normals, xi)


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
    """Assign a slot to a new model, and return it."""
    entry = _find(models, m)
    slot = models.used[0]
    models.used[0] = slot + 1
    models.model[slot] = m
    models.table[entry, 0] = m + 1
    models.table[entry, 1] = slot
    return slot
