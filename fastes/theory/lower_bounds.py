"""Lower bounds on the Bayesian regret of ensemble sampling, each on a problem of its own.

They are stated and proven in the documentation, under "Theorems" (Theorem D) and under "Problems
that are hard for ensembles" (Theorem D+, and the ball).
"""

import math

import numpy as np
from scipy.special import gammaln, log_ndtr

from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_SIZE, MAX_STEPS
from fastes.problem.hard import MOST_INFLATION, threshold, thresholds
from fastes.theory.step_bounds import MAX_MODELS

__all__ = ["lower_bound", "lower_bound_for_all_ensembles", "lower_bound_on_the_ball"]


def lower_bound(
    K: int, M: int, T: int, inflation: float = 1.0, *, symmetric: bool = False
) -> float:
    """Return the lower bound of Theorem D for `LinearBandit.hard_for_ensembles(K, M)`.

    T (K - 1) (1 - 1/M)^M (1 - p)^(K - 2) E(N(0, 1) - c)^+ with p = P(N(0, 1) > c), where c is the
    inflation times the c' with P(N(0, 1) > c') = 1/M, or 1/(2M) for a symmetric ensemble.

    Parameters
    ----------
    K, M, T : int
        Arms, models and steps.
    inflation, symmetric
        Those of the ensemble and of the problem: `hard_for_ensembles(K, M, inflation=...)`.

    Examples
    --------
    >>> from fastes.theory.lower_bounds import lower_bound
    >>> round(lower_bound(2, 4, 2000), 1), round(lower_bound(4, 6, 600, inflation=2.0), 1)
    (94.4, 5.8)
    """
    M = numbers.integer("M", M, 2, MAX_MODELS)
    K, T = numbers.integer("K", K, 2, min(MAX_SIZE, M + 2)), numbers.integer("T", T, 1, MAX_STEPS)
    c = threshold(M, inflation, symmetric)
    log_p = log_ndtr(-c)
    log_none = M * math.log1p(-1.0 / M) + (K - 2) * math.log1p(-math.exp(log_p))
    return float(T * (K - 1) * math.exp(log_none + log_p) * _excess(np.array(c), log_p))


def lower_bound_for_all_ensembles(
    T: int, M: int, inflation: float = 1.0, *, symmetric: bool = False
) -> float:
    """Return the lower bound of Theorem D+ for `LinearBandit.hard_for_all_ensembles(T)`.

    T sum_j (1 - q_j)^M prod_{i != j} (1 - 2^-i) E(N(0, 1) - c_j)^+, where P(N(0, 1) > c_j) = 2^-j
    and q_j is the probability that a model of the ensemble, or its reflection in a symmetric one,
    prefers arm j to arm 0 at first: P(N(0, 1) > c_j / inflation), twice that for a symmetric one.

    Parameters
    ----------
    T, M : int
        Steps, at least 2, and models.
    inflation, symmetric
        Those of the ensemble. The problem depends on T only.

    Examples
    --------
    >>> from fastes.theory.lower_bounds import lower_bound_for_all_ensembles
    >>> [round(lower_bound_for_all_ensembles(600, M), 2) for M in (2, 10, 100)]
    [71.62, 11.13, 0.77]
    """
    T, M = numbers.integer("T", T, 2, MAX_STEPS), numbers.integer("M", M, 1, MAX_MODELS)
    inflation = numbers.between("inflation", inflation, 1.0, MOST_INFLATION)
    c = thresholds(T)
    p = 0.5 ** np.arange(1, len(c) + 1)
    q = np.minimum(
        1.0, (1.0 + numbers.flag("symmetric", symmetric)) * np.exp(log_ndtr(-c / inflation))
    )
    with np.errstate(divide="ignore"):  # an arm that some model surely prefers
        none = np.exp(M * np.log1p(-q))
    others = np.prod(1.0 - p) / (1.0 - p)
    return float(T * (none * others * p * _excess(c, np.log(p))).sum())


def _excess(c: Floats, log_p: Floats) -> Floats:
    """Return E[N(0, 1) - c | N(0, 1) > c], given log P(N(0, 1) > c).

    It is phi(c) / P(N > c) - c, by Mills's ratio against cancellation.
    """
    return np.asarray(np.exp(-0.5 * c * c - 0.5 * math.log(2.0 * math.pi) - log_p) - c)


def lower_bound_on_the_ball(d: int, M: int, T: int) -> float:
    """Return T (E|N(0, I_d)| - E|N(0, I_M)|), or 0 if M >= d.

    A lower bound for the unit ball in d dimensions with prior N(0, I), for any noise and inflation:
    M models stay in the span of their initial draws, and so do the arms that they play.

    Examples
    --------
    >>> from fastes.theory.lower_bounds import lower_bound_on_the_ball
    >>> [round(lower_bound_on_the_ball(10, M, 1000)) for M in (1, 5, 9, 10)]
    [2286, 957, 166, 0]
    """
    d, M = numbers.integer("d", d, 1, MAX_SIZE), numbers.integer("M", M, 1, MAX_MODELS)
    T = numbers.integer("T", T, 1, MAX_STEPS)
    return T * max(0.0, _mean_norm(d) - _mean_norm(min(M, d)))


def _mean_norm(n: int) -> float:
    """Return E|N(0, I_n)|."""
    return math.sqrt(2.0) * math.exp(float(gammaln((n + 1) / 2) - gammaln(n / 2)))
