"""The belief in a generalised linear model, of all data, and how it starts.

With rows b_a and offsets o_a of the distinct arms played so far, n_a plays of each and y_a what
they paid in all, the logarithm of the posterior density of z is, up to a constant,

    -F(z),   F(z) = |z|^2 / 2 + sum_a (n_a psi(eta_a) - y_a eta_a),   eta_a = o_a + b_a'z.

The belief is its mode mu and S = H^-1, H = I + sum_a n_a psi''(eta_a) b_a b_a' at the mode:
N(mu, S) is Laplace's approximation of the posterior. The data are kept by distinct arm, in slots in
order of first play: what a step costs does not grow with the number of steps.

With a discount gamma (memory.py) the data count by their age: n_a, y_a and V_a are multiplied by
gamma before each reward is taken in. The prior keeps its weight.
"""

from typing import NamedTuple

import numpy as np

from ...states.layout import allocated, full, identity, zeros
from ..families import Family
from ..memory import UNLIMITED, Memory

LANES = 8
"""The number of slots is a multiple of this, to fill vector registers. Spare slots hold 0."""

BLOCK = 64
"""Slots that a factor takes in at once, where squares would lose too much (hessian.py)."""


class Scratch(NamedTuple):
    """What updates and solutions write to, and nobody keeps."""

    value: np.ndarray  # (slots,): eta
    residual: np.ndarray  # (slots,): n psi' - y
    weight: np.ndarray  # (slots,): n psi''
    along: np.ndarray  # (slots,): how values change along a step; weights times a coordinate
    vectors: np.ndarray  # (6, r)
    factor: np.ndarray  # (r, r): of H at a point of a solution's own
    columns: np.ndarray  # (r + 1, BLOCK)


class Glm(NamedTuple):
    """The mode of the belief about z, and Laplace's approximation N(mu, S)."""

    family: Family
    memory: Memory  # of all rewards, or of the recent ones: then it is refilled with every reward
    mu: np.ndarray  # (r,)
    S: np.ndarray  # (r, r)
    factor: np.ndarray  # (r, r): U, upper triangular, H = U'U
    root: np.ndarray  # (r, r): X, lower triangular, S = X'X
    slot_of_arm: np.ndarray  # (keys,) int32: or -1; (0,) where each reward has a slot of its own
    columns: np.ndarray  # (r, slots): b_a, an arm a column
    offsets: np.ndarray  # (slots,): o_a
    plays: np.ndarray  # (slots,): n_a
    pay: np.ndarray  # (slots,): y_a
    variances: np.ndarray  # (slots,): V_a, the sum of the variances of all perturbations of an arm
    size: np.ndarray  # (2,) int64: as of `ArmVariances`
    last: np.ndarray  # (1,): the standard deviation of a perturbation of the last reward
    scratch: Scratch


@allocated
def glm(family: Family, keys: int, r: int, steps: int = 0, memory: Memory = UNLIMITED) -> Glm:
    """Return the canonical prior N(0, I), with room for all arms that `steps` steps can play.

    By default for an arm of each key. Without keys no arm repeats, and there is room for as many
    arms as steps. The system gives memory where it is written to.
    """
    most = min(keys, steps) if keys and steps else keys or steps
    slots = -(-most // LANES) * LANES
    return Glm(
        family=family,
        memory=memory,
        mu=zeros(r),
        S=identity(r),
        factor=identity(r),
        root=identity(r),
        slot_of_arm=full(keys, -1, np.int32),
        columns=zeros((r, slots), grows=True),
        offsets=zeros(slots, grows=True),
        plays=zeros(slots, grows=True),
        pay=zeros(slots, grows=True),
        variances=zeros(slots, grows=True),
        size=zeros(2, np.int64),
        last=full(1, 1.0),
        scratch=Scratch(
            value=zeros(slots),
            residual=zeros(slots),
            weight=zeros(slots),
            along=zeros(slots),
            vectors=zeros((6, r)),
            factor=identity(r),
            columns=zeros((r + 1, BLOCK)),
        ),
    )
