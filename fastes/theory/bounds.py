"""The paper's bounds on Bayesian regret, for a problem of one's own, and one that is free of K.

docs/theory.md has the statements, the proof of the one that is ours, and the slips in the paper
that a careful reader meets.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from fastes import validation
from fastes.problem import LinearBandit
from fastes.theory.optimal_action import Estimate, normal_draws, optimal_action, values_under
from fastes.validation import MAX_SIZE, MAX_STEPS, Floats

_BLOCK = 1 << 22  # values held at a time


@dataclass(frozen=True)
class Constants:
    """What the bounds need to know of a problem, in units of reward.

    Attributes
    ----------
    iota : float
        sqrt(2 (max a' Sigma_0 a + sigma^2)), equation (3).
    eta : Estimate
        2 sqrt(E[max (a'theta)^2] + sigma^2), equation (3), by quasi-Monte Carlo.
    eta_closed_form : float
        The bound on eta of the appendix, the smaller of its two branches.
    entropy : Estimate
        H(A*) under the prior, in nats.
    trivial : Estimate
        Regret a step of playing any arm, each as likely.
    K, d : int
        Number of arms; dimension, or the problem's rank if that is smaller.
    """

    iota: float
    eta: Estimate
    eta_closed_form: float
    entropy: Estimate
    trivial: Estimate
    K: int
    d: int


def constants(bandit: LinearBandit, *, samples: int = 1 << 16, seed: int = 0) -> Constants:
    """Return what the bounds need to know of a problem.

    Parameters
    ----------
    bandit : LinearBandit
        The problem.
    samples : int
        Draws of theta for the estimates.
    seed : int
        Of the draws.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.bounds import constants
    >>> known = constants(fastes.LinearBandit([[1.0], [-1.0]]))
    >>> known.iota, round(known.eta.value, 2), round(known.entropy.value, 4)
    (2.0, 2.83, 0.6931)
    """
    known = _KNOWN.setdefault(bandit, {})
    if (samples, seed) not in known:
        known[samples, seed] = _constants(bandit, samples, seed)
    return known[samples, seed]


# Several agents are often held against the same bounds.
_KNOWN: "WeakKeyDictionary[LinearBandit, dict[tuple[int, int], Constants]]" = WeakKeyDictionary()


def _constants(bandit: LinearBandit, samples: int, seed: int) -> Constants:
    law = optimal_action(bandit, samples=samples, seed=seed)
    r, sigma = bandit.rank, bandit.noise
    o, b = values_under(bandit, np.zeros(r), np.eye(r))
    squares, gaps = _largest_square_and_gap(o, b, samples, seed)
    square, trivial = _estimate(squares), _estimate(gaps)
    eta = 2.0 * math.sqrt(square.value + 1.0)
    return Constants(
        iota=sigma * math.sqrt(2.0 * (float((b * b).sum(axis=1).max()) + 1.0)),
        eta=Estimate(sigma * eta, sigma * 2.0 * square.se / eta),
        eta_closed_form=_eta_closed_form(bandit, o, b),
        entropy=law.entropy,
        trivial=Estimate(sigma * trivial.value, sigma * trivial.se),
        K=bandit.K,
        d=min(bandit.d, r),
    )


def _largest_square_and_gap(o: Floats, b: Floats, n: int, seed: int) -> tuple[Floats, Floats]:
    """Return E[max v^2] and E[max v - mean v] of the arms' values v, for each replicate."""
    means = []
    rows = max(1, _BLOCK // len(o))
    for x in normal_draws(b.shape[1], -(-n // 16), seed):
        sums = np.zeros(2)
        for first in range(0, len(x), rows):
            values = o + x[first : first + rows] @ b.T
            sums[0] += np.square(np.abs(values).max(axis=1)).sum()
            sums[1] += (values.max(axis=1) - values.mean(axis=1)).sum()
        means.append(sums / len(x))
    squares, gaps = np.array(means).T
    return squares, gaps


def _estimate(replicates: Floats) -> Estimate:
    se = replicates.std(ddof=1) / math.sqrt(len(replicates))
    return Estimate(float(replicates.mean()), float(se))


def _eta_closed_form(bandit: LinearBandit, o: Floats, b: Floats) -> float:
    """Return the appendix's bound: 2 sqrt(min of two bounds on E[max (a'theta)^2] + sigma^2).

    In units of sigma, so that no square is too large to be held.
    """
    cov, sigma = bandit.prior_cov, bandit.noise
    variances = np.diag(cov) if np.ndim(cov) == 2 else np.broadcast_to(cov, bandit.d)
    longest = float(np.linalg.norm(bandit.actions / sigma, axis=1).max())
    largest = longest * float(np.hypot(bandit.prior_mean, np.sqrt(variances)).max())
    by_dimension = bandit.d * largest * largest
    widest, farthest = float((b * b).sum(axis=1).max()), float((o * o).max())
    by_arms = (4.0 * math.log(bandit.K) + 5.0) * widest + farthest
    return sigma * 2.0 * math.sqrt(min(by_dimension, by_arms) + 1.0)


def term_a(known: Constants, T: int) -> float:
    """Return iota sqrt(d T H(A*)), term (a) of Theorem 1: the bound for Thompson sampling."""
    T = validation.integer("T", T, 1, MAX_STEPS)
    return known.iota * math.sqrt(known.d * T * max(0.0, known.entropy.value))


def divergence_bound(K: int, t: ArrayLike, M: int) -> Floats:
    """Return K log(6 (t + 1) M) / M, the paper's bound on E[KL(pbar_t || p_t)] (section 6)."""
    K, M = validation.integer("K", K, 1, MAX_SIZE), validation.integer("M", M, 1, MAX_SIZE)
    return np.asarray(K * np.log(6.0 * (_times(t) + 1.0) * M) / M)


def divergence_bound_unsimplified(K: int, t: ArrayLike, M: int) -> Floats:
    """Return [K (log(t + 1) + log(M + 1)) + 1] / M, what the proof of it arrives at first."""
    K, M = validation.integer("K", K, 1, MAX_SIZE), validation.integer("M", M, 1, MAX_SIZE)
    return np.asarray((K * (np.log(_times(t) + 1.0) + math.log(M + 1.0)) + 1.0) / M)


def divergence_tail(K: int, t: ArrayLike, M: int, epsilon: ArrayLike) -> Floats:
    """Return (t + 1)^K (M + 1)^K exp(-M epsilon), a bound on P(KL(phat_t || p_t) > epsilon).

    The paper takes it from Lu and Van Roy (2017), Lemma 4. It may exceed 1, and says nothing then.
    """
    K, M = validation.integer("K", K, 1, MAX_SIZE), validation.integer("M", M, 1, MAX_SIZE)
    beyond = validation.array("epsilon", epsilon)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(K * (np.log(_times(t) + 1.0) + math.log(M + 1.0)) - M * beyond))


def k_free_bound(t: ArrayLike, M: int) -> Floats:
    """Return 2 (1 - (1 - 1/M)^t), a bound on E[Hellinger^2(pbar_t || p_t)] that is free of K.

    At t, a given model was read before with probability 1 - (1 - 1/M)^t; one that was not is an
    exact posterior sample (docs/theory.md).
    """
    M = validation.integer("M", M, 1, MAX_SIZE)
    times = _times(t)
    if M == 1:
        return np.where(times > 0, 2.0, 0.0)
    return np.asarray(-2.0 * np.expm1(times * math.log1p(-1.0 / M)))


def theorem2(known: Constants, divergences: Iterable[float] | Floats) -> float:
    """Return iota sqrt(d T H(A*)) + eta sum_t sqrt(E[Hellinger^2(pbar_t || p_t)]), Theorem 2.

    It holds for any agent. Bounds on the squared Hellinger distances, KL divergences among them
    (the corollary), give a bound too.

    Parameters
    ----------
    known : Constants
        Of the problem.
    divergences : (T,) iterable of float
        E[Hellinger^2(pbar_t || p_t)] at t = 0, ..., T - 1, or a bound on each.
    """
    given = validation.array("divergences", list(divergences))
    if given.ndim != 1 or not len(given) or given.min() < 0:
        raise ValueError("divergences must be at least one number, none below 0")
    return term_a(known, len(given)) + known.eta.value * float(np.sqrt(given).sum())


def theorem1(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem 1 on the regret of ensemble sampling: terms (a) and (b)."""
    return term_a(known, T) + term_b(known, T, M)


def term_b(known: Constants, T: int, M: int) -> float:
    """Return eta T sqrt(K log(6 T M) / M), term (b) of Theorem 1: what a finite ensemble adds."""
    T = validation.integer("T", T, 1, MAX_STEPS)
    return known.eta.value * T * math.sqrt(float(divergence_bound(known.K, T - 1, M)))


def k_free_term(known: Constants, T: int, M: int) -> float:
    """Return eta sum_t sqrt(2 (1 - (1 - 1/M)^t)), which takes term (b)'s place."""
    return known.eta.value * _summed(T, lambda t: np.sqrt(k_free_bound(t, M)))


def best_bound(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem 2 with the smallest divergence that is known at each step."""

    def smallest(t: Floats) -> Floats:
        by_types = np.minimum(
            divergence_bound(known.K, t, M), divergence_bound_unsimplified(known.K, t, M)
        )
        return np.sqrt(np.minimum(by_types, k_free_bound(t, M)))

    return term_a(known, T) + known.eta.value * _summed(T, smallest)


def smallest_ensemble(known: Constants, T: int, target: float) -> int:
    """Return the smallest M for which term (b) is at most a target.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.bounds import constants, smallest_ensemble, term_b
    >>> known = constants(fastes.LinearBandit.random(10, 3))
    >>> M = smallest_ensemble(known, T=100, target=50.0)
    >>> term_b(known, 100, M) <= 50.0 < term_b(known, 100, M - 1)
    True
    """
    target = validation.positive("target", target)
    low, high = 0, 1  # term (b) falls with M, for 6 T M > e
    while term_b(known, T, min(high, MAX_SIZE)) > target:
        if high > MAX_SIZE:
            raise ValueError(f"target must be reached by some M below 2^32, got {target:g}")
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if term_b(known, T, middle) <= target else (middle, high)
    return high


def ensemble_of_the_same_order(known: Constants, T: int) -> int:
    """Return K T / d, rounded up: with so many models the bound has the order of TS's."""
    return -(-known.K * validation.integer("T", T, 1, MAX_STEPS) // known.d)


def _times(t: ArrayLike) -> Floats:
    times = validation.array("t", t)
    if times.size and times.min() < 0:
        raise ValueError(f"t must be at least 0, got {times.min():g}")
    return times


def _summed(T: int, term: Any) -> float:
    """Return the sum of a function of t = 0, ..., T - 1, for any T, within 1e-9 of itself.

    Beyond a million steps, in ever larger blocks by Gauss and Legendre: the functions are smooth.
    """
    T = validation.integer("T", T, 1, MAX_STEPS)
    exact = min(T, 1 << 20)
    total = float(term(np.arange(exact, dtype=float)).sum())
    x, weights = np.polynomial.legendre.leggauss(32)
    start = exact
    while start < T:
        stop = min(T, 2 * start)
        half = (stop - start) / 2
        # The sum over start, ..., stop - 1 is the integral from start - 1/2 to stop - 1/2, but for
        # terms of the second derivative over 24.
        total += half * float(weights @ term(start - 0.5 + half * (x + 1)))
        start = stop
    return total
