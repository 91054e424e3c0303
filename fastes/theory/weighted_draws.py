"""What the posterior says of the best arm where rewards are not Gaussian, by weighted draws.

Draws of Student's law around the mode are weighted by the posterior's density over theirs
(kernels/beliefs/student.py): weights w_i that add up to 1 stand for n = 1 / sum of w_i^2
independent draws. Arms pay psi'(o + b'z) on average.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from fastes.agents.best_arms import BLOCK, best_arms
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.kernels.beliefs.interface import mean_of
from fastes.kernels.beliefs.student import draw_weighted
from fastes.kernels.diagnostics.best_of_models import values_of_arm
from fastes.kernels.rewards.interface import mean_of_value
from fastes.kernels.states.layout import allocate
from fastes.kernels.streams.philox import Source
from fastes.problem.bandit import Bandit
from fastes.problem.rewards import GeneralisedLinear
from fastes.theory.divergences import EstimatedLaw
from fastes.theory.winning_regions import can_win

_AFFORDABLE = 1 << 25  # probabilities of rewards, all arms together: about a second
_LEAST = 1 / 16  # of the draws, that the weighted ones must be worth
_NOTHING = 1e-12  # of the largest weight: draws that count for nothing
_FEW = 0.25  # relative variance of a probability of which the logarithm is not known


@documented
class BestArm(NamedTuple):
    """What draws from a posterior say of the best arm.

    Attributes
    ----------
    p : (K,) array
        How likely each is the best, as the draws say.
    law : EstimatedLaw
        The same law; better where more is known of arms that are seldom the best.
    values : (K,) array
        E_t[v_a; A* = a], v_a what arm a pays on average, in units of the noise.
    expected : (K,) array
        E_t[v_a].
    information : float
        I_t(A*; (A_t, R_{t+1})), or nan where it would take too long.
    draws : float
        Of which p is the mean; infinite where it is exact.
    effective : float
        Independent draws that weighted ones are worth; nan of those that all count alike.
    best_scores : (n,) array, optional
        The value of the best arm under each draw, of those that count alike.
    """

    p: Floats
    law: EstimatedLaw
    values: Floats
    expected: Floats
    information: float
    draws: float
    effective: float
    best_scores: Floats | None = None


def best_by_weights(
    bandit: Bandit, belief: Any, source: Source, t: int, samples: int, q: Floats | None
) -> BestArm:
    """Return what weighted draws say of the best arm, for an agent that plays by the law q.

    Not numbers, where the draws are worth fewer than a sixteenth of these.
    """
    assert q is not None  # no agent knows p itself
    assert isinstance(bandit.rewards, GeneralisedLinear)  # of which beliefs have a density
    z, w = _draws(belief, source, t, samples)
    draws = 1.0 / float(w @ w)
    if not draws >= _LEAST * samples:
        unknown = np.full(bandit.K, np.nan)
        law = EstimatedLaw(unknown, unknown, unknown)
        return BestArm(unknown, law, unknown, unknown, math.nan, draws, draws)
    rewards, group = allocate(bandit.rewards.layout(None)), _equal_arms(bandit)
    copies = bandit.duplicate_counts
    winner, largest = _best_of(bandit, z)
    label = group[winner]
    p = np.asarray(np.bincount(label, w, bandit.K), float)
    values = np.bincount(label, w * mean_of_value(rewards, largest), bandit.K)
    law = _law(bandit, p[group] / copies, _variance(label, w, p)[group], q)
    expected, information = np.empty(bandit.K), Information(bandit.rewards, label, w)
    row, v = np.empty(bandit.rank), np.empty(samples)
    for arm in range(bandit.K):
        values_of_arm(bandit.canonical.arms, arm, z, row, v)
        expected[arm] = w @ mean_of_value(rewards, v)
        if q[arm] > 0:
            information.add(q[arm], v)
    inside = values[group] / copies
    return BestArm(law.p, law, inside, expected, information.total, draws, draws)


def _draws(belief: Any, source: Source, t: int, samples: int) -> tuple[Floats, Floats]:
    """Return draws, one a row, and weights that add up to 1."""
    r = len(mean_of(belief))
    z, logs = np.empty((samples, r)), np.empty(samples)
    draw_weighted(belief, source, t, np.empty(r), z, logs)
    w = np.exp(logs - logs.max())
    return z, w / w.sum()


def _equal_arms(bandit: Bandit) -> NDArray[np.int64]:
    """Return for every arm the first that is equal to it."""
    b, o = bandit.canonical.rows_and_offsets()
    _, first, which = np.unique(
        np.column_stack([o, b]) + 0.0, axis=0, return_index=True, return_inverse=True
    )
    return np.asarray(first[which.ravel()])


def _best_of(bandit: Bandit, z: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the best arm under each draw, the first if several tie, and its value."""
    found = [best_arms(bandit.canonical.arms, z[i : i + BLOCK]) for i in range(0, len(z), BLOCK)]
    return np.concatenate([f.arm for f in found]), np.concatenate([f.score for f in found])


