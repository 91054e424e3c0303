"""pbar_t, the law of the action given the history, without sampling: small problems only.

Given the history, the reads s_1 < s_2 < ... of one model are normal together: the model is an
affine function of its initial draw and perturbations. The event that it chose what was played at
each is an intersection of half-spaces, of which SciPy has the normal probability. Models are
independent, and who was read when is a partition of the steps into at most M blocks:

    P(actions of steps 0, ..., t | rewards) = sum over partitions of M (M - 1) ... / M^(t + 1)
                                              times prod over blocks P(its reads chose these).
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from scipy.stats import multivariate_normal

import fastes


def partitions(n: int, most: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield the partitions of 0, ..., n - 1 into at most `most` blocks."""
    if n == 0:
        yield ()
        return
    for blocks in partitions(n - 1, most):
        for i in range(len(blocks)):
            yield (*blocks[:i], (*blocks[i], n - 1), *blocks[i + 1 :])
        if len(blocks) < most:
            yield (*blocks, (n - 1,))


def laws(bandit: fastes.LinearBandit, M: int, actions: np.ndarray, rewards: np.ndarray):
    """Return pbar_t for t = 0, ..., T, (T + 1, K), given a history of T steps.

    Cost: the normal probabilities of K 2^T intersections of up to (K - 1)(T + 1) half-spaces.
    """
    T, K = len(actions), bandit.K
    means, roots = models(bandit, actions, rewards)

    @cache
    def chosen(reads: tuple[int, ...], arms: tuple[int, ...]) -> float:
        """Return the probability that a model chooses these arms at these reads."""
        rises = [
            (t, bandit.actions[arm] - bandit.actions[other])
            for t, arm in zip(reads, arms, strict=True)
            for other in range(K)
            if other != arm
        ]
        offset = np.array([rise @ means[t] for t, rise in rises])
        slope = np.array([rise @ roots[t] for t, rise in rises])
        scale = np.linalg.norm(slope, axis=1)
        if len(rises) == 1:
            return float(multivariate_normal.cdf(offset[0] / scale[0]))
        slope, offset = slope / scale[:, None], offset / scale
        law = multivariate_normal(
            *(np.zeros(len(offset)), slope @ slope.T, True),
            **{"maxpts": 4000 * len(offset), "abseps": 1e-4, "releps": 1e-4},
        )
        return float(law.cdf(offset, rng=np.random.default_rng(0)))

    found = np.empty((T + 1, K))
    for t in range(T + 1):
        for arm in range(K):
            played = (*actions[:t].tolist(), arm)
            total = 0.0
            for blocks in partitions(t + 1, M):
                weight = np.prod([(M - i) / M for i in range(len(blocks))])
                weight /= float(M) ** (t + 1 - len(blocks))
                probabilities = [chosen(b, tuple(played[s] for s in b)) for b in blocks]
                total += weight * float(np.prod(probabilities))
            found[t, arm] = total
    return found / found.sum(axis=1, keepdims=True)


def models(bandit: fastes.LinearBandit, actions: np.ndarray, rewards: np.ndarray):
    """Return mu_t, and L_t with Sigma_t = L_t L_t': a model is mu_t + L_t X, X standard normal.

    X holds the initial draw and a perturbation for each step.
    """
    T, d, noise = len(actions), bandit.d, bandit.noise
    cov = (
        np.broadcast_to(bandit.prior_cov, (d, d))
        if np.ndim(bandit.prior_cov) == 2
        else (np.diag(np.broadcast_to(bandit.prior_cov, d)))
    )
    initial = np.linalg.cholesky(cov)
    precision = np.linalg.inv(cov)
    information = precision @ np.broadcast_to(bandit.prior_mean, d)
    walk = np.zeros((d, d + T))
    walk[:, :d] = precision @ initial
    means, roots = [], []
    for t in range(T + 1):
        sigma = np.linalg.inv(precision)
        means.append(sigma @ information)
        roots.append(sigma @ walk)
        if t < T:
            row = bandit.actions[actions[t]]
            precision = precision + np.outer(row, row) / noise**2
            information = information + row * rewards[t] / noise**2
            walk[:, d + t] = row / noise
    return means, roots
