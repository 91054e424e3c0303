"""The exponential, the logistic function, a logarithm, vectorised: the same bits in every loop."""

from ..jit.decorators import inlined
from .floats import bits_float, float_bits, fma

_LOG2E = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238  # its last 21 bits are zero: an integer up to 2^11 times it is exact
_LN2_LOW = 1.9082149292705877e-10
_ROUND = 6755399441055744.0  # 1.5 2^52: adding it leaves the nearest integer in the lowest bits


@inlined
def exponential(x):
    """Return exp(x), to two units in the last place; of x below -708 or above 709, that of those.

    x = k log 2 + s with |s| <= (log 2) / 2, and Taylor's polynomial of degree 13 in s, whose error
    is below 5e-18. There is no branch: loops over it fill vector registers.
    """
    x = x if x > -708.0 else -708.0
    x = x if x < 709.0 else 709.0
    shifted = fma(x, _LOG2E, _ROUND)
    k = shifted - _ROUND
    s = fma(k, -_LN2_LOW, fma(k, -_LN2_HIGH, x))
    p = fma(s, 1.0 / 6227020800.0, 1.0 / 479001600.0)
    p = fma(s, p, 1.0 / 39916800.0)
    p = fma(s, p, 1.0 / 3628800.0)
    p = fma(s, p, 1.0 / 362880.0)
    p = fma(s, p, 1.0 / 40320.0)
    p = fma(s, p, 1.0 / 5040.0)
    p = fma(s, p, 1.0 / 720.0)
    p = fma(s, p, 1.0 / 120.0)
    p = fma(s, p, 1.0 / 24.0)
    p = fma(s, p, 1.0 / 6.0)
    p = fma(s, p, 0.5)
    p = fma(s, p, 1.0)
    p = fma(s, p, 1.0)
    return p * bits_float((float_bits(shifted) + 1023) << 52)


@inlined
def logistic_tail(x):
    """Return the smaller of p = 1 / (1 + exp(-x)) and 1 - p, and p (1 - p).

    Both to a few units in the last place; p is the larger one where x is positive.
    """
    e = exponential(-abs(x))
    large = 1.0 / (1.0 + e)
    small = e * large
    return small, large * small


@inlined
def log_one_plus(x):
    """Return log(1 + x) for x in [0, 1], to a few units in the last place.

    It is 2 atanh(s) with s = x / (2 + x) <= 1/3, by the series in s^2 up to s^33.
    """
    s = x / (2.0 + x)
    q = s * s
    p = 1.0 / 33.0
    p = fma(q, p, 1.0 / 31.0)
    p = fma(q, p, 1.0 / 29.0)
    p = fma(q, p, 1.0 / 27.0)
    p = fma(q, p, 1.0 / 25.0)
    p = fma(q, p, 1.0 / 23.0)
    p = fma(q, p, 1.0 / 21.0)
    p = fma(q, p, 1.0 / 19.0)
    p = fma(q, p, 1.0 / 17.0)
    p = fma(q, p, 1.0 / 15.0)
    p = fma(q, p, 1.0 / 13.0)
    p = fma(q, p, 1.0 / 11.0)
    p = fma(q, p, 1.0 / 9.0)
    p = fma(q, p, 1.0 / 7.0)
    p = fma(q, p, 1.0 / 5.0)
    p = fma(q, p, 1.0 / 3.0)
    return fma(s + s, q * p, s + s)
