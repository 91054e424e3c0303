"""The law of the arm that an agent would play, and the moments of an ensemble."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastes.agents.best_arms import BLOCK, BestArmCounts
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.kernels.actions.arms import Arms
from fastes.kernels.diagnostics.best_of_models import indices
from fastes.kernels.search.scan import workspace


@documented
class ActionLaw(NamedTuple):
    """What an agent in some state would play, and the models it would play it for.

    Attributes
    ----------
    probabilities : (K,) array or None
        Of each arm, given the state and not only the history; None stands for the law of the
        optimal action itself.
    moments : Moments, optional
        Of an ensemble.
    best_scores : (n,) array, optional
        The value of its best arm under each model that it might play, in units of the noise.
    draws : int, optional
        Where the probabilities are frequencies, in how many draws; else they are exact.
    """

    probabilities: Floats | None
    moments: "Moments | None" = None
    best_scores: Floats | None = None
    draws: int | None = None


@documented
class Moments(NamedTuple):
    """How an ensemble compares with M independent draws from the posterior N(mu, S).

    All three are about 1 for such draws; the expectation of the last two's squares is.

    Attributes
    ----------
    variance : float
        tr(P C) / r, with C the mean of (z - mu)(z - mu)' over models.
    mean_error : float
        |mean of z - mu| in the norm of P, over sqrt(r / M).
    cov_error : float
        Frobenius norm of C - S, in coordinates where S is the identity, over sqrt(r (r + 1) / M).
    """

    variance: float
    mean_error: float
    cov_error: float


_DRAWS = 8192


def law_of_drawn_models(arms: Arms, r: int, draw: Callable[[Floats], Any]) -> ActionLaw:
    """Return the law of the best arm of a model that `draw` draws, by 8,192 draws.

    `draw` fills rows of r numbers, the same ones for the same probe.
    """
    z, best = np.empty((_DRAWS, r)), BestArmCounts(arms)
    draw(z)
    for first in range(0, _DRAWS, BLOCK):
        best.add(z[first : first + BLOCK])
    return ActionLaw(best.counts / _DRAWS, None, np.concatenate(best.best_scores), _DRAWS)


def law_of_best_score(state: Any, arms: Arms) -> ActionLaw:
    """Return the law of a choice by score: any arm of the largest, each as likely."""
    scores = np.empty(arms.K)
    indices(state, arms, workspace(arms), scores)
    best = scores == scores.max()
    return ActionLaw(best / best.sum())
