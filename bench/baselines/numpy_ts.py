"""Thompson sampling in NumPy and BLAS, with a root of the covariance kept by rank-one updates.

S = R R'. With w = R'a the covariance after one more reward is R (I - w w' / (1 + w'w)) R', and
I - w w' / (1 + w'w) is the square of I - b w w', b = (1 - 1 / sqrt(1 + w'w)) / w'w: so R becomes
R - b (R w) w'. No Cholesky factor is ever computed, and a step takes four products with R.
"""

import math

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats, Played


def in_place(actions: Floats, T: int, seed: int) -> Played:
    """Play T steps, at O(K d + d^2) each."""
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    noise = rng.standard_normal(T)
    mean, root = np.zeros(d), np.eye(d, order="F")
    scores, z, w, spread = np.empty(K), np.empty(d), np.empty(d), np.empty(d)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        np.dot(root, rng.standard_normal(d), out=z)
        z += mean
        np.dot(actions, z, out=scores)
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        a = actions[arm]
        np.dot(root.T, a, out=w)
        np.dot(root, w, out=spread)
        square = float(w @ w)
        mean += ((reward - a @ mean) / (1.0 + square)) * spread
        dger(-shrinkage(square), spread, w, a=root, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    another = (mean + root @ rng.standard_normal(d))[None, :]
    return Played(regret, arms, rewards, mean, root @ root.T, another)


def shrinkage(square: float) -> float:
    """Return (1 - 1 / sqrt(1 + x)) / x, which is 1 / (1 + x + sqrt(1 + x)), and 1/2 at 0."""
    return 1.0 / (1.0 + square + math.sqrt(1.0 + square))
