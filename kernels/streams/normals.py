"""Normal numbers."""

import numpy as np

from ..arithmetic.floats import bits_float, float_bits, fma
from ..jit.decorators import entry, inlined, kernel
from .philox import random_pair

_U = np.uint64

_LN2 = 0.6931471805599453
_SQRT_HALF_BITS = np.float64(0.5**0.5).view(np.int64)
_MANTISSA = np.int64(2**52 - 1)


@inlined
def minus_log_uniform(bits):
    """Return -log(u) for u = (bits + 1/2) / 2^64, to a few units in the last place.

    u = 2^(e - 64) m with m in [sqrt(1/2), sqrt(2)); log m = 2 atanh(s), s = (m - 1)/(m + 1),
    by a near-minimax polynomial in s^2 (error below 3e-18 before rounding). The smallest u is
    2^-65: normals reach 9.49 standard deviations.
    """
    shifted = float_bits(np.float64(bits) + 0.5) - _SQRT_HALF_BITS
    exponent = shifted >> np.int64(52)
    m = bits_float((shifted & _MANTISSA) + _SQRT_HALF_BITS)
    s = (m - 1.0) / (m + 1.0)
    q = s * s
    p = fma(q, 0.13086626147840102, 0.13268773138656886)
    p = fma(q, p, 0.15386239702814658)
    p = fma(q, p, 0.18181795640132906)
    p = fma(q, p, 0.22222222391713917)
    p = fma(q, p, 0.28571428570803614)
    p = fma(q, p, 0.4000000000000088)
    p = fma(q, p, 0.6666666666666666)
    return fma(np.float64(np.int64(64) - exponent), _LN2, -(s * fma(q, p, 2.0)))


@inlined
def _point_on_circle(bits):
    """Return (cos, sin) of an angle uniform on the circle, to a few units in the last place.

    The two high bits choose the quarter turn; the other 62 a fraction y of it in [-1/2, 1/2),
    whose sine and cosine are near-minimax polynomials in y^2 (error below 5e-18).
    """
    y = np.float64(np.int64(bits << _U(2))) * 2.0**-64
    q = y * y
    p = fma(q, 5.633933781537854e-08, -3.59864335298231e-06)
    p = fma(q, p, 0.0001604411507421909)
    p = fma(q, p, -0.004681754132340976)
    p = fma(q, p, 0.07969262624604301)
    p = fma(q, p, -0.6459640975062443)
    sine = y * fma(q, p, 1.5707963267948966)
    p = fma(q, -6.321256869628588e-09, 4.710609726757823e-07)
    p = fma(q, p, -2.520203677046026e-05)
    p = fma(q, p, 0.0009192602741831558)
    p = fma(q, p, -0.02086348076331121)
    p = fma(q, p, 0.2536695079010467)
    p = fma(q, p, -1.2337005501361697)
    cosine = fma(q, p, 1.0)
    quarter = np.int64(bits >> _U(62))
    swap = (quarter & 1) != 0
    x = sine if swap else cosine
    y = cosine if swap else sine
    return (-x if ((quarter + 1) & 2) != 0 else x), (-y if (quarter & 2) != 0 else y)


@inlined
def normal_pair(source, stream, lane, counter):
    """Return two independent N(0, 1) by the transform of Box and Muller; words as above."""
    first, second = random_pair(source, stream, lane, counter)
    radius = np.sqrt(2.0 * minus_log_uniform(first))
    x, y = _point_on_circle(second)
    return radius * x, radius * y


@inlined
def normal(source, stream, lane, t):
    """Return the N(0, 1) of a lane at time t."""
    even, odd = normal_pair(source, stream, _U(lane), _U(t >> 1))
    return odd if t & 1 else even


@kernel
def fill_normals_from(source, stream, t, first, out):
    """out[j] = the N(0, 1) that is the (first + j)-th of the vector at time t; first is even."""
    n = out.shape[0]
    for k in range((n + 1) >> 1):
        x, y = normal_pair(source, stream, _U((first >> 1) + k), _U(t))
        out[2 * k] = x
        if 2 * k + 1 < n:
            out[2 * k + 1] = y


@entry
def fill_normals(source, stream, t, out):
    """out[j] = the j-th N(0, 1) of the vector at time t."""
    fill_normals_from(source, stream, t, np.int64(0), out)


@entry
def fill_normal_rows(source, stream, out):
    """out[i, :] = the vector of N(0, 1) at time i."""
    for i in range(out.shape[0]):
        fill_normals(source, stream, i, out[i])
