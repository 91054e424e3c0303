"""How a normal belief forgets with each reward, before that is taken in (memory.py).

S grows at once. What S is computed afresh from does not change until then: rewards since then are
weighted by gamma^-1, gamma^-2, ..., and all is multiplied by gamma^k after k of them (`fade`).
"""

import numpy as np

from ...jit.decorators import generic, inlined
from ..memory import Discounted, fading, kept


@generic
def forget(memory, belief):
    """Let the belief forget for one reward: S <- S / gamma, or its root; mu does not change."""


@forget.body(Discounted)
def _forget(memory, belief):
    if belief.S.shape[0] > 0:
        _scale(1.0 / memory.discount, belief.S)
    else:
        _scale(1.0 / np.sqrt(memory.discount), belief.root)


@inlined
def _scale(scale, matrix):
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] *= scale


@generic
def rise(memory, rewards):
    """Return how much b'S b / b'b may rise as the belief forgets, `rewards` after a refill.

    S is at most I / lambda, with lambda the weight of the prior.
    """
    return 0.0


@rise.body(Discounted)
def _rise(memory, rewards):
    return (1.0 / memory.discount - 1.0) / fading(memory, 2 * rewards)


@generic
def weight_of(memory, rewards):
    """Return the weight of a reward that comes `rewards` after the last `refactor`."""
    return 1.0


@weight_of.body(Discounted)
def _weight_of(memory, rewards):
    return memory.discount ** -np.float64(rewards + 1)


@generic
def remember(memory, b, y):
    """Keep a reward that has been taken in, if it is to be taken out again."""


@generic
def fade(memory, rewards, U, eta):
    """Let U mu = eta, with the rewards since the last `refactor` taken in, forget over them."""


@fade.body(Discounted)
def _fade(memory, rewards, U, eta):
    scale = fading(memory, rewards)
    for i in range(eta.shape[0]):
        eta[i] = kept(scale * eta[i])
        for j in range(i, eta.shape[0]):
            U[i, j] = kept(scale * U[i, j])
