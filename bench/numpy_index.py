"""Greedy and LinUCB in vectorised NumPy: what one would write, and a fair baseline."""

import numpy as np

from bench.numpy_es import Floats


def numpy_index(actions: Floats, alpha: float, T: int, seed: int) -> float:
    """Play T steps of LinUCB under a standard normal prior. Return the cumulative regret.

    With alpha = 0 it is greedy. Variances of all arms are kept and updated, at O(K d) a step.
    """
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    values = actions @ rng.standard_normal(d)
    best = values.max()
    mean, covariance = np.zeros(d), np.eye(d)
    variances = np.square(actions).sum(axis=1)
    regret = 0.0
    for _ in range(T):
        scores = actions @ mean
        if alpha > 0:
            scores += alpha * np.sqrt(np.maximum(variances, 0.0))
        arm = int(np.argmax(scores))
        a = actions[arm]
        spread = covariance @ a
        gain = spread / (1.0 + a @ spread)
        mean += gain * (values[arm] + rng.standard_normal() - a @ mean)
        if alpha > 0:
            variances -= np.square(actions @ spread) / (1.0 + a @ spread)
        covariance -= np.outer(gain, spread)
        regret += best - values[arm]
    return regret
