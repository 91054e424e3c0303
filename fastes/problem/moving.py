"""Theta that drifts, for kernels: its coordinates, its prior in them, and where it begins."""

from dataclasses import dataclass

import numpy as np

from fastes.checks.arrays import Floats
from fastes.kernels.actions.whitening import Whitening
from fastes.kernels.loop.drift import Moving, Prior, moving
from fastes.kernels.states.stack import Shared
from fastes.problem.bandit import Bandit
from fastes.problem.coordinates import (
    canonical_directions,
    canonical_theta,
    largest_value,
    length,
)
from fastes.problem.truth import Truth
from fastes.problem.whitening import (
    LARGEST_VALUE,
    Canonical,
    check_size,
    kept_coordinates,
    rank_of,
    widest,
)

_RARE = 10.0
"""Standard deviations that no normal number of the generator reaches."""


@dataclass(frozen=True, eq=False)
class Place:
    """The coordinates in which an environment keeps theta.

    The user's where arms are known. Where they are offered in canonical coordinates, those.

    Attributes
    ----------
    mean : (d,) array
        m, the mean of the truth's prior.
    reach : float
        A norm that a draw from the truth's prior does not exceed.
    normals : int
        q, how many normal numbers a draw takes.
    prior : Shared
        The truth's prior in these coordinates, for kernels.
    canonical : Canonical or None
        The coordinates; None for the user's.
    """

    mean: Floats
    reach: float
    normals: int
    prior: Shared
    canonical: Canonical | None

    def point(self, theta: Floats) -> Floats:
        """Return the coordinates of theta, or raise ValueError where it has none."""
        known = self.canonical
        return theta.copy() if known is None else canonical_theta(known, theta, known.prior_mean)

    def direction(self, gap: Floats) -> Floats:
        """Return the coordinates of a difference of two thetas."""
        known = self.canonical
        return gap.copy() if known is None else canonical_directions(known, gap[:, None])[:, 0]

    @staticmethod
    def length(theta: Floats) -> float:
        """Return the norm of theta."""
        return length(theta)


def place_of(bandit: Bandit, truth: Truth, canonical: bool) -> Place:
    """Return the coordinates of theta, canonical ones or the user's."""
    mean, root = truth.prior(bandit)
    q = rank_of(root, bandit.d)
    reach = length(mean) + _RARE * np.sqrt(q) * widest(root)
    if not canonical:
        return Place(mean, reach, q, Shared(Prior(mean, _whitening(root, bandit.d))), None)
    known = bandit.canonical
    if truth.changes_prior(bandit):
        centre = canonical_theta(known, mean, known.prior_mean)
        columns = root * np.eye(bandit.d) if np.ndim(root) < 2 else np.asarray(root)
        if np.ndim(root) == 1:
            columns = columns[:, kept_coordinates(np.asarray(root))]
        inner = _whitening(canonical_directions(known, columns), known.rank)
    else:
        centre, inner = np.zeros(known.rank), _whitening(1.0, known.rank)
    return Place(mean, reach, q, Shared(Prior(centre, inner)), known)


def _whitening(root: float | Floats, n: int) -> Whitening:
    """Return a root of a covariance of n coordinates, for kernels; without a mean."""
    zeros, none = np.zeros(n), np.empty((0, rank_of(root, n)))
    if isinstance(root, float):
        return Whitening(np.full(n, root), np.arange(n), none, zeros)
    if root.ndim == 1:
        kept = kept_coordinates(root)
        return Whitening(root[kept], kept, none, zeros)
    return Whitening(np.empty(0), np.empty(0, np.int64), np.ascontiguousarray(root), zeros)


def moving_theta(
    bandit: Bandit, truth: Truth, place: Place, first: Floats, z: Floats | None = None
) -> Moving:
    """Return theta at step 0, given in the user's coordinates, and how it moves, or raise.

    `z` is it in the coordinates of the place, if known.
    """
    assert truth.drift is not None
    reach = truth.drift.longest(place, first)
    largest = largest_value(np.array([reach]), bandit.action_set.longest, bandit.rewards.unit)
    check_size("the arms' mean rewards", np.array(largest), LARGEST_VALUE)
    start = place.point(first) if z is None else z
    return moving(start, 0, truth.drift.kernel(place, first))
