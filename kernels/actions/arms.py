"""The canonical arms, stored in tiles so that scoring is vectorised across arms."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.vectors import dot
from ..jit.decorators import entry, kernel
from ..search.codes import Codes, NoCodes, empty_codes, encode_tile
from ..states.layout import allocated, full, zeros


class Arms(NamedTuple):
    """K canonical arms.

    Arm a is column ``a % TILE`` of tile ``a // TILE``. Columns beyond K hold b = 0 and
    o = -inf: they score -inf and are never chosen.
    """

    tiles: np.ndarray  # (tiles, r, TILE): b
    offsets: np.ndarray  # (tiles, TILE): o
    tiles32: np.ndarray  # the same in single precision, for screening (search/screening.py)
    offsets32: np.ndarray
    rows32: np.ndarray  # (K, r): b in single precision, an arm a row (search/certificate.py)
    largest: np.ndarray  # (2,): the largest |o| and the largest norm of a row b
    codes: Codes | NoCodes  # b in 8 bits, for a screening pass before the others
    K: int


def tile_count(n: int) -> int:
    """Return how many tiles hold n columns."""
    return -(-n // TILE)


@allocated
def empty_arms(K: int, r: int) -> Arms:
    """Return K empty arms, to be filled by `store_rows`."""
    count = tile_count(K)
    return Arms(
        tiles=zeros((count, r, TILE)),
        offsets=full((count, TILE), -np.inf),
        tiles32=zeros((count, r, TILE), np.float32),
        offsets32=full((count, TILE), -np.inf, np.float32),
        rows32=zeros((K, r), np.float32),
        largest=zeros(2),
        codes=empty_codes.layout(count, r),
        K=K,
    )


@entry
def store_rows(arms, first, b, o):
    """Store rows b (n x r) with offsets o (n) as the arms first, first + 1, ..."""
    for i in range(b.shape[0]):
        tile, column = divmod(first + i, TILE)
        arms.offsets[tile, column] = o[i]
        arms.offsets32[tile, column] = o[i]
        for j in range(b.shape[1]):
            arms.tiles[tile, j, column] = b[i, j]
            arms.tiles32[tile, j, column] = b[i, j]
            arms.rows32[first + i, j] = b[i, j]
        arms.largest[0] = max(arms.largest[0], abs(o[i]))
        arms.largest[1] = max(arms.largest[1], np.sqrt(dot(b[i], b[i])))
    for tile in range(first // TILE, -(-(first + b.shape[0]) // TILE)):
        encode_tile(arms.codes, tile, arms.tiles[tile])


@kernel
def load_arm(arms, arm, b):
    """b[:] = the row of one arm. Return its offset."""
    tile, column = divmod(arm, TILE)
    for j in range(b.shape[0]):
        b[j] = arms.tiles[tile, j, column]
    return arms.offsets[tile, column]


@entry
def arm_values(arms, z, scores, out):
    """out[a] = o_a + b_a'z for every arm; cost O(K r)."""
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms.tiles[tile], arms.offsets[tile], z, scores)
        first = tile * TILE
        for i in range(min(TILE, arms.K - first)):
            out[first + i] = scores[i]


@entry
def transform_rows(rows, factor, scale, out):
    """out[i, :] = scale * rows[i, :] @ factor, row by row; cost O(n d r), less for zeros.

    A library's matrix product may round its last rows differently; here equal rows have equal
    images, so that duplicate arms tie.
    """
    for i in range(rows.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0
        for k in range(rows.shape[1]):
            x = rows[i, k] * scale
            if x != 0.0:
                for j in range(out.shape[1]):
                    out[i, j] = fma(x, factor[k, j], out[i, j])
