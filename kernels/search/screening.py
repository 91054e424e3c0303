"""Scores in 8 bits and in single precision, with margins that hold in floating point."""

import numpy as np

from ..arithmetic.byte_product import largest_of_bytes
from ..arithmetic.tile_product import MODELS, score_tile
from ..arithmetic.vectors import dot
from ..jit.decorators import generic, inlined, kernel
from .codes import Codes, encode_model
from .tile_scores import larger, largest_of

SCREEN_FROM = 4
"""Tiles from which screening pays."""

# A chain of fused multiply-adds over r terms in single precision, unit roundoff u = 2^-24, with
# rounded inputs: every term carries at most r + 2 factors (1 + u), and one more where o is added
# last (`dot`). For (r + 3) u < 0.01 the error is below 1.01 (r + 3) u (|o| + |b| |z|); the
# double-precision chain's own fits into the rest of 1.05. Numbers too small for single precision
# add at most 2^-149 each, times the other factor.
_RELATIVE_MARGIN = 1.05 * 2.0**-24
_ABSOLUTE_MARGIN = 2.0**-148
_LONGEST = 100_000

# A score in 8 bits is rounded thrice (an integer made a float, s u, the last sum), and o once: each
# by at most 2^-24 of |s q| |u p| + |o|, and |u p| <= |z| + |f|. The double-precision chain's own
# error is below 2^-36 of |o| + (|s q| + |e|) |z|. Where s u is too small for single precision, its
# error of 2^-150 comes at most 127^2 r < 2^14 r times; o, the last sum, and squares that vanish add
# less. docs/explanation/screening.md has the proof.
_RELATIVE_MARGIN8 = 4.1 * 2.0**-24
_ABSOLUTE_MARGIN8 = 2.0**-135


@inlined
def margin32(arms, z):
    """Return how far a score in single precision may be from the one in double precision.

    It is nan where single precision is not to be relied on.
    """
    r = z.shape[0]
    norm = np.sqrt(dot(z, z))
    size = arms.largest[0] + arms.largest[1] * norm
    margin = _RELATIVE_MARGIN * (r + 3) * size
    margin += _ABSOLUTE_MARGIN * r * (1.0 + norm + arms.largest[1])
    return margin if margin < 1e20 and norm < 1e30 and r < _LONGEST else np.nan


@kernel
def screen(arms, z, work):
    """Screen all tiles. Return the least that the best arm can score.

    Fills `work.tile_maxima` with the best score of each tile in single precision, or -inf where 8
    bits ruled it out. The return value is the best of them less the margin twice: a tile whose
    maximum is below it holds no best arm. It is nan where single precision is not to be relied on.
    """
    margin = margin32(arms, z)
    if np.isnan(margin):
        return margin
    for j in range(z.shape[0]):
        work.z32[j] = z[j]
    screened = _screen_bytes(arms.codes, arms, z, work)
    return screen_single(arms, screened, work.z32, work.screened, work.tile_maxima) - 2.0 * margin


@inlined
def screen_single(arms, screened, z32, scores, maxima):
    """Set the maximum of each tile, but of those ruled out if `screened`. Return the largest."""
    best = np.float32(-np.inf)
    for tile in range(arms.tiles.shape[0]):
        if screened and maxima[tile] == -np.inf:
            continue
        score_tile(arms.tiles32[tile], arms.offsets32[tile], z32, scores)
        maxima[tile] = largest_of(scores)
        best = larger(maxima[tile], best)
    return np.float64(best)


@generic
def _screen_bytes(codes, arms, z, work):
    """Make the maximum of each tile -inf that cannot hold the best arm. Return whether it did."""
    return False


@_screen_bytes.body(Codes)
def _screen_bytes_by_codes(codes, arms, z, work):
    encode_model(codes, z, work.coded, 0)
    for tile in range(arms.tiles.shape[0]):
        score_bytes(codes, arms, tile, work.coded.p[0], work.coded, 0, work.tile_maxima[tile:])
    rule_out(codes, arms, work.coded, 0, work.tile_maxima)
    return True


@inlined
def score_bytes(codes, arms, tile, p, coded, first, out):
    """out[i] = the best score of a tile, in 8 bits, under the model first + i of p: one, or a few.

    p is coded.p[first], or MODELS rows from there.
    """
    scale, shift = coded.scale[first:], coded.shift[first:]
    for i in range(1 if p.ndim == 1 else MODELS):
        scale[i] = np.float64(codes.scales[tile]) * np.float64(coded.u[first + i])
    rows, offsets = codes.rows[tile], arms.offsets32[tile]
    largest_of_bytes(codes.instruction, rows, offsets, p, shift, scale, out)


@kernel
def rule_out(codes, arms, coded, m, maxima):
    """Make the maximum of each tile -inf that, by scores in 8 bits, cannot hold the best arm.

    Cost O(tiles).
    """
    norm, error, floor = coded.norm[m], coded.error[m], -np.inf
    for tile in range(maxima.shape[0]):
        margin = margin8(codes, arms, tile, norm, error)
        floor = larger(np.float64(maxima[tile]) - margin, floor)
    for tile in range(maxima.shape[0]):
        margin = margin8(codes, arms, tile, norm, error)
        if np.float64(maxima[tile]) + margin < floor:
            maxima[tile] = -np.inf


@inlined
def margin8(codes, arms, tile, norm, error):
    """Return how far a score in 8 bits, of a tile, may be from the one in double precision.

    For a model with |z| = norm and |f| = error (codes.py).
    """
    lost, kept = codes.errors[tile, 0], codes.errors[tile, 1]
    product = lost * norm + kept * error
    rounding = _RELATIVE_MARGIN8 * (product + kept * norm + arms.largest[0])
    return product + rounding + _ABSOLUTE_MARGIN8 * arms.tiles.shape[1]
