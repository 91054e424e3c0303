"""The law of the optimal action, p(a) = P(A* = a), under a normal belief about theta.

Exact, up to quadrature, where that is possible: two arms, arms of independent values, beliefs of
rank one or two. Otherwise by quasi-Monte Carlo, with a standard error that is never zero.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError
from scipy.special import log_ndtr, ndtr, ndtri
from scipy.stats import norm, qmc

from fastes import validation
from fastes.memory import require
from fastes.problem import LinearBandit
from fastes.theory.measures import entropy
from fastes.validation import Floats

_REPLICATES = 16
_BLOCK = 1 << 22  # values held at a time
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
    method : str
        "certain", "two arms", "independent arms", "rank 1", "rank 2" or "quasi-Monte Carlo".
    entropy : Estimate
        H(A*), in nats.
    """

    probabilities: Floats
    se: Floats
    method: str
    entropy: Estimate


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
    arms, r = bandit.canonical.arms, bandit.rank
    b = arms.tiles.transpose(0, 2, 1).reshape(-1, r)[: arms.K]
    o = arms.offsets.ravel()[: arms.K]
    if mean is not None:
        o = o + b @ _checked("mean", mean, (r,))
    if root is not None:
        b = b @ _checked("root", root, (r, None))
    return law_of_the_best(o, b, samples, seed)


