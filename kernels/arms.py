"""The canonical arms, kept in tiles so that scoring runs across arms without horizontal sums."""

from typing import NamedTuple

import numpy as np

from .floats import dot, fma, fma32
from .jit import entry, kernel

TILE = 64


class Arms(NamedTuple):
    """K canonical arms.

    Arm a stands in tile ``a // TILE`` at place ``a % TILE``. Places beyond K hold b = 0 and
    o = -inf: they score -inf and are never chosen.
    """

    tiles: np.ndarray  # (tiles, r, TILE): b
    offsets: np.ndarray  # (tiles, TILE): o
    tiles32: np.ndarray  # the same in single precision, for a first look (argmax.py)
    offsets32: np.ndarray
    rows32: np.ndarray  # (K, r): b in single precision, an arm a row (certificate.py)
    largest: np.ndarray  # (2,): the largest |o| and the largest norm of a row b
    K: int


def tile_count(n: int) -> int:
    """Return how many tiles hold n columns."""
    return -(-n // TILE)


def empty_arms(K: int, r: int) -> Arms:
    """Return K arms that are yet to be filled, row by row, by `store_rows`."""
    shape = tile_count(K), r, TILE
    tiles, tiles32 = np.zeros(shape), np.zeros(shape, np.float32)
    offsets = np.full((tile_count(K), TILE), -np.inf)
    offsets32, rows32 = offsets.astype(np.float32), np.zeros((K, r), np.float32)
    return Arms(tiles, offsets, tiles32, offsets32, rows32, np.zeros(2), K)


def arms_bytes(K: int, r: int) -> int:
    """Return the memory that `empty_arms` takes."""
    return 12 * tile_count(K) * TILE * (r + 1) + 4 * K * r + 16


@entry
def store_rows(arms, first, b, o):
    """Store rows b (n x r) with offsets o (n) as the arms first, first + 1, ..."""
    for i in range(b.shape[0]):
        tile, place = divmod(first + i, TILE)
        arms.offsets[tile, place] = o[i]
        arms.offsets32[tile, place] = o[i]
        for j in range(b.shape[1]):
            arms.tiles[tile, j, place] = b[i, j]
            arms.tiles32[tile, j, place] = b[i, j]
            arms.rows32[first + i, j] = b[i, j]
        arms.largest[0] = max(arms.largest[0], abs(o[i]))
        arms.largest[1] = max(arms.largest[1], np.sqrt(dot(b[i], b[i])))


@kernel
def load_arm(arms, arm, b):
    """b[:] = the row of one arm. Return its offset."""
    tile, place = divmod(arm, TILE)
    for j in range(b.shape[0]):
        b[j] = arms.tiles[tile, j, place]
    return arms.offsets[tile, place]


@kernel
def score_tile(arms, tile, z, out):
    """out[:] = o + b z for the arms of one tile; cost O(TILE r).

    Each arm's score is one chain of fused multiply-adds over j = 0, 1, ..., whatever its
    place, so that equal arms have equal scores to the bit.
    """
    b = arms.tiles[tile]
    r = b.shape[0]
    for i in range(TILE):
        out[i] = arms.offsets[tile, i]
    whole = r - r % 4
    for j in range(0, whole, 4):
        z0, z1, z2, z3 = z[j], z[j + 1], z[j + 2], z[j + 3]
        for i in range(TILE):
            s = fma(z0, b[j, i], out[i])
            s = fma(z1, b[j + 1, i], s)
            s = fma(z2, b[j + 2, i], s)
            out[i] = fma(z3, b[j + 3, i], s)
    for j in range(whole, r):
        for i in range(TILE):
            out[i] = fma(z[j], b[j, i], out[i])


@kernel
def score_tile32(b, o, z, out):
    """out[:] = o + b z in single precision for a tile b (r x TILE); cost O(TILE r)."""
    r = z.shape[0]
    for i in range(TILE):
        out[i] = o[i]
    whole = r - r % 4
    for j in range(0, whole, 4):
        z0, z1, z2, z3 = z[j], z[j + 1], z[j + 2], z[j + 3]
        for i in range(TILE):
            s = fma32(z0, b[j, i], out[i])
            s = fma32(z1, b[j + 1, i], s)
            s = fma32(z2, b[j + 2, i], s)
            out[i] = fma32(z3, b[j + 3, i], s)
    for j in range(whole, r):
        for i in range(TILE):
            out[i] = fma32(z[j], b[j, i], out[i])


@entry
def mean_rewards(arms, z, scores, out):
    """out[a] = o_a + b_a'z for every arm; cost O(K r)."""
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms, tile, z, scores)
        first = tile * TILE
        for i in range(min(TILE, arms.K - first)):
            out[first + i] = scores[i]


@entry
def transform_rows(rows, factor, scale, out):
    """out[i, :] = scale * rows[i, :] @ factor, row by row; cost O(n d r), less for zeros.

    A matrix product from a library may round its last rows otherwise than the others; here
    equal rows have equal images, so that duplicate arms stay ties.
    """
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for k in range(rows.shape[1]):
            x = rows[i, k] * scale
            if x != 0.0:
                for j in range(out.shape[1]):
                    out[i, j] = fma(x, factor[k, j], out[i, j])
