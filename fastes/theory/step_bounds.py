"""Bounds, by step, on divergences of an ensemble's action law from the optimal one.

l_t = E KL(phat_t || p_t), k_t = E KL(pbar_t || p_t) and h_t = E Hel^2(pbar_t || p_t), where phat_t
is the law of the action given the history and the models, pbar_t given the history alone:
h_t <= k_t <= l_t. Statements and proofs are in the documentation, "How many models are needed".
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_SIZE, MAX_STEPS
from fastes.theory.step_sums import Branch, RunningSum

MAX_MODELS = MAX_STEPS
"""Bounds also apply to more models than can be simulated."""

_LARGE = 700.0  # a logarithm whose exponential does not overflow


def divergence_bound(K: int, t: ArrayLike, M: int) -> Floats:
    """Return K log(6 (t + 1) M) / M, the paper's bound on l_t (section 6)."""
    K, M = sizes(K, M)
    return np.asarray(K * np.log(6.0 * (times(t) + 1.0) * M) / M)


def divergence_bound_unsimplified(K: int, t: ArrayLike, M: int) -> Floats:
    """Return [K (log(t + 1) + log(M + 1)) + 1] / M, the unsimplified bound in its proof."""
    K, M = sizes(K, M)
    return np.asarray((K * (np.log(times(t) + 1.0) + math.log(M + 1.0)) + 1.0) / M)


def divergence_tail(K: int, t: ArrayLike, M: int, epsilon: ArrayLike) -> Floats:
    """Return (t + 1)^K (M + 1)^K exp(-M epsilon), a bound on P(KL(phat_t || p_t) > epsilon).

    From Lu and Van Roy (2017), Lemma 4. It may exceed 1.
    """
    K, M = sizes(K, M)
    beyond = arrays.array("epsilon", epsilon)
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(K * (np.log(times(t) + 1.0) + math.log(M + 1.0)) - M * beyond))


def proposition1(K: int, t: ArrayLike, M: int) -> Floats:
    """Return the bound of Proposition 1 on l_t, at the best lambda.

    With u the smaller of a bound on J_t (`history_information`) and of log C(t + K - 1, K - 1),
    it is (K - 1) y / M, y >= 1 the root of y - 1 - log y = u / (K - 1).
    """
    K, M = sizes(K, M)
    t = times(t)
    known = np.minimum(history_information(K, t, M), log_count_vectors(K, t))
    return _of_information(K, known, M)


def history_information(K: int, t: ArrayLike, M: int) -> Floats:
    """Return a bound on J_t = I(X; H_t), the information in the history about the models, in nats.

    The smaller of t log K and (K - 1)(y - 1 - log y), y >= 1 the root of log y + 1/y - 1 = t/M.
    """
    K, M = sizes(K, M)
    t = times(t)
    if K == 1:
        return np.zeros(t.shape)
    z = _flow(t / M)
    return np.asarray(np.minimum((K - 1) * excess(z), t * math.log(K)))


def information_bound(K: int, t: ArrayLike, M: int) -> Floats:
    """Return kbar_t = (1/M) sum_{s < t} min(lbar_s, log K), a bound on k_t at whole t.

    lbar_s is the smaller of `divergence_bound` and `proposition1`.
    """
    K, M = sizes(K, M)
    t = times(t)
    last = int(t.max(initial=0.0))
    return running_information(K, max(1, last), M).at(np.floor(t)) / M


def fresh_bound(t: ArrayLike, M: int) -> Floats:
    """Return (1 + min(1, t/M)) (1 - (1 - 1/M)^t), a bound on h_t that is independent of K."""
    M = numbers.integer("M", M, 1, MAX_MODELS)
    t = times(t)
    return np.asarray((1.0 + np.minimum(1.0, t / M)) * not_fresh(t, M))


def not_fresh(t: Floats, M: int) -> Floats:
    """Return 1 - (1 - 1/M)^t, the probability that the model of step t was read before."""
    if M == 1:
        return np.where(t > 0, 1.0, 0.0)
    return np.asarray(-np.expm1(t * math.log1p(-1.0 / M)))


@lru_cache(maxsize=64)
def running_information(K: int, T: int, M: int) -> RunningSum:
    """Return M kbar_t for t up to T, a running sum of information about the models."""
    branches = [lambda t: np.full(t.shape, math.log(K)), *_model_divergences(K, M)]
    return RunningSum(T, [*branches, lambda t: divergence_bound(K, t, M)])


def smallest_distances(K: int, T: int, M: int) -> tuple[list[Branch], tuple[int, ...]]:
    """Return all bounds on h_t as functions of t, and the points where they are not smooth.

    Their minimum bounds h_t. They are those on k_t, and that of fresh models.
    """
    branches, breaks = smallest_divergences(K, T, M)
    fresh: list[Branch] = [
        lambda t: (1.0 + t / M) * not_fresh(t, M),
        lambda t: 2.0 * not_fresh(t, M),
    ]
    return [*fresh, *branches], breaks


