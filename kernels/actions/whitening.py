"""Transformation of rows to canonical arms: b = F'a / sigma, o = a'mu0 / sigma."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE
from ..arithmetic.vectors import add_transposed, dot
from ..jit.decorators import entry, inlined


class Whitening(NamedTuple):
    """The change of coordinates, for a diagonal or full F."""

    scale: np.ndarray  # (r,): the nonzero entries of a diagonal F over sigma; or (0,)
    kept: np.ndarray  # (r,) int64: their coordinates; or (0,)
    matrix: np.ndarray  # (d, r): F / sigma; or (0, r)
    mean: np.ndarray  # (d,): mu0 / sigma


@inlined
def whiten(whitening, a, b):
    """b = F'a / sigma for a row a. Return its offset; cost O(d), or O(d r)."""
    if whitening.matrix.shape[0] == 0:
        for j in range(b.shape[0]):
            b[j] = whitening.scale[j] * a[whitening.kept[j]]
    else:
        for j in range(b.shape[0]):
            b[j] = 0.0
        add_transposed(whitening.matrix, a, b)
    return dot(a, whitening.mean)


@inlined
def parameter_of(whitening, z, theta):
    """theta = (mu0 + F z) / sigma, the parameter of z."""
    for j in range(theta.shape[0]):
        theta[j] = whitening.mean[j]
    if whitening.matrix.shape[0] == 0:
        for j in range(z.shape[0]):
            theta[whitening.kept[j]] += whitening.scale[j] * z[j]
    else:
        for i in range(theta.shape[0]):
            theta[i] += dot(whitening.matrix[i], z)


@inlined
def store_arm(arms, arm, b, o):
    """Store row b and offset o of an arm, in double precision only."""
    tile, column = divmod(arm, TILE)
    for j in range(b.shape[0]):
        arms.tiles[tile, j, column] = b[j]
    arms.offsets[tile, column] = o


@inlined
def is_allowed(b, o, most):
    """Return whether an arm is finite, |b|^2 at most most[0] and |o| at most most[1]."""
    return dot(b, b) <= most[0] and abs(o) <= most[1]  # False if one is nan


@entry
def first_refused(whitening, rows, most, b):
    """Return the first row that is not allowed, or -1; `b` (r) is scratch."""
    for i in range(rows.shape[0]):
        offset = whiten(whitening, rows[i], b)
        if not is_allowed(b, offset, most):
            return i
    return -1


@entry
def store_whitened(arms, whitening, rows, b, most):
    """Store rows (n x d) as arms 0, ..., n - 1, and clear the rest of their tiles.

    Return the first row that is not allowed, or -1; `b` (r) is scratch. A tile at a time, with
    loops across its arms.
    """
    n = rows.shape[0]
    centred = _is_centred(whitening, b.shape[0])
    for tile in range(arms.tiles.shape[0]):
        first = tile * TILE
        count = max(0, min(TILE, n - first))
        offsets, part = arms.offsets[tile], rows[first : first + count]
        _whiten_rows(whitening, part, b, arms.tiles[tile])
        _sum_squares(arms.tiles[tile], offsets)
        for i in range(count):
            offset = 0.0 if centred else dot(part[i], whitening.mean)
            if not (offsets[i] <= most[0] and abs(offset) <= most[1]):  # True if one is nan
                return first + i
            offsets[i] = offset
        for i in range(count, TILE):
            offsets[i] = -np.inf
    return -1


@inlined
def _is_centred(whitening, r):
    """Return whether the offset of every row is 0 if its b is finite."""
    for j in range(whitening.mean.shape[0]):
        if whitening.mean[j] != 0.0:
            return False
    return whitening.matrix.shape[0] > 0 or r == whitening.mean.shape[0]


@inlined
def _whiten_rows(whitening, rows, b, out):
    """out[:, i] = the b of row i, for the rows of a tile; to the bit as `whiten`."""
    n = rows.shape[0]
    if whitening.matrix.shape[0] == 0:
        for j in range(b.shape[0]):
            k, scale = whitening.kept[j], whitening.scale[j]
            for i in range(n):
                out[j, i] = scale * rows[i, k]
    else:
        for i in range(n):
            for j in range(b.shape[0]):
                b[j] = 0.0
            add_transposed(whitening.matrix, rows[i], b)
            for j in range(b.shape[0]):
                out[j, i] = b[j]


@inlined
def _sum_squares(b, out):
    """out[i] = |b_i|^2 for the arms of a tile, b (r x TILE)."""
    for i in range(TILE):
        out[i] = 0.0
    for j in range(b.shape[0]):
        for i in range(TILE):
            out[i] = fma(b[j, i], b[j, i], out[i])
