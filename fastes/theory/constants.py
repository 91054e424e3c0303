"""Computation of the constants of a problem in the paper's bounds."""

import math
from weakref import WeakKeyDictionary

import numpy as np

from fastes.checks.arrays import Floats
from fastes.problem.bandit import Bandit
from fastes.problem.constants import Constants, Estimate
from fastes.theory.optimal_action import checked_draws, law_and_extremes, values_under


def constants(bandit: Bandit, *, samples: int = 1 << 16, seed: int = 0) -> Constants:
    """Return the constants of a problem in the bounds.

    Parameters
    ----------
    bandit : Bandit
        The problem.
    samples : int
        Draws of theta for the estimates.
    seed : int
        Seed of the draws.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.constants import constants
    >>> known = constants(fastes.LinearBandit([[1.0], [-1.0]]))
    >>> known.iota, round(known.eta.value, 2), round(known.entropy.value, 4)
    (2.0, 2.83, 0.6931)
    """
    if bandit.rewards.name != "gaussian":
        raise ValueError(f"the paper's bounds are for gaussian rewards, got {bandit}")
    bandit.require_fixed_arms("bounds and diagnostics")
    known = _KNOWN.setdefault(bandit, {})
    if (samples, seed) not in known:
        known[samples, seed] = _constants(bandit, samples, seed)
    return known[samples, seed]


def constants_beside(bandit: Bandit, seed: int) -> Constants | None:
    """Return what the bounds beside diagnostics need to know, or None: there are none.

    Raise ValueError where there can be no diagnostics.
    """
    if bandit.rewards.name == "gaussian":
        return constants(bandit, seed=seed)
    bandit.require_fixed_arms("diagnostics")
    return None


# Several agents often share a problem.
_KNOWN: "WeakKeyDictionary[Bandit, dict[tuple[int, int], Constants]]" = WeakKeyDictionary()


def _constants(bandit: Bandit, samples: int, seed: int) -> Constants:
    samples, seed = checked_draws(samples, seed)
    r, sigma = bandit.rank, bandit.rewards.unit
    o, b = values_under(bandit, np.zeros(r), np.eye(r))
    law, drawn = law_and_extremes(o, b, samples, seed)
    # E[max v^2] and E[max v - mean v] of the arms' values v.
    square = _estimate([np.square(np.maximum(x.largest, -x.least)).mean() for x in drawn])
    trivial = _estimate([np.maximum(x.largest - x.mean, 0.0).mean() for x in drawn])
    delta = _estimate([(x.largest - x.least).mean() for x in drawn])
    eta = 2.0 * math.sqrt(square.value + 1.0)
    closed = _eta_closed_form(bandit, o, b)
    widest = float((b * b).sum(axis=1).max())
    return Constants(
        iota=sigma * math.sqrt(2.0 * (widest + 1.0)),
        eta=Estimate(min(sigma * eta, closed), sigma * 2.0 * square.se / eta),
        eta_closed_form=closed,
        delta=Estimate(sigma * delta.value, sigma * delta.se),
        width=sigma * math.sqrt(widest),
        noise=sigma,
        entropy=law.entropy,
        trivial=Estimate(sigma * trivial.value, sigma * trivial.se),
        K=bandit.K,
        d=min(bandit.d, r),
    )


def _estimate(replicates: list[float]) -> Estimate:
    se = np.std(replicates, ddof=1) / math.sqrt(len(replicates))
    return Estimate(float(np.mean(replicates)), float(se))


def _eta_closed_form(bandit: Bandit, o: Floats, b: Floats) -> float:
    """Return 2 sqrt(min of two bounds on E[max (a'theta)^2] + sigma^2), in closed form.

    The bound in the dimension is the paper's. The bound in the number of arms is (T6) of the
    documentation: the paper's fails unless the prior mean is 0. In units of sigma, so that squares
    do not overflow.
    """
    cov, sigma = bandit.prior_cov, bandit.rewards.unit
    variances = np.diag(cov) if np.ndim(cov) == 2 else np.broadcast_to(cov, bandit.d)
    longest = float(np.linalg.norm(bandit.actions / sigma, axis=1).max())
    largest = longest * float(np.hypot(bandit.prior_mean, np.sqrt(variances)).max())
    by_dimension = bandit.d * largest * largest
    farthest, widest = float(np.abs(o).max()), math.sqrt(float((b * b).sum(axis=1).max()))
    by_arms = farthest + math.sqrt(2.0 + 2.0 * math.log(bandit.K)) * widest
    return sigma * 2.0 * math.sqrt(min(by_dimension, by_arms * by_arms) + 1.0)
