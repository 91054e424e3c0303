"""Gamma numbers, by the method of Marsaglia and Tsang."""

import math

import numpy as np

from ..jit.decorators import inlined, kernel
from .blocks import STEPS, begin
from .normals import normal, normal_pair
from .philox import random_pair

_U = np.uint64

GAMMA_LANE = np.int64(2**31)
"""In the stream of a model's numbers, from this lane on: the noise that it is drawn with."""


@inlined
def _uniform(bits):
    """Return the middle of one of 2^52 pieces of (0, 1)."""
    return (np.float64(bits >> _U(12)) + 0.5) * 2.0**-52


@inlined
def _fill_first_tries(source, stream, t, numbers):
    """Draw the first try of all steps of the block of t: x in row 0, u in row 1."""
    pair = (t - t % STEPS) >> 1
    x, u = numbers[0], numbers[1]
    for s in range(STEPS // 2):
        x[2 * s], x[2 * s + 1] = normal_pair(source, stream, _U(GAMMA_LANE), _U(pair + s))
        even, odd = random_pair(source, stream, _U(GAMMA_LANE + 1), _U(pair + s))
        u[2 * s], u[2 * s + 1] = _uniform(even), _uniform(odd)


@inlined
def _number(shape, x, u):
    """Return the number that a try makes, or a negative one where it is rejected.

    With d = shape - 1/3 and v = (1 + x / sqrt(9 d))^3 it is d v, kept if
    log u < x^2 / 2 + d (1 - v + log v); where u < 1 - 0.0331 x^4 that is certain.
    """
    d = shape - 1.0 / 3.0
    root = 1.0 + x / np.sqrt(9.0 * d)
    v = root * root * root
    if v > 0.0 and (
        u < 1.0 - 0.0331 * (x * x) * (x * x)
        or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))
    ):
        return d * v
    return -1.0


@kernel
def _of_later_tries(source, stream, t, shape):
    lane = GAMMA_LANE
    while True:
        lane += 2
        even, odd = random_pair(source, stream, _U(lane + 1), _U(t >> 1))
        u = _uniform(odd if t & 1 else even)
        number = _number(shape, normal(source, stream, lane, t), u)
        if number > 0.0:
            return number


@inlined
def gamma_at(block, source, stream, t, shape):
    """Return a number of the gamma law of this shape, at least 1, and scale 1, for time t.

    Exact in law; a try is rejected with probability 0.05 at most. Lanes from GAMMA_LANE on: x of
    try i is the scalar of lane 2 i, u that of lane 2 i + 1. The block has two numbers for each
    step, and one stream.
    """
    if begin(block, source, stream, t) == _U(0):
        _fill_first_tries(source, stream, t, block.numbers)
        block.key[3] = _U(1)
    number = _number(shape, block.numbers[0, t % STEPS], block.numbers[1, t % STEPS])
    return number if number > 0.0 else _of_later_tries(source, stream, t, shape)
