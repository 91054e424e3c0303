"""The best arm over all tiles, ties broken uniformly.

Scores that are linear, o + b'z, are screened in single precision, at half the memory traffic. Each
is then known up to a margin, and only tiles that may hold the best arm are scored in double
precision: the choice is the one of a scan of all tiles, to the bit.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..agents.interface import has_linear_scores, score
from ..arithmetic.tile_product import TILE
from ..jit.decorators import generic, inlined, kernel
from ..states.layout import allocated, zeros
from ..streams.draws import integer
from ..streams.layout import TIES
from .codes import CodedModels, coded_models
from .screening import SCREEN_FROM, screen
from .tile_scores import count_equal, largest_of


class Workspace(NamedTuple):
    """What a scan writes to; one for each thread."""

    scores: np.ndarray  # (3, TILE)
    screened: np.ndarray  # (TILE,) float32: scores of a screening pass
    z32: np.ndarray  # (r,) float32: z
    coded: CodedModels  # z in 8 bits
    tile_maxima: np.ndarray  # (tiles,) float32: the best screened score of each tile


@allocated
def workspace(arms: Arms) -> Workspace:
    """Return the workspace of a scan of these arms."""
    tiles, r, _ = arms.tiles.shape
    return Workspace(
        scores=zeros((3, TILE)),
        screened=zeros(TILE, np.float32),
        z32=zeros(r, np.float32),
        coded=coded_models.layout(1, r),
        tile_maxima=zeros(tiles, np.float32),
    )


class NoSearch(NamedTuple):
    """The workspace of an agent without scores."""

    K: int


@inlined
def scan(agent, arms, work):
    """Return (best score, number of arms with it, the first of them).

    Cost O(K r) for scores linear in b.
    """
    floor = np.nan
    if has_linear_scores(agent) and arms.tiles.shape[0] >= SCREEN_FROM:
        floor = screen(arms, agent.z, work)
    return rescore(agent, arms, floor, work)


@inlined
def rescore(agent, arms, floor, work):
    """Do as `scan`, and leave out tiles whose best screened score is below `floor`."""
    scores, tiles = work.scores[0], arms.tiles.shape[0]
    best, ties, arm = -np.inf, np.int64(0), np.int64(-1)
    for tile in range(tiles):
        if np.float64(work.tile_maxima[tile]) < floor:  # False if floor is nan
            continue
        score(agent, arms, tile, work)
        largest = largest_of(scores)
        if largest >= best and largest > -np.inf:
            count, column = count_equal(scores, largest)
            if largest > best:
                best, ties, arm = largest, count, tile * TILE + column
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


@inlined
def one_of(arms, rank):
    """Return the arm of a rank, from 0, among different arms in any order."""
    for i in range(arms.shape[0]):
        below = 0
        for j in range(arms.shape[0]):
            below += arms[j] < arms[i]
        if below == rank:
            return arms[i]
    return -1


@generic
def choose(work, agent, arms, source, t):
    """Return an arm of the largest score at step t, or -1 if all scores are nan.

    The search depends on the workspace: by default a full scan.
    """
    best, ties, arm = scan(agent, arms, work)
    return break_tie(agent, arms, source, t, best, ties, arm, work)


@choose.body(NoSearch)
def _choose_none(work, agent, arms, source, t):
    return np.int64(-1)
