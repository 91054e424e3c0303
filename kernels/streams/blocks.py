"""Random numbers of several steps, drawn together: the same numbers, several times as fast.

A step needs few numbers, too few to fill the vector registers. As they are pure functions of the
counter, those of steps to come are drawn with them. A block is scratch: it is drawn again wherever
it does not hold the step that is asked for, and holds nothing that the source does not say.
"""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import inlined
from ..states.layout import allocated, zeros
from .draws import bounded, integer
from .normals import normal_pair
from .philox import random_pair

_U = np.uint64

STEPS = 16
"""Steps in a block, a power of two: those whose number over STEPS is the same."""


class Block(NamedTuple):
    """Numbers of STEPS steps in one stream."""

    key: np.ndarray  # (4,) uint64: seed, run, stream and number of the block, what it is drawn for
    numbers: np.ndarray  # (n, STEPS): those of step t in column t % STEPS


@allocated
def no_block(n: int, dtype: type = np.float64) -> Block:
    """Return an empty block for n numbers per step."""
    return Block(zeros(4, np.uint64), zeros((n, STEPS), dtype))


@inlined
def begin(block, source, stream, t):
    """Make the block one of step t. Return what key[3] held for it, or 0 if it was of others."""
    # Streams are numbered from 1: no key is zero.
    key, place = block.key, (_U(t // STEPS) << _U(8)) | stream
    if key[0] != source.seed or key[1] != source.run or key[2] != place:
        key[0], key[1], key[2], key[3] = source.seed, source.run, place, _U(0)
    return key[3]


@inlined
def _fill_lanes(source, stream, t, first, last, numbers):
    """Draw the normals of lanes first, ..., last - 1 for all steps of the block of t."""
    start = t - t % STEPS
    for k in range(first, last):
        x, y = numbers[2 * k], numbers[2 * k + 1]
        for s in range(STEPS):
            x[s], y[s] = normal_pair(source, stream, _U(k), _U(start + s))


@inlined
def draw_vector(block, source, stream, t, n):
    """Make numbers[:n, t % STEPS] the first n of the vector of N(0, 1) at time t.

    The block has an even number of rows, n at least. Only lanes that some step asked for are drawn.
    """
    drawn, wanted = np.int64(begin(block, source, stream, t)), (n + 1) >> 1
    if drawn < wanted:
        _fill_lanes(source, stream, t, drawn, wanted, block.numbers)
        block.key[3] = _U(wanted)


@inlined
def _fill_integers(source, stream, t, n, numbers):
    start = t - t % STEPS
    for s in range(STEPS):
        bits, _ = random_pair(source, stream, _U(0), _U(start + s))
        value, accepted = bounded(bits, n)
        numbers[0, s] = np.int64(value) if accepted else np.int64(-1)


@inlined
def integer_at(block, source, stream, t, n):
    """Return an integer uniform on {0, ..., n - 1}, 0 < n < 2^32, for time t (`integer`)."""
    if begin(block, source, stream, t) != _U(n):
        _fill_integers(source, stream, t, _U(n), block.numbers)
        block.key[3] = _U(n)
    value = block.numbers[0, t % STEPS]
    return value if value >= 0 else integer(source, stream, t, n)  # a draw that was rejected


@inlined
def _fill_uniforms(source, stream, t, numbers):
    start = t - t % STEPS
    for s in range(STEPS // 2):
        bits, more = random_pair(source, stream, _U(0), _U((start >> 1) + s))
        numbers[0, 2 * s] = (np.float64(bits >> _U(12)) + 0.5) * 2.0**-52
        numbers[0, 2 * s + 1] = (np.float64(more >> _U(12)) + 0.5) * 2.0**-52


@inlined
def uniform_at(block, source, stream, t):
    """Return the uniform number of time t: the middle of one of 2^52 pieces of (0, 1)."""
    if begin(block, source, stream, t) == 0:
        _fill_uniforms(source, stream, t, block.numbers)
        block.key[3] = _U(1)
    return block.numbers[0, t % STEPS]
