"""A probe of an agent in some state: what it would play, what is best, and how they differ.

phat_t, the law of the action given the agent's whole state, is compared with p_t, the law of the
optimal action. It is not the paper's pbar_t, which conditions on the history alone: for an
ensemble pbar_t = E[phat_t | H_t]; so it is for V-IDS, whose state holds its own draws. For other
agents both are the same (documentation: "The paper's quantities and bounds").
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents.agent import Agent
from fastes.agents.best_arms import BLOCK, BestArmCounts, draws_of
from fastes.checks.arrays import Floats
from fastes.kernels.actions.arms import Arms
from fastes.kernels.beliefs.interface import has_density, normal_law
from fastes.kernels.beliefs.normal_law import NormalLaw
from fastes.kernels.diagnostics.best_of_models import values_of_arm
from fastes.kernels.diagnostics.mutual_information import bins_of, information, points_of
from fastes.kernels.rewards.interface import mean_of_value
from fastes.kernels.states.layout import allocate
from fastes.kernels.streams.philox import Source
from fastes.problem.bandit import Bandit
from fastes.results.diagnostics import Measurements
from fastes.theory.divergences import (
    Divergences,
    cost_of_lines,
    divergences,
    entropy_of,
    law_of_frequencies,
    played_law,
    refined_law,
    seldom_best,
)
from fastes.theory.optimal_action import exact_law_of_the_best, values_under
from fastes.theory.weighted_draws import BestArm, best_by_weights

_AFFORDABLE = 1 << 26  # multiply-adds: a twentieth of a second
_AFFORDABLE_DRAWS = 1 << 28  # the same, of more draws than were asked for
_APART = 8  # draws to one that only chooses what they are to do
_ENOUGH_TO_TELL = 64  # draws that choose
_MORE = 8  # times as many draws
_LEAST_SPREAD = 4.0  # of values, in units of the noise: two draws a unit for each best arm


def probe(
    bandit: Bandit,
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
    arms, sigma = bandit.canonical.arms, bandit.rewards.unit
    played = agent.action_law(state, arms, source, t)
    find = best_by_weights if has_density(state.belief) else _best_by_normal_draws
    best = find(bandit, state.belief, source, t, samples, played.probabilities)
    if played.probabilities is None:  # as Thompson sampling does, it plays p itself
        q, divergence = best.p, Divergences(0.0, 0.0, 0.0, 0.0, 0.0)
    else:
        play = played_law(played, best.law, bandit, source, t)
        q, divergence = play.law.p, divergences(play, best.law, bandit)
    main, error = _main_regret_and_error(q, best)
    if played.probabilities is None:
        main *= 1.0 / (1.0 - 1.0 / best.draws)  # n draws make it too small by that factor
    moments = played.moments
    least, largest = played.eigenvalues or (math.nan, math.nan)
    scores = best.best_scores if played.probabilities is None else played.best_scores
    return Measurements(
        **divergence._asdict(),
        entropy=entropy_of(best.law),
        main_regret=sigma * main,
        approximation_error=sigma * error,
        regret=sigma * float(means.max() - q @ means),
        information=best.information,
        ensemble_variance=moments.variance if moments else math.nan,
        ensemble_mean_error=moments.mean_error if moments else math.nan,
        ensemble_cov_error=moments.cov_error if moments else math.nan,
        exceedance=_exceedance(bandit, scores, float(means.max())),
        effective_samples=best.effective,
        least_eigenvalue=least,
        largest_eigenvalue=largest,
    )


def _best_by_normal_draws(
    bandit: Bandit, belief: Any, source: Source, t: int, samples: int, played: Floats | None
) -> BestArm:
    """Return what draws from a normal posterior say of the best arm; exactly, where that can be."""
    posterior = normal_law(belief)
    apart, z, informative = _draws(bandit, posterior, source, t, samples, played)
    winners, best = _count_best_arms(bandit.canonical.arms, z)
    expected, drawn = _optimal(bandit, posterior, z, winners)
    law = law_of_frequencies(drawn.p, drawn.n, bandit.duplicate_counts)
    if played is not None:
        seldom = seldom_best(drawn.p, drawn.n, apart, bandit.duplicate_counts) & (played > 0)
        law = refined_law(law, np.flatnonzero(seldom), bandit, posterior, source, t)
    q = drawn.p if played is None else played
    return BestArm(
        p=drawn.p,
        law=law,
        values=drawn.values,
        expected=expected,
        information=_information(bandit, q, z[:informative], best[:informative]),
        draws=drawn.n,
        effective=math.nan,
        best_scores=np.concatenate(winners.best_scores),
    )


def _exceedance(bandit: Bandit, best_scores: Floats | None, best: float) -> float:
    """Return the share of models that think their best arm at least as good as the best is.

    Of posterior draws for an agent that plays these, nan for one without models.
    """
    if best_scores is None:
        return math.nan
    law = allocate(bandit.rewards.layout(None))
    return float((mean_of_value(law, best_scores) >= best).mean())


class _Draws(NamedTuple):
    """Draws from the posterior: how often each arm is the best of a few, and those to measure with.

    The few choose what is done with the others, and are not among them: what is measured does not
    depend on what chose. `informative` is how many of these the information is measured with.
    """

    apart: Floats
    z: Floats
    informative: int


def _draws(
    bandit: Bandit,
    posterior: NormalLaw,
    source: Source,
    t: int,
    samples: int,
    q: Floats | None,
) -> _Draws:
    """Return as many draws as were asked for, or eight times as many where these pay.

    They do where one arm is so often the best that regret and information rest on few draws, and
    where the agent's law q gives weight to many arms that are seldom the best, so that lines
    through the region of each would take longer.
    """

    def drawn(few: int, n: int, informative: int) -> _Draws:
        z = draws_of(posterior, source, t, few + n)
        return _Draws(
            _count_best_arms(bandit.canonical.arms, z[:few])[0].counts, z[few:], informative
        )

    few, more = samples // _APART, _MORE * samples
    draws = drawn(few, samples, samples)
    if few < _ENOUGH_TO_TELL:
        return draws
    copies, work = bandit.duplicate_counts, more * bandit.K * bandit.rank
    else_best = few - (draws.apart * copies).max()
    if else_best <= few / 32 and work <= _AFFORDABLE_DRAWS:
        return drawn(few, more, more)
    if q is not None and cost_of_lines(q, draws.apart, copies, bandit.rank) > work:
        return drawn(_MORE * few, more, samples)  # information takes long, and needs no more
    return draws


def _count_best_arms(arms: Arms, z: Floats) -> tuple[BestArmCounts, NDArray[np.int64]]:
    """Return how often each arm is the best of models, and the best of each."""
    winners, best = BestArmCounts(arms), np.empty(len(z), np.int64)
    for first in range(0, len(z), BLOCK):
        best[first : first + BLOCK] = winners.add(z[first : first + BLOCK])
    return winners, best


class _Drawn(NamedTuple):
    """p_t and E_t[v_a; A* = a], means of n draws, or exact and n infinite."""

    p: Floats
    values: Floats
    n: float


def _optimal(
    bandit: Bandit, posterior: NormalLaw, z: Floats, winners: BestArmCounts
) -> tuple[Floats, _Drawn]:
    """Return the arms' expected values and the law of the best, exact where that is possible.

    Else both are means over the same draws: what the best arm has more than another then never
    falls below zero, and varies less.
    """
    if bandit.K <= 2 or bandit.rank <= 2 or bandit.K <= bandit.rank + 1:
        expected, loadings = values_under(bandit, posterior.mean, posterior.root.T)
        exact = exact_law_of_the_best(expected, loadings)
        if exact is not None:
            return expected, _Drawn(exact.probabilities, exact.values, math.inf)
    n = len(z)
    drawn, _ = values_under(bandit, z.mean(axis=0), posterior.root[:, :0])
    return drawn, _Drawn(winners.counts / n, winners.values / n, n)


def _main_regret_and_error(q: Floats, law: BestArm) -> tuple[float, float]:
    """Return G_t and D_t of the proof of Theorem 2 with phat_t = q in the place of pbar_t.

    Their sum is sum_a E_t[v_a; A* = a] - q'E_t[v], whatever the error of p.
    """
    expected = law.expected
    root_p, root_q = np.sqrt(law.p), np.sqrt(q)
    conditional = np.divide(law.values, root_p, out=np.zeros(len(q)), where=root_p > 0)
    main = root_q @ (conditional - root_p * expected)
    error = (root_p - root_q) @ (conditional + root_q * expected)
    return float(main), float(error)


def _information(bandit: Bandit, q: Floats, z: Floats, best: NDArray[np.int64]) -> float:
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
