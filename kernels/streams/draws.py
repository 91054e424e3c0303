"""Uniform numbers and integers."""

import numpy as np

from ..jit.decorators import entry, inlined, kernel
from .philox import LOW_WORD, WORD_BITS, random_pair

_U = np.uint64


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
def uniform(source, stream, t):
    """Return the uniform of lane 0 at time t: on [0, 1), a multiple of 2^-53."""
    even, odd = random_pair(source, stream, _U(0), _U(t >> 1))
    return np.float64((odd if t & 1 else even) >> _U(11)) * 2.0**-53


@inlined
def bounded(bits, n):
    """Return (floor(bits n / 2^64), whether the draw may be kept); n < 2^32.

    It is unbiased once the draws with bits n mod 2^64 below 2^64 mod n are rejected (Lemire,
    2019).
    """
    low = (bits & LOW_WORD) * n
    high = (bits >> WORD_BITS) * n + (low >> WORD_BITS)
    # The negative of an unsigned n is 2^64 - n.
    return high >> WORD_BITS, ((high << WORD_BITS) | (low & LOW_WORD)) >= (~n + _U(1)) % n


@kernel
def integer(source, stream, t, n):
    """Return an integer uniform on {0, ..., n - 1}, n < 2^32, for time t.

    A rejected draw takes the next lane.
    """
    lane = _U(0)
    while True:
        bits, _ = random_pair(source, stream, lane, _U(t))
        value, accepted = bounded(bits, _U(n))
        if accepted:
            return np.int64(value)
        lane += _U(1)
