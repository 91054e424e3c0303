"""Draws from Student's law around the mean of a belief, and their weights under its density.

    z = mu + sqrt(nu / c) X'n,   n ~ N(0, I), c of the chi-square law with nu degrees of freedom,

with X'X = S has the density (1 + (z - mu)'P(z - mu) / nu)^(-(nu + r) / 2), up to a constant. A
posterior of a normal prior has lighter tails: what a draw weighs, the ratio of the densities, is
bounded.
"""

import math

import numpy as np

from ..jit.decorators import entry, inlined
from ..streams.layout import OPTIMAL_ACTION, probe_counter
from ..streams.normals import fill_normals_from, minus_log_uniform
from ..streams.philox import random_pair
from .interface import log_density, sample, squared_distance

_U = np.uint64

DEGREES = 8
"""Of freedom, a multiple of 4 (measured, documentation: "Clicks and counts")."""


@inlined
def lanes_of(r):
    """Return how many lanes the random numbers of a draw take."""
    return (r + 1) // 2 + DEGREES // 4


@inlined
def draw_student(belief, source, stream, t, lane, normals, z):
    """z = a draw, of the numbers of a stream at t from a lane on; `normals` (r) is scratch.

    The normals n first; then c / 2, the sum of nu / 2 exponential numbers, two a lane.
    """
    r = z.shape[0]
    fill_normals_from(source, stream, t, 2 * lane, normals)
    half = 0.0
    for k in range(lane + (r + 1) // 2, lane + lanes_of(r)):
        first, second = random_pair(source, stream, _U(k), _U(t))
        half += minus_log_uniform(first) + minus_log_uniform(second)
    scale = np.sqrt(0.5 * DEGREES / half)
    for j in range(r):
        normals[j] *= scale
    sample(belief, normals, z)


@inlined
def log_weight(belief, z):
    """Return the logarithm of the posterior's density at z over Student's, up to a constant."""
    tail = math.log1p(squared_distance(belief, z) / DEGREES)
    return log_density(belief, z) + 0.5 * (DEGREES + z.shape[0]) * tail


@entry
def draw_weighted(belief, source, probe_index, normals, z, weights):
    """z[i, :] = the i-th draw of a probe, weights[i] = its logarithmic weight."""
    for i in range(z.shape[0]):
        counter = probe_counter(probe_index, i)
        draw_student(belief, source, OPTIMAL_ACTION, counter, np.int64(0), normals, z[i])
        weights[i] = log_weight(belief, z[i])
