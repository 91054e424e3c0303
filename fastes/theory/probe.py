"""One look at an agent in some state: what it would play, what is best, and how they differ.

phat_t, the law of the action given the agent's whole state, is compared with p_t, the law of the
optimal action. It is not the paper's pbar_t, which conditions on the history alone: for an
ensemble pbar_t = E[phat_t | H_t], for other agents both are the same (docs/theory.md).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents import Agent
from fastes.agents.best_arms import BLOCK, BestArmCounts, draw_posterior_models, with_root
from fastes.checks.arrays import Floats
from fastes.kernels.diagnostics.best_of_models import values_of_arm
from fastes.kernels.diagnostics.mutual_information import bins_of, information, points_of
from fastes.kernels.streams.philox import Source
from fastes.problem.bandit import LinearBandit
from fastes.results.diagnostics import Measurements
from fastes.theory.measures import entropy, kl
from fastes.theory.optimal_action import exact_law_of_the_best, values_under

_AFFORDABLE = 1 << 26  # multiply-adds: a twentieth of a second
_LEAST_SPREAD = 4.0  # of values, in units of the noise: two draws a unit for each best arm


def probe(
    bandit: LinearBandit,
    agent: Agent,
    state: Any,
    source: Source,
    t: int,
    means: Floats,
    samples: int,
) -> Measurements:
    """Return the figures of an agent's state before step t, changing nothing.

    `means` are the true mean rewards in units of the noise.
    """
    posterior = with_root(state.posterior)
    arms, sigma = bandit.canonical.arms, bandit.noise
    z = draw_posterior_models(posterior, source, t % 2**24, samples)
    counts = BestArmCounts(arms)
    best = np.concatenate(
        [counts.add(z[first : first + BLOCK]) for first in range(0, samples, BLOCK)]
    )
    expected, law = _optimal(bandit, posterior, z, counts)
    played = agent.action_law(state, arms, source, t)
    q = law.p if played.probabilities is None else played.probabilities
    distance, correction = _hellinger_squared(q, law)
    moments = played.moments
    main, error = _main_regret_and_error(q, law, expected)
    return Measurements(
        hellinger_squared=distance - correction,
        hellinger_correction=correction,
        kl_phat_p=_kl_phat_p(q, law),
        kl_p_phat=_kl_p_phat(q, law),
        entropy=float(entropy(law.p)) + float(law.free.sum()) / (2.0 * law.n),
        main_regret=sigma * main,
        approximation_error=sigma * error,
        regret=sigma * float(means.max() - q @ means),
        information=_information(bandit, q, z, best),
        ensemble_variance=moments.variance if moments else math.nan,
        ensemble_mean_error=moments.mean_error if moments else math.nan,
        ensemble_cov_error=moments.cov_error if moments else math.nan,
    )


class _Law(NamedTuple):
    """p_t and E_t[v_a; A* = a], means of n draws, or exact and n infinite."""

    p: Floats
    values: Floats
    n: float
    duplicate_counts: NDArray[np.int64]  # how many arms are equal to each

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Where p is not zero."""
        return self.p > 0

    @property
    def free(self) -> Floats:
        """n times the variance of p over p, where p is not zero."""
        return 1.0 / self.duplicate_counts[self.seen] - self.p[self.seen]


def _optimal(
    bandit: LinearBandit, posterior: Any, z: Floats, counts: BestArmCounts
) -> tuple[Floats, _Law]:
    """Return the arms' expected values and the law of the best, exact where that is possible.

    Else both are means over the same draws: what the best arm has more than another then never
    falls below zero, and varies less.
    """
    if bandit.K <= 2 or bandit.rank <= 2 or bandit.K <= bandit.rank + 1:
        expected, loadings = values_under(bandit, posterior.mu, posterior.root)
        exact = exact_law_of_the_best(expected, loadings)
        if exact is not None:
            return expected, _Law(
                exact.probabilities, exact.values, math.inf, bandit.duplicate_counts
            )
    n = len(z)
    drawn, _ = values_under(bandit, z.mean(axis=0), posterior.root[:, :0])
    return drawn, _Law(counts.counts / n, counts.values / n, n, bandit.duplicate_counts)


def _main_regret_and_error(q: Floats, law: _Law, expected: Floats) -> tuple[float, float]:
    """Return G_t and D_t of the proof of Theorem 2 with phat_t = q in the place of pbar_t.

    Their sum is sum_a E_t[v_a; A* = a] - q'E_t[v], whatever the error of p; but where q is the
    estimated p, n draws make it too small by the factor 1 - 1/n.
    """
    root_p, root_q = np.sqrt(law.p), np.sqrt(q)
    conditional = np.divide(law.values, root_p, out=np.zeros(len(q)), where=root_p > 0)
    main = root_q @ (conditional - root_p * expected)
    error = (root_p - root_q) @ (conditional + root_q * expected)
    scale = 1.0 / (1.0 - 1.0 / law.n) if q is law.p else 1.0
    return scale * float(main), float(error)


# The frequencies p of n draws have variance p (1/c - p) / n, where c arms are equal and share. A
# second-order expansion tells by how much a smooth function of them is too large on average; that
# is taken off.


def _hellinger_squared(q: Floats, law: _Law) -> tuple[float, float]:
    """Return the squared Hellinger distance, and by how much the draws make it too large."""
    if q is law.p:
        return 0.0, 0.0
    distance = float(np.square(np.sqrt(law.p) - np.sqrt(q)).sum())
    return distance, float(np.sqrt(q[law.seen] / law.p[law.seen]) @ law.free) / (4.0 * law.n)


def _kl_phat_p(q: Floats, law: _Law) -> float:
    if q is law.p:
        return 0.0
    excess = float((q[law.seen] / law.p[law.seen]) @ law.free) / (2.0 * law.n)
    return float(kl(q, law.p)) - excess


def _kl_p_phat(q: Floats, law: _Law) -> float:
    if q is law.p:
        return 0.0
    return float(kl(law.p, q)) - float(law.free.sum()) / (2.0 * law.n)


def _information(bandit: LinearBandit, q: Floats, z: Floats, best: NDArray[np.int64]) -> float:
    """Return I_t = sum_a q(a) I_t(A*; reward of a), or nan: too long, or too few draws.

    The action itself tells nothing of A*, given the state.
    """
    n = len(z) - len(z) % 2
    found, label = np.unique(best[:n], return_inverse=True)
    played = np.flatnonzero(q)
    if len(played) * n * bandit.rank > _AFFORDABLE:
        return math.nan
    arms, row, values = bandit.canonical.arms, np.empty(bandit.rank), np.empty(n)
    total, work = 0.0, 0
    for arm in played:
        values_of_arm(arms, arm, z[:n], row, values)
        values -= values.min()
        spread = float(values.max())
        bins, width = bins_of(spread)
        work += len(found) * min(bins, 64) * points_of(spread)
        # Draws far apart would each tell by itself which arm is the best.
        sparse = n < 2 * len(found) * max(_LEAST_SPREAD, spread)
        if sparse or work > _AFFORDABLE:
            return math.nan
        room = np.empty((2, bins, len(found)))
        total += q[arm] * information(values, label, room, width, np.empty((2, len(found))))
    return total
