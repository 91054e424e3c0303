"""The best arm of each of many models: what a whole ensemble would play, scored as an agent scores.

The models are taken four at a time through a tile of arms, which stays in the nearest cache until
all of them are through: first in single precision, then in double precision where that may matter.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm
from ..agents.interface import score
from ..arithmetic.tile_product import MODELS, TILE, score_tile
from ..arithmetic.vectors import dot
from ..beliefs.interface import model_from_xi
from ..jit.decorators import entry, inlined, kernel
from ..search.screening import SCREEN_FROM, margin32
from ..search.tile_scores import count_equal, largest_of


@entry
def read_models(belief, xi, z):
    """z[i, :] = the model that xi[i, :] stands for in information space, as an agent reads it."""
    for i in range(z.shape[0]):
        model_from_xi(belief, xi[i], z[i])


class ModelsWorkspace(NamedTuple):
    """What the search for the best arms of up to n models writes to."""

    scores: np.ndarray  # (MODELS, TILE)
    scores32: np.ndarray  # (MODELS + 1, TILE) float32: screened scores; a row turned about
    z32: np.ndarray  # (n, r) float32: the models
    tile_maxima: np.ndarray  # (n, tiles) float32: the best screened score of each tile
    tile_minima: np.ndarray  # the least; (1, 1) where nobody asks for it


def models_workspace(arms: Arms, n: int, minima: bool) -> ModelsWorkspace:
    """Return the workspace for n models, a multiple of MODELS."""
    tiles, r, _ = arms.tiles.shape
    screened = (n, tiles) if tiles >= SCREEN_FROM else (1, 1)
    return ModelsWorkspace(
        scores=np.empty((MODELS, TILE)),
        scores32=np.empty((MODELS + 1, TILE), np.float32),
        z32=np.empty((n, r), np.float32),
        tile_maxima=np.empty(screened, np.float32),
        tile_minima=np.empty(screened if minima else (1, 1), np.float32),
    )


@entry
def best_arms(arms, z, work, best, ties, arm, least):
    """Find for each model (a row of z) its best score, how many arms have it, and the first.

    And its least score; `least` is empty where nobody asks for it. Cost O(n K r). The number of
    rows is a multiple of MODELS. Where no score is a number, ties is 0.

    From a few tiles on, all scores are screened in single precision. Tiles whose screened extremes
    are further from those of the model than twice the margin are left out of the pass in double
    precision: the result is that of a pass over all tiles, to the bit.
    """
    for m in range(z.shape[0]):
        best[m], ties[m], arm[m] = -np.inf, 0, -1
    least[:] = np.inf
    if arms.tiles.shape[0] < SCREEN_FROM:
        _score_all(arms, z, work, best, ties, arm, least)
    else:
        _screen_models(arms, z, work, least.shape[0] > 0)
        for m in range(z.shape[0]):
            _rescore(arms, z[m], m, work, best, ties, arm, least)


@kernel
def _score_all(arms, z, work, best, ties, arm, least):
    """Score all arms under all models in double precision."""
    for tile in range(arms.tiles.shape[0]):
        for first in range(0, z.shape[0], MODELS):
            models = z[first : first + MODELS]
            score_tile(arms.tiles[tile], arms.offsets[tile], models, work.scores)
            for m in range(first, first + MODELS):
                _take_in(work.scores[m - first], tile, m, best, ties, arm)
                if least.shape[0] > 0:
                    least[m] = _least_of(arms, tile, work.scores[m - first], least[m])


@kernel
def _screen_models(arms, z, work, minima):
    """Score all arms under all models in single precision: set `tile_maxima`, `tile_minima`."""
    for m in range(z.shape[0]):
        for j in range(z.shape[1]):
            work.z32[m, j] = z[m, j]
    turned = work.scores32[MODELS]
    for tile in range(arms.tiles.shape[0]):
        n = min(TILE, arms.K - tile * TILE)
        turned[n:] = -np.inf
        for first in range(0, z.shape[0], MODELS):
            models, scores = work.z32[first : first + MODELS], work.scores32[:MODELS]
            score_tile(arms.tiles32[tile], arms.offsets32[tile], models, scores)
            for m in range(first, first + MODELS):
                row = scores[m - first]
                work.tile_maxima[m, tile] = largest_of(row)
                if minima:
                    for i in range(n):
                        turned[i] = -row[i]
                    work.tile_minima[m, tile] = -largest_of(turned)


@kernel
def _rescore(arms, z, m, work, best, ties, arm, least):
    """Score in double precision the tiles that may hold an extreme of model m, whose row is z."""
    margin = margin32(arms, z)
    highest, lowest = -np.inf, np.inf
    for tile in range(arms.tiles.shape[0]):
        highest = max(highest, np.float64(work.tile_maxima[m, tile]))
    floor = highest - 2.0 * margin
    for tile in range(arms.tiles.shape[0]):
        if np.float64(work.tile_maxima[m, tile]) < floor:  # never, where floor is nan
            continue
        score_tile(arms.tiles[tile], arms.offsets[tile], z, work.scores[0])
        _take_in(work.scores[0], tile, m, best, ties, arm)
    if least.shape[0] == 0:
        return
    for tile in range(arms.tiles.shape[0]):
        lowest = min(lowest, np.float64(work.tile_minima[m, tile]))
    ceiling = lowest + 2.0 * margin
    for tile in range(arms.tiles.shape[0]):
        if np.float64(work.tile_minima[m, tile]) > ceiling:
            continue
        score_tile(arms.tiles[tile], arms.offsets[tile], z, work.scores[0])
        least[m] = _least_of(arms, tile, work.scores[0], least[m])


@inlined
def _take_in(scores, tile, m, best, ties, arm):
    """Take the scores of a tile into the best score of model m, its ties and its first arm."""
    largest = largest_of(scores)
    if largest >= best[m] and largest > -np.inf:
        count, column = count_equal(scores, largest)
        if largest > best[m]:
            best[m], ties[m], arm[m] = largest, count, tile * TILE + column
        else:
            ties[m] += count


@inlined
def _least_of(arms, tile, scores, least):
    """Return the least of the scores of a tile's arms and of what was the least before."""
    for i in range(min(TILE, arms.K - tile * TILE)):
        least = scores[i] if scores[i] < least else least
    return least


