"""The k best arms of one model: a slate.

All scores are computed once. Then the best arm left is taken k times: the largest score of each
tile is known, so that an arm costs one pass over those and one over its tile.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..agents.interface import score
from ..arithmetic.tile_product import TILE
from ..jit.decorators import inlined, kernel
from ..states.layout import allocated, zeros
from ..streams.draws import integer
from ..streams.layout import SLATES, TIES, slate_counter
from .tile_scores import count_equal, largest_of


class SlateSearch(NamedTuple):
    """What the choice of a slate writes to."""

    scores: np.ndarray  # (3, TILE): of a tile
    left: np.ndarray  # (tiles, TILE): scores of arms that are not on the slate yet, else -inf
    largest: np.ndarray  # (tiles,): the largest of each row of `left`


@allocated
def slate_search(arms: Arms) -> SlateSearch:
    """Return the workspace of a slate from as many arms."""
    tiles = len(arms.tiles)
    return SlateSearch(zeros((3, TILE)), zeros((tiles, TILE)), zeros(tiles))


@kernel
def choose_slate(agent, arms, source, t, first, work, out):
    """out[:] = the arms of the largest scores at step t, best first, ties in random order.

    If `first` is an arm and not -1, the slate is that arm and then others at random. Return how
    many were found: fewer than `out` has where other scores are nan. Cost O(K r + k K / TILE).
    """
    _score_all(agent, arms, first, work)
    for i in range(out.shape[0]):
        best, ties, arm = _best_left(arms, work)
        if i == 0 and first >= 0:
            arm = first
        elif ties > 1:
            rank = integer(source, TIES, t, ties) if i == 0 else _rank(source, t, i, ties)
            arm = _of_rank(arms, work, best, rank)
        if arm < 0:
            return i
        out[i] = arm
        tile, column = divmod(arm, TILE)
        work.left[tile, column] = -np.inf
        work.largest[tile] = largest_of(work.left[tile])
    return out.shape[0]


@inlined
def _rank(source, t, i, n):
    return integer(source, SLATES, slate_counter(t, i), n)


@inlined
def _score_all(agent, arms, first, work):
    """Compute all scores: for a random slate, 0."""
    for tile in range(arms.tiles.shape[0]):
        left = work.left[tile]
        if first < 0:
            score(agent, arms, tile, work)
        for i in range(TILE):
            left[i] = -np.inf
        for i in range(min(TILE, arms.K - tile * TILE)):
            left[i] = work.scores[0, i] if first < 0 else 0.0
        work.largest[tile] = largest_of(left)


@inlined
def _best_left(arms, work):
    """Return the largest score left, how many arms have it, and the first of them or -1."""
    best, ties, arm = -np.inf, np.int64(0), np.int64(-1)
    for tile in range(arms.tiles.shape[0]):
        largest = work.largest[tile]
        if largest >= best and largest > -np.inf:
            count, column = count_equal(work.left[tile], largest)
            if largest > best:
                best, ties, arm = largest, count, tile * TILE + column
            else:
                ties += count
    return best, ties, arm


@inlined
def _of_rank(arms, work, best, rank):
    """Return the arm of a rank, from 0, among those left with this score."""
    for tile in range(arms.tiles.shape[0]):
        if work.largest[tile] == best:
            for i in range(TILE):
                if work.left[tile, i] == best:
                    if rank == 0:
                        return tile * TILE + i
                    rank -= 1
    return -1
