"""How theta moves from step to step: a generic kernel, with a body for each kind of drift.

Theta is a vector in the coordinates of its environment. Its random part at step t is a function of
(seed, run, t), so that no bit depends on how runs are divided into slices or batches.
"""

from typing import Any, NamedTuple

import numpy as np

from ..actions.whitening import Whitening, parameter_of
from ..arithmetic.floats import fma
from ..jit.decorators import entry, inlined, required
from ..states.stack import Shared
from ..streams.layout import THETA
from ..streams.normals import fill_normals


class Moving(NamedTuple):
    """Theta at a step, and how it moves."""

    theta: np.ndarray  # (n,)
    step: np.ndarray  # (1,) int64: the step whose theta it is
    stale: np.ndarray  # (1,) bool: whether nothing has been computed from it yet
    drift: Any


def moving(theta: np.ndarray, step: int, drift: Any) -> Moving:
    """Return theta as it is at a step."""
    return Moving(theta, np.full(1, step), np.ones(1, np.bool_), drift)


class Prior(NamedTuple):
    """The law from which theta is drawn: N(mean, F F')."""

    mean: np.ndarray  # (n,)
    root: Whitening  # F, with mean 0


class Abrupt(NamedTuple):
    """Theta drawn anew at some steps."""

    prior: Shared  # Prior
    steps: Shared  # (breaks,) int64, increasing
    cursor: np.ndarray  # (1,) int64: the break that is looked for
    normals: np.ndarray  # (q,): scratch


class AutoRegressive(NamedTuple):
    """Theta that moves at every step and returns to its mean."""

    prior: Shared  # Prior
    rho: float
    scale: float  # sqrt(1 - rho^2)
    normals: np.ndarray  # (q,): scratch
    noise: np.ndarray  # (n,): scratch


class Rotating(NamedTuple):
    """Theta that turns in a plane."""

    centre: np.ndarray  # (n,)
    along: np.ndarray  # (n,): theta at step 0 is centre + along
    across: np.ndarray  # (n,): along, turned by a right angle
    angle: float  # of a step


class Piecewise(NamedTuple):
    """Given thetas from given steps on."""

    thetas: Shared  # (breaks, n)
    steps: Shared  # (breaks,) int64, increasing
    cursor: np.ndarray  # (1,) int64: the break that is looked for


@required
def move(drift, theta, source, t):
    """Make theta, of step t - 1, that of step t > 0. Return whether it changed."""


@inlined
def _is_break(steps, cursor, t):
    """Return whether t is one of the steps, the one at the cursor; t never decreases."""
    n = steps.shape[0]
    while cursor[0] < n and steps[cursor[0]] < t:
        cursor[0] += 1
    return cursor[0] < n and steps[cursor[0]] == t


@move.body(Abrupt)
def _draw_anew(drift, theta, source, t):
    """theta = m + F n, with the normals n of step t."""
    if not _is_break(drift.steps.value, drift.cursor, t):
        return False
    prior = drift.prior.value
    fill_normals(source, THETA, t, drift.normals)
    parameter_of(prior.root, drift.normals, theta)
    for j in range(theta.shape[0]):
        theta[j] += prior.mean[j]
    return True


@move.body(AutoRegressive)
def _return_to_mean(drift, theta, source, t):
    """theta = m + rho (theta - m) + sqrt(1 - rho^2) F n, with the normals n of step t."""
    prior, noise = drift.prior.value, drift.noise
    fill_normals(source, THETA, t, drift.normals)
    parameter_of(prior.root, drift.normals, noise)
    for j in range(theta.shape[0]):
        gap = fma(drift.rho, theta[j] - prior.mean[j], drift.scale * noise[j])
        theta[j] = prior.mean[j] + gap
    return True


@move.body(Rotating)
def _turn(drift, theta, source, t):
    """theta = centre + cos(t angle) along + sin(t angle) across: no error adds up."""
    turned = np.float64(t) * drift.angle
    x, y = np.cos(turned), np.sin(turned)
    for j in range(theta.shape[0]):
        theta[j] = drift.centre[j] + fma(x, drift.along[j], y * drift.across[j])
    return True


@move.body(Piecewise)
def _replace(drift, theta, source, t):
    if not _is_break(drift.steps.value, drift.cursor, t):
        return False
    given = drift.thetas.value[drift.cursor[0]]
    for j in range(theta.shape[0]):
        theta[j] = given[j]
    return True


@inlined
def follow(moving, source, t):
    """Move theta on to step t. Return whether what was computed from it must be renewed."""
    changed = moving.stale[0]
    moving.stale[0] = False
    while moving.step[0] < t:
        moving.step[0] += 1
        if move(moving.drift, moving.theta, source, moving.step[0]):
            changed = True
    return changed


@entry
def write_path(moving, source, out):
    """out[t, :] = theta of step t."""
    for t in range(out.shape[0]):
        follow(moving, source, t)
        for j in range(out.shape[1]):
            out[t, j] = moving.theta[j]