@entry
def split_ties(arms, z, scores, best, ties, arm, counts, values):
    """Add models, found by `best_arms`, to their best arms, which share where they tie.

    counts[a] += 1 / ties and values[a] += best / ties; `scores` (TILE) is workspace.
    """
    for m in range(z.shape[0]):
        if ties[m] == 1:
            counts[arm[m]] += 1.0
            values[arm[m]] += best[m]
        elif ties[m] > 1:
            for tile in range(arm[m] // TILE, arms.tiles.shape[0]):
                score_tile(arms.tiles[tile], arms.offsets[tile], z[m], scores)
                for i in range(TILE):
                    if scores[i] == best[m]:
                        counts[tile * TILE + i] += 1.0 / ties[m]
                        values[tile * TILE + i] += best[m] / ties[m]


@entry
def indices(agent, arms, work, out):
    """out[a] = what the agent's choice maximises, for every arm (`agent.score`)."""
    for tile in range(arms.tiles.shape[0]):
        score(agent, arms, tile, work)
        first = tile * TILE
        for i in range(min(TILE, arms.K - first)):
            out[first + i] = work.scores[0, i]


@entry
def values_of_arm(arms, arm, z, b, out):
    """out[i] = o + b'z[i, :] for one arm and every model; b (r) is workspace."""
    offset = load_arm(arms, arm, b)
    for i in range(z.shape[0]):
        out[i] = offset + dot(b, z[i])
