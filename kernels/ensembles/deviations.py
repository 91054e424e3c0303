"""Deviations of models from the posterior mean: the law of perturbations, and reading a model.

In information space a model takes in W b at every step (eager.py), and is read as

    z = mu + s c S xi,

where c inflates its deviation and s is 1, or a fair sign if the ensemble is symmetric. W is
N(0, 1), or a sign: a sum of n signs is 2 Binomial(n, 1/2) - n, n random bits counted.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.bits import count_ones
from ..arithmetic.tile_product import TILE
from ..beliefs.interface import model_from_xi
from ..jit.decorators import generic, inlined, kernel, required
from ..streams.blocks import integer_at
from ..streams.layout import MODEL_INDEX
from ..streams.normals import normal, normal_pair
from ..streams.philox import random_pair

_U = np.uint64

_BITS = np.int64(128)
"""Of one block of random numbers: as many signs."""


class NormalDeviations(NamedTuple):
    """Models whose perturbations are N(0, 1)."""

    inflation: float
    reflections: int  # 2 if a model is read with a fair sign, else 1


class SignDeviations(NamedTuple):
    """Models whose perturbations are fair signs, 1 or -1."""

    inflation: float
    reflections: int


Deviations = NormalDeviations | SignDeviations

NORMAL = NormalDeviations(1.0, 1)
"""The paper's."""


@inlined
def choose_model(models, block, source, t):
    """Return the model read at step t, and the factor of its deviation.

    Of a symmetric ensemble one of the M models and their M reflections is chosen.
    """
    deviations, M = models.deviations, models.M
    choice = integer_at(block, source, MODEL_INDEX, t, M * deviations.reflections)
    if choice < M:
        return choice, deviations.inflation
    return choice - M, -deviations.inflation


@inlined
def read_deviation(belief, xi, factor, scaled, z):
    """z = mu + factor S xi; `scaled` (r) is scratch."""
    for j in range(z.shape[0]):
        scaled[j] = factor * xi[j]
    model_from_xi(belief, scaled, z)


@required
def models_between(agent, source, probe_index, first, last):
    """Return the current xi of models first, ..., last - 1, one per row. Called from Python.

    Later actions do not depend on it: it uses the diagnostics stream, indexed by `probe_index`. The
    result has the law of the ensemble given all reads.
    """


@generic
def perturbation(deviations, source, stream, m, t):
    """Return W of model m at step t."""
    return normal(source, stream, m, t)


@perturbation.body(SignDeviations)
def _sign(deviations, source, stream, m, t):
    low, high = random_pair(source, stream, _U(m), _U(t // _BITS))
    return _sign_of_bit(low, high, t % _BITS)


@inlined
def _sign_of_bit(low, high, place):
    """Return 1 or -1, by the bit at this place of 128."""
    word = low if place < 64 else high
    return 1.0 - 2.0 * np.float64((word >> _U(place % 64)) & _U(1))


@generic
def fill_perturbations(deviations, source, stream, first, start, weights, n):
    """weights[s, i] = W of model first + i at step start + s, s < n; start is even.

    There may be one row more than n.
    """
    for s in range(0, n, 2):
        for i in range(TILE):
            m, pair = _U(first + i), _U((start + s) >> 1)
            weights[s, i], weights[s + 1, i] = normal_pair(source, stream, m, pair)


@fill_perturbations.body(SignDeviations)
def _fill_signs(deviations, source, stream, first, start, weights, n):
    for s in range(n):
        block, place = _U((start + s) // _BITS), (start + s) % _BITS
        for i in range(TILE):
            low, high = random_pair(source, stream, _U(first + i), block)
            weights[s, i] = _sign_of_bit(low, high, place)


@inlined
def scale_sums(counts, out):
    """Make each N(0, 1) a sum of counts[i] of them."""
    for i in range(out.shape[0]):
        out[i] *= np.sqrt(np.float64(counts[i]))


@kernel
def sign_sums(source, stream, t, lane, counts, out):
    """out[i] = a sum of counts[i] signs, of the vector at t from a lane on; cost O(counts / 128).

    One lane of 128 bits for each, which fill vector registers; then more lanes for larger counts.
    """
    n = out.shape[0]
    for i in range(n):
        low, high = random_pair(source, stream, lane + _U(i), _U(t))
        out[i] = _sum_of_signs(low, high, min(np.int64(counts[i]), _BITS))
    lane += _U(n)
    for i in range(n):
        rest = np.int64(counts[i]) - _BITS
        if rest > 0:
            whole, ones = rest // _BITS, np.int64(0)
            for k in range(whole):
                low, high = random_pair(source, stream, lane + _U(k), _U(t))
                ones += count_ones(low) + count_ones(high)
            low, high = random_pair(source, stream, lane + _U(whole), _U(t))
            lane += _U(whole + 1)
            out[i] += np.float64(2 * ones - _BITS * whole)
            out[i] += _sum_of_signs(low, high, rest - _BITS * whole)


@inlined
def _sum_of_signs(low, high, n):
    """Return the sum of n signs, of 128 bits."""
    ones = count_ones(_first_bits(low, min(n, 64))) + count_ones(_first_bits(high, n - 64))
    return np.float64(2 * ones - n)


@inlined
def _first_bits(word, n):
    """Return the n highest bits of a word, none where n is negative."""
    return word >> _U(64 - n) if n > 0 else _U(0)
