"""Thompson sampling in vectorised NumPy: what one would write, and a fair baseline.

The covariance is updated by Sherman and Morrison's formula; a model is drawn by its Cholesky
factor; the scores are one matrix-vector product.
"""

import numpy as np

from bench.numpy_es import Floats


def numpy_ts(actions: Floats, prior_var: float, noise: float, T: int, seed: int) -> float:
    """Play T steps. Return the cumulative regret."""
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    values = actions @ (np.sqrt(prior_var) * rng.standard_normal(d))
    best = values.max()
    mean, covariance = np.zeros(d), prior_var * np.eye(d)
    regret = 0.0
    for _ in range(T):
        model = mean + np.linalg.cholesky(covariance) @ rng.standard_normal(d)
        arm = int(np.argmax(actions @ model))
        a = actions[arm]
        reward = values[arm] + noise * rng.standard_normal()
        spread = covariance @ a
        gain = spread / (noise**2 + a @ spread)
        mean += gain * (reward - a @ mean)
        covariance -= np.outer(gain, spread)
        regret += best - values[arm]
    return regret
