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
def _larger(x, y):
    return x if x > y else y


@inlined
def _largest(scores):
    """Return the largest of TILE scores by eight running maxima."""
    m0, m1, m2, m3 = scores[0], scores[1], scores[2], scores[3]
    m4, m5, m6, m7 = scores[4], scores[5], scores[6], scores[7]
    for i in range(8, TILE, 8):
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
    """Return (best score, number of arms with it, first tile that has one) of a tile range.

    Cost O(K r) for scores linear in b. Ranges scanned by different threads are put together
    by `merge`.
    """
    scores = work[0]
    best, ties, where = -np.inf, 0, first
    for tile in range(first, last):
        score(agent, arms, tile, work)
        largest = _largest(scores)
        if largest >= best and largest > -np.inf:
            if largest > best:
                best, ties, where = largest, 0, tile
            for i in range(TILE):
                ties += scores[i] == best
    return best, ties, where


def merge(scans):
    """Return the scan of a whole range from the scans of its parts, in order."""
    best, ties, where = scans[0]
    for top, count, tile in scans[1:]:
        if top > best:
            best, ties, where = top, count, tile
        elif top == best:
            ties += count
    return best, ties, where


@kernel
def locate(agent, arms, source, t, best, ties, where, work):
    """Return one of the arms that score `best`, uniformly, or -1 where there is none."""
    if ties == 0:
        return -1
    scores = work[0]
    rank = integer(source, TIES, t, ties) if ties > 1 else 0
    for tile in range(where, arms.tiles.shape[0]):
        score(agent, arms, tile, work)
        for i in range(TILE):
            if scores[i] == best:
                if rank == 0:
                    return tile * TILE + i
                rank -= 1
    return -1


@generic
def choose(agent, arms, source, t, work):
    """Return an arm of the largest score at step t, or -1 where no score is a number."""
    best, ties, where = scan(agent, arms, 0, arms.tiles.shape[0], work)
    return locate(agent, arms, source, t, best, ties, where, work)
