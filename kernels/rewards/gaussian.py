"""Rewards with noise: of mean 0 and a given standard deviation, by one of four laws.

Noise is drawn for a block of steps at a time (streams/blocks.py), which branches on the law once.
"""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import inlined
from ..states.layout import allocated
from ..streams.blocks import STEPS, Block, begin, no_block
from ..streams.layout import NOISE
from ..streams.normals import minus_log_uniform, normal_pair
from ..streams.philox import random_pair
from .interface import reward_of, variate

_U = np.uint64

NORMAL, UNIFORM, SIGNS, LAPLACE = 0, 1, 2, 3
"""The laws: N(0, 1); uniform on [-sqrt 3, sqrt 3]; -1 or 1; density exp(-sqrt 2 |x|) / sqrt 2."""

_SQRT3 = 3.0**0.5
_SQRT_HALF = 0.5**0.5


class GaussianRewards(NamedTuple):
    """The value of an arm and noise."""

    law: int  # of the noise
    scale: float  # its standard deviation
    scratch: Block  # the noise of some steps


@allocated
def gaussian_rewards(law: int = NORMAL, scale: float = 1.0) -> GaussianRewards:
    """Return rewards with noise of a law and a standard deviation."""
    return GaussianRewards(law, scale, no_block.layout(1))


@inlined
def _sign_or_uniform(law, bits):
    """Return one of two signs, by the highest bit, or a number uniform on [-sqrt 3, sqrt 3].

    That is the middle of one of 2^52 pieces of equal length: the law is symmetric.
    """
    if law == SIGNS:
        return 1.0 if bits >> _U(63) else -1.0
    return _SQRT3 * ((np.float64(bits >> _U(12)) + 0.5) * 2.0**-51 - 1.0)


@inlined
def _fill(source, law, scale, t, numbers):
    """Draw the noise of all steps of the block of t.

    Steps 2k and 2k + 1 have the two words of counter k. The Laplace law is that of the difference
    of two exponential numbers, those of both words of counter t.
    """
    start = t - t % STEPS
    for s in range(STEPS // 2):
        first, second = 2 * s, 2 * s + 1
        counter = _U((start >> 1) + s)
        if law == NORMAL:
            x, y = normal_pair(source, NOISE, _U(0), counter)
        elif law == LAPLACE:
            x = _laplace(source, start + first)
            y = _laplace(source, start + second)
        else:
            bits, more = random_pair(source, NOISE, _U(0), counter)
            x, y = _sign_or_uniform(law, bits), _sign_or_uniform(law, more)
        numbers[0, first], numbers[0, second] = scale * x, scale * y


@inlined
def _laplace(source, t):
    up, down = random_pair(source, NOISE, _U(0), _U(t))
    return _SQRT_HALF * (minus_log_uniform(up) - minus_log_uniform(down))


@variate.body(GaussianRewards)
def _variate(law, source, t):
    block = law.scratch
    if begin(block, source, NOISE, t) == 0:
        _fill(source, law.law, law.scale, t, block.numbers)
        block.key[3] = _U(1)
    return block.numbers[0, t % STEPS]


@reward_of.body(GaussianRewards)
def _reward_of(law, mean, variate):
    return mean + variate
