"""The law of the optimal action where quadrature gives it: few arms, low rank, independent arms."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError
from scipy.special import log_ndtr, ndtr
from scipy.stats import norm

from fastes.checks.arrays import Floats

_BLOCK = 1 << 22  # values held at a time
_AFFORDABLE = 30_000_000  # terms of a quadrature: a fraction of a second
_WIDEST = 9.0  # standard deviations that quadrature covers: beyond, 2e-19


class BestArmLaw(NamedTuple):
    """The law of the best of arms that all differ: as `OptimalAction`, without the entropy."""

    probabilities: Floats
    values: Floats
    errors: Floats
    method: str


def exact_law(m: Floats, c: Floats, copies: Any) -> BestArmLaw | None:
    """Return the law for arms that differ, where there is an exact method."""
    K, r = c.shape
    if r == 0 or (c == c[0]).all():
        best = (m == m.max()) * copies
        p = best / best.sum()
        return BestArmLaw(p, p * m, np.zeros(K), "certain")
    if K == 2:
        return _two_arms(m, c)
    if r == 1:
        p, x = _intervals(m[None, :], c[:, 0])
        return BestArmLaw(p[0], p[0] * m + x[0] * c[:, 0], np.zeros(K), "rank 1")
    if r == 2:
        return _by_quadrature(_rank_two, m, c, "rank 2")
    if K <= r + 1 and _independent(c):
        return _by_quadrature(_independent_arms, m, c, "independent arms")
    return None


def _two_arms(m: Floats, c: Floats) -> BestArmLaw:
    """Return the law for two arms: the sign of a normal difference decides."""
    sd = float(np.linalg.norm(c[0] - c[1]))
    z = (m[0] - m[1]) / sd
    p = np.array([ndtr(z), ndtr(-z)])
    # E[v_0; v_0 > v_1] = m_0 p + Cov(v_0, v_0 - v_1) / sd * density, and so for the other.
    slopes = np.array([c[0] @ (c[0] - c[1]), c[1] @ (c[1] - c[0])]) / sd
    return BestArmLaw(p, p * m + slopes * norm.pdf(z), np.zeros(2), "two arms")


def _by_quadrature(rule: Any, m: Floats, c: Floats, method: str) -> BestArmLaw | None:
    """Return the law by a rule of 24 points a panel; one of 12 tells how far off it may be.

    None where the rule would take too long, or is further off than draws would be.
    """
    fine = rule(m, c, 24)
    if fine is None:
        return None
    p, values = fine
    errors = np.abs(p - rule(m, c, 12)[0])
    return BestArmLaw(p / p.sum(), values, errors, method) if errors.max() <= 1e-6 else None


def _intervals(m: Floats, slope: Floats) -> tuple[Floats, Floats]:
    """Return P(argmax = a) and E[x; argmax = a] for lines m + slope x, x ~ N(0, 1).

    One problem a row of m: an envelope of lines. Arm a is the best where x is above
    (m_b - m_a) / (slope_a - slope_b) for all flatter b, and below it for all steeper b; of arms
    with one slope, the highest.
    """
    p, x = np.zeros(m.shape), np.zeros(m.shape)
    for a in range(m.shape[1]):
        rise = slope[a] - slope
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = (m - m[:, [a]]) / rise
        low = np.where(rise > 0, cuts, -np.inf).max(axis=1)
        high = np.where(rise < 0, cuts, np.inf).min(axis=1)
        level = (rise == 0) & (m > m[:, [a]])
        best = ~level.any(axis=1) & (low < high)
        # Between neighbouring numbers ndtr may fall by a rounding.
        p[best, a] = np.maximum(ndtr(high[best]) - ndtr(low[best]), 0.0)
        x[best, a] = norm.pdf(low[best]) - norm.pdf(high[best])
    return p, x


def _rank_two(m: Floats, c: Floats, order: int) -> tuple[Floats, Floats] | None:
    """Return P(argmax = a) and E[v_a; argmax = a] for v = m + c x, x ~ N(0, I) in the plane.

    Given one coordinate the other's intervals are exact; over the first, Gauss and Legendre in
    panels that end where three arms tie, so that the integrand is smooth in each.
    """
    arms, ties = _envelope_of_planes(m, c)
    edges = np.concatenate([np.linspace(-_WIDEST, _WIDEST, 37), ties[np.abs(ties) < _WIDEST]])
    points, weights = _panels(np.unique(edges), order)
    if len(points) * len(arms) ** 2 > _AFFORDABLE:
        return None
    weights = weights * norm.pdf(points)
    total, values = np.zeros((2, len(m)))
    rows = max(1, _BLOCK // (8 * len(arms)))
    for first in range(0, len(points), rows):
        part = slice(first, first + rows)
        lines = m[arms] + points[part, None] * c[arms, 0]
        p, x = _intervals(lines, c[arms, 1])
        total[arms] += weights[part] @ p
        values[arms] += weights[part] @ (lines * p + c[arms, 1] * x)
    return total, values


def _envelope_of_planes(m: Floats, c: Floats) -> tuple[Any, Floats]:
    """Return the arms that are the best somewhere, and the first coordinates of where three tie.

    The envelope of planes m + c x is the upper side of the convex hull of the points (c, m). If
    all m are linear in c, all arms tie in one point and the best lie on the hull of c.
    """
    design = np.column_stack([np.ones(len(m)), c])
    plane = np.linalg.lstsq(design, m, rcond=None)[0]
    flat = np.abs(m - design @ plane).max() <= 1e-12 * max(1e-300, np.abs(m).max())
    try:
        if flat:
            return ConvexHull(c).vertices, np.asarray(-plane[1:2], float)
        hull = ConvexHull(np.column_stack([c, m]))
    except QhullError:  # all c on a line, or all but
        return np.arange(len(m)), np.zeros(0)
    upper = hull.equations[:, 2] > 1e-14
    normals = hull.equations[upper]
    return np.unique(hull.simplices[upper]), np.asarray(normals[:, 0] / normals[:, 2], float)


def _panels(edges: Floats, order: int) -> tuple[Floats, Floats]:
    """Return the points and weights of Gauss and Legendre's rule in each panel."""
    x, weight = np.polynomial.legendre.leggauss(order)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (x + 1)).ravel(), (half * weight).ravel()


