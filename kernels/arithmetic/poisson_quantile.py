"""Quantiles of the Poisson law, for means of any size."""

import math
from fractions import Fraction

import numpy as np

from ..jit.decorators import inlined, kernel
from .floats import fma
from .normal_quantile import upper_quantile

_SUMMED_BELOW = 128.0
"""Means below which probabilities are added up from 0 on."""

_LARGEST = 2.0**50
"""A mean above which steps of 1 are next to rounding: the quantile is that of a normal law."""

_ORDERS, _DEGREE = 9, 26  # of Temme's expansion


def _coefficients() -> tuple[np.ndarray, np.ndarray]:
    """Return d (orders, degrees) of Temme's expansion, and g of Stirling's series.

    With (x - a) / a = eta + alpha_2 eta^2 + ..., d_0n = (n + 2) alpha_{n+2} and, for k > 0,
    d_kn = (-1)^k g_k d_0n + (n + 2) d_{k-1,n+2}, where g_k = (2k + 1)!! alpha_{2k+1} (DLMF 8.12).
    """
    length = _DEGREE + 2 * _ORDERS + 3
    alpha = [Fraction(0), Fraction(1)]
    for n in range(2, length):
        products = sum(j * alpha[j] * alpha[n - j + 1] for j in range(2, n))
        alpha.append((alpha[n - 1] - products) / (n + 1))
    g = [math.prod(range(1, 2 * k + 2, 2)) * alpha[2 * k + 1] for k in range(_ORDERS)]
    first = [Fraction(-1, 3)] + [(n + 2) * alpha[n + 2] for n in range(1, length - 2)]
    rows = [first]
    for k in range(1, _ORDERS):
        before = rows[-1]
        pairs = range(len(before) - 2)
        rows.append([(-1) ** k * g[k] * first[n] + (n + 2) * before[n + 2] for n in pairs])
    d = np.array([[float(x) for x in row[:_DEGREE]] for row in rows])
    return d, np.array([float(x) for x in g])


_D, _G = _coefficients()


@inlined
def _half_eta_square(mu):
    """Return mu - log(1 + mu), which cancels for small mu."""
    if abs(mu) > 0.03:
        return mu - math.log1p(mu)
    p = 1.0 / 13.0
    for n in range(12, 1, -1):
        p = fma(-mu, p, 1.0 / n)
    return mu * mu * p


@kernel
def _law_at(mean, k):
    """Return P(N <= k), P(N > k) and P(N = k) for a large mean, each to a small relative error.

    P(N <= k) = Q(a, mean), a = k + 1, the incomplete gamma function by Temme's uniform expansion.
    """
    a = k + 1.0
    mu = (mean - a) / a
    half = _half_eta_square(mu)
    eta = math.copysign(math.sqrt(2.0 * half), mu)
    total = gamma = 0.0
    for order in range(_ORDERS - 1, -1, -1):
        c = 0.0
        for n in range(_DEGREE - 1, -1, -1):
            c = fma(c, eta, _D[order, n])
        total = fma(total, 1.0 / a, c)
        gamma = fma(gamma, 1.0 / a, _G[order])
    density = math.exp(-a * half) / math.sqrt(2.0 * math.pi)
    rest = density * total / math.sqrt(a)
    depth = eta * math.sqrt(0.5 * a)
    below = 0.5 * math.erfc(depth) + rest
    above = 0.5 * math.erfc(-depth) - rest
    return below, above, density * math.sqrt(a) / (mean * gamma)


@inlined
def _by_summation(mean, u):
    """Return the quantile by sums of the smaller tail, whose rounding is small beside it."""
    tail = 1.0 - u
    k, p = 0.0, math.exp(-mean)
    total = p
    while total < u and (u <= 0.5 or k < mean or p > 1e-17 * tail):
        k += 1.0
        p *= mean / k
        total += p
    if u > 0.5:
        above = 0.0  # P(N > k), of which the part that is left out is below 1e-16 of the tail
        while p > 1e-17 * tail:
            k += 1.0
            p *= mean / k
        while k > 0.0 and above + p <= tail:
            above += p
            p *= k / mean
            k -= 1.0
    return k


@kernel
def poisson_quantile(mean, u):
    """Return the smallest k with P(N <= k) >= u for N of the Poisson law, 0 < u < 1.

    It grows with u and with the mean. Cost O(mean) up to a mean of 128; from there on O(1): from a
    normal quantile with two corrections it takes a step or two to the exact one.
    """
    if not 0.0 < mean < np.inf:
        return mean
    if mean < _SUMMED_BELOW:
        return _by_summation(mean, u)
    lower = u <= 0.5
    tail = u if lower else 1.0 - u
    x = upper_quantile(tail)
    x = -x if lower else x
    k = max(0.0, math.floor(mean + math.sqrt(mean) * x + (x * x - 1.0) / 6.0))
    if mean > _LARGEST:
        return k
    below, above, p = _law_at(mean, k)
    if lower:
        while below < tail:
            k += 1.0
            p *= mean / k
            below += p
        while k > 0.0 and below - p >= tail:
            below -= p
            p *= k / mean
            k -= 1.0
        return k
    while above > tail:
        k += 1.0
        p *= mean / k
        above -= p
    while k > 0.0 and above + p <= tail:
        above += p
        p *= k / mean
        k -= 1.0
    return k
