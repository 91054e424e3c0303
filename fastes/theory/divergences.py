"""Divergences of an agent's action law from the law p of the optimal action.

Under a normal belief each arm that can be optimal has positive probability, even if no draw finds
it. If an agent plays such an arm, its probability is estimated by line sampling.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, rel_entr

from fastes.agents.action_law import ActionLaw
from fastes.checks.arrays import Floats
from fastes.kernels.beliefs.normal_law import NormalLaw
from fastes.kernels.streams.philox import Source
from fastes.problem.bandit import Bandit
from fastes.theory.line_sampling import LogProbability, Normals, log_probability, normals_of
from fastes.theory.optimal_action import exact_law_of_the_best, values_under
from fastes.theory.winning_regions import can_win, inner_point, log_ball, region_of

_SELDOM = 2  # an arm is rare if fewer of the selecting draws find it
_SINGLE = 0.5  # relative variance of a frequency: larger only for a single draw
_MOST_MISSED = 0.1  # of p, from single draws: as much again may be missed
_FEW_PLAYS = 16  # draws that play an arm: with fewer its probability is estimated by lines
_TOO_FEW = 4  # fewer draws are too few for the expansion of the logarithm
_LINES, _FEWEST_LINES = 128, 32  # per rare arm at first; the latter if there are many
_ALL_LINES = 4096  # shared by rare arms that need more
_AFFORDABLE = 1 << 31  # multiply-adds for all lines of a probe: seconds
_TRIED = 16  # rare arms to try if all are too expensive: one may be unable to win
_POINT = 1 << 23  # multiply-adds equivalent to finding the point that lines pass through


class EstimatedLaw(NamedTuple):
    """An estimate of the law p of the optimal action.

    Attributes
    ----------
    p : (K,) array
        Probabilities, which add up to 1.
    log_p : (K,) array
        Their logarithms, also of probabilities that underflow; nan if unknown.
    variance : (K,) array
        Relative variance of each estimate: its variance divided by p^2.
    bounded : bool
        Whether some are lower bounds.
    """

    p: Floats
    log_p: Floats
    variance: Floats
    bounded: bool = False


class Divergences(NamedTuple):
    """The fields of `Measurements` of the same names."""

    hellinger_squared: float
    hellinger_correction: float
    kl_phat_p: float
    kl_phat_p_bounded: float
    kl_p_phat: float


def law_of_frequencies(p: Floats, n: float, duplicate_counts: NDArray[np.int64]) -> EstimatedLaw:
    """Return the law of frequencies in n draws, or of exact probabilities if n is infinite.

    Equal arms share their draws: p has variance p (1/c - p) / n for c equal arms.
    """
    seen = p > 0
    log_p = np.log(p, out=np.full(len(p), -np.inf), where=seen)
    variance = np.zeros(len(p))
    if n < math.inf:
        variance[seen] = (1.0 / duplicate_counts[seen] / p[seen] - 1.0) / n
    return EstimatedLaw(p, log_p, variance)


def seldom_best(
    p: Floats, n: float, apart: Floats, duplicate_counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which arms are too rare for frequencies in n draws.

    `apart` are counts from separate, fewer draws: selection by the draws themselves would be
    biased, as it keeps overestimates and replaces underestimates.
    """
    if math.isinf(n):
        return p < 1e-9  # exact to some 1e-15, not relative to a tiny probability
    return (apart * duplicate_counts < _SELDOM) | (p * duplicate_counts * n < _TOO_FEW)


def cost_of_lines(
    q: Floats, apart: Floats, duplicate_counts: NDArray[np.int64], rank: int
) -> float:
    """Return the multiply-adds that line sampling for the rare arms played by q would cost.

    Rare arms are counted by the separate draws.
    """
    seldom = np.count_nonzero((apart * duplicate_counts < _SELDOM) & (q > 0))
    return float(seldom) * (_POINT + _FEWEST_LINES * len(q) * max(1, rank))


