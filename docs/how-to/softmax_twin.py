"""The slow twin of softmax.py: plain NumPy in the user's coordinates, nothing shared but U."""

import numpy as np
from numpy.typing import NDArray

from fastes import LinearBandit, Result
from fastes.agents.authoring import FIRST_OWN, Source, fill_uniform_rows


def twin_arms(
    bandit: LinearBandit, temperature: float, result: Result, run: int
) -> NDArray[np.int64]:
    """Return the arm that softmax exploration plays at each step of a run, computed anew.

    The prior must be N(0, c I). `result` tells what was played and paid before each step.
    """
    arms, sigma = bandit.actions, bandit.noise
    uniforms = np.empty((result.configuration.T, bandit.K))
    source = Source(np.uint64(result.configuration.seed), np.uint64(run))
    fill_uniform_rows(source, FIRST_OWN, uniforms)
    precision = np.eye(bandit.d) / bandit.prior_cov
    response = np.zeros(bandit.d)
    found = []
    for t, (arm, reward) in enumerate(zip(result.actions[run], result.rewards[run], strict=True)):
        means = arms @ np.linalg.solve(precision, response) / sigma
        found.append(np.argmax(means - temperature * np.log(-np.log(uniforms[t]))))
        precision += np.outer(arms[arm], arms[arm]) / sigma**2
        response += arms[arm] * reward / sigma**2
    return np.array(found)
