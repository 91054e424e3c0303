"""The best arm over all tiles, ties broken uniformly."""

import numpy as np

from .agent import score
from .arms import TILE
from .jit import generic, inlined, kernel
from .streams import TIES, integer


def workspace() -> np.ndarray:
    """Return what `score` writes to; one for each thread."""
    return np.empty((3, TILE))


@inlined
def _larger(x, best):
    """Return the larger, or `best` where x is not a number."""
    return x if x > best else best


@inlined
def _largest(scores):
    """Return the largest of TILE scores by eight running maxima."""
    m0 = m1 = m2 = m3 = m4 = m5 = m6 = m7 = -np.inf
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


@kernel
def scan(agent, arms, first, last, work):
    """Return (best score, number of arms with it, the first of them) of a tile range.

    Cost O(K r) for scores linear in b. Ranges scanned by different threads are put together
    by `merge`.
    """
    scores = work[0]
    best, ties, arm = -np.inf, 0, -1
    for tile in range(first, last):
        score(agent, arms, tile, work)
        largest = _largest(scores)
        if largest >= best and largest > -np.inf:
            if largest > best:
                best, ties, arm = largest, 0, -1
            for i in range(TILE - 1, -1, -1):
                if scores[i] == best:
                    ties += 1
                    if arm < 0 or arm // TILE == tile:
                        arm = tile * TILE + i
    return best, ties, arm


def merge(scans):
    """Return the scan of a whole range from the scans of its parts, in order."""
    best, ties, arm = scans[0]
    for top, count, first in scans[1:]:
        if top > best:
            best, ties, arm = top, count, first
        elif top == best:
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
            if work[0, i] == best:
                if rank == 0:
                    return tile * TILE + i
                rank -= 1
    return -1


@generic
def choose(agent, arms, source, t, work):
    """Return an arm of the largest score at step t, or -1 where no score is a number."""
    best, ties, arm = scan(agent, arms, 0, arms.tiles.shape[0], work)
    return break_tie(agent, arms, source, t, best, ties, arm, work)