def refined_law(
    law: EstimatedLaw,
    seldom: NDArray[np.int64],
    bandit: Bandit,
    posterior: NormalLaw,
    source: Source,
    t: int,
    stream: int = 0,
) -> EstimatedLaw:
    """Return the law with probabilities of rare arms estimated by line sampling.

    The others keep their frequencies, rescaled so that the sum is 1. Laws of one probe have
    streams of their own.
    """
    if len(seldom) == 0:
        return law
    copies = bandit.duplicate_counts
    found = list(_probabilities(seldom, bandit, posterior, source, (t, stream)))
    log_p, variance = law.log_p.copy(), law.variance.copy()
    log_p[seldom] = math.nan
    done = seldom[: len(found)]
    log_p[done] = [each.value for each in found] - np.log(copies[done])
    variance[done] = [each.variance if each.variance < math.inf else 0.0 for each in found]
    bounded = any(math.isinf(each.variance) for each in found)
    done = done[~np.isnan(log_p[done])]
    p = law.p.copy()
    p[done] = np.exp(log_p[done])
    return _scaled(EstimatedLaw(p, log_p, variance, bounded), done)


def _scaled(law: EstimatedLaw, fixed: NDArray[np.int64]) -> EstimatedLaw:
    """Return the law with all but the fixed probabilities rescaled so that the sum is 1."""
    free = np.ones(len(law.p), np.bool_)
    free[fixed] = False
    rest, taken = float(law.p[free].sum()), float(law.p[fixed].sum())
    if rest == 0 or taken >= 1:  # possible with few draws or lines
        free[:], rest, taken = True, rest + taken, 0.0
    factor = (1.0 - taken) / rest
    p, log_p = law.p.copy(), law.log_p.copy()
    p[free] *= factor
    log_p[free] += math.log(factor)
    return law._replace(p=p, log_p=log_p)


