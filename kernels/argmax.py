"""The best arm over all tiles, ties broken uniformly.

Scores that are linear, o + b z, are first looked at in single precision, at half the memory
traffic. Each is then known up to a margin, and only tiles that may hold the best arm are scored
in double precision: the choice is the one of a scan of all tiles, to the bit.
"""

from typing import NamedTuple

import numpy as np

from .agent import is_linear, score
from .arms import Arms
from .floats import dot
from .jit import generic, inlined, kernel
from .streams import TIES, integer
from .tile_product import TILE, score_tile

SCREEN_FROM = 4
"""Tiles from which a first look pays."""

# A chain of fused multiply-adds over r terms in single precision, unit roundoff u = 2^-24, with
# rounded inputs: every term carries at most r + 2 factors (1 + u), and one more where o is added
# last (`dot`). For (r + 3) u < 0.01 the error is below 1.01 (r + 3) u (|o| + |b| |z|); the
# double-precision chain's own fits into the rest of 1.05. Numbers too small for single precision
# add at most 2^-149 each, times the other factor.
_RELATIVE_MARGIN = 1.05 * 2.0**-24
_ABSOLUTE_MARGIN = 2.0**-148
_LONGEST = 100_000


class Workspace(NamedTuple):
    """What a scan writes to; one for each thread."""

    scores: np.ndarray  # (3, TILE)
    first: np.ndarray  # (TILE + r,) float32: scores and z, at a first look
    tops: np.ndarray  # (tiles,) float32: the best score of each tile, at a first look


def workspace(arms: Arms) -> Workspace:
    """Return the workspace of a scan of these arms."""
    tiles, r, _ = arms.tiles.shape
    first, tops = np.zeros(TILE + r, np.float32), np.zeros(tiles, np.float32)
    return Workspace(np.zeros((3, TILE)), first, tops)


@inlined
def _larger(x, best):
    """Return the larger, or `best` where x is not a number."""
    return x if x > best else best


@inlined
def largest_of(scores):
    """Return the largest of TILE scores by eight running maxima."""
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = scores.dtype.type(-np.inf)
    for i in range(0, TILE, 8):
        m0 = _larger(scores[i], m0)
        m1 = _larger(scores[i + 1], m1)
        m2 = _larger(scores[i + 2], m2)
        m3 = _larger(scores[i + 3], m3)
        m4 = _larger(scores[i + 4], m4)
        m5 = _larger(scores[i + 5], m5)
        m6 = _larger(scores[i + 6], m6)
        m7 = _larger(scores[i + 7], m7)
    return _larger(
        _larger(_larger(m0, m1), _larger(m2, m3)), _larger(_larger(m4, m5), _larger(m6, m7))
    )


@inlined
def _count(scores, value):
    """Return how many of TILE scores equal a value, and the first place of one."""
    count, place = 0, TILE
    for i in range(TILE):
        count += scores[i] == value
    for i in range(TILE):
        here = i if scores[i] == value else TILE
        place = here if here < place else place
    return count, place


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
def first_look(arms, z, work):
    """Score all tiles in single precision. Return the least that the best arm can score.

    Fills `work.tops`, of which that takes off the margin twice: a tile whose top is below it
    holds no best arm. Returns nan where single precision is not to be relied on.
    """
    r = z.shape[0]
    margin = margin32(arms, z)
    if np.isnan(margin):
        return margin
    scores, z32 = work.first[:TILE], work.first[TILE:]
    for j in range(r):
        z32[j] = z[j]
    best = np.float32(-np.inf)
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms.tiles32[tile], arms.offsets32[tile], z32, scores)
        work.tops[tile] = largest_of(scores)
        best = _larger(work.tops[tile], best)
    return np.float64(best) - 2.0 * margin


@inlined
def scan(agent, arms, work):
    """Return (best score, number of arms with it, the first of them).

    Cost O(K r) for scores linear in b.
    """
    floor = np.nan
    if is_linear(agent) and arms.tiles.shape[0] >= SCREEN_FROM:
        floor = first_look(arms, agent.z, work)
    return second_look(agent, arms, floor, work)


@inlined
def second_look(agent, arms, floor, work):
    """Do as `scan`, and leave out tiles whose tops at a first look are below `floor`."""
    scores, tiles = work.scores[0], arms.tiles.shape[0]
    best, ties, arm = -np.inf, np.int64(0), np.int64(-1)
    for tile in range(tiles):
        if np.float64(work.tops[tile]) < floor:  # never, where floor is nan
            continue
        score(agent, arms, tile, work)
        largest = largest_of(scores)
        if largest >= best and largest > -np.inf:
            count, place = _count(scores, largest)
            if largest > best:
                best, ties, arm = largest, count, tile * TILE + place
            else:
                ties += count
    return best, ties, arm


@kernel
def break_tie(agent, arms, source, t, best, ties, arm, work):
    """Return one of the arms that score `best`, uniformly; `arm` is the first of them, or -1."""
    if ties <= 1:
        return arm
    rank = integer(source, TIES, t, ties)
    for tile in range(arm // TILE, arms.tiles.shape[0]):
        score(agent, arms, tile, work)
        for i in range(TILE):
            if work.scores[0, i] == best:
                if rank == 0:
                    return tile * TILE + i
                rank -= 1
    return -1


@generic
def choose(work, agent, arms, source, t):
    """Return an arm of the largest score at step t, or -1 where no score is a number.

    How it is found depends on the workspace: by default, by a full scan.
    """
    best, ties, arm = scan(agent, arms, work)
    return break_tie(agent, arms, source, t, best, ties, arm, work)
