"""Bounds on Bayesian regret: the paper's, and five of ours.

Theorems A to D and the information bound are stated and proven in the documentation, under "How
many models are needed". Bounds for single steps are in step_bounds.py.
"""

import math
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_STEPS
from fastes.problem.constants import Constants
from fastes.theory.first_order import StepLoss, hellinger_costs, kl_costs, least_over_b
from fastes.theory.lower_bounds import lower_bound
from fastes.theory.step_bounds import (
    MAX_MODELS,
    divergence_bound,
    divergence_bound_unsimplified,
    divergence_tail,
    fresh_bound,
    information_bound,
    proposition1,
    running_information,
    smallest_distances,
    smallest_divergences,
)
from fastes.theory.step_sums import Smallest

__all__ = [
    "BOUNDS",
    "best_bound",
    "divergence_bound",
    "divergence_bound_unsimplified",
    "divergence_tail",
    "ensemble_of_the_same_order",
    "first_order",
    "first_order_of",
    "fresh",
    "fresh_bound",
    "information",
    "information_bound",
    "lower_bound",
    "proposition1",
    "reuse",
    "smallest_ensemble",
    "term_a",
    "term_b",
    "theorem1",
    "theorem2",
]


def term_a(known: Constants, T: int) -> float:
    """Return iota sqrt(d T H(A*)), term (a) of Theorem 1: the bound for Thompson sampling."""
    return _main(known, _steps(T))


def _main(known: Constants, steps: float) -> float:
    return known.iota * math.sqrt(known.d * steps * known.entropy_at_most)


def theorem2(known: Constants, divergences: Iterable[float] | Floats) -> float:
    """Return iota sqrt(d T H(A*)) + eta0 sum_t sqrt(E[Hellinger^2(pbar_t || p_t)]), Theorem 2.

    eta0 is at most the eta of the paper. The theorem holds for any agent. Upper bounds on the
    squared Hellinger distances, such as KL divergences (the corollary), also give a bound.

    Parameters
    ----------
    known : Constants
        Constants of the problem.
    divergences : (T,) iterable of float
        E[Hellinger^2(pbar_t || p_t)] at t = 0, ..., T - 1, or a bound on each.
    """
    given = _given(divergences)
    return term_a(known, len(given)) + known.eta0_at_most * float(np.sqrt(given).sum())


