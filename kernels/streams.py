"""Randomness as a pure function: every number is f(seed, run, stream, lane, counter).

The generator is Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011, "Parallel random numbers:
as easy as 1, 2, 3"). The seed is its 64-bit key; run (32 bits), stream (8), lane (32) and
counter (56) fill its 128-bit counter, so two different draws never share a block. No library
offers one that can be called inside a compiled loop and vectorised across draws.

What the lane and the counter count is the caller's business; three uses recur:

- a vector at a time t: element j is half ``j % 2`` of the block (lane ``j // 2``, counter t);
- a scalar at a time t: half ``t % 2`` of the block (lane 0, counter ``t // 2``);
- a scalar for each of many models at a time t: the same with the model as lane.
"""

from typing import NamedTuple

import numpy as np

from .floats import bits_float, float_bits, fma
from .jit import entry, inlined, kernel

_U = np.uint64

# Typed numbers, not Python's: numba would compile a copy of each kernel for every literal.
THETA = _U(1)
MODEL_INDEX = _U(2)
INITIAL_MODELS = _U(3)
PERTURBATION = _U(4)
NOISE = _U(5)
TIES = _U(6)
POSTERIOR_SAMPLE = _U(7)
ARMS = _U(8)
DIAGNOSTICS = _U(9)
OPTIMAL_ACTION = _U(10)

MAX_LANE = 2**32 - 1
MAX_COUNTER = 2**56 - 1

_LOW = _U(0xFFFFFFFF)
_32 = _U(32)
_MULTIPLIER_0, _MULTIPLIER_1 = _U(0xD2511F53), _U(0xCD9E8D57)
_WEYL_0, _WEYL_1 = _U(0x9E3779B9), _U(0xBB67AE85)


class Source(NamedTuple):
    """Where a run's numbers come from."""

    seed: np.uint64
    run: np.uint64


def source(seed: int, run: int = 0) -> Source:
    """Return the source of run `run` under `seed`."""
    return Source(np.uint64(seed), np.uint64(run))


@inlined
def philox(key0, key1, word0, word1, word2, word3):
    """Return Philox4x32-10 of a counter block; all words are uint64 below 2^32."""
    for _ in range(10):
        # Only the low halves enter the product: masking there, and not after, leaves one
        # instruction (32 x 32 -> 64 bits) for each product in vector code.
        product0 = _MULTIPLIER_0 * (word0 & _LOW)
        product1 = _MULTIPLIER_1 * (word2 & _LOW)
        word0 = (product1 >> _32) ^ word1 ^ key0
        word2 = (product0 >> _32) ^ word3 ^ key1
        word1 = product1
        word3 = product0
        key0 = (key0 + _WEYL_0) & _LOW
        key1 = (key1 + _WEYL_1) & _LOW
    return word0 & _LOW, word1 & _LOW, word2 & _LOW, word3 & _LOW


@inlined
def random_pair(source, stream, lane, counter):
    """Return two independent uint64, uniform over all 2^64 values; all words are uint64."""
    word0, word1, word2, word3 = philox(
        source.seed & _LOW,
        source.seed >> _32,
        lane,
        counter & _LOW,
        source.run,
        ((counter >> _32) << _U(8)) | stream,
    )
    return (word0 << _32) | word1, (word2 << _32) | word3


_LN2 = 0.6931471805599453
_SQRT_HALF_BITS = np.float64(0.5**0.5).view(np.int64)
_MANTISSA = np.int64(2**52 - 1)


@inlined
def _minus_log_uniform(bits):
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
    radius = np.sqrt(2.0 * _minus_log_uniform(first))
    x, y = _point_on_circle(second)
    return radius * x, radius * y


@inlined
def normal(source, stream, lane, t):
    """Return the N(0, 1) of a lane at time t."""
    even, odd = normal_pair(source, stream, _U(lane), _U(t >> 1))
    return odd if t & 1 else even


@entry
def fill_normals(source, stream, t, out):
    """out[j] = the j-th N(0, 1) of the vector at time t."""
    n = out.shape[0]
    for k in range((n + 1) >> 1):
        x, y = normal_pair(source, stream, _U(k), _U(t))
        out[2 * k] = x
        if 2 * k + 1 < n:
            out[2 * k + 1] = y


@entry
def fill_normal_rows(source, stream, out):
    """out[i, :] = the vector of N(0, 1) at time i."""
    for i in range(out.shape[0]):
        fill_normals(source, stream, i, out[i])


@entry
def fill_uniform_rows(source, stream, out):
    """out[i, :] = the vector at time i of uniforms on [0, 1), multiples of 2^-53."""
    n = out.shape[1]
    for i in range(out.shape[0]):
        for k in range((n + 1) >> 1):
            first, second = random_pair(source, stream, _U(k), _U(i))
            out[i, 2 * k] = np.float64(first >> _U(11)) * 2.0**-53
            if 2 * k + 1 < n:
                out[i, 2 * k + 1] = np.float64(second >> _U(11)) * 2.0**-53


@inlined
def _bounded(bits, n):
    """Return (floor(bits n / 2^64), whether the draw may be kept); n < 2^32.

    It is unbiased once the draws with bits n mod 2^64 below 2^64 mod n are rejected (Lemire,
    2019).
    """
    low = (bits & _LOW) * n
    high = (bits >> _32) * n + (low >> _32)
    # The negative of an unsigned n is 2^64 - n.
    return high >> _32, ((high << _32) | (low & _LOW)) >= (~n + _U(1)) % n


@kernel
def integer(source, stream, t, n):
    """Return an integer uniform on {0, ..., n - 1}, n < 2^32, for time t.

    A rejected draw takes the next lane.
    """
    lane = _U(0)
    while True:
        bits, _ = random_pair(source, stream, lane, _U(t))
        value, accepted = _bounded(bits, _U(n))
        if accepted:
            return np.int64(value)
        lane += _U(1)
