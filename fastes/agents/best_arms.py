"""How often each arm is the best of many models: of an ensemble, or of draws from a posterior."""

import copy

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.kernels.actions.arms import Arms
from fastes.kernels.arithmetic.tile_product import MODELS, TILE
from fastes.kernels.diagnostics import best_of_models as kernels
from fastes.kernels.posterior.state import Posterior
from fastes.kernels.streams.philox import Source

BLOCK = 1024
"""Models to take at a time: few enough to stay in a cache."""


class BestArmCounts:
    """Models so far, and the arms that were their best.

    Attributes
    ----------
    counts : (K,) array
        Models of which each arm was the best; arms that tie share.
    values : (K,) array
        The sum of its scores over those models.
    best_scores : list of (n,) arrays
        The best score of each model, in the order in which they came.
    """

    def __init__(self, arms: Arms) -> None:
        self.counts = np.zeros(arms.K)
        self.values = np.zeros(arms.K)
        self.best_scores: list[Floats] = []
        self._arms = arms
        self._scores = np.empty((MODELS, TILE))

    def add(self, z: Floats) -> NDArray[np.int64]:
        """Take in models, one a row. Return the best arm of each, the first if several tie."""
        n = len(z)
        padded = np.zeros((-(-n // MODELS) * MODELS, z.shape[1]))
        padded[:n] = z
        best = np.empty(len(padded))
        ties, arm = np.empty((2, len(padded)), np.int64)
        kernels.best_arms(self._arms, padded, self._scores, best, ties, arm)
        if not ties[:n].all():
            raise FloatingPointError("a model was lost to rounding: none of its scores is a number")
        self.best_scores.append(best[:n])
        kernels.split_ties(
            *(self._arms, padded, n, self._scores, best, ties, arm), self.counts, self.values
        )
        return arm[:n]


def with_root(posterior: Posterior) -> Posterior:
    """Return a copy of a posterior with the root of its covariance, S = root root'."""
    whole = copy.deepcopy(posterior)
    kernels.compute_root(whole)
    return whole


def read_models(posterior: Posterior, xi: Floats) -> Floats:
    """Return z = mu + S xi for models in information space, one a row."""
    z = np.empty_like(xi)
    kernels.read_models(posterior, xi, z)
    return z


def draw_posterior_models(posterior: Posterior, source: Source, probe_index: int, n: int) -> Floats:
    """Return n draws from a posterior that has its root, one a row, of the probe of this number."""
    z = np.empty((n, len(posterior.mu)))
    kernels.draw_posterior_models(posterior, source, probe_index, np.empty(z.shape[1]), z)
    return z
