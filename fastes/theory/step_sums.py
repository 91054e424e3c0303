"""Sums over steps of the smallest of several smooth functions of t, for horizons up to 10^12.

The first steps are summed one by one. Beyond them the steps are cut into pieces, within which one
function is the smallest; a kink lies between two pieces, never inside. On a piece the function is
a Chebyshev series f, and by Euler and Maclaurin

    sum_{start <= t < stop} f(t) = [F - f' / 24 + 7 f''' / 5760] from start - 1/2 to stop - 1/2,

F an integral of f. From step 1,024 on, what is left out is below 1e-15 of the sum for functions
that vary on the scale of t.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from fastes.checks.arrays import Floats

ONE_BY_ONE = 1 << 10
"""Steps before this one are summed one by one."""

_NODES = 25  # on a piece: its ends are at most a factor of two apart
_SHORT = 64  # steps: a shorter piece is summed one by one
_TIE = 1e-12  # a function stays the smallest until another is smaller by so much of it

Branch = Callable[[Floats], Floats]
"""A smooth function of t, which is real and may lie a step outside of the steps in question."""


class Piece(NamedTuple):
    """Steps start, ..., stop - 1, on which one of several functions is the smallest."""

    start: int
    stop: int
    branch: int


def pieces(T: int, branches: Sequence[Branch], breaks: Iterable[int] = ()) -> Iterator[Piece]:
    """Yield the pieces of the steps from `ONE_BY_ONE` to T - 1.

    No piece contains one of the `breaks`, steps at which a function ceases to be smooth, nor are
    its ends more than a factor of two apart.
    """
    ends = {T, *(ONE_BY_ONE << i for i in range(64)), *breaks}
    start = ONE_BY_ONE
    for end in sorted(end for end in ends if ONE_BY_ONE < end <= T):
        while start < end:
            piece = _piece(start, end, branches)
            yield piece
            start = piece.stop


def _piece(start: int, end: int, branches: Sequence[Branch]) -> Piece:
    """Return the longest piece from `start` that ends at `end` or before."""

    def values(t: Floats) -> Floats:
        return np.array([branch(t) for branch in branches])

    first = int(values(np.array([float(start)])).argmin())

    def holds(t: Floats) -> NDArray[np.bool_]:
        found = values(t)
        return np.asarray(found[first] <= (1.0 + _TIE) * found.min(axis=0))

    steps = np.unique(np.linspace(start, end - 1, _NODES).astype(np.int64))
    inside = holds(steps.astype(float))
    if inside.all():
        return Piece(start, end, first)
    last = int(steps[inside.argmin() - 1]) if inside[0] else start
    beyond = int(steps[inside.argmin()]) if inside[0] else start + 1
    while beyond - last > 1:
        middle = (last + beyond) // 2
        last, beyond = (middle, beyond) if holds(np.array([float(middle)]))[0] else (last, middle)
    return Piece(start, beyond, first)


class Smallest:
    """f(t), the smallest of several functions at each step t < T, to be summed under any g.

    Parameters
    ----------
    T : int
        Steps.
    branches : sequence of Branch
        The functions. For `sum_below`, f must never fall.
    breaks : iterable of int
        Steps at which one of them is not smooth.
    """

    def __init__(self, T: int, branches: Sequence[Branch], breaks: Iterable[int] = ()) -> None:
        self.T, self._branches = T, branches
        first = np.arange(min(T, ONE_BY_ONE), dtype=float)
        self._first = np.min([branch(first) for branch in branches], axis=0)
        self._pieces = list(pieces(T, branches, breaks))
        rules = [piece_rule(piece.start, piece.stop) for piece in self._pieces]
        self._values = [self._on(p, t) for p, (t, _) in zip(self._pieces, rules, strict=True)]
        self._weights = [weights for _, weights in rules]
        self._starts = [float(self._on(p, np.array([float(p.start)]))[0]) for p in self._pieces]

    def _on(self, piece: Piece, t: Floats) -> Floats:
        return self._branches[piece.branch](t)

    def sum(self, g: Callable[[Floats], Floats]) -> float:
        """Return the sum of g(f(t)) over t < T."""
        return self._sum(g, len(self._first), len(self._pieces))

    def _sum(self, g: Callable[[Floats], Floats], steps: int, whole: int) -> float:
        values = np.concatenate([self._first[:steps], *self._values[:whole]])
        weights = np.concatenate([np.ones(steps), *self._weights[:whole]])
        return float(weights @ g(values))

    def sum_below(self, g: Callable[[Floats], Floats], level: float) -> tuple[float, int]:
        """Return the sum of g(f(t)) over the steps with f(t) < level, and how many there are.

        They are the first ones. g may have a kink at the level.
        """
        steps = int(np.searchsorted(self._first, level))
        if steps < len(self._first) or not self._pieces:
            return self._sum(g, steps, 0), steps
        last = int(np.searchsorted(self._starts, level)) - 1
        if last < 0:
            return self._sum(g, steps, 0), steps
        piece = self._pieces[last]
        stop = self._first_at_least(piece, level)
        total = self._sum(g, steps, last)
        t, weights = piece_rule(piece.start, stop)
        return total + float(weights @ g(self._on(piece, t))), stop

    def _first_at_least(self, piece: Piece, level: float) -> int:
        """Return the first step of a piece at which f is at least `level`, or its end."""
        low, high = piece.start, piece.stop  # f < level at low
        while high - low > 1:
            steps = np.unique(np.linspace(low, high, 65)[1:-1].astype(np.int64))
            steps = steps[(steps > low) & (steps < high)]
            if not len(steps):
                steps = np.array([low + 1])
            reached = self._on(piece, steps.astype(float)) >= level
            first = int(reached.argmax()) if reached.any() else len(steps)
            low = int(steps[first - 1]) if first > 0 else low
            high = int(steps[first]) if first < len(steps) else high
        return high


def piece_rule(start: int, stop: int) -> tuple[Floats, Floats]:
    """Return times and weights for a sum over start, ..., stop - 1."""
    if stop - start < _SHORT:
        return np.arange(start, stop, dtype=float), np.ones(stop - start)
    half = (stop - start + 1) / 2
    x, to_series = _chebyshev()
    edge = 1.0 - 0.5 / half  # half a step inside of [start - 1, stop]
    sums = _antiderivative(np.eye(_NODES), half)
    weights = (chebyshev.chebval(edge, sums) - chebyshev.chebval(-edge, sums)) @ to_series
    return (start - 1 + stop) / 2 + half * x, weights


class RunningSum:
    """S(t) = sum_{s < t} of the smallest of several functions, for t from 0 to T.

    Between whole numbers from `ONE_BY_ONE` on it is smooth, but at `breaks`.
    """

    breaks: tuple[int, ...]

    def __init__(self, T: int, branches: Sequence[Branch]) -> None:
        steps = np.arange(min(T, ONE_BY_ONE), dtype=float)
        smallest = np.min([branch(steps) for branch in branches], axis=0)
        self._first = np.concatenate([[0.0], np.cumsum(smallest)])
        self._series: list[tuple[float, float, float, Floats]] = []
        total, starts = float(self._first[-1]), []
        x, to_series = _chebyshev()
        for start, stop, branch in pieces(T, branches):
            middle, half = (start - 1 + stop) / 2, (stop - start + 1) / 2
            values = branches[branch](middle + half * x)
            sums = _antiderivative(to_series @ values, half)
            edge = 1.0 - 0.5 / half
            before = total - float(chebyshev.chebval(-edge, sums))
            self._series.append((middle, half, before, sums))
            starts.append(start)
            total = before + float(chebyshev.chebval(edge, sums))
        self.breaks = tuple(starts)

    def __call__(self, t: Floats) -> Floats:
        """Return S at times of one piece, a step before and after it included: a `Branch`."""
        middle = (t[0] + t[-1]) / 2
        if middle < ONE_BY_ONE:
            return np.asarray(self._first[t.astype(np.int64)])
        return self._at(int(np.searchsorted(self.breaks, middle, side="right")) - 1, t)

    def at(self, t: Floats) -> Floats:
        """Return S at whole t, from 0 to T."""
        out = np.empty(t.shape)
        # S(t) is known to the piece that holds the step t - 1.
        which = np.searchsorted(self.breaks, t - 1.0, side="right") - 1
        for i in np.unique(which):
            here = which == i
            early = i < 0
            out[here] = self._first[t[here].astype(np.int64)] if early else self._at(i, t[here])
        return out

    def _at(self, i: int, t: Floats) -> Floats:
        middle, half, before, sums = self._series[i]
        return np.asarray(before + chebyshev.chebval((t - 0.5 - middle) / half, sums))


@lru_cache(maxsize=1)
def _chebyshev() -> tuple[Floats, Floats]:
    """Return the nodes on [-1, 1], and the matrix from values at them to a series."""
    x = chebyshev.chebpts1(_NODES)
    return x, np.asarray(np.linalg.inv(chebyshev.chebvander(x, _NODES - 1)), np.float64)


def _antiderivative(series: Floats, half: float) -> Floats:
    """Return the series of F - f' / 24 + 7 f''' / 5760, along the first axis."""
    sums = half * chebyshev.chebint(series)
    first = chebyshev.chebder(series) / (24.0 * half)
    third = chebyshev.chebder(series, 3) * (7.0 / (5760.0 * half**3))
    sums[: len(first)] -= first
    sums[: len(third)] += third
    return np.asarray(sums)
