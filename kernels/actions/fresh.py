"""A new set of random arms at every step: a pure function of (seed, run, step)."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.vectors import dot
from ..jit.decorators import entry, inlined
from ..streams.layout import OFFERS
from ..streams.normals import normal_pair
from ..streams.philox import random_pair
from .arms import Arms
from .offer import arm_key, offer
from .whitening import Whitening, store_arm, whiten

_U = np.uint64

SPHERE, GAUSSIAN, UNIFORM = 0, 1, 2
"""The families: on the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d."""


class Scratch(NamedTuple):
    """What an offer writes to."""

    a: np.ndarray  # (d,): a row
    b: np.ndarray  # (r,): the same in canonical coordinates


class FreshActions(NamedTuple):
    """K new arms at every step."""

    arms: Arms
    whitening: Whitening
    family: int
    scratch: Scratch


@inlined
def draw_arm(source, t, arm, family, a):
    """a[:] = the row of an arm of step t.

    Coordinates 2k and 2k + 1 are the two numbers of lane arm * ceil(d / 2) + k at counter t.
    """
    d = a.shape[0]
    half = (d + 1) >> 1
    for k in range(half):
        lane = _U(arm * half + k)
        if family == UNIFORM:
            first, second = random_pair(source, OFFERS, lane, _U(t))
            x = np.float64(first >> _U(11)) * 2.0**-52 - 1.0
            y = np.float64(second >> _U(11)) * 2.0**-52 - 1.0
        else:
            x, y = normal_pair(source, OFFERS, lane, _U(t))
        a[2 * k] = x
        if 2 * k + 1 < d:
            a[2 * k + 1] = y
    scale = 1.0 / np.sqrt(dot(a, a) if family == SPHERE else np.float64(d))
    for j in range(d):
        a[j] *= scale


@entry
def draw_rows(source, t, family, rows):
    """rows[i, :] = the row of arm i of step t."""
    for i in range(rows.shape[0]):
        draw_arm(source, t, i, family, rows[i])


@offer.body(FreshActions)
def _offer(actions, source, t):
    a, b = actions.scratch.a, actions.scratch.b
    for i in range(actions.arms.K):
        draw_arm(source, t, i, actions.family, a)
        offset = whiten(actions.whitening, a, b)
        store_arm(actions.arms, i, b, offset)


@arm_key.body(FreshActions)
def _arm_key(actions, arm, t):
    return t * actions.arms.K + arm
