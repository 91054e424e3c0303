"""Ensemble sampling in vectorised NumPy: what one would write, and a fair baseline.

All M models are updated every step by one outer product; the covariance by Sherman and
Morrison's formula; the scores by one matrix-vector product.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def numpy_es(
    actions: Floats, prior_var: float, noise: float, M: int, T: int, seed: int
) -> tuple[float, Floats]:
    """Play T steps. Return the cumulative regret and the models at the end."""
    rng = np.random.default_rng(seed)
    d = actions.shape[1]
    theta = np.sqrt(prior_var) * rng.standard_normal(d)
    values = actions @ theta
    best = values.max()
    covariance = prior_var * np.eye(d)
    models = np.sqrt(prior_var) * rng.standard_normal((M, d))
    regret = 0.0
    for _ in range(T):
        arm = int(np.argmax(actions @ models[rng.integers(M)]))
        a = actions[arm]
        reward = values[arm] + noise * rng.standard_normal()
        spread = covariance @ a
        gain = spread / (noise**2 + a @ spread)
        perturbed = reward + noise * rng.standard_normal(M)
        models += np.outer(perturbed - models @ a, gain)
        covariance -= np.outer(gain, spread)
        regret += best - values[arm]
    return regret, models
