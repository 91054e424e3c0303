"""Computation of the constants of a problem in the paper's bounds."""

import math
from weakref import WeakKeyDictionary

import numpy as np

from fastes.checks.arrays import Floats
from fastes.problem.bandit import Bandit
from fastes.problem.constants import Constants, Estimate
from fastes.theory.optimal_action import checked_draws, law_and_extremes, values_under
from fastes.theory.sampled_laws import Extremes
from fastes.theory.winning_regions import can_win

_AFFORDABLE = 1 << 28  # numbers read to examine arms: seconds


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
    # A replicate is measured from the centre of another, or the minimum would be too small.
    apart = [_square_from(x, _centre(drawn[i - 1])) for i, x in enumerate(drawn)]
    eta = _twice_the_root(Estimate(square.value + 1.0, square.se), sigma)
    eta0 = _twice_the_root(_estimate(apart), sigma)
    widest = float((b * b).sum(axis=1).max())
    closed, closed0 = _eta_closed_form(bandit, o, b), _eta0_closed_form(bandit, o, widest)
    shared = float(law.probabilities @ np.log(bandit.duplicate_counts))
    return Constants(
        iota=sigma * math.sqrt(2.0 * (widest + 1.0)),
        eta=Estimate(min(eta.value, closed), eta.se),
        eta_closed_form=closed,
        eta0=Estimate(min(eta0.value, closed0), eta0.se),
        eta0_closed_form=closed0,
        delta=Estimate(sigma * delta.value, sigma * delta.se),
        width=sigma * math.sqrt(widest),
        noise=sigma,
        entropy=Estimate(max(0.0, law.entropy.value - shared), law.entropy.se),
        trivial=Estimate(sigma * trivial.value, sigma * trivial.se),
        K=bandit.K,
        contenders=_contenders(bandit, o, b, law.probabilities),
        d=min(bandit.d, r),
    )


def _estimate(replicates: list[float]) -> Estimate:
    se = np.std(replicates, ddof=1) / math.sqrt(len(replicates))
    return Estimate(float(np.mean(replicates)), float(se))


def _twice_the_root(square: Estimate, sigma: float) -> Estimate:
    """Return 2 sigma sqrt(x), given an estimate of x."""
    root = math.sqrt(square.value)
    return Estimate(sigma * 2.0 * root, sigma * (square.se / root if root > 0 else 0.0))


def _centre(drawn: Extremes) -> float:
    """Return the c with the smallest mean of max (v - c)^2 = (|v_mid - c| + v_half)^2.

    Half its derivative, c - E[v_mid] - E[sign(v_mid - c) v_half], increases in c. Between two
    values of v_mid the signs stay the same.
    """
    middle, half = (drawn.largest + drawn.least) / 2.0, (drawn.largest - drawn.least) / 2.0
    order, n = np.argsort(middle), len(middle)
    middle, below = middle[order], np.concatenate([[0.0], np.cumsum(half[order])])
    root = middle.mean() + (below[-1] - 2.0 * below) / n
    between = int(np.searchsorted(middle - root[:n], 0.0))
    return float(max(root[between], middle[between - 1]) if between else root[0])


def _square_from(drawn: Extremes, c: float) -> float:
    """Return the mean of max (v - c)^2."""
    return float(np.square(np.maximum(drawn.largest - c, c - drawn.least)).mean())


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


def _eta0_closed_form(bandit: Bandit, o: Floats, widest: float) -> float:
    """Return 2 (half the range of a'mu_0 + sqrt(nu beta)), nu = min(rank, 2 + 2 log K): (T8)."""
    nu = min(bandit.rank, 2.0 + 2.0 * math.log(bandit.K))
    return bandit.rewards.unit * 2.0 * (float(np.ptp(o)) / 2.0 + math.sqrt(nu * widest))


def _contenders(bandit: Bandit, o: Floats, b: Floats, p: Floats) -> int:
    """Return how many arms can be the best, equal ones counted once.

    An arm that was the best of a draw can be. Where it would take long to examine the others, they
    count.
    """
    _, first = np.unique(np.column_stack([o, b]) + 0.0, axis=0, return_index=True)
    unseen = first[p[first] == 0]
    examined = len(unseen) * b.size <= _AFFORDABLE
    beaten = sum(not can_win(bandit, arm) for arm in unseen.tolist()) if examined else 0
    return len(first) - beaten
