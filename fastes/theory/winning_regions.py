"""The region where an arm is the best: a polyhedron, an inner point, and a ball in it.

Values of the arms are m + c x, x ~ N(0, I). Arm a is the best on the polyhedron of all x with
(c_a - c_b)'x >= m_b - m_a for every other b.
"""

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.special import gammainc, gammaln

from fastes.checks.arrays import Floats
from fastes.problem.bandit import Bandit

_EQUAL = 1e-13  # rows closer than this are equal, relative to the longest
_INFEASIBLE = 1e-8  # smaller residuals are rounding errors: points are at most 1 / this away
_MARGINS = (1.0, 1e-2, 1e-4, 1e-6)  # radii of a ball, tried in turn


class Region(NamedTuple):
    """The polyhedron of all x with normals x >= offsets; the normals have length 1."""

    normals: Floats
    offsets: Floats


def region_of(m: Floats, c: Floats, arm: int) -> Region | None:
    """Return the region where an arm is the best or ties with equal ones; None if it is empty."""
    unit = float(np.abs(c).max(initial=0.0)) or 1.0
    rise, need = (c[arm] - c) / unit, (m - m[arm]) / unit
    length = np.sqrt(np.square(rise).sum(axis=1))
    apart = length > _EQUAL
    if need[~apart].max() > 0:
        return None
    length = length[apart]
    return Region(rise[apart] / length[:, None], need[apart] / length)


def inner_point(region: Region) -> Floats | None:
    """Return the point nearest to 0 with a ball around it in the region, or None if there is none.

    The ball has radius 1, or the largest possible one of a few smaller radii.
    """
    # A cone contains balls of all radii, or none.
    for margin in _MARGINS if region.offsets.any() else _MARGINS[:1]:
        point = nearest_point(region.normals, region.offsets + margin)
        # A large certificate of infeasibility leaves a residual that looks like a point.
        if point is not None and _radius(region, point) > margin / 2:
            return point
    return None


def _radius(region: Region, point: Floats) -> float:
    """Return the radius of the largest ball in the region around a point, negative outside."""
    return float((region.normals @ point - region.offsets).min(initial=math.inf))


def nearest_point(normals: Floats, offsets: Floats) -> Floats | None:
    """Return the x nearest to 0 with normals x >= offsets, or None if there is none.

    Solves for a few rows, adds those that the solution violates, and repeats.
    """
    r = normals.shape[1]
    unit = float(np.abs(offsets).max(initial=0.0)) or 1.0
    need = offsets / unit
    chosen = _largest(need, 4 * r)
    while True:
        x = _least_distance(normals[chosen], need[chosen])
        if x is None:
            return None
        short = need - normals @ x
        short[chosen] = -np.inf
        worst = _largest(short, 2 * r)
        worst = worst[short[worst] > 1e-12 * (1.0 + math.sqrt(x @ x))]
        if len(worst) == 0:
            return unit * x
        chosen = np.concatenate([chosen, worst])


def _largest(values: Floats, n: int) -> NDArray[np.int64]:
    """Return the indices of the n largest values, in any order."""
    return np.argpartition(-values, n)[:n] if n < len(values) else np.arange(len(values))


def _least_distance(normals: Floats, need: Floats) -> Floats | None:
    """Return argmin |x| subject to normals x >= need, or None if it is infeasible.

    Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23: the residual of a
    nonnegative least squares problem is zero if infeasible, and else gives x.
    """
    rows, r = normals.shape
    if rows == 0:
        return np.zeros(r)
    matrix = np.vstack([normals.T, need])
    target = np.zeros(r + 1)
    target[-1] = 1.0
    weights, _ = nnls(matrix, target, maxiter=100 * (rows + r))
    residual = matrix @ weights - target
    if residual @ residual <= _INFEASIBLE**2 or residual[-1] >= 0:
        return None
    return np.asarray(-residual[:-1] / residual[-1])


def log_ball(region: Region, point: Floats) -> float:
    """Return a lower bound on log P(x in region), from the largest ball around a point in it.

    The mean of the densities at point + y and point - y is at least exp(-|point|^2 / 2) times that
    at y, so P(ball) >= exp(-|point|^2 / 2) P(|x| <= radius).
    """
    radius = _radius(region, point)
    if not radius > 0:
        return -math.inf
    half, r = radius * radius / 2, len(point)
    mass = float(gammainc(r / 2, half))
    # For a tiny ball: its volume times the density at its edge.
    log_mass = math.log(mass) if mass > 0 else r / 2 * math.log(half) - half - gammaln(r / 2 + 1)
    return float(log_mass - point @ point / 2)


def can_win(bandit: Bandit, arm: int) -> bool:
    """Return whether an arm, alone or tied with equal ones, is the best for some theta.

    Then it has positive probability under all beliefs with the prior's support. Arms whose region
    is narrower than rounding errors count as unable to win.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.winning_regions import can_win
    >>> bandit = fastes.LinearBandit([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [-1.0, -1.0]])
    >>> [can_win(bandit, arm) for arm in range(4)]
    [True, True, False, True]
    """
    known = _KNOWN.setdefault(bandit, {})
    if arm not in known:
        rows, offsets = bandit.canonical.rows_and_offsets()
        region = region_of(offsets, rows, arm)
        known[arm] = region is not None and inner_point(region) is not None
    return known[arm]


# Cached by problem: independent of the state.
_KNOWN: "WeakKeyDictionary[Bandit, dict[int, bool]]" = WeakKeyDictionary()
