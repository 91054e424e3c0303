"""The paper's bounds on Bayesian regret, for a problem of one's own, and one that is free of K.

docs/explanation/theory.md has the statements, the proof of the one that is ours, and the slips in
the paper that a careful reader meets.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_SIZE, MAX_STEPS
from fastes.results.constants import Constants


def term_a(known: Constants, T: int) -> float:
    """Return iota sqrt(d T H(A*)), term (a) of Theorem 1: the bound for Thompson sampling."""
    T = numbers.integer("T", T, 1, MAX_STEPS)
    return known.iota * math.sqrt(known.d * T * max(0.0, known.entropy.value))


def divergence_bound(K: int, t: ArrayLike, M: int) -> Floats:
    """Return K log(6 (t + 1) M) / M, the paper's bound on E[KL(pbar_t || p_t)] (section 6)."""
    K, M = numbers.integer("K", K, 1, MAX_SIZE), numbers.integer("M", M, 1, MAX_SIZE)
    return np.asarray(K * np.log(6.0 * (_times(t) + 1.0) * M) / M)


def divergence_bound_unsimplified(K: int, t: ArrayLike, M: int) -> Floats:
    """Return [K (log(t + 1) + log(M + 1)) + 1] / M, what the proof of it arrives at first."""
    K, M = numbers.integer("K", K, 1, MAX_SIZE), numbers.integer("M", M, 1, MAX_SIZE)
    return np.asarray((K * (np.log(_times(t) + 1.0) + math.log(M + 1.0)) + 1.0) / M)


def divergence_tail(K: int, t: ArrayLike, M: int, epsilon: ArrayLike) -> Floats:
    """Return (t + 1)^K (M + 1)^K exp(-M epsilon), a bound on P(KL(phat_t || p_t) > epsilon).

    The paper takes it from Lu and Van Roy (2017), Lemma 4. It may exceed 1, and says nothing then.
    """
    K, M = numbers.integer("K", K, 1, MAX_SIZE), numbers.integer("M", M, 1, MAX_SIZE)
    beyond = arrays.array("epsilon", epsilon)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(K * (np.log(_times(t) + 1.0) + math.log(M + 1.0)) - M * beyond))


def k_free_bound(t: ArrayLike, M: int) -> Floats:
    """Return 2 (1 - (1 - 1/M)^t), a bound on E[Hellinger^2(pbar_t || p_t)] that is free of K.

    At t, a given model was read before with probability 1 - (1 - 1/M)^t; one that was not is an
    exact posterior sample (docs/explanation/theory.md).
    """
    M = numbers.integer("M", M, 1, MAX_SIZE)
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
    given = arrays.array("divergences", list(divergences))
    if given.ndim != 1 or not len(given) or given.min() < 0:
        raise ValueError("divergences must be at least one number, none below 0")
    return term_a(known, len(given)) + known.eta.value * float(np.sqrt(given).sum())


def theorem1(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem 1 on the regret of ensemble sampling: terms (a) and (b)."""
    return term_a(known, T) + term_b(known, T, M)


def term_b(known: Constants, T: int, M: int) -> float:
    """Return eta T sqrt(K log(6 T M) / M), term (b) of Theorem 1: what a finite ensemble adds."""
    T = numbers.integer("T", T, 1, MAX_STEPS)
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
    >>> from fastes.theory.bounds import smallest_ensemble, term_b
    >>> from fastes.theory.constants import constants
    >>> known = constants(fastes.LinearBandit.random(10, 3))
    >>> M = smallest_ensemble(known, T=100, target=50.0)
    >>> term_b(known, 100, M) <= 50.0 < term_b(known, 100, M - 1)
    True
    """
    target = numbers.positive("target", target)
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
    """Return K T / d, rounded up: with that many models the bound has the order of TS's."""
    return -(-known.K * numbers.integer("T", T, 1, MAX_STEPS) // known.d)


def _times(t: ArrayLike) -> Floats:
    times = arrays.array("t", t)
    if times.size and times.min() < 0:
        raise ValueError(f"t must be at least 0, got {times.min():g}")
    return times


def _summed(T: int, term: Any) -> float:
    """Return the sum of a function of t = 0, ..., T - 1, for any T, within 1e-9 of itself.

    Beyond a million steps, in ever larger blocks by Gauss and Legendre: the functions are smooth.
    """
    T = numbers.integer("T", T, 1, MAX_STEPS)
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