def theorem1(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem 1 on the regret of ensemble sampling: terms (a) and (b)."""
    return term_a(known, T) + term_b(known, T, M)


def term_b(known: Constants, T: int, M: int) -> float:
    """Return eta T sqrt(K log(6 T M) / M), term (b) of Theorem 1, due to a finite ensemble."""
    T = _steps(T)
    return known.eta_at_most * T * math.sqrt(float(divergence_bound(known.K, T - 1, M)))


def information(known: Constants, T: int, M: int) -> float:
    """Return Theorem 2's bound with the information bound kbar_t on E[KL(pbar_t || p_t)].

    kbar_t = (1/M) sum_{s < t} min(lbar_s, log K), lbar_s the smaller of the paper's bound and of
    Proposition 1 (`information_bound`).
    """
    T, M = _steps(T), _models(M)
    gained = running_information(known.contenders, T, M)
    total = Smallest(T, [gained], gained.breaks).sum(lambda J: np.sqrt(np.maximum(J, 0.0) / M))
    return term_a(known, T) + known.eta0_at_most * total


def fresh(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem A: models not read before are exact posterior samples.

    iota sqrt(d H(A*) sum_t (1 - 1/M)^t) + Delta sum_t (1 - (1 - 1/M)^t).
    """
    T, M = _steps(T), _models(M)
    stale = _stale_steps(T, M)
    return _main(known, T - stale) + known.delta_at_most * stale


def _stale_steps(T: int, M: int) -> float:
    """Return sum_{t < T} (1 - (1 - 1/M)^t), the expected number of steps that reuse a model.

    It is T - M (1 - (1 - 1/M)^T); against cancellation, sum_k (-1)^k C(T, k) / M^(k - 1).
    """
    if M == 1:
        return T - 1.0
    if T > M / 8:
        return T + M * math.expm1(T * math.log1p(-1.0 / M))
    term, total, k = 0.5 * T * (T - 1) / M, 0.0, 2
    while abs(term) > 1e-18 * total:
        total += term
        term *= -(T - k) / ((k + 1.0) * M)
        k += 1
    return total


@lru_cache(maxsize=64)
def first_order(known: Constants, T: int, M: int) -> float:
    """Return the bound of Theorem B at the best b_S and b_L (`fastes.theory.first_order`).

    The smaller of two: with the smallest known bounds on k_t, and with those on h_t.
    """
    K, main = known.contenders, term_a(known, T)
    found = []
    for smallest, costs in (
        (_divergences(K, T, M), kl_costs),
        (_distances(K, T, M), hellinger_costs),
    ):

        def total(loss: StepLoss, smallest: Smallest = smallest) -> float:
            below, steps = smallest.sum_below(loss, loss.level)
            return below + (T - steps) * loss.highest

        found.append(least_over_b(known, main, costs, total))
    return min(found)


def first_order_of(known: Constants, divergences: Iterable[float] | Floats) -> float:
    """Return the bound of Theorem B with given E[Hellinger^2(pbar_t || p_t)], at the best b.

    The arguments are those of `theorem2`. It holds for any agent.
    """
    given = _given(divergences)
    return first_order_weighted(known, given, np.ones(len(given)), len(given))


def first_order_weighted(known: Constants, values: Floats, weights: Floats, T: int) -> float:
    """Return the bound of Theorem B, with sums over steps replaced by weighted sums."""
    main = term_a(known, T)
    return least_over_b(known, main, hellinger_costs, lambda loss: float(weights @ loss(values)))


def reuse(known: Constants, T: int, M: int) -> float | None:
    """Return the bound of Theorem C, or None unless M > T.

    iota sqrt(d T H(A*)) + sqrt(rho T V [nu + (2 + rho / (1 - rho)) log K]) with rho = T / M,
    nu = min(d, 2 + 2 log K) and V = beta / log(1 + beta / sigma^2) d log(1 + T beta / (d sigma^2)).
    K is the number of arms that can be the best.
    """
    T, M = _steps(T), _models(M)
    if M <= T:
        return None
    rho, log_k = T / M, math.log(known.contenders)
    models = directions(known) + (2.0 + rho / ((M - T) / M)) * log_k
    return term_a(known, T) + known.noise * math.sqrt(rho * T * potential(known, T) * models)


def potential(known: Constants, T: int) -> float:
    """Return V / sigma^2, V = beta / log(1 + beta / sigma^2) d log(1 + T beta / (d sigma^2)).

    V bounds the sum over steps of the posterior variance of the arm's mean reward.
    """
    ratio = (known.width / known.noise) ** 2
    if ratio == 0.0:  # no arm's value is uncertain
        return 0.0
    return known.d * math.log1p(T * ratio / known.d) * ratio / math.log1p(ratio)


def directions(known: Constants) -> float:
    """Return nu = min(d, 2 + 2 log K).

    It bounds E max_a (a'Z)^2 / a'Sigma a, Z ~ N(0, Sigma), for any Sigma; K is the number of arms
    that can be the best.
    """
    return min(known.d, 2.0 + 2.0 * math.log(known.contenders))


def best_bound(known: Constants, T: int, M: int) -> float:
    """Return the smallest known bound on the regret of ensemble sampling.

    The minimum of Theorems A, B and C, and of Theorem 2 with the smallest known divergence at each
    step.
    """
    T, M = _steps(T), _models(M)
    step_by_step = known.eta0_at_most * _distances(known.contenders, T, M).sum(np.sqrt)
    found = [term_a(known, T) + step_by_step, first_order(known, T, M), fresh(known, T, M)]
    return min(*found, *(bound for bound in (reuse(known, T, M),) if bound is not None))


class Bound(NamedTuple):
    """A bound on the regret of ensemble sampling of M models in T steps.

    `value` takes the constants of a problem, T and M, and returns None if it does not apply;
    `title` is for columns, `label` for legends, `note` for explanations below a table.
    """

    value: Callable[[Constants, int, int], float | None]
    title: str
    label: str
    note: str


BOUNDS = {
    "theorem1": Bound(theorem1, "Theorem 1", "Theorem 1", "the paper's."),
    "information": Bound(
        *(information, "information", "information", "Theorem 2 with the information bound.")
    ),
    "fresh": Bound(fresh, "A", "Theorem A, fresh models", "Theorem A, fresh models."),
    "first_order": Bound(
        *(first_order, "B", "Theorem B, first order"),
        note="Theorem B, first order in the divergence.",
    ),
    "reuse": Bound(
        *(reuse, "C", "Theorem C, reuse of models"),
        note="Theorem C, reuse of models, for M > T.",
    ),
    "best": Bound(
        *(best_bound, "best", "best of all"), note="with the smallest divergence at each step."
    ),
}
"""The bounds of ``fastes bound``, by name."""


@lru_cache(maxsize=8)
def _distances(K: int, T: int, M: int) -> Smallest:
    branches, breaks = smallest_distances(K, T, M)
    return Smallest(T, branches, breaks)


@lru_cache(maxsize=8)
def _divergences(K: int, T: int, M: int) -> Smallest:
    branches, breaks = smallest_divergences(K, T, M)
    return Smallest(T, branches, breaks)


def smallest_ensemble(known: Constants, T: int, target: float, bound: str = "best") -> int:
    """Return the smallest M for which a bound on the regret is at most a target.

    Parameters
    ----------
    known : Constants
        Constants of the problem.
    T : int
        Steps.
    target : float
        Regret.
    bound : str
        One of `BOUNDS`.

    Notes
    -----
    The bound of Theorem A may increase in M before it decreases: it is concave in the expected
    number of steps with a fresh model, which increases in M. So a target that M = 1 misses is
    reached by all M from some size on, or by none. The other bounds never increase in M.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.bounds import smallest_ensemble, theorem1
    >>> from fastes.theory.constants import constants
    >>> known = constants(fastes.LinearBandit.random(10, 3))
    >>> M = smallest_ensemble(known, T=100, target=100.0, bound="theorem1")
    >>> theorem1(known, 100, M) <= 100.0 < theorem1(known, 100, M - 1)
    True
    """
    T, target = _steps(T), numbers.positive("target", target)
    if bound not in BOUNDS:
        raise ValueError(f"bound must be one of {', '.join(BOUNDS)}, got {bound!r}")

    def reached(M: int) -> bool:
        value = BOUNDS[bound].value(known, T, M)
        return value is not None and value <= target

    if reached(1):
        return 1
    if not reached(MAX_MODELS):
        raise ValueError(f"target must be reached by some M below 2^56, got {target:g}")
    low, high = 1, 2
    while not reached(min(high, MAX_MODELS)):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def ensemble_of_the_same_order(known: Constants, T: int) -> int:
    """Return K T / d, rounded up: with as many models Theorem 1 is of the order of TS's bound."""
    return -(-known.K * _steps(T) // known.d)


def _steps(T: int) -> int:
    return numbers.integer("T", T, 1, MAX_STEPS)


def _models(M: int) -> int:
    return numbers.integer("M", M, 1, MAX_MODELS)


def _given(divergences: Iterable[float] | Floats) -> Floats:
    given = arrays.array("divergences", list(divergences))
    if given.ndim != 1 or not len(given) or given.min() < 0:
        raise ValueError("divergences must be nonempty and nonnegative")
    return given
