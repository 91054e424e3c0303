"""The rows played, where arms do not come again: what a model has missed since it was last read.

Over the steps s, ..., t - 1 a model misses a sum of W b with fresh W ~ N(0, 1): a normal vector
with covariance C = sum of b b'. If F'F = C then F'w has that law, w ~ N(0, I). For every aligned
stretch of B 2^l steps the log keeps a triangular F, made of its rows (l = 0) or of its two halves.
A stretch from any s to any t splits into at most 2 log2((t - s) / B) of these and fewer than 2 B
single rows.

Rows and factors lie in rings of a fixed capacity. What is older is forgotten by halves, once the
models that were last read before are brought up to date.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.vectors import axpy
from ..jit.decorators import entry, inlined, kernel
from ..posterior.refactor import absorb

STEPS_A_MODEL = 32  # that are kept: in half as many, all but e^-16 of the models are read

# What `RowLog.size` holds.
_NOW = 0  # rows so far
_FIRST = 1  # the first that is kept


class Scratch(NamedTuple):
    """What making a factor writes to."""

    factor: np.ndarray  # (r, r)
    eta: np.ndarray  # (r,): zero
    columns: np.ndarray  # (r + 1, B)


class RowLog(NamedTuple):
    """The rows so far, as far as they are kept. Times are numbers of rows before: 0, 1, 2, ..."""

    rows: np.ndarray  # (capacity, r): row s at s % capacity; the capacity is B 2^k
    factors: np.ndarray  # (2 blocks, r (r + 1) / 2): upper triangles, row by row (`_slot`)
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


def row_log(r: int, M: int, steps: int) -> RowLog:
    """Return an empty log with room for `steps` rows, or for as many as it ever keeps.

    The system gives memory where it is written to: room that is not used costs nothing.
    """
    B, most = block_length(r), capacity_for(r, STEPS_A_MODEL * M)
    capacity = min(most, capacity_for(r, steps))
    return RowLog(
        np.zeros((capacity, r)),
        np.zeros((2 * capacity // B, r * (r + 1) // 2)),
        most,
        np.zeros(2, np.int64),
        Scratch(np.zeros((r, r)), np.zeros(r), np.zeros((r + 1, B))),
    )


def row_log_bytes(r: int, M: int, T: int) -> int:
    """Return the memory that a log of T rows takes."""
    B = block_length(r)
    capacity = min(capacity_for(r, STEPS_A_MODEL * M), capacity_for(r, T))
    return 8 * (capacity * r + capacity // B * r * (r + 1) + 2 * r * r + (r + 1) * B)


def most_normals(log: RowLog) -> int:
    """Return how many normals a catch-up takes at most."""
    capacity, r = log.rows.shape
    B = block_length(r)
    return 2 * B + 2 * r * (capacity // B).bit_length()


def log_with_capacity(log: RowLog) -> RowLog:
    """Return a log with twice the capacity; none of its rows was overwritten yet."""
    capacity, r = log.rows.shape
    larger = row_log(r, 1, 0)._replace(most=log.most)
    B = block_length(r)
    larger = larger._replace(
        rows=np.zeros((2 * capacity, r)), factors=np.zeros((4 * capacity // B, r * (r + 1) // 2))
    )
    larger.rows[:capacity] = log.rows
    larger.size[:] = log.size
    blocks, old, new = capacity // B, 0, 0
    while blocks > 0:
        larger.factors[new : new + blocks] = log.factors[old : old + blocks]
        old, new, blocks = old + blocks, new + 2 * blocks, blocks // 2
    return larger


@inlined
def now(log):
    """Return the number of rows so far."""
    return log.size[_NOW]


@entry
def log_needs_capacity(log):
    """Return whether the log is full and may grow."""
    kept = log.size[_NOW] - log.size[_FIRST]
    return kept == log.rows.shape[0] and log.rows.shape[0] < log.most


@inlined
def must_forget(log):
    """Return whether the log is full and may not grow."""
    return log.size[_NOW] - log.size[_FIRST] == log.rows.shape[0]


@inlined
def first_after_forgetting(log):
    """Return the first row that is kept once the older half is forgotten."""
    return log.size[_FIRST] + log.rows.shape[0] // 2


@inlined
def forget(log):
    """Let the older half go: every model must have been read since."""
    log.size[_FIRST] = first_after_forgetting(log)


@inlined
def _slot(log, level, block):
    """Return where the factor of a block of a level is kept.

    Level after level, each half as many as the one before; within a level as in a ring.
    """
    B = log.scratch.columns.shape[1]
    blocks = log.rows.shape[0] // B
    return 2 * blocks - (2 * blocks >> level) + block % (blocks >> level)


@inlined
def append(log, b):
    """Write down a row; cost O(r^2), amortised. The log must not be full."""
    B = log.scratch.columns.shape[1]
    time = log.size[_NOW]
    slot = time % log.rows.shape[0]
    for j in range(b.shape[0]):
        log.rows[slot, j] = b[j]
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
    absorb(U, log.scratch.eta, columns, B)
    _pack(U, log.factors[_slot(log, 0, block)])
    level, blocks = 0, log.rows.shape[0] // B
    while block & 1 == 1 and blocks >> (level + 1) > 0:
        # U is the later half's: the earlier half's rows are absorbed.
        earlier, place = log.factors[_slot(log, level, block - 1)], 0
        for i in range(r):
            for j in range(r):
                columns[j, i] = 0.0
            for j in range(i, r):
                columns[j, i] = earlier[place]
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
def pieces_since(log, since, levels, starts):
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
def add_piece(log, level, start, w, x):
    """x += F'w for a block, or w b for a single row. Return how many normals it took."""
    capacity, r = log.rows.shape
    if level < 0:
        axpy(w[0], log.rows[start % capacity], x)
        return 1
    B = log.scratch.columns.shape[1]
    factor, place = log.factors[_slot(log, level, (start // B) >> level)], 0
    for i in range(r):
        for j in range(i, r):
            x[j] += w[i] * factor[place + j - i]
        place += r - i
    return r


def kept_rows(log: RowLog) -> np.ndarray:
    """Return the rows that are kept, in order of time."""
    times = np.arange(log.size[_FIRST], log.size[_NOW])
    return log.rows[times % len(log.rows)]


def first_kept(log: RowLog) -> int:
    """Return the time of the first row that is kept."""
    return int(log.size[_FIRST])


@entry
def _append_all(log, rows):
    for i in range(rows.shape[0]):
        append(log, rows[i])


def restored_row_log(r: int, M: int, steps: int, first: int, rows: np.ndarray) -> RowLog:
    """Return the log that keeps these rows, the first of them of the given time."""
    log = row_log(r, M, max(steps, len(rows)))
    log.size[:] = first
    _append_all(log, rows)
    return log
