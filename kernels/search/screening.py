"""Scores in single precision, with a margin that holds in floating point."""

import numpy as np

from ..arithmetic.tile_product import TILE, score_tile
from ..arithmetic.vectors import dot
from ..jit.decorators import inlined, kernel
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
    """Score all tiles in single precision. Return the least that the best arm can score.

    Fills `work.tile_maxima`, of which that takes off the margin twice: a tile whose top is below it
    holds no best arm. Returns nan where single precision is not to be relied on.
    """
    r = z.shape[0]
    margin = margin32(arms, z)
    if np.isnan(margin):
        return margin
    scores, z32 = work.screened[:TILE], work.screened[TILE:]
    for j in range(r):
        z32[j] = z[j]
    best = np.float32(-np.inf)
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms.tiles32[tile], arms.offsets32[tile], z32, scores)
        work.tile_maxima[tile] = largest_of(scores)
        best = larger(work.tile_maxima[tile], best)
    return np.float64(best) - 2.0 * margin
