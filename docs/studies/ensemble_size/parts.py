"""What is simulated, as data: problems by part, with the sizes, horizons and runs of each.

An agent does not know its horizon. So a problem is simulated once, to the longest of its
horizons, and the shorter ones are read on the way.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import fastes

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)

VARIANTS: dict[str, dict[str, Any]] = {
    "es": {"agent": ["es", "ts"]},
    "symmetric": {"agent": "es", "symmetric": True},
    "es++": {"agent": "es++"},
    "inflated": {"agent": "ts", "inflation": [0.6, 0.7, 0.8, 0.9, 1.1]},
}
"""Words of a study for each kind of agent. Thompson sampling comes with ensemble sampling."""

ENSEMBLES = ("es", "symmetric", "es++")
POINTS = 100


@dataclass(frozen=True)
class Problem:
    """A problem, and what is to be simulated on it.

    Attributes
    ----------
    part, name : str
        The part of the study, and the name of the problem, which is that of its files.
    d : int
        Dimension.
    K : int or None
        Number of arms; None on a ball.
    sizes : tuple of int
        Numbers of models.
    horizons : tuple of int
        Where regret is read.
    runs : int
        Runs of each setting, at scale 1.
    words : mapping
        Of a study: what the arms are.
    given : callable, optional
        Returns the bandit, in the place of words.
    variants : tuple of str
        Kinds of agents, of `VARIANTS`.
    """

    part: str
    name: str
    d: int
    K: int | None
    sizes: tuple[int, ...]
    horizons: tuple[int, ...]
    runs: int
    words: Mapping[str, Any] = field(default_factory=dict)
    given: Callable[[], fastes.LinearBandit] | None = None
    variants: tuple[str, ...] = ENSEMBLES

    def study(self, variant: str, scale: float) -> fastes.Study:
        """Return the study of one kind of agent."""
        words = {**VARIANTS[variant], **self.words, "T": max(self.horizons), "points": POINTS}
        if variant != "inflated":
            words["M"] = list(self.sizes)
        if self.given is not None:
            words["problem"] = self.given()
        return fastes.Study(**words, runs=max(2, math.ceil(scale * self.runs)))


def between(low: float, high: float) -> tuple[int, ...]:
    """Return the sizes from low to high."""
    return tuple(M for M in SIZES if low <= M <= high)


def dimension() -> list[Problem]:
    """Return balls and finite sets of growing dimension, with horizons 100 d and 10 d^2."""
    found = []
    runs = {2: 4000, 5: 2000, 10: 1000, 20: 500, 50: 200, 100: 50}
    for d, n in runs.items():
        ball = {"arms": "ball", "d": d}
        horizons = tuple(sorted({100 * d, 10 * d * d}))
        sizes = between(d / 4, 8 * d)
        found.append(Problem("dimension", f"ball-d{d}", d, None, sizes, horizons, n, ball))
        K = 20 * d
        finite = {"K": K, "d": d, "redraw": "run"}
        sizes = between(d / 10, 6 * d)
        name = f"sphere-d{d}"
        found.append(Problem("dimension", name, d, K, sizes, (100 * d,), max(n, 100), finite))
    return found


def arms() -> list[Problem]:
    """Return sets of growing number in ten dimensions, and the ball.

    Up to 10^4 arms every run has its own. More are drawn once: two such sets hardly differ.
    """
    found = []
    sizes = between(2, 96)
    for K in (10, 30, 100, 1000, 10_000):
        words = {"K": K, "d": 10, "redraw": "run"}
        n = 500 if K == 10_000 else 2000
        found.append(Problem("arms", f"K{K}", 10, K, sizes, (1000, 10_000), n, words))
    for K, n in ((10**5, 150), (10**6, 60)):
        found.append(Problem("arms", f"K{K}", 10, K, sizes, (1000,), n, {"K": K, "d": 10}))
    ball = {"arms": "ball", "d": 10}
    found.append(Problem("arms", "ball", 10, None, sizes, (1000, 10_000), 2000, ball))
    return found


def horizon() -> list[Problem]:
    """Return one problem with finitely many arms and the ball, over a thousand to one in T."""
    sizes = between(2, 256)
    times = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
    finite = {"K": 100, "d": 10, "redraw": "run"}
    ball = {"arms": "ball", "d": 10}
    return [
        Problem("horizon", "K100", 10, 100, sizes, times, 800, finite),
        Problem("horizon", "ball", 10, None, sizes, times, 200, ball),
    ]


def hard() -> list[Problem]:
    """Return the problems of Theorem D: every M has its own."""
    found = []
    times = (300, 1000, 3000, 10_000, 30_000)
    for K, n, most in ((11, 2000, 384), (41, 500, 768)):
        for M in between(K, most):
            name = f"K{K}-M{M}"
            made = _hard(K, M)
            found.append(Problem("hard", name, K - 1, K, (M,), times, n, given=made))
    return found


def _hard(K: int, M: int) -> Callable[[], fastes.LinearBandit]:
    return lambda: fastes.LinearBandit.hard_for_ensembles(K, M)


def dip() -> list[Problem]:
    """Return the problem on which ensembles do better than Thompson sampling, with TS shrunk."""
    words = {"K": 100, "d": 10, "redraw": "run"}
    times = (30, 100, 300, 1000, 3000, 10_000, 30_000)
    kinds = ("es", "symmetric", "inflated")
    sizes = (8, 16, 32, 64, 256)
    return [Problem("dip", "K100", 10, 100, sizes, times, 2000, words, variants=kinds)]


PARTS = {part.__name__: part for part in (dimension, arms, horizon, hard, dip)}
