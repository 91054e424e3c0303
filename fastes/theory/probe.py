"""A probe of an agent in some state: what it would play, what is best, and how they differ.

phat_t, the law of the action given the agent's whole state, is compared with p_t, the law of the
optimal action. It is not the paper's pbar_t, which conditions on the history alone: for an
ensemble pbar_t = E[phat_t | H_t], for other agents both are the same (docs/theory.md).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents.agent import Agent
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
    """Return what is measured of an agent's state before step t, changing nothing.

    `means` are the true mean rewards in units of the noise.
    """
    posterior = with_root(state.posterior)
    arms, sigma = bandit.canonical.arms, bandit.noise
    z = draw_posterior_models(posterior, source, t, samples)
    winners = BestArmCounts(arms)
    best = np.concatenate(
        [winners.add(z[first : first + BLOCK]) for first in range(0, samples, BLOCK)]
    )
    expected, law = _optimal(bandit, posterior, z, winners)
    played = agent.action_law(state, arms, source, t)
    plays_p = played.probabilities is None  # as Thompson sampling does
    q = law.p if played.probabilities is None else played.probabilities
    apart = _Divergences(0.0, 0.0, 0.0, 0.0) if plays_p else _divergences(q, law)
    main, error = _main_regret_and_error(q, law, expected)
    if plays_p:
        main *= 1.0 / (1.0 - 1.0 / law.n)  # n draws make it too small by that factor
    moments = played.moments
    return Measurements(
        hellinger_squared=apart.hellinger_squared - apart.hellinger_correction,
        hellinger_correction=apart.hellinger_correction,
        kl_phat_p=apart.kl_phat_p,
        kl_p_phat=apart.kl_p_phat,
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
    bandit: LinearBandit, posterior: Any, z: Floats, winners: BestArmCounts
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
    return drawn, _Law(winners.counts / n, winners.values / n, n, bandit.duplicate_counts)


def _main_regret_and_error(q: Floats, law: _Law, expected: Floats) -> tuple[float, float]:
    """Return G_t and D_t of the proof of Theorem 2 with phat_t = q in the place of pbar_t.

    Their sum is sum_a E_t[v_a; A* = a] - q'E_t[v], whatever the error of p.
    """
    root_p, root_q = np.sqrt(law.p), np.sqrt(q)
    conditional = np.divide(law.values, root_p, out=np.zeros(len(q)), where=root_p > 0)
    main = root_q @ (conditional - root_p * expected)
    error = (root_p - root_q) @ (conditional + root_q * expected)
    return float(main), float(error)


class _Divergences(NamedTuple):
    hellinger_squared: float
    hellinger_correction: float
    kl_phat_p: float
    kl_p_phat: float


def _divergences(q: Floats, law: _Law) -> _Divergences:
    """Return how far q is from p.

    The frequencies p of n draws have variance p (1/c - p) / n, where c arms are equal and share. A
    second-order expansion tells by how much a smooth function of them is too large on average;
    that is taken off the divergences, and given beside the squared distance.
    """
    ratio, n = q[law.seen] / law.p[law.seen], law.n
    return _Divergences(
        hellinger_squared=float(np.square(np.sqrt(law.p) - np.sqrt(q)).sum()),
        hellinger_correction=float(np.sqrt(ratio) @ law.free) / (4.0 * n),
        kl_phat_p=float(kl(q, law.p)) - float(ratio @ law.free) / (2.0 * n),
        kl_p_phat=float(kl(law.p, q)) - float(law.free.sum()) / (2.0 * n),
    )


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
