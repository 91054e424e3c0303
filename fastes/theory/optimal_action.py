"""The law of the optimal action, p(a) = P(A* = a), under a normal belief about theta.

Exact, up to quadrature, where that is possible: two arms, arms of independent values, beliefs of
rank one or two. Otherwise by quasi-Monte Carlo, with a standard error that is never zero.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import norm, qmc

from fastes import validation
from fastes.canonical import rows_and_offsets
from fastes.kernels.arms import transform_rows
from fastes.memory import require
from fastes.problem import LinearBandit
from fastes.theory.measures import entropy
from fastes.validation import Floats

_REPLICATES = 16
_BLOCK = 1 << 22  # values held at a time
_AFFORDABLE = 30_000_000  # terms of a quadrature: a fraction of a second
_WIDEST = 9.0  # standard deviations that quadrature covers: beyond, 2e-19


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    se: float


@dataclass(frozen=True, eq=False)
class OptimalAction:
    """The law of the optimal action.

    Attributes
    ----------
    probabilities : (K,) array
        P(A* = a); equal arms share theirs.
    se : (K,) array
        Standard errors, or bounds on the quadrature's error. Where an arm was never the best of n
        draws the probability given is 0 and the error 1/n.
    values : (K,) array
        E[v_a; A* = a], v_a the value of arm a in units of the noise. They add up to E[max v].
    method : str
        "certain", "two arms", "independent arms", "rank 1", "rank 2" or "quasi-Monte Carlo".
    entropy : Estimate
        H(A*), in nats.
    """

    probabilities: Floats
    se: Floats
    values: Floats
    method: str
    entropy: Estimate


class Law(NamedTuple):
    """The law of the best of arms that all differ: as `OptimalAction`, without the entropy."""

    probabilities: Floats
    values: Floats
    errors: Floats
    method: str


def optimal_action(
    bandit: LinearBandit,
    mean: ArrayLike | None = None,
    root: ArrayLike | None = None,
    *,
    samples: int = 1 << 16,
    seed: int = 0,
) -> OptimalAction:
    """Return the law of the optimal action, under the prior or another belief.

    Parameters
    ----------
    bandit : LinearBandit
        The problem.
    mean : (r,) array_like, optional
        Mean of z, in the canonical coordinates of the problem (docs/method.md); by default 0.
    root : (r, n) array_like, optional
        A root of its covariance, S = root root'; by default the identity.
    samples : int
        Draws, where there is no exact method.
    seed : int
        Of the draws.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.optimal_action import optimal_action
    >>> bandit = fastes.LinearBandit([[1.0, 0.0], [0.0, 1.0]], prior_mean=[1.0, 0.0])
    >>> law = optimal_action(bandit)
    >>> law.method, law.probabilities.round(4).tolist()
    ('two arms', [0.7602, 0.2398])
    """
    samples = validation.integer("samples", samples, 2 * _REPLICATES, 1 << 40)
    seed = validation.integer("seed", seed, 0, validation.MAX_SEED)
    r = bandit.rank
    centre = np.zeros(r) if mean is None else _checked("mean", mean, (r,))
    spread = np.eye(r) if root is None else _checked("root", root, (r, None))
    return law_of_the_best(*values_under(bandit, centre, spread), samples, seed)


def values_under(bandit: LinearBandit, mean: Floats, root: Floats) -> tuple[Floats, Floats]:
    """Return m and c: the arms' values are m + c x, x ~ N(0, I), in units of the noise.

    Equal arms have equal rows to the bit.
    """
    b, o = rows_and_offsets(bandit.canonical)
    m, c = np.empty((bandit.K, 1)), np.empty((bandit.K, root.shape[1]))
    transform_rows(b, mean[:, None].copy(), 1.0, m)
    transform_rows(b, np.ascontiguousarray(root), 1.0, c)
    return o + m[:, 0], c


def law_of_the_best(means: Floats, loadings: Floats, samples: int, seed: int) -> OptimalAction:
    """Return the law of argmax(means + loadings x), x ~ N(0, I), equal rows sharing theirs."""
    rows, which, copies = _distinct(means, loadings)
    m, c = rows[:, 0], rows[:, 1:]
    law = _exact_law(m, c, copies)
    if law is not None:
        return _shared(law, _exact_entropy(law, copies), which, copies)
    return _shared(*_quasi_monte_carlo(m, c, copies, samples, seed), which, copies)


def exact_law_of_the_best(means: Floats, loadings: Floats) -> OptimalAction | None:
    """Return what `law_of_the_best` does where it needs no draws, and None elsewhere."""
    rows, which, copies = _distinct(means, loadings)
    law = _exact_law(rows[:, 0], rows[:, 1:], copies)
    return None if law is None else _shared(law, _exact_entropy(law, copies), which, copies)


def _shared(law: Law, information: Estimate, which: Any, copies: Any) -> OptimalAction:
    """Return the law for all arms from the one for those that differ."""
    probabilities, values, se = (part[which] / copies[which] for part in law[:3])
    return OptimalAction(probabilities, se, values, law.method, information)


def _distinct(means: Floats, loadings: Floats) -> Any:
    """Return the rows that differ, which of them each arm has, and how many arms have each."""
    rows, which, copies = np.unique(
        np.column_stack([means, loadings]) + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    moving = np.abs(rows[:, 1:]).max(axis=0, initial=0.0) > 0
    return rows[:, np.concatenate([[True], moving])], which.ravel(), copies


def _exact_law(m: Floats, c: Floats, copies: Any) -> Law | None:
    """Return the law for arms that differ, where there is an exact method."""
    K, r = c.shape
    if r == 0 or (c == c[0]).all():
        best = (m == m.max()) * copies
        p = best / best.sum()
        return Law(p, p * m, np.zeros(K), "certain")
    if K == 2:
        return _two_arms(m, c)
    if r == 1:
        p, x = _intervals(m[None, :], c[:, 0])
        return Law(p[0], p[0] * m + x[0] * c[:, 0], np.zeros(K), "rank 1")
    if r == 2:
        return _by_quadrature(_rank_two, m, c, "rank 2")
    if K <= r + 1 and _independent(c):
        return _by_quadrature(_independent_arms, m, c, "independent arms")
    return None


def _two_arms(m: Floats, c: Floats) -> Law:
    """Return the law for two arms: the sign of a normal difference decides."""
    sd = float(np.linalg.norm(c[0] - c[1]))
    z = (m[0] - m[1]) / sd
    p = np.array([ndtr(z), ndtr(-z)])
    # E[v_0; v_0 > v_1] = m_0 p + Cov(v_0, v_0 - v_1) / sd * density, and so for the other.
    slopes = np.array([c[0] @ (c[0] - c[1]), c[1] @ (c[1] - c[0])]) / sd
    return Law(p, p * m + slopes * norm.pdf(z), np.zeros(2), "two arms")


def _by_quadrature(rule: Any, m: Floats, c: Floats, method: str) -> Law | None:
    """Return the law by a rule of 24 points a panel; one of 12 tells how far off it may be.

    None where the rule would take too long, or is further off than draws would be.
    """
    fine = rule(m, c, 24)
    if fine is None:
        return None
    p, values = fine
    errors = np.abs(p - rule(m, c, 12)[0])
    return Law(p / p.sum(), values, errors, method) if errors.max() <= 1e-6 else None


def _exact_entropy(law: Law, copies: Any) -> Estimate:
    # To first order the entropy is off by log p times what p is off by.
    p = law.probabilities
    weight = np.where(p > 0, np.abs(np.log(np.maximum(p, 1e-300))) + 1.0, 0.0)
    return Estimate(_shared_entropy(p, copies), float(weight @ law.errors))


def _shared_entropy(p: Floats, copies: Any) -> float:
    """Return the entropy when each probability is shared by so many equal arms."""
    return float(entropy(p)) + float(p @ np.log(copies))


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
        p[best, a] = ndtr(high[best]) - ndtr(low[best])
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


def _quasi_monte_carlo(
    m: Floats, c: Floats, copies: Any, samples: int, seed: int
) -> tuple[Law, Estimate]:
    counts, values = np.zeros((_REPLICATES, len(m))), np.zeros(len(m))
    n = -(-samples // _REPLICATES)
    for replicate, (best, largest) in enumerate(best_of_draws(m, c, n, seed)):
        counts[replicate] = np.bincount(best, minlength=len(m))
        values += np.bincount(best, largest, minlength=len(m))
    total = counts.sum(axis=0)
    draws = total.sum()
    se = counts.std(axis=0, ddof=1) * np.sqrt(_REPLICATES) / draws
    p = total / draws
    # What was never seen, or seen equally often in every replicate, is not known exactly.
    se = np.maximum(se, np.where(total > 0, np.sqrt(p) / draws, 1.0 / draws))
    # The jackknife takes off the bias of the plug-in estimate, which is too small.
    whole = _shared_entropy(p, copies)
    left_out = [_shared_entropy((total - k) / (draws - k.sum()), copies) for k in counts]
    value = _REPLICATES * whole - (_REPLICATES - 1) * float(np.mean(left_out))
    spread = np.sqrt((_REPLICATES - 1) * np.var(left_out))
    return Law(p, values / draws, se, "quasi-Monte Carlo"), Estimate(value, float(spread))


def best_of_draws(m: Floats, c: Floats, n: int, seed: int) -> Any:
    """Yield, for independent replicates, the argmax and max of m + c x for n draws x ~ N(0, I)."""
    for x in normal_draws(c.shape[1], n, seed):
        rows = max(1, _BLOCK // len(m))
        require(f"values of {len(m):,} arms", 2 * 8 * rows * len(m))
        best, largest = np.empty(n, np.int64), np.empty(n)
        for first in range(0, n, rows):
            part = slice(first, first + rows)
            scores = m + x[part] @ c.T
            best[part], largest[part] = scores.argmax(axis=1), scores.max(axis=1)
        yield best, largest


def normal_draws(r: int, n: int, seed: int) -> Any:
    """Yield independent replicates of n points (n x r), each N(0, I).

    Scrambled Sobol points, where there are tables for so many dimensions.
    """
    require(f"{n:,} draws in {r:,} dimensions", 3 * 8 * n * r)
    for rng in np.random.default_rng(seed).spawn(_REPLICATES):
        if r > qmc.Sobol.MAXDIM:
            yield rng.standard_normal((n, r))
        else:
            power = max(0, (n - 1).bit_length())
            points = qmc.Sobol(r, rng=rng).random_base2(power)[:n]
            yield ndtri(np.clip(points, 1e-16, 1 - 1e-16))


def _checked(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    numbers = validation.array(name, value)
    fits = len(numbers.shape) == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, numbers.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got shape {numbers.shape}")
    return numbers
