"""The log of rows played, for arms that do not recur.

Over the steps s, ..., t - 1 a model misses a sum of W b with fresh W ~ N(0, 1): a normal vector
with covariance C = sum of b b'. If F'F = C then F'w has that law, w ~ N(0, I). For every aligned
stretch of B 2^l steps the log keeps a triangular F, made of its rows (l = 0) or of its two halves.
A stretch from any s to any t splits into at most 2 log2((t - s) / B) of these and fewer than 2 B
single rows.

With a discount (beliefs/memory.py), rows count by their age: a factor at the end of its stretch,
and what a model has fades over each piece before the piece is added.

Rows and factors are in rings of fixed capacity. The older half is forgotten when they are full,
after updating the models last read before.

docs/explanation/row-log.md has the proof that the law of actions and rewards is unchanged.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arithmetic.triangular import absorb
from ..arithmetic.vectors import axpy
from ..beliefs.memory import UNLIMITED, Memory, fade_by_age, fading, refill_scale
from ..jit.decorators import entry, inlined, kernel
from ..states.layout import allocated, copy_saved, zeros
from ..streams.layout import FORGOTTEN, probe_counter
from ..streams.normals import fill_normals
from . import log as interface
from .log import append

STEPS_A_MODEL = 32  # rows kept per model: in half as many steps, all but e^-16 of models are read

# What `RowLog.size` holds.
_NOW = 0  # rows so far
_FIRST = 1  # the first that is kept


class Scratch(NamedTuple):
    """What making a factor writes to."""

    factor: np.ndarray  # (r, r)
    eta: np.ndarray  # (r,): zero
    columns: np.ndarray  # (r + 1, B)


class Missed(NamedTuple):
    """What a catch-up writes to."""

    levels: np.ndarray  # (pieces,) int64: of `_pieces_since`
    starts: np.ndarray  # (pieces,) int64: of `_pieces_since`


class RowLog(NamedTuple):
    """The rows so far, as far as they are kept. Times are numbers of rows before: 0, 1, 2, ..."""

    rows: np.ndarray  # (capacity, r): row s at s % capacity; the capacity is B 2^k
    factors: np.ndarray  # (2 blocks, r (r + 1) / 2): upper triangles, row by row (`_slot`)
    memory: Memory  # of models, as of the belief
    most: int  # the largest capacity, at which it begins to forget
    size: np.ndarray  # (2,) int64
    scratch: Scratch


def block_length(r: int) -> int:
    """Return B, the rows of a block: then all factors together take half of the rows' room."""
    return max(4, 2 * r)


