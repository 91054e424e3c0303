"""Action laws: the distribution of an agent's next arm, and the moments of an ensemble."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastes.agents.best_arms import BLOCK, BestArmCounts
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.kernels.actions.arms import Arms
from fastes.kernels.beliefs.normal_law import NormalLaw
from fastes.kernels.diagnostics.best_of_models import indices
from fastes.kernels.search.scan import workspace


@documented
class ActionLaw(NamedTuple):
    """The distribution of the next arm given an agent's state.

    Attributes
    ----------
    probabilities : (K,) array or None
        Of each arm given the state, not only the history; None for the law of the optimal action.
    moments : Moments, optional
        Moments of an ensemble.
    best_scores : (n,) array, optional
        The value of the best arm under each model that may be used, in units of the noise.
    draws : int, optional
        Number of draws, if the probabilities are frequencies; None if they are exact.
    eigenvalues : (float, float), optional
        The least and the largest of the models' second moment about the posterior mean, in
        coordinates where the posterior covariance is the identity (`extreme_eigenvalues`).
    normal : NormalLaw, optional
        The law of the model of which the best arm is played, where that is normal in all
        directions: for probabilities that few draws would find.
    """

    probabilities: Floats | None
    moments: "Moments | None" = None
    best_scores: Floats | None = None
    draws: int | None = None
    eigenvalues: tuple[float, float] | None = None
    normal: NormalLaw | None = None


@documented
class Moments(NamedTuple):
    """Comparison of an ensemble with M independent draws from the posterior N(mu, S).

    All three are about 1 for such draws; the last two have mean square 1.

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


def extreme_eigenvalues(second_moment: Floats) -> tuple[float, float]:
    """Return the least and the largest eigenvalue of E (z - mu)(z - mu)', whitened.

    Given as P^(1/2) E[...] P^(1/2): S <= E[...] <= c S in the order of matrices if they lie in
    [1, c].
    """
    found = np.linalg.eigvalsh(second_moment)
    return float(found[0]), float(found[-1])


DRAWS = 8192
"""Of models, for a law that is estimated by how often each arm is the best."""
_FLAT = 1e-6  # of the longest: a shorter direction is one of no variance but for rounding


def law_of_drawn_models(
    arms: Arms, r: int, draw: Callable[[Floats], Any], normal: NormalLaw | None = None
) -> ActionLaw:
    """Return the law of the best arm of a random model, estimated by 8,192 draws.

    `draw` fills rows with models of length r, reproducibly for the same probe; `normal` is their
    law, if it is one.
    """
    z, best = np.empty((DRAWS, r)), BestArmCounts(arms)
    draw(z)
    for first in range(0, DRAWS, BLOCK):
        best.add(z[first : first + BLOCK])
    scores = np.concatenate(best.best_scores)
    return ActionLaw(best.counts / DRAWS, None, scores, DRAWS, normal=normal)


def normal_of(mean: Floats, root: Floats) -> NormalLaw | None:
    """Return N(mean, root'root), root (n, r), or None if it has no density."""
    n, r = root.shape
    if n < r:
        return None
    triangular = np.linalg.qr(root, mode="r")
    size = np.abs(np.diag(triangular))
    return NormalLaw(mean, triangular) if size.min() > _FLAT * size.max() else None


def law_of_best_score(state: Any, arms: Arms) -> ActionLaw:
    """Return the uniform law on the arms with the largest score."""
    scores = np.empty(arms.K)
    indices(state, arms, workspace(arms), scores)
    best = scores == scores.max()
    return ActionLaw(best / best.sum())
