"""Greedy and LinUCB in NumPy and BLAS, updated in place."""

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats, Played


def greedy_or_linucb(actions: Floats, alpha: float, T: int, seed: int) -> Played:
    """Play T steps of LinUCB, or of the greedy agent where alpha is 0; O(K d) each.

    Variances of all arms are kept and updated, which takes one more product with all arms.
    """
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    noise = rng.standard_normal(T)
    mean, covariance = np.zeros(d), np.eye(d, order="F")
    variances = np.square(actions).sum(axis=1)
    scores, falls, spread = np.empty(K), np.empty(K), np.empty(d)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        np.dot(actions, mean, out=scores)
        if alpha > 0:
            np.maximum(variances, 0.0, out=falls)
            np.sqrt(falls, out=falls)
            falls *= alpha
            scores += falls
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        a = actions[arm]
        np.dot(covariance, a, out=spread)
        scale = 1.0 / (1.0 + a @ spread)
        mean += (scale * (reward - a @ mean)) * spread
        if alpha > 0:
            np.dot(actions, spread, out=falls)
            np.square(falls, out=falls)
            falls *= scale
            variances -= falls
        dger(-scale, spread, spread, a=covariance, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    return Played(regret, arms, rewards, mean, covariance, mean[None, :])