def smallest_divergences(K: int, T: int, M: int) -> tuple[list[Branch], tuple[int, ...]]:
    """Return all bounds on k_t as functions of t, and the points where they are not smooth.

    Their minimum bounds k_t. One is Proposition 2, log C(t + K - 1, K - 1) / M, for pbar_t given
    the history up to its order; Theorems 2 and B hold for that too.
    """
    known = running_information(K, T, M)
    branches: list[Branch] = [
        lambda t: log_count_vectors(K, t) / M,
        lambda t: known(t) / M,
        *_model_divergences(K, M),
        lambda t: divergence_bound_unsimplified(K, t, M),
    ]
    return branches, known.breaks


def _model_divergences(K: int, M: int) -> list[Branch]:
    """Return the bounds of Proposition 1 on l_t, one for each bound on the information."""
    if K == 1:
        return [np.zeros_like]
    return [
        lambda t: (K - 1) / M * np.exp(_flow(t / M)),
        lambda t: _of_information(K, t * math.log(K), M),
        lambda t: _of_information(K, log_count_vectors(K, t), M),
    ]


def log_count_vectors(K: int, t: ArrayLike) -> Floats:
    """Return log C(t + K - 1, K - 1), the log number of ways to distribute t plays on K arms.

    By Stirling's formula with its remainder, against the cancellation of gamma functions at large
    t.
    """
    t = arrays.array("t", t)
    k = K - 1.0
    if k == 0:
        return np.zeros(t.shape)
    n = np.maximum(t, 1e-300)
    leading = k * np.log1p(t / k) + t * np.log1p(k / n)
    root = 0.5 * (np.log1p(k / n) - math.log(2.0 * math.pi * k))
    exact = leading + root + _stirling(t + k) - _stirling(t) - _stirling(np.array(k))
    return np.where(t > 0, exact, 0.0)


def _stirling(n: Floats) -> Floats:
    """Return log n! - [(n + 1/2) log n - n + log(2 pi) / 2], at n > 0."""
    many, few = np.maximum(n, 20.0), np.clip(n, 1e-300, 20.0)
    inverse = 1.0 / (many * many)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - inverse / 1680) * inverse) * inverse) / many
    direct = gammaln(few + 1.0) - (few + 0.5) * np.log(few) + few - 0.5 * math.log(2 * math.pi)
    return np.where(n < 20.0, direct, series)


def _of_information(K: int, u: Floats, M: int) -> Floats:
    """Return inf over lambda of [u + (K - 1) log(1/(1 - lambda))] / (lambda M).

    At the minimum 1/(1 - lambda) = y with y - 1 - log y = u / (K - 1), and it is (K - 1) y / M.
    """
    if K == 1:
        return np.zeros(u.shape)
    return np.asarray((K - 1) / M * np.exp(_inverse_of_excess(u / (K - 1), 1.0)))


def _flow(tau: Floats) -> Floats:
    """Return log y, y >= 1 the root of log y + 1/y - 1 = tau."""
    return np.minimum(_inverse_of_excess(tau, -1.0), _LARGE)


def _inverse_of_excess(x: Floats, sign: float) -> Floats:
    """Return z >= 0 with exp(s z) - 1 - s z = x, for s = 1 or -1: Newton's method."""
    z = np.log1p(np.sqrt(2.0 * x) + x) if sign > 0 else np.minimum(np.sqrt(2 * x) + x, x + 1)
    z = z + 1e-150  # at x = 0 too there is a slope
    for _ in range(10):
        z = np.maximum(z - (excess(sign * z) - x) / (sign * np.expm1(sign * z)), 1e-150)
    return np.asarray(z)


def excess(z: Floats) -> Floats:
    """Return exp(z) - 1 - z."""
    series = np.full(z.shape, 1.0 / math.factorial(11))
    for n in range(10, 1, -1):
        series = series * z + 1.0 / math.factorial(n)
    return np.where(np.abs(z) < 0.1, series * z * z, np.expm1(z) - z)


def sizes(K: int, M: int) -> tuple[int, int]:
    """Return K and M, or raise ValueError if one is out of range."""
    return numbers.integer("K", K, 1, MAX_SIZE), numbers.integer("M", M, 1, MAX_MODELS)


def times(t: ArrayLike) -> Floats:
    """Return times as an array, or raise ValueError if one is negative."""
    found = arrays.array("t", t)
    if found.size and found.min() < 0:
        raise ValueError(f"t must be at least 0, got {found.min():g}")
    return found