def _independent(c: Floats) -> bool:
    covariance = c @ c.T
    off = covariance - np.diag(np.diag(covariance))
    return bool(np.abs(off).max() <= 1e-14 * np.diag(covariance).max())


def _independent_arms(m: Floats, c: Floats, order: int) -> tuple[Floats, Floats] | None:
    """Return P(argmax = a) and E[v_a; argmax = a] for independent v ~ N(m, |c|^2).

    Some may be certain.
    """
    sd = np.linalg.norm(c, axis=1)
    random = sd > 0
    floor = m[~random].max(initial=-np.inf)
    low = max(floor, (m[random] - _WIDEST * sd[random]).max())
    high = (m[random] + _WIDEST * sd[random]).max()
    p, values = np.zeros((2, len(m)))
    if high > low:
        edges = _edges(m[random], sd[random], low, high)
        v, weights = _panels(edges, order)
        if len(v) * len(m) > _AFFORDABLE:
            return None
        u = (v[:, None] - m[random]) / sd[random]
        below = log_ndtr(u)
        others = below.sum(axis=1, keepdims=True) - below
        density = np.exp(others) * norm.pdf(u) / sd[random]
        p[random], values[random] = weights @ density, (weights * v) @ density
    if np.isfinite(floor):
        certain = (m == floor) & ~random
        p[certain] = np.exp(log_ndtr((floor - m[random]) / sd[random]).sum()) / certain.sum()
        values[certain] = floor * p[certain]
    return p, values


def _edges(m: Floats, sd: Floats, low: float, high: float) -> Floats:
    """Return where panels end that are as fine as each value asks for, where it lies."""
    panels = int(max(36, (high - low) / sd.min()))
    if panels <= 36 * len(m):
        return np.linspace(low, high, panels + 1)
    own = (m[:, None] + sd[:, None] * np.linspace(-_WIDEST, _WIDEST, 37)).ravel()
    return np.unique(np.concatenate([[low, high], own[(own > low) & (own < high)]]))
