"""What a discount changes of a normal belief with each reward, before it is taken in (memory.py)."""

import numpy as np

from ...jit.decorators import generic, inlined
from ..memory import Discounted, fade_by_age, fading


@generic
def forget(memory, belief):
    """Let the belief forget for one reward: S <- S / gamma, or its root; mu does not change.

    What `refactor` computes from forgets there (`fade`).
    """


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
    """Return how much b'S b / b'b may rise as the belief forgets, so many rewards after a refill.

    S is at most I / lambda, with lambda the weight of the prior.
    """
    return 0.0


@rise.body(Discounted)
def _rise(memory, rewards):
    return (1.0 / memory.discount - 1.0) / fading(memory, 2 * rewards)


@generic
def recent_key(memory, belief, key):
    """Return the key of a play among the recent ones. Those of one key count alike."""
    return key


@recent_key.body(Discounted)
def _recent_key(memory, belief, key):
    return belief.since_refactor[0]


@generic
def fade(memory, rewards, U, eta):
    """Let U mu = eta forget over so many rewards."""


@fade.body(Discounted)
def _fade(memory, rewards, U, eta):
    scale = fading(memory, rewards)
    _scale(scale, U)
    for i in range(eta.shape[0]):
        eta[i] *= scale


@generic
def fade_columns(memory, columns, n):
    """Let n rewards, a column each in the order of time, count by their age."""


@fade_columns.body(Discounted)
def _fade_columns(memory, columns, n):
    for j in range(columns.shape[0]):
        fade_by_age(memory, columns[j, :n])