def _variance(label: NDArray[np.int64], w: Floats, p: Floats) -> Floats:
    """Return the relative variance of each probability: sum of w^2 (1{best} - p)^2 / p^2."""
    squares = np.bincount(label, w * w, len(p))
    variance = squares * (1.0 - 2.0 * p) + p * p * (w @ w)
    return np.divide(variance, p * p, out=np.zeros(len(p)), where=p > 0)


def _law(bandit: Bandit, p: Floats, variance: Floats, q: Floats) -> EstimatedLaw:
    """Return the law of these probabilities.

    Of arms that q plays and few draws found to be the best the logarithm is not known, unless they
    can never be the best: then it is -inf.
    """
    log_p = np.log(p, out=np.full(len(p), -np.inf), where=p > 0)
    for arm in np.flatnonzero((q > 0) & ((p == 0) | (variance > _FEW))).tolist():
        log_p[arm] = np.nan if can_win(bandit, arm) else -np.inf
    return EstimatedLaw(p, log_p, variance)


class Information:
    """I(A*; R_a), added up over arms a with weights, from draws of z.

        I(A*; R) = sum_j p_j KL(P(R | A* = j) || P(R)) = sum P(y, j) log(P(y, j) / (P(y) p_j)),

    the last over best arms j and the rewards y that there can be. Few draws make it too large by
    a multiple of 1/n, which twice the value less the mean of those of both halves does not have.

    Attributes
    ----------
    total : float
        The sum so far; nan where it takes too long.
    """

    def __init__(self, rewards: GeneralisedLinear, label: NDArray[np.int64], w: Floats) -> None:
        found, which = np.unique(label, return_inverse=True)
        self.total = 0.0
        self._rewards, self._w, self._best = rewards, w, len(found)
        self._cell = which + len(found) * (np.arange(len(w)) % 2)
        self._left = _AFFORDABLE

    def add(self, share: float, values: Floats) -> None:
        """Add the information of an arm's reward, given its value under each draw."""
        outcomes = self._rewards.outcomes(values[self._w > _NOTHING * self._w.max()])
        self._left -= (outcomes.stop - outcomes.start) * len(values)
        if self._left < 0:
            self.total = math.nan
            return
        joint = np.array(
            [
                np.bincount(
                    self._cell, self._w * self._rewards.probability(y, values), 2 * self._best
                )
                for y in outcomes
            ]
        )
        first, second = joint[:, : self._best], joint[:, self._best :]
        halves = (mutual_information(first) + mutual_information(second)) / 2
        self.total += share * (2 * mutual_information(first + second) - halves)


def mutual_information(joint: Floats) -> float:
    """Return I(X; Y) from numbers in proportion to P(X = x, Y = y), (x, y)."""
    total = joint.sum()
    apart = sum(float(xlogy(s, s).sum()) for s in (joint.sum(axis=0), joint.sum(axis=1)))
    return float(xlogy(joint, joint).sum() - apart + xlogy(total, total)) / float(total)
