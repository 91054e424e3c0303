"""What rules and searches ask of a belief: generic kernels, with a body for each belief.

A belief is a named tuple; nothing outside its own files names its fields. Not every belief answers
every question: a rule needs those that its own kernels ask, and a rule that asks for more than a
belief has a body for does not compile.

Below, mu and S are mean and covariance of the belief, or of its normal approximation, and P = S^-1.
"""

from typing import Any, NamedTuple

import numpy as np

from ..jit.decorators import generic, inlined, required

Belief = Any
"""A named tuple with bodies for the questions below."""

# What `ArmVariances.size` holds.
SLOTS = 0  # taken
PLAYS = 1  # so far


class ArmVariances(NamedTuple):
    """What a belief keeps of perturbations by arm, where arms repeat: its own arrays."""

    slot_of_arm: np.ndarray  # (keys,) int32: in order of first play; or -1 (`slot_of_key`)
    columns: np.ndarray  # (r, slots): the arms' rows, an arm a column
    variances: np.ndarray  # (slots,): the sum of the variances of an arm's perturbations so far
    size: np.ndarray  # (2,) int64


class ArmCounts(NamedTuple):
    """What a belief keeps of rewards by arm: its own arrays."""

    plays: np.ndarray  # (slots,)
    pay: np.ndarray  # (slots,): the sum of an arm's rewards
    size: np.ndarray  # (2,) int64


@inlined
def slot_of_key(slot_of_arm, key):
    """Return the slot of the arms of a key, or -1: none yet, or none at all, where none repeats."""
    return np.int64(slot_of_arm[key]) if slot_of_arm.shape[0] > 0 else np.int64(-1)


@required
def update(belief, row, offset, key, reward):
    """Take in the reward of an arm with this row and offset. Arms of one key are equal."""


@required
def sample(belief, normals, z):
    """z = a draw from the belief, made of r independent N(0, 1)."""


@generic
def noise_of(belief):
    """Return what is believed of the noise: the first argument of noise.py's kernels."""


@required
def model_from_xi(belief, xi, z):
    """z = the model that xi stands for in information space: mu + S xi for a normal belief."""


@required
def counts_by_arm(belief):
    """Return the `ArmCounts`, of a state or a layout. Python and kernels call it."""


@required
def model_of_counts(belief, plays, pay, xi, z):
    """z = the model that xi stands for where an arm's plays and pay were these, by slot."""


@required
def xi_of_model(belief, z, xi):
    """xi = what z stands for: `model_from_xi` makes z of it."""


@generic
def perturbation_root(belief):
    """Return the standard deviation of a model's perturbation of the last reward."""
    return 1.0


@required
def draw_xi(belief, source, stream, counter, normals, xi):
    """Draw xi ~ N(0, P), a model that has taken in a perturbation of every reward so far.

    With the vector of a stream at a counter; `normals` has room for r + `recent_arms` of them.
    """


@required
def update_with_drift(belief, row, offset, key, reward, before, drift):
    """Do as `update`, and add to drift[0] by how much rounding may have raised b'S b / b'b.

    `before` (r, r) is scratch.
    """


@required
def update_with_history(belief, row, offset, key, reward, factor, columns, eta):
    """Do as `update`, and keep the `factor` V that `draw_history` reads.

    `columns` (r + 1, n) and `eta` (r) are scratch, the latter zero; n is `recent_arms`.
    """


@required
def draw_history(belief, factor, source, stream, counter, scale, normals, xi):
    """Draw xi, scale times the sum of an N(0, 1) times the row of every reward so far.

    With the vector of a stream at a counter; `normals` has room for r + `recent_arms`.
    """


@required
def tile_variances(belief, b, row, out):
    """out[:] = b'S b for the arms of a tile, b (r x TILE); `row` (TILE) is scratch."""


@required
def variance_along(belief, b):
    """Return b'S b; cost O(r^2)."""


@required
def fill_covariance(belief, out):
    """Set out = S."""


@required
def load_roots(belief, R, X):
    """R = U and X = U'^-1 for the upper triangular U with P = U'U; cost O(r^3)."""


@required
def subtract_covariance_row(belief, i, row):
    """Take row i of S off `row`."""


@required
def score_by_mean(belief, b, offsets, out):
    """out[:] = o + b'mu for the arms of a tile."""


@required
def score_by_root_row(belief, j, b, zeros, out):
    """out[:] = b'x_j for the arms of a tile, x_j row j of the root X, S = X'X."""


@required
def add_root_row(belief, j, weight, out):
    """out += weight times row j of the root X, S = X'X."""


@required
def log_density(belief, z):
    """Return the logarithm of the exact posterior's density at z, up to a constant."""


@required
def squared_distance(belief, z):
    """Return (z - mu)'P(z - mu)."""


@generic
def has_density(belief):
    """Return whether there is a `log_density`. Python calls it, on a state or a layout."""
    return False


@required
def mean_of(belief):
    """Return mu, the array itself. Python calls it, on a state or a layout."""


@generic
def memory_of(belief):
    """Return the `Memory` of a state or a layout (memory.py). Python calls it."""
    return belief.memory


@required
def recent_arms(belief):
    """Return how many arms are kept one by one. Python calls it, on a state or a layout."""


@generic
def perturbed_alike(belief):
    """Return whether `perturbation_root` is always 1. Python calls it, on a state or a layout."""
    return False


@generic
def counts_clicks(belief):
    """Return whether rewards are 0 or 1 and counted by arm. Python calls it, on a layout."""
    return False


@generic
def variances_by_arm(belief):
    """Return the `ArmVariances` of a state or a layout, or None. Python calls it."""


@required
def covariance_of(belief):
    """Return S. Python calls it."""


@required
def normal_law(belief):
    """Return N(mu, S), a `NormalLaw`, computed afresh. Python calls it."""


@required
def is_whole(belief):
    """Return whether counters that come from a file are within their ranges. Python calls it."""
