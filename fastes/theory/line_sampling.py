"""Line sampling: the probability that a rare arm is the best, to a relative error.

Along a line the arm is the best on one interval, whose normal probability is exact. The mean over
parallel lines through the region is an unbiased estimate: nearly every line contributes, where
nearly every plain draw would miss.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, logsumexp, ndtri

from fastes.checks.arrays import Floats
from fastes.kernels.streams.philox import Source
from fastes.theory.winning_regions import Region

Normals = Callable[[int, int], Floats]
"""Returns the next n x k standard normals."""

_BLOCK = 1 << 16  # values per block, to fit into cache
_ENOUGH = 0.02  # relative variance: an error of 14 %
_FLAT = 1e-14


class LogProbability(NamedTuple):
    """log P, and the relative variance of the estimate of P."""

    value: float
    variance: float


class _Proposal(NamedTuple):
    """One component of the mixture from which lines are drawn: N(centre, scale^2 I)."""

    share: float
    centre: Floats | float
    scale: float


def normals_of(source: Source, t: int, arm: int, stream: int = 0) -> Normals:
    """Return the sequence of standard normals of an arm and a probe, a pure function of these.

    Laws of one probe have streams of their own.
    """
    bits = np.random.Philox(
        key=np.array([source.seed, source.run], np.uint64),
        counter=np.array([0, stream, t, arm], np.uint64),
    )

    def draw(n: int, k: int) -> Floats:
        # NumPy guarantees the bits, but not the normals, across versions.
        raw = np.asarray(bits.random_raw(n * k), np.uint64) >> np.uint64(11)
        return np.asarray(ndtri((raw + 0.5) * 2.0**-53)).reshape(n, k)

    return draw


def log_probability(
    region: Region, toward: Floats, normals: Normals, lines: int, most: int
) -> LogProbability:
    """Return log P(x in region), x ~ N(0, I), from lines in the direction of a point in it.

    The first lines are drawn at three scales. If their mean is not precise enough, the next ones
    are drawn where these contribute most, twice as many each time, up to `most`. Only the last
    ones are used, so that the estimate is unbiased; -inf if none of them met the region.

    Cost O(lines x rows x r), with r the dimension.
    """
    high, low = _along(region, toward)
    k = region.normals.shape[1] - 1
    mixture = [_Proposal(0.5, 0.0, 1.0), _Proposal(0.25, 0.0, 0.6), _Proposal(0.25, 0.0, 0.3)]
    while True:
        y = np.concatenate(
            [p.centre + p.scale * normals(math.ceil(lines * p.share), k) for p in mixture]
        )
        logs = _log_intervals(high, low, y) + _log_weights(y, mixture)
        found = _mean(logs)
        lines *= 2
        if found.variance <= _ENOUGH or lines > most:
            return found
        if found.value > -math.inf:
            mixture = _fitted(y, logs)


class _Cuts(NamedTuple):
    """Where lines along u cross planes: at start - slopes'y for the line through y."""

    start: Floats
    slopes: Floats


def _along(region: Region, toward: Floats) -> tuple[_Cuts, _Cuts]:
    """Return the planes at which lines enter the region, and those at which they leave it.

    y are coordinates in the complement of the direction, given by a reflection of the axes.
    """
    size = math.sqrt(toward @ toward)
    u = toward / size if size > 0 else np.eye(len(toward))[0]
    rise = region.normals @ u
    v = u.copy()
    v[0] += math.copysign(1.0, u[0])
    turned = region.normals - np.outer(region.normals @ v, v) * (2.0 / (v @ v))
    flat = np.abs(rise) <= _FLAT
    rise = np.where(flat, _FLAT, rise)  # crossed so far away that all lines agree
    start, slopes = region.offsets / rise, turned[:, 1:] / rise[:, None]
    up = rise > 0
    return _Cuts(start[up], slopes[up]), _Cuts(start[~up], slopes[~up])


def _log_intervals(after: _Cuts, before: _Cuts, y: Floats) -> Floats:
    """Return the log probability of the interval in the region, for the line through each y."""
    low, high = np.empty((2, len(y)))
    rows = max(1, _BLOCK // (1 + len(after.start) + len(before.start)))
    for first in range(0, len(y), rows):
        part = slice(first, first + rows)
        crossed = y[part] @ after.slopes.T
        low[part] = np.subtract(after.start, crossed, out=crossed).max(axis=1, initial=-np.inf)
        crossed = y[part] @ before.slopes.T
        high[part] = np.subtract(before.start, crossed, out=crossed).min(axis=1, initial=np.inf)
    return log_interval(low, high)


def log_interval(low: Floats, high: Floats) -> Floats:
    """Return log(Phi(high) - Phi(low)) without loss in the tails, -inf where high <= low."""
    upper = low > 0  # mirror the upper tail to the lower
    left, right = np.where(upper, -high, low), np.where(upper, -low, high)
    below, above = log_ndtr(left), log_ndtr(right)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = -np.expm1(np.minimum(below - above, 0.0))
        return np.where(right > left, above + np.log(share), -np.inf)


def _log_weights(y: Floats, mixture: list[_Proposal]) -> Floats:
    """Return the log density of N(0, I) over that of the mixture."""
    k = y.shape[1]
    logs = [
        math.log(p.share) - k * math.log(p.scale) - np.square((y - p.centre) / p.scale).sum(1) / 2
        for p in mixture
    ]
    return np.asarray(-np.square(y).sum(axis=1) / 2 - logsumexp(logs, axis=0))


def _fitted(y: Floats, logs: Floats) -> list[_Proposal]:
    """Return a normal fitted to the weights, with a quarter of N(0, I) for robustness."""
    w = np.exp(logs - logs.max())
    w /= w.sum()
    centre = w @ y
    spread = float(w @ np.square(y - centre).sum(axis=1)) / max(1, y.shape[1])
    spread /= max(0.2, 1.0 - float(w @ w))  # few weights underestimate the spread
    scale = 1.1 * math.sqrt(min(1.0, max(1e-8, spread)))
    return [_Proposal(0.25, 0.0, 1.0), _Proposal(0.75, centre, scale)]


def _mean(logs: Floats) -> LogProbability:
    top = float(logs.max())
    if top == -math.inf:
        return LogProbability(-math.inf, math.inf)
    w = np.exp(logs - top)
    mean = float(w.mean())
    return LogProbability(top + math.log(mean), float(w.var(ddof=1)) / (len(w) * mean * mean))
