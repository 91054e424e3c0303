"""A new set of random arms at every step: a pure function of (seed, run, step).

Arms are drawn and whitened a tile at a time: coordinates are rows of the tile, so that loops run
across arms.
"""

from typing import NamedTuple

import numpy as np

from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE
from ..jit.decorators import entry, kernel
from ..states.layout import allocated, zeros
from ..streams.layout import OFFERS
from ..streams.normals import normal_pair
from ..streams.philox import random_pair
from .arms import Arms, empty_arms
from .offer import arm_key, offer
from .whitening import Whitening

_U = np.uint64

SPHERE, GAUSSIAN, UNIFORM = 0, 1, 2
"""The families: on the unit sphere; N(0, I/d); uniform on [-1/sqrt(d), 1/sqrt(d)]^d."""


class Scratch(NamedTuple):
    """What an offer writes to."""

    a: np.ndarray  # (d + 1, TILE): the arms of a tile, a coordinate a row; rounded up to even
    scale: np.ndarray  # (TILE,)


class FreshActions(NamedTuple):
    """K new arms at every step."""

    arms: Arms
    whitening: Whitening
    family: int
    scratch: Scratch


@allocated
def tile_scratch(d: int) -> Scratch:
    """Return the scratch of arms of d coordinates."""
    return Scratch(zeros((d + d % 2, TILE)), zeros(TILE))


def fresh_actions(K: int, family: int, whitening: Whitening) -> FreshActions:
    """Return room for K arms of a family."""
    d, r = len(whitening.mean), whitening.matrix.shape[1]
    return FreshActions(empty_arms(K, r), whitening, family, tile_scratch(d))


@kernel
def _draw_tile(source, t, first, family, d, scratch):
    """Draw the arms first, ..., first + TILE - 1 of step t, a column of `scratch.a` each.

    Coordinates 2k and 2k + 1 of an arm are the two numbers of lane arm * ceil(d / 2) + k at
    counter t.
    """
    a, scale = scratch.a, scratch.scale
    half = a.shape[0] >> 1
    for k in range(half):
        x, y = a[2 * k], a[2 * k + 1]
        if family == UNIFORM:
            for i in range(TILE):
                bits, more = random_pair(source, OFFERS, _U((first + i) * half + k), _U(t))
                x[i] = np.float64(bits >> _U(11)) * 2.0**-52 - 1.0
                y[i] = np.float64(more >> _U(11)) * 2.0**-52 - 1.0
        else:
            for i in range(TILE):
                x[i], y[i] = normal_pair(source, OFFERS, _U((first + i) * half + k), _U(t))
    for i in range(TILE):
        scale[i] = 0.0 if family == SPHERE else np.float64(d)
    if family == SPHERE:
        for j in range(d):
            for i in range(TILE):
                scale[i] = fma(a[j, i], a[j, i], scale[i])
    for i in range(TILE):
        scale[i] = 1.0 / np.sqrt(scale[i])
    for j in range(d):
        for i in range(TILE):
            a[j, i] *= scale[i]


@entry
def draw_rows(source, t, family, scratch, rows):
    """rows[i, :] = the row of arm i of step t."""
    for first in range(0, rows.shape[0], TILE):
        _draw_tile(source, t, first, family, rows.shape[1], scratch)
        for i in range(first, min(first + TILE, rows.shape[0])):
            for j in range(rows.shape[1]):
                rows[i, j] = scratch.a[j, i - first]


@kernel
def _whiten_tile(whitening, a, n, b, offsets):
    """b = F'a / sigma for the arms of a tile, and their offsets: of arms beyond n, -inf."""
    d = whitening.mean.shape[0]
    if whitening.matrix.shape[0] == 0:
        for j in range(b.shape[0]):
            row = a[whitening.kept[j]]
            for i in range(TILE):
                b[j, i] = whitening.scale[j] * row[i]
    else:
        for j in range(b.shape[0]):
            for i in range(TILE):
                b[j, i] = 0.0
            for k in range(d):
                weight = whitening.matrix[k, j]
                for i in range(TILE):
                    b[j, i] = fma(weight, a[k, i], b[j, i])
    for i in range(TILE):
        offsets[i] = 0.0
    for j in range(d):
        for i in range(TILE):
            offsets[i] = fma(whitening.mean[j], a[j, i], offsets[i])
    for i in range(n, TILE):
        offsets[i] = -np.inf


@offer.body(FreshActions)
def _offer(actions, source, t):
    arms, scratch, d = actions.arms, actions.scratch, actions.whitening.mean.shape[0]
    for tile in range(arms.tiles.shape[0]):
        first = tile * TILE
        _draw_tile(source, t, first, actions.family, d, scratch)
        n = min(TILE, arms.K - first)
        _whiten_tile(actions.whitening, scratch.a, n, arms.tiles[tile], arms.offsets[tile])


@arm_key.body(FreshActions)
def _arm_key(actions, arm, t):
    return t * actions.arms.K + arm
