"""Arms and models in 8-bit integers, and how far that is from what they are.

A row is b = s q + e with integers q from -127 to 127 and one s for all arms of a tile; a model is
z = u p + f. Then b'z = s u q'p + (s q)'f + e'z, and by Cauchy and Schwarz b'z is s u q'p up to
|s q| |f| + |e| |z|: a margin needs the norms of z and f, and the largest |e| and |s q| of each tile
(screening.py).
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.byte_product import WORD, ZERO, DotProducts, PairProducts, instruction
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE
from ..arithmetic.vectors import dot
from ..jit.decorators import generic, inlined, kernel
from ..states.layout import allocated, full, zeros

_LEVELS = 127
_SPARE = 1.0 + 2.0**-20  # for the rounding of norms of fewer than 10^5 coordinates


class Codes(NamedTuple):
    """The rows of all arms in 8 bits."""

    rows: np.ndarray  # (tiles, words, WORD TILE) uint8: q + ZERO (arithmetic/byte_product.py)
    scales: np.ndarray  # (tiles,) float32: s
    errors: np.ndarray  # (tiles, 2): the largest |e| and the largest |s q| of a tile
    instruction: DotProducts | PairProducts


class NoCodes(NamedTuple):
    """In place of codes, where the processor multiplies no bytes."""

    tiles: int


def word_count(r: int) -> int:
    """Return how many words hold r coordinates."""
    return -(-r // WORD)


@allocated
def empty_codes(tiles: int, r: int) -> Codes | NoCodes:
    """Return room for the codes of some tiles, or nothing where they would be of no use."""
    kind = instruction()
    if kind is None:
        return NoCodes(tiles)
    rows = full((tiles, word_count(r), WORD * TILE), ZERO, np.uint8)
    return Codes(rows, zeros(tiles, np.float32), zeros((tiles, 2)), kind)


@generic
def encode_tile(codes, tile, b):
    """Set the codes of a tile of rows, b (r x TILE): none, where there are no codes."""


@encode_tile.body(Codes)
def _encode_tile(codes, tile, b):
    _encode(codes.rows[tile], codes.scales[tile : tile + 1], codes.errors[tile], b)


@kernel
def _encode(rows, scale, errors, b):
    largest = 0.0
    for j in range(b.shape[0]):
        for i in range(TILE):
            # What is not a number is not larger; the errors show it.
            largest = max(largest, abs(b[j, i]))
    scale[0] = largest / _LEVELS if largest < np.inf else 0.0
    s = np.float64(scale[0])
    errors[0] = errors[1] = 0.0
    for i in range(TILE):
        lost = kept = 0.0
        for j in range(b.shape[0]):
            q = _nearest(b[j, i], s, _LEVELS)
            rows[j // WORD, WORD * i + j % WORD] = np.int64(q) + ZERO
            e = fma(-s, q, b[j, i])
            lost = fma(e, e, lost)
            kept = fma(s * q, s * q, kept)
        if not lost < np.inf:  # infinite, or not a number: these arms are never ruled out
            lost = np.inf
        errors[0] = max(errors[0], np.sqrt(lost) * _SPARE)
        errors[1] = max(errors[1], np.sqrt(kept) * _SPARE)


@inlined
def _nearest(x, scale, levels):
    """Return the integer nearest to x / scale, of those that there are, as a float."""
    ratio = np.rint(x / scale) if scale > 0.0 else 0.0
    if not abs(ratio) <= levels:
        ratio = np.float64(levels) if ratio > 0.0 else -np.float64(levels)
    return ratio


class CodedModels(NamedTuple):
    """Some models in 8 bits."""

    p: np.ndarray  # (n, WORD words) int8
    u: np.ndarray  # (n,) float32
    shift: np.ndarray  # (n,) int32: what a product with a row of ZERO bytes is to lose
    norm: np.ndarray  # (n,): |z|
    error: np.ndarray  # (n,): |f|
    scale: np.ndarray  # (n,) float32: scratch, s u
    residual: np.ndarray  # (r,): scratch


@allocated
def coded_models(n: int, r: int) -> CodedModels:
    """Return room for n models."""
    return CodedModels(
        p=zeros((n, WORD * word_count(r)), np.int8),
        u=zeros(n, np.float32),
        shift=zeros(n, np.int32),
        norm=zeros(n),
        error=zeros(n),
        scale=zeros(n, np.float32),
        residual=zeros(r),
    )


@generic
def encode_model(codes, z, coded, m):
    """Make z the m-th of the coded models: not where there are no codes."""


@encode_model.body(Codes)
def _encode_model(codes, z, coded, m):
    _encode_z(codes.instruction.levels, z, coded, m)


@kernel
def _encode_z(levels, z, coded, m):
    p, residual = coded.p[m], coded.residual
    largest = 0.0
    for j in range(z.shape[0]):
        largest = max(largest, abs(z[j]))
    coded.u[m] = largest / levels
    total, u = np.int64(0), np.float64(coded.u[m])
    for j in range(z.shape[0]):
        nearest = _nearest(z[j], u, levels)
        p[j] = np.int64(nearest)
        total += np.int64(nearest)
        residual[j] = fma(-u, nearest, z[j])
    coded.shift[m] = -ZERO * total
    coded.norm[m] = np.sqrt(dot(z, z)) * _SPARE
    coded.error[m] = np.sqrt(dot(residual, residual)) * _SPARE
