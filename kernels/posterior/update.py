"""The posterior after one more reward."""

import numpy as np

from ..arithmetic.vectors import axpy, dot, multiply_transposed
from ..jit.decorators import inlined
from .refactor import refactor


@inlined
def refactor_due(posterior):
    """Return whether the next update computes the posterior afresh."""
    return posterior.since_refactor[0] + 1 == posterior.recent.shape[0]


@inlined
def update(posterior, b, key, y):
    """Condition on the reward y of an arm b, its offset taken off; cost O(r^2). Return g.

    With v = S b and g = 1 / (1 + b'v): S <- S - g v v', mu <- mu + g (y - b'mu) v. The factor
    sqrt(g) v appears on both sides of the product, so S stays symmetric to the bit. Arms of one
    key are equal: they are counted together until the posterior is computed afresh.
    """
    mu, S, v = posterior.mu, posterior.S, posterior.scratch.gain
    afresh = refactor_due(posterior)
    multiply_transposed(S, b, v)
    g = 1.0 / (1.0 + dot(b, v))
    axpy(g * (y - dot(b, mu)), v, mu)
    root_g = np.sqrt(g)
    for i in range(b.shape[0]):
        v[i] *= root_g
    for i in range(b.shape[0]):
        axpy(-v[i], v, S[i])
    _remember(posterior, b, key, y)
    if afresh:
        refactor(posterior)
    return g


@inlined
def _remember(posterior, b, key, y):
    """Count the play of an arm, and its reward, among the recent ones."""
    i, distinct = 0, posterior.since_refactor[1]
    while i < distinct and posterior.recent_key[i] != key:
        i += 1
    if i == distinct:
        for j in range(b.shape[0]):
            posterior.recent[i, j] = b[j]
        posterior.recent_key[i] = key
        posterior.recent_plays[i] = 0
        posterior.recent_pay[i] = 0.0
        posterior.since_refactor[1] += 1
    posterior.recent_plays[i] += 1
    posterior.recent_pay[i] += y
    posterior.since_refactor[0] += 1


@inlined
def update_with_root(posterior, b, key, y):
    """Do as `update` and keep S = root root'; cost O(r^2).

    Potter's form: with w = root'b and v = S b = root w, the matrix I - g w w' has the square
    root I - c w w', c = g / (1 + sqrt(g)), hence root <- root - c v w'.
    """
    root, w, afresh = posterior.root, posterior.scratch.image, refactor_due(posterior)
    multiply_transposed(root, b, w)
    g = update(posterior, b, key, y)
    if not afresh:
        root_g = np.sqrt(g)
        c = root_g / (1.0 + root_g)  # `gain` holds sqrt(g) v
        for i in range(b.shape[0]):
            axpy(-c * posterior.scratch.gain[i], w, root[i])
