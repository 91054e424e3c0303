"""The law of the optimal action, p(a) = P(A* = a), under a normal belief about theta.

Exact, up to quadrature, where that is possible: two arms, arms of independent values, beliefs of
rank one or two. Otherwise by quasi-Monte Carlo, with a standard error that is never zero.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.kernels.actions.arms import transform_rows
from fastes.problem.bandit import Bandit
from fastes.problem.constants import Estimate
from fastes.theory.exact_laws import BestArmLaw, exact_law
from fastes.theory.sampled_laws import (
    REPLICATES,
    Extremes,
    extremes_of_draws,
    sampled_law,
    shared_entropy,
)


@dataclass(frozen=True, eq=False)
class OptimalAction:
    """The law of the optimal action.

    Attributes
    ----------
    probabilities : (K,) array
        P(A* = a); equal arms share theirs.
    se : (K,) array
        Standard errors, or bounds on the quadrature's error. Where an arm was never the best of n
        draws the probability given is 0 and the error 1/n.
    values : (K,) array
        E[v_a; A* = a], v_a the value of arm a in units of the noise. They add up to E[max v].
    method : str
        "certain", "two arms", "independent arms", "rank 1", "rank 2" or "quasi-Monte Carlo".
    entropy : Estimate
        H(A*), in nats. From fewer than ten draws for each arm that differs it is an upper bound,
        on average, and its error reaches down to a lower one.
    """

    probabilities: Floats
    se: Floats
    values: Floats
    method: str
    entropy: Estimate


def optimal_action(
    bandit: Bandit,
    mean: ArrayLike | None = None,
    root: ArrayLike | None = None,
    *,
    samples: int = 1 << 16,
    seed: int = 0,
) -> OptimalAction:
    """Return the law of the optimal action, under the prior or another belief.

    Parameters
    ----------
    bandit : Bandit
        The problem.
    mean : (r,) array_like, optional
        Mean of z, in the canonical coordinates of the problem; by default 0. In the
        documentation, "How fastes computes" defines them.
    root : (r, n) array_like, optional
        A root of its covariance, S = root root'; by default the identity.
    samples : int
        Draws, where there is no exact method.
    seed : int
        Of the draws.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.optimal_action import optimal_action
    >>> bandit = fastes.LinearBandit([[1.0, 0.0], [0.0, 1.0]], prior_mean=[1.0, 0.0])
    >>> law = optimal_action(bandit)
    >>> law.method, law.probabilities.round(4).tolist()
    ('two arms', [0.7602, 0.2398])
    """
    samples, seed = checked_draws(samples, seed)
    r = bandit.rank
    centre = np.zeros(r) if mean is None else _checked("mean", mean, (r,))
    spread = np.eye(r) if root is None else _checked("root", root, (r, None))
    return law_of_the_best(*values_under(bandit, centre, spread), samples, seed)


def checked_draws(samples: int, seed: int) -> tuple[int, int]:
    """Return the number of draws and their seed, or raise a sentence."""
    return (
        numbers.integer("samples", samples, 2 * REPLICATES, 1 << 40),
        numbers.integer("seed", seed, 0, numbers.MAX_SEED),
    )


def values_under(bandit: Bandit, mean: Floats, root: Floats) -> tuple[Floats, Floats]:
    """Return m and c: the arms' values are m + c x, x ~ N(0, I), in units of the noise.

    Equal arms have equal rows to the bit.
    """
    b, o = bandit.canonical.rows_and_offsets()
    m, c = np.empty((bandit.K, 1)), np.empty((bandit.K, root.shape[1]))
    transform_rows(b, mean[:, None].copy(), 1.0, m)
    transform_rows(b, np.ascontiguousarray(root), 1.0, c)
    return o + m[:, 0], c


def law_of_the_best(means: Floats, loadings: Floats, samples: int, seed: int) -> OptimalAction:
    """Return the law of argmax(means + loadings x), x ~ N(0, I), equal rows sharing theirs."""
    exact = exact_law_of_the_best(means, loadings)
    return law_and_extremes(means, loadings, samples, seed)[0] if exact is None else exact


def law_and_extremes(
    means: Floats, loadings: Floats, samples: int, seed: int
) -> tuple[OptimalAction, list[Extremes]]:
    """Return what `law_of_the_best` does, and the extremes of the values under draws."""
    rows, which, copies = _distinct(means, loadings)
    m, c = rows[:, 0], rows[:, 1:]
    drawn = extremes_of_draws(m, c, copies, samples, seed)
    exact = exact_law(m, c, copies)
    law = sampled_law(copies, drawn) if exact is None else (exact, _exact_entropy(exact, copies))
    return _shared(*law, which, copies), drawn


def exact_law_of_the_best(means: Floats, loadings: Floats) -> OptimalAction | None:
    """Return what `law_of_the_best` does where it needs no draws, and None elsewhere."""
    rows, which, copies = _distinct(means, loadings)
    law = exact_law(rows[:, 0], rows[:, 1:], copies)
    return None if law is None else _shared(law, _exact_entropy(law, copies), which, copies)


def _shared(law: BestArmLaw, information: Estimate, which: Any, copies: Any) -> OptimalAction:
    """Return the law for all arms from the one for those that differ."""
    probabilities, values, se = (part[which] / copies[which] for part in law[:3])
    return OptimalAction(probabilities, se, values, law.method, information)


def _distinct(means: Floats, loadings: Floats) -> Any:
    """Return the rows that differ, which of them each arm has, and how many arms have each."""
    rows, which, copies = np.unique(
        np.column_stack([means, loadings]) + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    moving = np.abs(rows[:, 1:]).max(axis=0, initial=0.0) > 0
    return rows[:, np.concatenate([[True], moving])], which.ravel(), copies


def _exact_entropy(law: BestArmLaw, copies: Any) -> Estimate:
    # To first order the entropy is off by log p times what p is off by.
    p = law.probabilities
    weight = np.where(p > 0, np.abs(np.log(np.maximum(p, 1e-300))) + 1.0, 0.0)
    return Estimate(shared_entropy(p, copies), float(weight @ law.errors))


def _checked(name: str, value: ArrayLike, shape: tuple[int | None, ...]) -> Floats:
    numbers = arrays.array(name, value)
    fits = len(numbers.shape) == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, numbers.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape ({wanted}), got shape {numbers.shape}")
    return numbers
