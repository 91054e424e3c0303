"""Ensemble sampling on clicks in NumPy: perturbed modes, of which a step finds two.

All M models take in a perturbation at every step, xi += sqrt(v) W b, in place by BLAS. What is
solved, by Newton's method on the distinct arms played so far, is the model that is read and the
mode of the data: each from where it is likely to be, the mode of the step before.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dger
from scipy.special import expit

from bench.baselines import Floats, Played


def mode(rows: Floats, n: Floats, target: Floats, start: Floats) -> tuple[Floats, Floats, Floats]:
    """Return z with z + sum n p b = target, p = 1 / (1 + exp(-b'z)), and p and H there."""
    z, d = start, len(start)
    for _ in range(100):
        p = expit(rows @ z)
        gap = target - z - (n * p) @ rows
        H = (rows.T * (n * p * (1.0 - p))) @ rows
        H.flat[:: d + 1] += 1.0
        if np.abs(gap).max() <= 1e-9:
            break
        z = z + cho_solve(cho_factor(H, check_finite=False), gap, check_finite=False)
    return z, p, H


def perturbed_modes(actions: Floats, M: int, T: int, seed: int) -> Played:
    """Play T steps, at O(M d) each, with M normals, and two modes."""
    rng = np.random.default_rng(seed)
    K, d = actions.shape
    means = expit(actions @ rng.standard_normal(d))
    xi = rng.standard_normal((M, d))
    chosen, uniforms = rng.integers(M, size=T), rng.random(T)
    slot, slots = np.full(K, -1), 0
    rows, n = np.empty((min(K, T), d)), np.zeros(min(K, T))
    paid, center, H = np.zeros(d), np.zeros(d), np.eye(d)
    perturbations, z = np.empty(M), np.empty(d)
    arms, rewards = np.empty(T, np.int64), np.empty(T)
    for t in range(T):
        z, _, _ = mode(rows[:slots], n[:slots], paid + xi[chosen[t]], center)
        arms[t] = arm = (actions @ z).argmax()
        rewards[t] = reward = float(uniforms[t] < means[arm])
        if slot[arm] < 0:
            slot[arm], rows[slots] = slots, actions[arm]
            slots += 1
        n[slot[arm]] += 1.0
        paid += reward * actions[arm]
        center, p, H = mode(rows[:slots], n[:slots], paid, center)
        p_arm = p[slot[arm]]
        rng.standard_normal(out=perturbations)
        root = np.sqrt(p_arm * (1.0 - p_arm))
        dger(root, actions[arm], perturbations, a=xi.T, overwrite_a=True)
    regret = T * means.max() - means[arms].sum()
    covariance = np.asarray(np.linalg.inv(H), np.float64)
    return Played(regret, arms, rewards, center, covariance, xi)
