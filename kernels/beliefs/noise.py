"""Noise that is not known: a law of its variance beside the normal law of z.

    z | s^2 ~ N(mu, s^2 S),   s^2 ~ InverseGamma(a, b),

the conjugate law of y = b'z + s N(0, 1), in units of the noise that the bandit names. mu and S are
as with unit noise, but from S = I / least^2 on: z has the bandit's prior, N(0, I), where s is
`least`, and a wider one where it is larger. A reward that misses its mean by e = y - b'mu has
variance s^2 (1 + b'S b), so that

    a <- a + 1/2,   b <- b + e^2 / (2 (1 + b'S b)),   with mu and S as before it.

Every term that b takes in is positive: nothing cancels, and after n rewards it is right to n
roundings. z is of Student's law with 2 a degrees of freedom, mean mu and squared scale (b / a) S.

The kernels below ask this of a belief's noise (`interface.noise_of`). Where it is known, s is 1.
"""

import math
from typing import NamedTuple

import numpy as np

from ..arithmetic.normal_quantile import upper_quantile
from ..arithmetic.student_quantile import student_upper_quantile
from ..jit.decorators import entry, generic
from ..states.layout import allocated, full
from ..streams.blocks import Block, no_block
from ..streams.gamma import gamma_at
from ..streams.layout import DIAGNOSTICS, MODEL_INDEX, probe_counter

_HEADROOM = 1.1
"""Of `largest_noise_scale`: the scale rarely rises by more while a snapshot of a search is used."""


class LearnedNoise(NamedTuple):
    """Noise of unknown variance: how a normal belief takes rewards in (gaussian/state.py)."""

    law: np.ndarray  # (2,): a and b
    least: float  # s with which z has the prior N(0, I)
    scratch: Block  # of two numbers for each step


@allocated
def learned_noise(shape: float, scale: float, least: float) -> LearnedNoise:
    """Return the law of the variance before the first reward."""
    return LearnedNoise(full(2, [shape, scale]), least, no_block.layout(2))


@generic
def prior_root(noise):
    """Return the root of P before the first reward, a multiple of I. Python calls it, too."""
    return 1.0


@prior_root.body(LearnedNoise)
def _prior_root(noise):
    return noise.least


@generic
def note_error(noise, error, g):
    """Take in that a reward of variance s^2 / g missed its mean by this error."""


@note_error.body(LearnedNoise)
def _note_error(noise, error, g):
    noise.law[0] += 0.5
    noise.law[1] += 0.5 * g * error * error


@generic
def draw_noise(noise, source, stream, t):
    """Return s, by which the model of step t deviates more than one with unit noise.

    A draw of the standard deviation, by the numbers of a stream at t from lane GAMMA_LANE on.
    """
    return 1.0


@draw_noise.body(LearnedNoise)
def _draw_noise(noise, source, stream, t):
    return np.sqrt(noise.law[1] / gamma_at(noise.scratch, source, stream, t, noise.law[0]))


@entry
def noise_of_choice(noise, source, t):
    """Return s for the model of an ensemble that is chosen at step t."""
    return draw_noise(noise, source, MODEL_INDEX, t)


@entry
def noise_of_probe(noise, source, probe_index, first, out):
    """out[i] = s for the (first + i)-th model of a probe."""
    for i in range(out.shape[0]):
        out[i] = draw_noise(noise, source, DIAGNOSTICS, probe_counter(probe_index, first + i))


@generic
def noise_scale(noise):
    """Return the scale of Student's law of z in units of S, sqrt(b / a)."""
    return 1.0


@noise_scale.body(LearnedNoise)
def _noise_scale(noise):
    return math.sqrt(noise.law[1] / noise.law[0])


@generic
def largest_noise_scale(noise):
    """Return a number that `noise_scale` does not exceed for some steps to come."""
    return 1.0


@largest_noise_scale.body(LearnedNoise)
def _largest_noise_scale(noise):
    return _HEADROOM * noise_scale(noise)


@generic
def value_quantile(noise, p):
    """Return q with P(b'z > b'mu + q sqrt(b'S b)) = p, 0 < p <= 1/3."""
    return upper_quantile(p)


@value_quantile.body(LearnedNoise)
def _value_quantile(noise, p):
    return noise_scale(noise) * student_upper_quantile(p, 2.0 * noise.law[0])


@generic
def variance_law(noise):
    """Return a and b, an array, or None where the noise is known. Python calls it."""
    return


@variance_law.body(LearnedNoise)
def _variance_law(noise):
    return noise.law
