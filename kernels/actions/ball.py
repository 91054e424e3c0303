"""The ball: every vector a with |a| <= radius is on offer.

The best arm under a model theta is radius theta / |theta|. It is computed, stored as the only arm
of the action set, and played like any other. Lengths are in units of a power of two in which the
radius is from 1 to 2, so that squares neither overflow nor underflow.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.vectors import dot
from ..jit.decorators import entry, inlined
from ..streams.layout import OFFERS
from ..streams.normals import fill_normals
from .arms import Arms, empty_arms
from .offer import arm_key, take_at_random, take_vector
from .whitening import Whitening, parameter_of, store_arm, whiten


class Scratch(NamedTuple):
    """What a choice writes to."""

    a: np.ndarray  # (d,): the arm, in units of a power of two
    b: np.ndarray  # (r,): the same in canonical coordinates
    normals: np.ndarray  # (d + 2,)


class BallActions(NamedTuple):
    """All vectors of at most a norm."""

    arms: Arms  # one: the arm that was chosen
    whitening: Whitening  # of arms in that unit
    radius: float  # in that unit, from 1 to 2
    scratch: Scratch


def ball_actions(radius: float, whitening: Whitening) -> BallActions:
    """Return the ball, in the whitening's unit of length, with space for one arm."""
    d, r = len(whitening.mean), whitening.matrix.shape[1]
    scratch = Scratch(np.zeros(d), np.zeros(r), np.zeros(d + 2))
    return BallActions(empty_arms(1, r), whitening, radius, scratch)


@inlined
def take(actions, direction, scale):
    """Set the arm to play, scratch.a, to scale times a direction. Return its number, 0."""
    a = actions.scratch.a
    for j in range(a.shape[0]):
        a[j] = scale * direction[j]
    offset = whiten(actions.whitening, a, actions.scratch.b)
    store_arm(actions.arms, 0, actions.scratch.b, offset)
    return np.int64(0)


@inlined
def take_direction(actions, a, source, t):
    """Play radius a / |a|, or a uniformly random direction if a is zero, when all arms tie."""
    square = dot(a, a)
    if square == 0.0:
        fill_normals(source, OFFERS, t, a)
        square = dot(a, a)
    if not square < np.inf:  # lost to rounding
        return np.int64(-1)
    return take(actions, a, actions.radius / np.sqrt(square))


@entry
def largest_value(actions, z):
    """Return the largest value on the ball under z: radius |theta| / sigma."""
    theta = actions.scratch.a
    parameter_of(actions.whitening, z, theta)
    return actions.radius * np.sqrt(dot(theta, theta))


@take_at_random.body(BallActions)
def _take_at_random(actions, arm, source, t):
    """Play a uniformly random point of the ball.

    The first d coordinates of a uniform point on the sphere in d + 2 dimensions are uniform on the
    ball.
    """
    normals = actions.scratch.normals
    fill_normals(source, OFFERS, t, normals)
    return take(actions, normals, actions.radius / np.sqrt(dot(normals, normals)))


@take_vector.body(BallActions)
def _take_vector(actions, a):
    return take(actions, a, 1.0)


@arm_key.body(BallActions)
def _arm_key(actions, arm, t):
    return t
