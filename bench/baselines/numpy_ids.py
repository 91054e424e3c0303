"""Variance-based information-directed sampling in NumPy and BLAS, with what can be done in place.

A step draws its models by one product with the root of the covariance (numpy_ts.py has its update),
scores all arms under all of them by another, and sums models by their best arm with `bincount`, a
coordinate at a time. The two arms to play from are the best of all pairs, in one array.
"""

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats, Played
from bench.baselines.numpy_ts import shrinkage


def in_place(actions: Floats, samples: int, T: int, seed: int) -> Played:
    """Play T steps, at O(samples K d + K^2) each."""
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    values = actions @ rng.standard_normal(d)
    noise, uniforms = rng.standard_normal(T), rng.random(T)
    mean, root = np.zeros(d), np.eye(d, order="F")
    room = Room(actions, samples)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        delta, v = room.regret_and_information(mean, root, rng)
        first, second, q = room.best_pair(delta, v)
        arms[t] = arm = second if uniforms[t] < q else first
        rewards[t] = reward = values[arm] + noise[t]
        a = actions[arm]
        w = root.T @ a
        spread = root @ w
        square = float(w @ w)
        mean += ((reward - a @ mean) / (1.0 + square)) * spread
        dger(-shrinkage(square), spread, w, a=root, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    another = (mean + root @ rng.standard_normal(d))[None, :]
    return Played(regret, arms, rewards, mean, root @ root.T, another)


class Room:
    """The arrays that a step writes to."""

    def __init__(self, actions: Floats, samples: int) -> None:
        K, d = actions.shape
        self.actions, self.samples = actions, samples
        self.normals, self.z = np.empty((d, samples)), np.empty((d, samples))
        self.scores, self.sums = np.empty((samples, K)), np.empty((K, d))
        self.pairs = [np.empty((K, K)) for _ in range(5)]

    def regret_and_information(
        self, mean: Floats, root: Floats, rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Return Delta and v of every arm, from fresh draws of the posterior."""
        actions, n = self.actions, self.samples
        rng.standard_normal(out=self.normals)
        np.dot(root, self.normals, out=self.z)
        self.z += mean[:, None]
        np.dot(self.z.T, actions.T, out=self.scores)
        best, sums = self.scores.argmax(axis=1), self.sums
        for j in range(len(mean)):
            sums[:, j] = np.bincount(best, self.z[j], len(actions))
        counts = np.bincount(best, minlength=len(actions))
        m = sums.sum(axis=0) / n
        of_the_best = np.einsum("ij,ij->", actions, sums) / n
        seen = counts > 0
        share = counts[seen] / n
        apart = actions @ (sums[seen] / counts[seen, None] - m).T
        np.square(apart, out=apart)
        return np.maximum(of_the_best - actions @ m, 0.0), apart @ share

    def best_pair(self, delta: Floats, v: Floats) -> tuple[int, int, float]:
        """Return two arms, and the probability of the second, of the least Delta^2 / v."""
        low = int(delta.argmin())
        if delta[low] <= 0.0 or not v.max() > 0.0:
            return low, low, 0.0
        more, rise, q, top, bottom = self.pairs
        np.subtract(delta[None, :], delta[:, None], out=more)
        np.subtract(v[None, :], v[:, None], out=rise)
        with np.errstate(all="ignore"):
            np.divide(delta[:, None], more, out=q)
            np.divide(2.0 * v[:, None], rise, out=top)
            q -= top
            np.nan_to_num(q, copy=False, nan=0.0)
            np.clip(q, 0.0, 1.0, out=q)
            np.multiply(q, more, out=top)
            top += delta[:, None]
            np.multiply(q, rise, out=bottom)
            bottom += v[:, None]
            np.square(top, out=top)
            top /= bottom
        i, j = divmod(int(np.nanargmin(top)), len(delta))
        return i, j, float(q[i, j])
