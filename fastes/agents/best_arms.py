"""Counts of the best arms of many models, from an ensemble or from a posterior."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.kernels.actions.arms import Arms
from fastes.kernels.arithmetic.tile_product import MODELS, TILE
from fastes.kernels.beliefs.normal_law import NormalLaw, draw_models
from fastes.kernels.diagnostics import best_of_models as kernels
from fastes.kernels.streams.philox import Source

BLOCK = 1024
"""Models per block: few enough to stay in cache."""

_SCREENED = 1 << 21  # tiles screened at a time, over all models: 8 MB


class BestArms(NamedTuple):
    """The best arm of each of n models.

    Attributes
    ----------
    score : (n,) array
        Its score.
    ties : (n,) array
        Number of arms with that score.
    arm : (n,) array
        The first of them.
    least : (n,) array
        The least score of all arms; empty unless requested.
    """

    score: Floats
    ties: NDArray[np.int64]
    arm: NDArray[np.int64]
    least: Floats


def best_arms(arms: Arms, z: Floats, least: bool = False) -> BestArms:
    """Return the best arm of each model, a row of z."""
    n, rows = len(z), models_at_a_time(arms)
    padded = np.zeros((-(-n // MODELS) * MODELS, z.shape[1]))
    padded[:n] = z
    ties, arm = np.empty((2, len(padded)), np.int64)
    found = np.empty(len(padded)), ties, arm, np.empty(len(padded) if least else 0)
    work = kernels.models_workspace(arms, min(rows, len(padded)), least)
    for first in range(0, n, rows):
        block = slice(first, first + rows)
        kernels.best_arms(arms, padded[block], work, *(each[block] for each in found))
    if not ties[:n].all():
        raise FloatingPointError("a model failed numerically: all of its scores are nan")
    return BestArms(found[0][:n], ties[:n], arm[:n], found[3][:n])


def models_at_a_time(arms: Arms) -> int:
    """Return how many models to process at a time: memory grows with them."""
    return max(MODELS, min(BLOCK, _SCREENED // len(arms.tiles)) // MODELS * MODELS)


class BestArmCounts:
    """Counts of the best arms of the models added so far.

    Attributes
    ----------
    counts : (K,) array
        Number of models for which each arm was the best; ties share.
    values : (K,) array
        The sum of the arm's scores over those models.
    best_scores : list of (n,) arrays
        The best score of each model, in order of addition.
    """

    def __init__(self, arms: Arms) -> None:
        self.counts = np.zeros(arms.K)
        self.values = np.zeros(arms.K)
        self.best_scores: list[Floats] = []
        self._arms = arms

    def add(self, z: Floats) -> NDArray[np.int64]:
        """Add models, one per row. Return the best arm of each, the first of ties."""
        z = np.ascontiguousarray(z, float)
        found = best_arms(self._arms, z)
        self.best_scores.append(found.score)
        scores = np.empty(TILE)
        kernels.split_ties(self._arms, z, scores, *found[:3], self.counts, self.values)
        return found.arm


def read_models(belief: Any, xi: Floats) -> Floats:
    """Return the models of rows xi in the information space of a belief, one per row."""
    z = np.empty_like(xi)
    kernels.read_models(belief, xi, z)
    return z


def draws_of(law: NormalLaw, source: Source, probe_index: int, n: int) -> Floats:
    """Return n draws from a normal law, one per row, for the probe of this number."""
    z = np.empty((n, len(law.mean)))
    draw_models(law, source, probe_index, np.empty(z.shape[1]), z)
    return z
