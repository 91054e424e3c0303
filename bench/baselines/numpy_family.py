"""Ensemble++ and perturbed history in NumPy and BLAS, updated in place."""

import numpy as np
from scipy.linalg.blas import dger

from bench.baselines import Floats, Played


def ensemble_plus_plus(actions: Floats, M: int, T: int, seed: int) -> Played:
    """Play T steps, weights and perturbations on the sphere; O(K d + M d) each.

    All random vectors are drawn and scaled before the loop, in one call each.
    """
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    noise = rng.standard_normal(T)
    zeta, w = rng.standard_normal((2, T, M))
    zeta /= np.linalg.norm(zeta, axis=1)[:, None]
    w *= np.sqrt(M) / np.linalg.norm(w, axis=1)[:, None]
    xi = rng.standard_normal((M, d))
    mean, covariance = np.zeros(d), np.eye(d, order="F")
    scores, mixed, z, spread = np.empty(K), np.empty(d), np.empty(d), np.empty(d)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        np.dot(zeta[t], xi, out=mixed)
        np.dot(covariance, mixed, out=z)
        z += mean
        np.dot(actions, z, out=scores)
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        a = actions[arm]
        dger(1.0, a, w[t], a=xi.T, overwrite_a=True)
        np.dot(covariance, a, out=spread)
        scale = 1.0 / (1.0 + a @ spread)
        mean += (scale * (reward - a @ mean)) * spread
        dger(-scale, spread, spread, a=covariance, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    return Played(regret, arms, rewards, mean, covariance, mean + xi @ covariance)


def perturbed_history(actions: Floats, T: int, seed: int) -> Played:
    """Play T steps of normal perturbations; O(K d) each.

    n plays of an arm are one perturbation times sqrt(n): a normal for each arm, one more product.
    """
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    values = actions @ rng.standard_normal(d)
    noise = rng.standard_normal(T)
    mean, covariance = np.zeros(d), np.eye(d, order="F")
    plays, roots = np.zeros(K), np.zeros(K)
    scores, weights, summed, z, spread = (np.empty(n) for n in (K, K, d, d, d))
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        rng.standard_normal(out=weights)
        weights *= roots
        np.dot(weights, actions, out=summed)
        np.dot(covariance, summed, out=z)
        z += mean
        np.dot(actions, z, out=scores)
        arms[t] = arm = scores.argmax()
        rewards[t] = reward = values[arm] + noise[t]
        plays[arm] += 1
        roots[arm] = np.sqrt(plays[arm])
        a = actions[arm]
        np.dot(covariance, a, out=spread)
        scale = 1.0 / (1.0 + a @ spread)
        mean += (scale * (reward - a @ mean)) * spread
        dger(-scale, spread, spread, a=covariance, overwrite_a=True)
    regret = T * values.max() - values[arms].sum()
    return Played(regret, arms, rewards, mean, covariance, z[None, :])
