"""pbar_t, the law of an ensemble's action given the history alone, by a particle filter.

A particle is a whole ensemble, drawn afresh. Its weight is the probability that it would have
played what was played, prod_s phat_s(A_s), the rewards being those of the history. The weighted
mean of the particles' phat_t is pbar_t. Where weights become uneven particles are drawn again by
their weights; perturbations then tell copies apart, but never their initial models: after many
steps, or with few models, few of the first particles have descendants. The effective sample size
counts these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes import LinearBandit
from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.theory.optimal_action import exact_law_of_the_best, values_under

GROUPS = 8
"""Filters that know nothing of each other: their spread is the error."""

_DRAWS = 1 << 14  # for the law of the optimal action where it is not exact
_BLOCK = 1 << 22  # scores held at a time


class Filtered(NamedTuple):
    """What a particle filter found for one history.

    Attributes
    ----------
    pbar, p : (times, K') array
        The law of the action, and of the optimal action, over distinct arms.
    kl, hellinger_squared : (times,) array
        KL(pbar || p) and squared Hellinger distance. What the particles' and the draws' noise
        adds on average is taken off, to the first order. nan from where no particle could have
        played what was played.
    kl_se, hellinger_se : (times,) array
        Their errors from the filter, by the jackknife over groups.
    effective : (times,) array
        Effective number of first particles that have descendants.
    """

    pbar: Floats
    p: Floats
    kl: Floats
    hellinger_squared: Floats
    kl_se: Floats
    hellinger_se: Floats
    effective: Floats


def filter_history(
    bandit: LinearBandit,
    M: int,
    actions: NDArray[np.integer],
    rewards: Floats,
    times: NDArray[np.integer],
    particles: int = 4096,
    seed: int = 0,
) -> Filtered:
    """Return pbar_t, and how far it is from p_t, before steps of one run.

    Parameters
    ----------
    bandit : LinearBandit
        The problem.
    M : int
        Models of an ensemble.
    actions, rewards : (T,) array
        What was played, and what it paid.
    times : (times,) array
        Steps, from 0, increasing, at most T.
    particles : int
        Ensembles, at least 8 groups of 2.
    seed : int
        Of the particles.
    """
    M = numbers.integer("M", M, 1, numbers.MAX_SIZE)
    particles = numbers.integer("particles", particles, 2 * GROUPS, 1 << 24)
    o, b, kind = _distinct(bandit)
    rng = np.random.default_rng(seed)
    size = particles // GROUPS
    xi = rng.standard_normal((GROUPS * size, M, b.shape[1]))
    cloud = _Cloud(np.zeros((GROUPS, size)), np.arange(GROUPS * size))
    precision, information = np.eye(b.shape[1]), np.zeros(b.shape[1])
    found = []
    for t in range(int(times[-1]) + 1):
        covariance = np.asarray(np.linalg.inv(precision), np.float64)
        mu = covariance @ information
        shares = _shares(o + mu @ b.T, b @ covariance, xi)
        if t in times:
            law, draws = _law(o, b, mu, covariance, rng)
            found.append((*_compare(cloud, shares, law, draws), cloud.effective()))
        if t == times[-1]:
            break
        a = kind[actions[t]]
        with np.errstate(divide="ignore"):
            cloud.log_weights += np.log(shares[:, a]).reshape(GROUPS, size)
        xi = xi[cloud.drawn_again(rng)]
        xi += b[a] * rng.standard_normal((len(xi), M, 1))
        precision += np.outer(b[a], b[a])
        information += b[a] * (rewards[t] / bandit.noise - o[a])
    return Filtered(*(np.array(column) for column in zip(*found, strict=True)))


class _Cloud:
    """Weights of the particles, in groups, and from which first particle each comes."""

    def __init__(self, log_weights: Floats, ancestors: NDArray[np.int64]) -> None:
        self.log_weights, self.ancestors = log_weights, ancestors

    def weights(self) -> Floats:
        """Return the weights of all particles, 1 the largest; all 0 if none is left."""
        top = self.log_weights.max()
        if not np.isfinite(top):
            return np.zeros(self.log_weights.shape)
        return np.exp(self.log_weights - top)

    def effective(self) -> float:
        """Return (sum W)^2 / sum W^2 over first particles, W the weight of their descendants."""
        each = np.bincount(self.ancestors, self.weights().ravel())
        return float(each.sum() ** 2 / (each @ each)) if each.any() else 0.0

    def drawn_again(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw again the particles of each group whose weights have become uneven."""
        groups, size = self.log_weights.shape
        chosen = np.arange(groups * size).reshape(groups, size)
        for g in range(groups):
            top = self.log_weights[g].max()
            if not np.isfinite(top):
                continue
            w = np.exp(self.log_weights[g] - top)
            if w.sum() ** 2 >= 0.5 * size * (w @ w):
                continue
            points = (np.arange(size) + rng.uniform()) / size
            picked = np.searchsorted(np.cumsum(w) / w.sum(), points).clip(max=size - 1)
            chosen[g] = g * size + picked
            self.log_weights[g] = top + np.log(w.mean())
        self.ancestors = self.ancestors[chosen.ravel()]
        return chosen.ravel()


def _distinct(bandit: LinearBandit) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Return offsets and loadings of the distinct arms, and which of them each arm is.

    Arms that are equal share their probability in both laws: no divergence knows of them.
    """
    o, b = values_under(bandit, np.zeros(bandit.rank), np.eye(bandit.rank))
    rows, kind = np.unique(np.column_stack([o, b]), axis=0, return_inverse=True)
    return rows[:, 0], rows[:, 1:], kind.ravel()


def _shares(expected: Floats, loadings: Floats, xi: Floats) -> Floats:
    """Return phat of every particle, (particles, K'): how often each arm is a model's best."""
    n, M, _ = xi.shape
    K = len(expected)
    best = np.empty((n, M), np.int64)
    rows = max(1, _BLOCK // (M * K))
    for first in range(0, n, rows):
        here = slice(first, first + rows)
        best[here] = (expected + xi[here] @ loadings.T).argmax(axis=2)
    counts = np.bincount((best + K * np.arange(n)[:, None]).ravel(), minlength=n * K)
    return counts.reshape(n, K) / M


def _law(
    o: Floats, b: Floats, mu: Floats, covariance: Floats, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Return p_t and of how many draws it is, infinitely many where it is exact."""
    expected, loadings = o + b @ mu, b @ np.linalg.cholesky(covariance)
    K, r = loadings.shape
    exact = exact_law_of_the_best(expected, loadings) if K <= 2 or r <= 2 or K <= r + 1 else None
    if exact is not None:
        return exact.probabilities, np.inf
    counts = np.zeros(K)
    rows = max(1, _BLOCK // K)
    for first in range(0, _DRAWS, rows):
        draws = rng.standard_normal((min(rows, _DRAWS - first), r))
        counts += np.bincount((expected + draws @ loadings.T).argmax(axis=1), minlength=K)
    return smoothed(counts, _DRAWS), _DRAWS


def smoothed(counts: Floats, draws: float) -> Floats:
    """Return a law from counts in a number of draws, positive everywhere."""
    return (counts + 0.5) / (draws + 0.5 * len(counts))


def _compare(
    cloud: _Cloud, shares: Floats, p: Floats, draws: float
) -> tuple[Floats, Floats, float, float, float, float]:
    """Return pbar, p, both divergences with their bias taken off, and their errors."""
    weights = cloud.weights()
    groups, size = weights.shape
    sums = np.einsum("gn,gnk->gk", weights, shares.reshape(groups, size, -1))
    if not sums.any():
        return (np.full(len(p), np.nan), p, *(np.nan,) * 4)
    whole = sums.sum(axis=0)
    values = _divergences(whole, p, draws)
    without = np.array([_divergences(whole - each, p, draws) for each in sums])
    values = groups * values - (groups - 1) * without.mean(axis=0)
    error = np.sqrt((groups - 1) * without.var(axis=0))
    return whole / whole.sum(), p, values[0], values[1], error[0], error[1]


def _divergences(sums: Floats, p: Floats, draws: float) -> Floats:
    """Return KL(q || p) and Hellinger^2, q in proportion to `sums`, less the noise of p.

    `smoothed` frequencies in n draws have E log p_a = log p_a - (K - 1) / (2 n), the same for all
    arms, and E sqrt p_a = sqrt p_a (1 - (2 K - 1 - 1 / p_a) / (8 n)), both to the first order.
    """
    total = sums.sum()
    if not total > 0:
        return np.full(2, np.nan)
    q = sums / total
    played = q > 0
    with np.errstate(divide="ignore"):
        kl = float((q[played] * np.log(q[played] / p[played])).sum())
    hellinger = float(np.square(np.sqrt(q) - np.sqrt(p)).sum())
    if np.isfinite(draws):
        K = len(p)
        kl -= (K - 1) / (2 * draws)
        hellinger -= float(np.sqrt(p * q) @ (2 * K - 1 - 1 / p)) / (4 * draws)
    return np.array([kl, hellinger])
