"""Quantiles of Student's law, for any degrees of freedom from 1 on."""

import math

import numpy as np

from ..jit.decorators import inlined, kernel
from .normal_quantile import upper_quantile

_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_CENTRAL = 3.0
"""t^2 up to which the series takes fewer terms than the continued fraction."""

_NEARLY_NORMAL = 1e4
"""Degrees of freedom from which four terms of the expansion at the normal law suffice."""

_ASYMPTOTIC = 30.0  # arguments from which seven terms suffice for double precision
_ROUNDING = 2.0**-53
_MOST_TERMS = 1000
_MOST_STEPS = 20


@inlined
def _gamma_ratio(x):
    """Return Gamma(x + 1/2) / (Gamma(x) sqrt(x)), by its series in 1/x."""
    ratio = 1.0
    while x < _ASYMPTOTIC:
        ratio *= np.sqrt(x * (x + 1.0)) / (x + 0.5)
        x += 1.0
    y = 1.0 / x
    p = 869.0 / 4194304.0 + y * (39325.0 / 33554432.0)
    p = -21.0 / 32768.0 + y * (-399.0 / 262144.0 + y * p)
    return ratio * (1.0 + y * (-1.0 / 8.0 + y * (1.0 / 128.0 + y * (5.0 / 1024.0 + y * p))))


@inlined
def _central_mass(t, nu):
    """Return P(0 < T < t) over t times the density at t: a series of positive terms."""
    y = t * t / (nu + t * t)
    term = total = 1.0
    for k in range(_MOST_TERMS):
        term *= y * (nu + 1.0 + 2.0 * k) / (3.0 + 2.0 * k)
        total += term
        if term <= _ROUNDING * total:
            break
    return total


@inlined
def _tail_ratio(t, nu):
    """Return P(T > t) over the density at t, t / nu times the continued fraction of Lentz.

    It is that of the incomplete beta function with arguments nu / 2, 1/2 and nu / (nu + t^2).
    """
    a, x = 0.5 * nu, nu / (nu + t * t)
    above, below = 1.0, 1.0 / (1.0 - x * (a + 0.5) / (a + 1.0))
    fraction = below
    for m in range(1, _MOST_TERMS):
        even = m * (0.5 - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m))
        below = 1.0 / (1.0 + even * below)
        above = 1.0 + even / above
        fraction *= above * below
        odd = -(a + m) * (a + 0.5 + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0))
        below = 1.0 / (1.0 + odd * below)
        above = 1.0 + odd / above
        change = above * below
        fraction *= change
        if abs(change - 1.0) <= 2.0 * _ROUNDING:
            break
    return t / nu * fraction


@inlined
def _expansion(x, nu):
    """Return the quantile where the normal one is x (Abramowitz and Stegun 26.7.5)."""
    q, y = x * x, 1.0 / nu
    first = (q + 1.0) / 4.0
    second = (q * (5.0 * q + 16.0) + 3.0) / 96.0
    third = (q * (q * (3.0 * q + 19.0) + 17.0) - 15.0) / 384.0
    fourth = (q * (q * (q * (79.0 * q + 776.0) + 1482.0) - 1920.0) - 945.0) / 92160.0
    return x * (1.0 + y * (first + y * (second + y * (third + y * fourth))))


@kernel
def student_upper_quantile(p, nu):
    """Return t with P(T > t) = p, 0 < p <= 1/3, for nu >= 1 degrees of freedom.

    To 1e-13 of it, as measured: by Newton's steps on log P(T > t) as a function of
    w = nu log(1 + t^2 / nu), which is nearly linear; the first w is by Wallace's approximation,
    (8 nu + 1)^2 w = (8 nu + 3)^2 x^2 with x the normal quantile.
    """
    x = upper_quantile(p)
    if nu >= _NEARLY_NORMAL:
        return _expansion(x, nu)
    root = x * (8.0 * nu + 3.0) / (8.0 * nu + 1.0)
    w, scale = root * root, _gamma_ratio(0.5 * nu) / _ROOT_TWO_PI
    t = 0.0
    for _ in range(_MOST_STEPS):
        t = np.sqrt(nu * math.expm1(w / nu))
        density = scale * math.exp(-0.5 * (nu + 1.0) / nu * w)
        if t * t <= _CENTRAL:
            tail = 0.5 - t * density * _central_mass(t, nu)
        else:
            tail = density * _tail_ratio(t, nu)
        # dt / dw = (1 + t^2 / nu) / (2 t)
        slope = density / tail * (1.0 + t * t / nu) / (2.0 * t)
        step = (math.log(tail) - math.log(p)) / slope
        w = max(0.25 * w, w + step)
        if abs(step) <= 1e-9 * w:
            break
    return np.sqrt(nu * math.expm1(w / nu))
