"""The exact density of the posterior, up to a constant, and distances in units of Laplace's."""

from ...arithmetic.floats import fma
from ...arithmetic.vectors import dot
from .. import interface
from ..families import minus_log_likelihood
from .solve import combine, padded
from .state import Glm


@interface.has_density.body(Glm)
def _has_density(belief):
    return True


@interface.log_density.body(Glm)
def _log_density(belief, z):
    """Return -F(z) (state.py); cost O(N r) for N distinct arms."""
    n, value, terms = padded(belief), belief.scratch.value, belief.scratch.residual
    combine(belief.columns, belief.offsets, z, value[:n])
    plays, pay = belief.plays, belief.pay
    for i in range(n):
        terms[i] = minus_log_likelihood(belief.family, plays[i], pay[i], value[i])
    total = 0.5 * dot(z, z)
    for i in range(n):
        total += terms[i]
    return -total


@interface.squared_distance.body(Glm)
def _squared_distance(belief, z):
    """Return |U(z - mu)|^2; cost O(r^2)."""
    U, mu, r = belief.factor, belief.mu, z.shape[0]
    total = 0.0
    for i in range(r):
        along = 0.0
        for j in range(i, r):
            along = fma(U[i, j], z[j] - mu[j], along)
        total = fma(along, along, total)
    return total
