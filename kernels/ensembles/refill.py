"""Models in information space that are all kept: how they forget (beliefs/memory.py).

A refill is numbered by how many there were before. Of the k-th, model m gets the normals of the
lanes from m ceil(r / 2) on, at the counter k.
"""

import numpy as np

from ..beliefs.memory import Discounted, fading, refill_due, refill_scale
from ..jit.decorators import generic, inlined
from ..streams.layout import REFILL
from ..streams.normals import normal_pair

_U = np.uint64


@inlined
def refill_pair(memory, source, m, rewards, pair, r):
    """Return the normals of coordinates 2 pair and 2 pair + 1 of model m at a refill."""
    lane, refill = _U(m) * _U((r + 1) >> 1) + _U(pair), _U(rewards // memory.period - 1)
    return normal_pair(source, REFILL, lane, refill)


@generic
def fade(memory, xi):
    """Let a model forget for one reward, before it takes in a perturbation of it."""


@fade.body(Discounted)
def _fade(memory, xi):
    root = fading(memory, 1)
    for j in range(xi.shape[0]):
        xi[j] *= root


@generic
def refill(memory, source, m, rewards, xi):
    """Give model m what it is due of the prior after this many rewards."""


@refill.body(Discounted)
def _refill(memory, source, m, rewards, xi):
    r = xi.shape[0]
    if refill_due(memory, rewards):
        scale = refill_scale(memory, 0, memory.period)
        for pair in range((r + 1) >> 1):
            x, y = refill_pair(memory, source, m, rewards, pair, r)
            xi[2 * pair] += scale * x
            if 2 * pair + 1 < r:
                xi[2 * pair + 1] += scale * y
