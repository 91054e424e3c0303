"""The best arm of each of many models: what a whole ensemble would play, scored as an agent scores.

The models are taken four at a time through a tile of arms, which stays in the nearest cache until
all of them are through.
"""

import numpy as np

from ..actions.arms import load_arm
from ..agents.interface import score
from ..arithmetic.tile_product import MODELS, TILE, score_tile
from ..arithmetic.vectors import dot
from ..jit.decorators import entry
from ..posterior.refactor import refactor
from ..posterior.state import model_from_xi, sample
from ..search.tile_scores import largest_of
from ..streams.layout import OPTIMAL_ACTION, probe_counter
from ..streams.normals import fill_normals


@entry
def compute_root(posterior):
    """Compute S and its root afresh; cost O(r^3)."""
    refactor(posterior)


@entry
def draw_posterior_models(posterior, source, probe_index, normals, z):
    """z[i, :] = the i-th draw of a probe from N(mu, S); `normals` (r) is scratch."""
    for i in range(z.shape[0]):
        fill_normals(source, OPTIMAL_ACTION, probe_counter(probe_index, i), normals)
        sample(posterior, normals, z[i])


@entry
def read_models(posterior, xi, z):
    """z[i, :] = mu + S xi[i, :] for models in information space, as an agent reads them."""
    for i in range(z.shape[0]):
        model_from_xi(posterior, xi[i], z[i])


@entry
def best_arms(arms, z, scores, best, ties, arm):
    """Find for each model (a row of z) its best score, how many arms have it, and the first.

    Cost O(n K r). The number of rows is a multiple of MODELS; `scores` (MODELS, TILE) is
    workspace. Where no score is a number, ties is 0.
    """
    for m in range(z.shape[0]):
        best[m], ties[m], arm[m] = -np.inf, 0, -1
    for tile in range(arms.tiles.shape[0]):
        for first in range(0, z.shape[0], MODELS):
            score_tile(arms.tiles[tile], arms.offsets[tile], z[first : first + MODELS], scores)
            for m in range(first, first + MODELS):
                row = scores[m - first]
                largest = largest_of(row)
                if largest >= best[m] and largest > -np.inf:
                    if largest > best[m]:
                        best[m], ties[m], arm[m] = largest, 0, -1
                    for i in range(TILE):
                        if row[i] == largest:
                            if arm[m] < 0:
                                arm[m] = tile * TILE + i
                            ties[m] += 1


@entry
def split_ties(arms, z, n, scores, best, ties, arm, counts, values):
    """Add the first n models, found by `best_arms`, to their best arms, which share where they tie.

    counts[a] += 1 / ties and values[a] += best / ties.
    """
    for m in range(n):
        if ties[m] == 1:
            counts[arm[m]] += 1.0
            values[arm[m]] += best[m]
        elif ties[m] > 1:
            for tile in range(arm[m] // TILE, arms.tiles.shape[0]):
                score_tile(arms.tiles[tile], arms.offsets[tile], z[m], scores[0])
                for i in range(TILE):
                    if scores[0, i] == best[m]:
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
