"""The posterior after one more reward."""

import numpy as np

from ..arithmetic.vectors import axpy, dot, multiply_transposed
from ..jit.decorators import inlined
from .refactor import refactor


@inlined
def update(posterior, arm, y):
    """Condition on the reward y of an arm, its row in `posterior.b`; cost O(r^2). Return g.

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit.
    """
    mu, S, b, v = posterior.mu, posterior.S, posterior.b, posterior.gain
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        v[i] *= root_g
    for i in range(b.shape[0]):
        axpy(-v[i], v, S[i])
    _remember(posterior, arm, y)
    if posterior.since_refactor[0] == posterior.recent.shape[0]:
        refactor(posterior)
    return g


@inlined
def _remember(posterior, arm, y):
    """Count the play of an arm, and its reward, among the recent ones."""
    place, distinct = 0, posterior.since_refactor[1]
    while place < distinct and posterior.recent_arm[place] != arm:
        place += 1
    if place == distinct:
        for j in range(posterior.b.shape[0]):
            posterior.recent[place, j] = posterior.b[j]
        posterior.recent_arm[place] = arm
        posterior.recent_plays[place] = 0
        posterior.recent_pay[place] = 0.0
        posterior.since_refactor[1] += 1
    posterior.recent_plays[place] += 1
    posterior.recent_pay[place] += y
    posterior.since_refactor[0] += 1


@inlined
def update_with_root(posterior, arm, y):
    """Do as `update` and keep S = root root'; cost O(r^2).

    Potter's form: with w = root'b and v = S b = root w, the matrix I - g w w' has the square
    root I - c w w', c = g / (1 + sqrt(g)), hence root <- root - c v w'.
    """
    root, b, w = posterior.root, posterior.b, posterior.image
    multiply_transposed(root, b, w)
    g = update(posterior, arm, y)
    if posterior.since_refactor[0] > 0:
        root_g = np.sqrt(g)
        c = root_g / (1.0 + root_g)  # `gain` holds sqrt(g) v
        for i in range(b.shape[0]):
            axpy(-c * posterior.gain[i], w, root[i])
