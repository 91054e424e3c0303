"""Ensemble sampling in NumPy and BLAS: two ways to keep all models up to date.

`in_place`: the paper's equation, every model updated at every step by one rank-one update that BLAS
does in place. `in_blocks`: models in information space, xi += W b, which need no prediction; the
perturbations of a block of steps are drawn at once and added by one matrix product at its end,
while a model that is read in between takes in its own part of them. Neither allocates in its loop,
and what no step depends on (models, noise) is drawn before it.
"""

import numpy as np
from scipy.linalg.blas import dgemm, dger

from bench.baselines import Floats, Played


def in_place(actions: Floats, M: int, T: int, seed: int) -> Played:
    """Play T steps, at O(M d) each, with M normals."""
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    models = rng.standard_normal((M, d))
    chosen, noise = rng.integers(M, size=T), rng.standard_normal(T)
    mean, covariance = np.zeros(d), np.eye(d, order="F")
    scores, spread = np.empty(K), np.empty(d)
    residuals, predicted = np.empty((2, M))
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        np.dot(actions, models[chosen[t]], out=scores)
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        a = actions[arm]
        np.dot(covariance, a, out=spread)
        scale = 1.0 / (1.0 + a @ spread)
        # models += outer(reward + w - models a, scale * spread)
        rng.standard_normal(out=residuals)
        residuals += reward
        np.dot(models, a, out=predicted)
        residuals -= predicted
        dger(scale, spread, residuals, a=models.T, overwrite_a=True)
        mean += (scale * (reward - a @ mean)) * spread
        dger(-scale, spread, spread, a=covariance, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    return Played(regret, arms, rewards, mean, covariance, models)


def in_blocks(actions: Floats, M: int, T: int, seed: int, block: int = 32) -> Played:
    """Play T steps, at O(M d) each in a matrix product, with M normals."""
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    xi = rng.standard_normal((M, d))
    chosen, noise = rng.integers(M, size=T), rng.standard_normal(T)
    mean, covariance = np.zeros(d), np.eye(d, order="F")
    scores, spread, z = np.empty(K), np.empty(d), np.empty(d)
    perturbations, played = np.empty((M, block)), np.zeros((block, d))
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        since = t % block
        if since == 0:
            if t > 0:
                add_block(xi, perturbations, played)
            rng.standard_normal(out=perturbations)
        m = chosen[t]
        np.dot(covariance, xi[m] + perturbations[m, :since] @ played[:since], out=z)
        z += mean
        np.dot(actions, z, out=scores)
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        played[since] = a = actions[arm]
        np.dot(covariance, a, out=spread)
        scale = 1.0 / (1.0 + a @ spread)
        mean += (scale * (reward - a @ mean)) * spread
        dger(-scale, spread, spread, a=covariance, overwrite_a=True)
    if T > 0:
        last = (T - 1) % block + 1
        add_block(xi, perturbations[:, :last], played[:last])
    regret = T * values.max() - values[arms].sum()
    return Played(regret, arms, rewards, mean, covariance, mean + xi @ covariance)


def add_block(xi: Floats, perturbations: Floats, played: Floats) -> None:
    """xi += perturbations @ played, in place: BLAS counts by columns, so all are turned."""
    dgemm(1.0, played.T, perturbations.T, beta=1.0, c=xi.T, overwrite_c=True)