def law_of_the_best(means: Floats, loadings: Floats, samples: int, seed: int) -> OptimalAction:
    """Return the law of argmax(means + loadings x), x ~ N(0, I), equal rows sharing theirs."""
    rows, which, copies = np.unique(
        np.column_stack([means, loadings]) + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    which = which.ravel()
    m, c = rows[:, 0], rows[:, 1:]
    kept = np.abs(c).max(axis=0, initial=0.0) > 0
    probabilities, se, method, information = _law(m, c[:, kept], copies, samples, seed)
    share = copies[which]
    return OptimalAction(probabilities[which] / share, se[which] / share, method, information)


def _law(
    m: Floats, c: Floats, copies: Any, samples: int, seed: int
) -> tuple[Floats, Floats, str, Estimate]:
    """Return probabilities, errors, the method and the entropy, for arms that differ."""
    K, r = c.shape
    if r == 0 or K == 1:
        best = (m == m.max()) * copies
        return _exact(best / best.sum(), np.zeros(K), copies, "certain")
    if K == 2:
        p = float(ndtr((m[0] - m[1]) / np.linalg.norm(c[0] - c[1])))
        return _exact(np.array([p, 1.0 - p]), np.zeros(2), copies, "two arms")
    if r == 1:
        return _exact(_rank_one(m, c[:, 0]), np.zeros(K), copies, "rank 1")
    if r == 2:
        fine, coarse = (_rank_two(m, c, order) for order in (24, 12))
        return _exact(fine, np.abs(fine - coarse), copies, "rank 2")
    if K <= r + 1 and _independent(c):
        fine, coarse = (_independent_arms(m, c, order) for order in (24, 12))
        return _exact(fine, np.abs(fine - coarse), copies, "independent arms")
    return _quasi_monte_carlo(m, c, copies, samples, seed)


def _exact(
    p: Floats, error: Floats, copies: Any, method: str
) -> tuple[Floats, Floats, str, Estimate]:
    # To first order the entropy is off by log p times what p is off by.
    with np.errstate(divide="ignore"):
        weight = np.where(p > 0, np.abs(np.log(np.maximum(p, 1e-300))) + 1.0, 0.0)
    p = p / p.sum()
    return p, error, method, Estimate(_shared_entropy(p, copies), float(weight @ error))


def _shared_entropy(p: Floats, copies: Any) -> float:
    """Return the entropy when each probability is shared by so many equal arms."""
    return float(entropy(p)) + float(p @ np.log(copies))


def _rank_one(m: Floats, slope: Floats) -> Floats:
    """Return P(argmax = a) for m + slope x, x ~ N(0, 1): an envelope of lines."""
    return _intervals(m[None, :], slope)[0]


def _intervals(m: Floats, slope: Floats) -> Floats:
    """Return P(argmax = a) for each row of m, the lines m + slope x in x ~ N(0, 1).

    Arm a is the best where x is above (m_b - m_a) / (slope_a - slope_b) for all flatter b, and
    below it for all steeper b; of arms with one slope, the highest.
    """
    out = np.zeros(m.shape)
    for a in range(m.shape[1]):
        rise = slope[a] - slope
        with np.errstate(divide="ignore", invalid="ignore"):
            cuts = (m - m[:, [a]]) / rise
        low = np.where(rise > 0, cuts, -np.inf).max(axis=1)
        high = np.where(rise < 0, cuts, np.inf).min(axis=1)
        level = (rise == 0) & (m > m[:, [a]])
        out[:, a] = np.where(level.any(axis=1), 0.0, np.maximum(ndtr(high) - ndtr(low), 0.0))
    return out


def _rank_two(m: Floats, c: Floats, order: int) -> Floats:
    """Return P(argmax = a) for m + c x, x ~ N(0, I) in the plane.

    Given one coordinate the other's intervals are exact; over the first, Gauss and Legendre in
    panels that end where three arms tie, so that the integrand is smooth in each.
    """
    arms, ties = _envelope_of_planes(m, c)
    edges = np.concatenate([np.linspace(-_WIDEST, _WIDEST, 37), ties[np.abs(ties) < _WIDEST]])
    points, weights = _panels(np.unique(edges), order)
    weights = weights * norm.pdf(points)
    total = np.zeros(len(m))
    rows = max(1, _BLOCK // (8 * len(arms)))
    for first in range(0, len(points), rows):
        part = slice(first, first + rows)
        lines = m[arms] + points[part, None] * c[arms, 0]
        total[arms] += weights[part] @ _intervals(lines, c[arms, 1])
    return total


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


def _independent_arms(m: Floats, c: Floats, order: int) -> Floats:
    """Return P(argmax = a) for independent values N(m, |c|^2), some perhaps certain."""
    sd = np.linalg.norm(c, axis=1)
    random = sd > 0
    floor = m[~random].max(initial=-np.inf)
    low = max(floor, (m[random] - _WIDEST * sd[random]).max())
    high = (m[random] + _WIDEST * sd[random]).max()
    p = np.zeros(len(m))
    if high > low:
        # As fine as the narrowest value asks for, within reason.
        panels = int(np.clip((high - low) / sd[random].min(), 36, 4096))
        v, weights = _panels(np.linspace(low, high, panels + 1), order)
        u = (v[:, None] - m[random]) / sd[random]
        below = log_ndtr(u)
        others = below.sum(axis=1, keepdims=True) - below
        p[random] = weights @ (np.exp(others) * norm.pdf(u) / sd[random])
    if np.isfinite(floor):
        certain = (m == floor) & ~random
        p[certain] = np.exp(log_ndtr((floor - m[random]) / sd[random]).sum()) / certain.sum()
    return p


def _quasi_monte_carlo(
    m: Floats, c: Floats, copies: Any, samples: int, seed: int
) -> tuple[Floats, Floats, str, Estimate]:
    counts = np.zeros((_REPLICATES, len(m)))
    n = -(-samples // _REPLICATES)
    for replicate, best in enumerate(best_of_draws(m, c, n, seed)):
        counts[replicate] = np.bincount(best, minlength=len(m))
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
    return p, se, "quasi-Monte Carlo", Estimate(value, float(spread))


def best_of_draws(m: Floats, c: Floats, n: int, seed: int) -> Any:
    """Yield, for independent replicates, the argmax of m + c x for n draws of x ~ N(0, I)."""
    for x in normal_draws(c.shape[1], n, seed):
        rows = max(1, _BLOCK // len(m))
        require(f"values of {len(m):,} arms", 2 * 8 * rows * len(m))
        blocks = (x[first : first + rows] for first in range(0, n, rows))
        yield np.concatenate([np.argmax(m + block @ c.T, axis=1) for block in blocks])


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