def capacity_for(r: int, steps: int) -> int:
    """Return the smallest capacity that holds that many rows."""
    B = block_length(r)
    return B << max(1, -(-steps // B) - 1).bit_length()


@allocated
def row_log(r: int, M: int, steps: int, memory: Memory = UNLIMITED) -> RowLog:
    """Return an empty log with capacity for `steps` rows, or its largest capacity.

    Memory is only committed when it is written to: unused capacity costs nothing.
    """
    B, most = block_length(r), capacity_for(r, STEPS_A_MODEL * M)
    capacity = min(most, capacity_for(r, steps))
    return RowLog(
        zeros((capacity, r)),
        zeros((2 * capacity // B, r * (r + 1) // 2)),
        memory,
        most,
        zeros(2, np.int64),
        Scratch(zeros((r, r)), zeros(r), zeros((r + 1, B))),
    )


@interface.most_normals.body(RowLog)
def _most_normals(log):
    capacity, r = log.rows.shape
    B = block_length(r)
    return 2 * B + 2 * r * (capacity // B).bit_length() + r


@interface.missed_scratch.body(RowLog)
def _missed_scratch(log):
    capacity, r = log.rows.shape
    pieces = 2 * block_length(r) + 2 * capacity.bit_length()
    return Missed(zeros(pieces, np.int64), zeros(pieces, np.int64))


@interface.log_with_capacity.body(RowLog)
def _log_with_capacity(log: RowLog) -> RowLog:
    """Double the capacity; none of its rows was overwritten yet."""
    capacity, r = log.rows.shape
    B = block_length(r)
    larger = log._replace(
        rows=np.zeros((2 * capacity, r)),
        factors=np.zeros((4 * capacity // B, r * (r + 1) // 2)),
        size=log.size.copy(),
    )
    larger.rows[:capacity] = log.rows
    blocks, old, new = capacity // B, 0, 0
    while blocks > 0:
        larger.factors[new : new + blocks] = log.factors[old : old + blocks]
        old, new, blocks = old + blocks, new + 2 * blocks, blocks // 2
    return larger


@interface.now.body(RowLog)
def _now(log):
    return log.size[_NOW]


@interface.log_needs_capacity.body(RowLog)
def _log_needs_capacity(log):
    kept, capacity = log.size[_NOW] - log.size[_FIRST], log.rows.shape[0]
    return kept == capacity and capacity < log.most


@inlined
def _slot(log, level, block):
    """Return where the factor of a block of a level is kept.

    Level after level, each half as many as the one before; within a level as in a ring.
    """
    B = log.scratch.columns.shape[1]
    blocks = log.rows.shape[0] // B
    return 2 * blocks - (2 * blocks >> level) + block % (blocks >> level)


@interface.append.body(RowLog)
def _append(log, key, b, root):
    """Record the row root b; cost O(r^2), amortised."""
    B = log.scratch.columns.shape[1]
    time = log.size[_NOW]
    slot = time % log.rows.shape[0]
    for j in range(b.shape[0]):
        log.rows[slot, j] = root * b[j]
    log.size[_NOW] = time + 1
    if (time + 1) % B == 0:
        _factor_blocks(log, (time + 1) // B - 1)


@kernel
def _factor_blocks(log, block):
    """Make the factor of a block whose last row was written, and of all that it completes."""
    B, U = log.scratch.columns.shape[1], log.scratch.factor
    r, first = U.shape[0], (block * B) % log.rows.shape[0]
    columns = log.scratch.columns
    for i in range(r):
        for j in range(r):
            U[i, j] = 0.0
    for i in range(B):
        for j in range(r):
            columns[j, i] = log.rows[first + i, j]
        columns[r, i] = 0.0
    for j in range(r):
        fade_by_age(log.memory, columns[j])
    absorb(U, log.scratch.eta, columns, B)
    _pack(U, log.factors[_slot(log, 0, block)])
    level, blocks = 0, log.rows.shape[0] // B
    while block & 1 == 1 and blocks >> (level + 1) > 0:
        # U is the later half's: the earlier half's rows are absorbed.
        earlier, place = log.factors[_slot(log, level, block - 1)], 0
        fade = fading(log.memory, B << level)
        for i in range(r):
            for j in range(r):
                columns[j, i] = 0.0
            for j in range(i, r):
                columns[j, i] = fade * earlier[place]
                place += 1
            columns[r, i] = 0.0
        absorb(U, log.scratch.eta, columns, r)
        block >>= 1
        level += 1
        _pack(U, log.factors[_slot(log, level, block)])


@inlined
def _pack(U, out):
    """out = the upper triangle of U, row by row."""
    place = 0
    for i in range(U.shape[0]):
        for j in range(i, U.shape[0]):
            out[place] = U[i, j]
            place += 1


@kernel
def _pieces_since(log, since, levels, starts):
    """Split the rows since a time into aligned blocks and single rows. Return how many.

    levels[i] is the level of the i-th piece, or -1 for a single row; starts[i] where it begins.
    """
    B, t = log.scratch.columns.shape[1], log.size[_NOW]
    n, s = 0, since
    while s < t:
        level = -1
        if s % B == 0:
            block = s // B
            while block & ((1 << (level + 1)) - 1) == 0 and s + (B << (level + 1)) <= t:
                level += 1
        levels[n] = level
        starts[n] = s
        n += 1
        s += 1 if level < 0 else B << level
    return n


@kernel
def _add_piece(log, level, start, w, x):
    """x += F'w for a block, or w b for a single row, x faded. Return how many normals it took."""
    capacity, r = log.rows.shape
    B = log.scratch.columns.shape[1]
    fade = fading(log.memory, 1 if level < 0 else B << level)
    for j in range(r):
        x[j] *= fade
    if level < 0:
        axpy(w[0], log.rows[start % capacity], x)
        return 1
    factor, place = log.factors[_slot(log, level, (start // B) >> level)], 0
    for i in range(r):
        for j in range(i, r):
            x[j] += w[i] * factor[place + j - i]
        place += r - i
    return r


@interface.catch_up.body(RowLog)
def _catch_up(log, agent, slot, source, stream, counter, xi):
    _take_in(log, agent.scratch, agent.models.read_at[slot], source, stream, counter, xi)


@kernel
def _take_in(log, scratch, since, source, stream, counter, xi):
    """Update xi with the rows since a time; cost O(r^2 log(rows))."""
    missed, w, r = scratch.missed, scratch.normals, log.rows.shape[1]
    n, normals = _pieces_since(log, since, missed.levels, missed.starts), 0
    for i in range(n):
        normals += 1 if missed.levels[i] < 0 else r
    refill = refill_scale(log.memory, since, log.size[_NOW])
    if refill > 0.0:
        normals += r
    fill_normals(source, stream, counter, w[:normals])
    used = 0
    for i in range(n):
        used += _add_piece(log, missed.levels[i], missed.starts[i], w[used:], xi)
    if refill > 0.0:
        axpy(refill, w[used : used + r], xi)


@interface.make_room.body(RowLog)
def _make_room(log, agent, source):
    if log.size[_NOW] - log.size[_FIRST] == log.rows.shape[0]:
        _forget(log, agent.models, agent.scratch, source)


@kernel
def _forget(log, models, scratch, source):
    """Update the few models not read in the newer half; forget the older half.

    Their numbers are those of the models, at a probe numbered by the half that is forgotten.
    """
    capacity = log.rows.shape[0]
    first = log.size[_FIRST] + capacity // 2
    half = first // (capacity // 2)
    for slot in range(models.used[0]):
        if models.read_at[slot] < first:
            counter = probe_counter(half, np.int64(models.model[slot]))
            since = models.read_at[slot]
            _take_in(log, scratch, since, source, FORGOTTEN, counter, models.xi[slot])
            models.read_at[slot] = log.size[_NOW]
    log.size[_FIRST] = first


@interface.log_arrays.body(RowLog)
def _log_arrays(log):
    """Return the rows that are kept, in order of time, and the time of the first."""
    times = np.arange(log.size[_FIRST], log.size[_NOW])
    return {"rows": log.rows[times % len(log.rows)], "first_row": log.size[[_FIRST]]}


@entry
def _append_all(log, rows):
    for i in range(rows.shape[0]):
        append(log, i, rows[i], 1.0)


def restored_row_log(
    r: int, M: int, steps: int, first: int, rows: np.ndarray, memory: Memory = UNLIMITED
) -> RowLog:
    """Return the log that keeps these rows, the first of them of the given time."""
    log = row_log(r, M, max(steps, len(rows)), memory)
    if first < 0 or first % (len(log.rows) // 2) or len(rows) > log.most:
        raise ValueError("the rows of a log do not fit")
    log.size[:] = first
    checked = np.empty((len(rows), r))
    copy_saved("rows", rows, checked)
    _append_all(log, checked)
    return log


@interface.oldest.body(RowLog)
def _oldest(log: RowLog) -> int:
    return int(log.size[_FIRST])


@interface.taken_in.body(RowLog)
def _taken_in(log: RowLog, models: Any) -> dict[str, np.ndarray]:
    return {"read_at": models.read_at[: int(models.used[0])]}


@interface.restored_log.body(RowLog)
def _restored_log(
    log: RowLog,
    models: Any,
    belief: Any,
    arrays: Mapping[str, np.ndarray],
    arms: Any,
    steps: int,
) -> tuple[RowLog, np.ndarray, np.ndarray]:
    r, first = log.rows.shape[1], int(arrays["first_row"][0])
    restored = restored_row_log(r, models.M, steps, first, arrays["rows"], log.memory)
    counts = np.zeros((len(arrays["model"]), 0), np.uint32)
    return restored, arrays["read_at"], counts