def _probabilities(
    seldom: NDArray[np.int64],
    bandit: Bandit,
    posterior: NormalLaw,
    source: Source,
    probe: tuple[int, int],
) -> Iterable[LogProbability]:
    """Yield P(the arm, or an equal one, is the best) for rare arms; only some if too expensive.

    Infinite variance marks a lower bound, and log -inf an arm that cannot win, which determines the
    divergence and ends the iteration.
    """
    m, c = values_under(bandit, posterior.mean, posterior.root.T)
    cost = bandit.K * max(1, bandit.rank)
    lines = min(_LINES, max(_FEWEST_LINES, _ALL_LINES // (2 * len(seldom))))
    most = max(lines, min(_ALL_LINES, _AFFORDABLE // cost) // len(seldom))
    if len(seldom) > _AFFORDABLE // (cost * lines):
        seldom = seldom[:_TRIED]
    known: dict[bytes, LogProbability] = {}  # by the values: equal arms have one probability
    for arm in seldom.tolist():
        key = m[arm].tobytes() + c[arm].tobytes()
        if key not in known:
            normals = normals_of(source, probe[0], arm, probe[1])
            known[key] = _probability(m, c, arm, normals, lines, most)
        found = known[key]
        if found.value == -math.inf:
            if not can_win(bandit, arm):
                yield found
                return
            found = LogProbability(math.nan, 0.0)  # its region is too small for rounding
        yield found


def _probability(
    m: Floats, c: Floats, arm: int, normals: Normals, lines: int, most: int
) -> LogProbability:
    """Return log P(the arm, or an equal one, is the best), -inf if it seems impossible."""
    region = region_of(m, c, arm)
    point = None if region is None else inner_point(region)
    if region is None or point is None:
        return LogProbability(-math.inf, 0.0)
    found = log_probability(region, point, normals, lines, most)
    hit = found.value > -math.inf
    return found if hit else LogProbability(log_ball(region, point), math.inf)


class PlayedLaw(NamedTuple):
    """The law q of the action.

    Attributes
    ----------
    law : EstimatedLaw
        Its estimate; exact where the variance is 0.
    missing : float
        What arms that can be the best and are not among those played make of KL(p || q): infinite
        where q is exact, unknown (nan) where draws may have missed them, and 0 where all arms that
        matter were found in another way.
    """

    law: EstimatedLaw
    missing: float


def played_law(
    played: ActionLaw, p: EstimatedLaw, bandit: Bandit, source: Source, t: int
) -> PlayedLaw:
    """Return the law of the action of an agent, better than by draws where its model is normal.

    Then q is exact where p would be, and else arms that few draws play and that p gives weight to
    are estimated by line sampling. Those that neither found are left out.
    """
    q, draws, normal = played.probabilities, played.draws, played.normal
    assert q is not None  # no agent that plays p itself
    if draws is None:
        return PlayedLaw(_exactly(q), math.inf)
    law, some = _exactly(q), q > 0
    law.variance[some] = (1.0 - q[some]) / (draws * q[some])
    if normal is None:
        return PlayedLaw(law, math.nan)
    exact = exact_law_of_the_best(*values_under(bandit, normal.mean, normal.root.T))
    if exact is not None:
        return PlayedLaw(_exactly(exact.probabilities), math.inf)
    seldom = (q * bandit.duplicate_counts * draws < _FEW_PLAYS) & (p.p > 0)
    law = refined_law(law, np.flatnonzero(seldom), bandit, normal, source, t, stream=1)
    rough = bool(p.p @ (p.variance >= _SINGLE) > _MOST_MISSED) or law.bounded
    return PlayedLaw(law, math.nan if rough else 0.0)


def _exactly(q: Floats) -> EstimatedLaw:
    log_q = np.log(q, out=np.full(len(q), -np.inf), where=q > 0)
    return EstimatedLaw(q, log_q, np.zeros(len(q)))


def divergences(play: PlayedLaw, law: EstimatedLaw, bandit: Bandit) -> Divergences:
    """Return the divergences of the law q of the action from p, corrected for bias from errors.

    To second order, a relative variance v of p or q adds sqrt(p q) v / 4 to the squared distance,
    q v / 2 to KL(q || p) and p v / 2 to KL(p || q). Frequencies q in n draws have
    v = (1 - q) / (n q).
    """
    p, q, log_q = law.p, play.law.p, play.law.log_p
    played, variance = q > 0, law.variance + play.law.variance
    correction = float(np.sqrt(p * q) @ variance) / 4.0
    backward = float(rel_entr(p[played], q[played]).sum())
    if np.isnan(log_q[p > 0]).any() or _misses(played, law, play, bandit):
        backward += play.missing if not np.isnan(log_q).any() else math.nan
    terms = q[played] * (log_q[played] - law.log_p[played])
    # One arm that cannot win makes it infinite, even if others are unknown.
    forward = math.inf if (terms == math.inf).any() else float(terms.sum())
    return Divergences(
        hellinger_squared=float(np.square(np.sqrt(p) - np.sqrt(q)).sum()) - correction,
        hellinger_correction=correction,
        kl_phat_p=forward - float(q @ variance) / 2.0,
        kl_phat_p_bounded=float(law.bounded and math.isfinite(forward)),
        kl_p_phat=backward - float(p @ variance) / 2.0,
    )


def _misses(played: NDArray[np.bool_], law: EstimatedLaw, play: PlayedLaw, bandit: Bandit) -> bool:
    """Return whether an arm that can be the best is not among those played."""
    if play.missing == 0.0:
        return False
    return bool((law.p[~played] > 0).any()) or any(
        can_win(bandit, arm) for arm in np.flatnonzero(~played).tolist()
    )


def entropy_of(law: EstimatedLaw) -> float:
    """Return the entropy of p, corrected for its bias: a relative variance v subtracts p v / 2.

    nan if more than a tenth of p is from single draws, when the bias would be of that size.
    """
    if law.p @ (law.variance >= _SINGLE) > _MOST_MISSED:
        return math.nan
    return max(0.0, float(entr(law.p).sum())) + float(law.p @ law.variance) / 2.0
