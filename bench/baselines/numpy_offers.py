"""Ensemble sampling in NumPy on action sets that change: all models updated in place by BLAS."""

from collections.abc import Callable

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats

Offer = Callable[[int, np.random.Generator], Floats]
"""Returns the arms on offer at step t, one a row."""


def fresh(K: int, d: int) -> Offer:
    """Return the offer of K arms drawn from the unit sphere at every step."""
    rows = np.empty((K, d))

    def offer(t: int, rng: np.random.Generator) -> Floats:
        rng.standard_normal(out=rows)
        np.divide(rows, np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None], out=rows)
        return rows

    return offer


def subset(pool: Floats, size: int) -> Offer:
    """Return the offer of a uniform subset of a pool at every step."""
    return lambda t, rng: pool[rng.choice(len(pool), size, replace=False, shuffle=False)]


def play_offers(offer: Offer, d: int, M: int, T: int, seed: int) -> float:
    """Play T steps on arms on offer. Return the regret."""
    rng = np.random.default_rng(seed)
    theta, regret = rng.standard_normal(d), 0.0
    update = _Models(M, d, T, rng)
    for t in range(T):
        rows = offer(t, rng)
        a = rows[(rows @ update.model(t)).argmax()]
        values = rows @ theta
        regret += values.max() - a @ theta
        update.learn(t, a, float(a @ theta))
    return regret


def play_ball(d: int, M: int, T: int, seed: int) -> float:
    """Play T steps on the unit ball. Return the regret."""
    rng = np.random.default_rng(seed)
    theta, regret = rng.standard_normal(d), 0.0
    update = _Models(M, d, T, rng)
    best = float(np.sqrt(theta @ theta))
    for t in range(T):
        z = update.model(t)
        a = z / np.sqrt(z @ z)
        value = float(a @ theta)
        regret += best - value
        update.learn(t, a, value)
    return regret


class _Models:
    """All models, and the covariance that their update needs, in place (numpy_es.in_place)."""

    def __init__(self, M: int, d: int, T: int, rng: np.random.Generator) -> None:
        self.rng, self.models = rng, rng.standard_normal((M, d))
        self.chosen, self.noise = rng.integers(M, size=T), rng.standard_normal(T)
        self.covariance, self.spread = np.eye(d, order="F"), np.empty(d)
        self.residuals, self.predicted = np.empty((2, M))

    def model(self, t: int) -> Floats:
        """Return the model that is read at step t."""
        return self.models[self.chosen[t]]

    def learn(self, t: int, a: Floats, value: float) -> None:
        """Update all models with the reward of an arm."""
        np.dot(self.covariance, a, out=self.spread)
        scale = 1.0 / (1.0 + a @ self.spread)
        self.rng.standard_normal(out=self.residuals)
        self.residuals += value + self.noise[t]
        np.dot(self.models, a, out=self.predicted)
        self.residuals -= self.predicted
        dger(scale, self.spread, self.residuals, a=self.models.T, overwrite_a=True)
        dger(-scale, self.spread, self.spread, a=self.covariance, overwrite_a=True)
