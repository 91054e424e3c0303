"""How a normal belief takes a reward: as a normal one, or linearised.

A reward y of a generalised linear model tells of the arm's value eta = o + b'z by a density that is
not normal. Linearised, it is taken for a normal one. With the belief N(mu, S) before it, eta* the
most plausible value after it and v = psi''(eta*),

    eta* = eta + b'S b (y - psi'(eta*)),   eta = o + b'mu,

the reward becomes eta* + (y - psi'(eta*)) / v with noise of variance 1 / v: in units of that noise,
one of the row sqrt(v) b. The new mean is then the mode of N(mu, S) times the density of y, exactly,
and the new covariance is that of Laplace's approximation there. Each reward is taken in once, at
O(r^2), and forgotten: where arms do not come again, what is kept does not grow.
"""

from typing import NamedTuple

import numpy as np

from ...arithmetic.vectors import dot, multiply_transposed
from ...jit.decorators import entry, generic, inlined
from ...states.layout import allocated, full, zeros
from ..families import Family, likeliest_value, slope_and_curvature
from ..interface import variance_along
from .state import Gaussian, RootedGaussian

_LEAST_CURVATURE = 1e-280
"""Of a reward that tells next to nothing, so that its inverse is finite."""

_MOST_STEPS = 500
"""Newton's steps on an exponential that is far too large are of length 1."""

_CLOSE = 1e-13
"""A step relative to the value, or to 1, below which the value is found."""


class Linearised(NamedTuple):
    """Rewards of a family, each taken for a normal one."""

    family: Family
    last: np.ndarray  # (1,): sqrt(v) of the last reward
    scratch: np.ndarray  # (r,): sqrt(v) b of this reward


@allocated
def linearised(family: Family, r: int) -> Linearised:
    """Return what a belief needs beside itself to linearise rewards of a family."""
    return Linearised(family, full(1, 1.0), zeros(r))


@generic
def root_of_last(rewards):
    """Return the standard deviation of a model's perturbation of the last reward."""
    return 1.0


@root_of_last.body(Linearised)
def _root_of_last(rewards):
    return rewards.last[0]


@variance_along.body(Gaussian)
def _variance_along(belief, b):
    v = belief.scratch.gain
    multiply_transposed(belief.S, b, v)
    return dot(b, v)


@variance_along.body(RootedGaussian)
def _variance_along_by_root(belief, b):
    X, variance = belief.root, 0.0
    for j in range(b.shape[0]):
        w = dot(X[j, : j + 1], b[: j + 1])
        variance += w * w
    return variance


@inlined
def linearisation_point(family, value, variance, reward):
    """Return eta* - eta, psi' - y and psi'' there, given the belief N(value, variance) of eta.

    The left side less the right side, the gap, grows with eta*, which lies between eta and both the
    likeliest value of the reward and where the slope at eta would lead. Newton's steps, and halves
    of what is left of that interval where they would leave it or do not halve the gap.
    """
    above, curvature = slope_and_curvature(family, 1.0, reward, value)
    end, likeliest = -variance * above, likeliest_value(family, reward) - value
    low, high = min(0.0, max(end, likeliest)), max(0.0, min(end, likeliest))  # of eta* - eta
    shift, last = 0.0, np.inf
    for _ in range(_MOST_STEPS):
        gap = shift + variance * above
        if gap > 0.0:
            high = shift
        else:
            low = shift
        move = -gap / (1.0 + variance * curvature)
        if not (low <= shift + move <= high and abs(gap) <= 0.5 * last):
            move = 0.5 * (low + high) - shift
        last = abs(gap)
        shift += move
        above, curvature = slope_and_curvature(family, 1.0, reward, value + shift)
        if abs(move) <= _CLOSE * max(1.0, abs(value + shift)):
            break
    return shift, above, curvature


@entry
def linearise(belief, row, offset, reward):
    """Set the row sqrt(v) b of a linearised reward. Return what it pays, its offset taken off."""
    rewards = belief.rewards
    mean, variance = dot(row, belief.mu), variance_along(belief, row)
    value = offset + mean
    shift, above, curvature = linearisation_point(rewards.family, value, variance, reward)
    v = max(curvature, _LEAST_CURVATURE)
    root = np.sqrt(v)
    rewards.last[0] = root
    for j in range(row.shape[0]):
        rewards.scratch[j] = root * row[j]
    # The update moves eta by b'S b sqrt(v) / (1 + v b'S b) times what is added here: by the shift,
    # which is b'S b (y - psi'). Of the two, one has lost less to rounding.
    if v * variance > 1.0:
        return root * mean + shift * (root + 1.0 / (root * variance))
    return root * mean - above * (root * variance + 1.0 / root)
