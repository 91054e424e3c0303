"""Theorem E: a bound on the regret of agents that mix models at random, whatever K is.

It is stated and proven in the documentation, under "Mixing models and choosing one".
"""

import math

import numpy as np

from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_STEPS
from fastes.problem.constants import Constants
from fastes.theory.bounds import directions, potential
from fastes.theory.step_bounds import MAX_MODELS

__all__ = ["mixing", "models_to_mix"]


def mixing(known: Constants, T: int, c: float, delta: float = 0.0) -> float:
    """Return the bound of Theorem E on the regret of an agent that draws from N(mu_t, Shat_t).

    sqrt(c nu T V) + T delta [Delta + sqrt(8 beta log(e / delta))] if, given everything before step
    t but the draw, Sigma_t <= Shat_t <= c Sigma_t in the order of matrices, off an event of
    probability at most delta at each step; nu and V are those of Theorem C.

    Parameters
    ----------
    known : Constants
        Constants of the problem.
    T : int
        Steps.
    c : float
        At least 1. Thompson sampling has c = 1; inflated, the square of the inflation.
    delta : float
        From 0 to 1.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.constants import constants
    >>> from fastes.theory.mixing import mixing
    >>> known = constants(fastes.LinearBandit.random(K=30, d=5))
    >>> round(mixing(known, 250, c=1.0)), round(mixing(known, 250, c=3.0, delta=1e-4))
    (188, 326)
    """
    T = numbers.integer("T", T, 1, MAX_STEPS)
    c = numbers.between("c", c, 1.0, 1e300)
    delta = numbers.between("delta", delta, 0.0, 1.0)
    return mixing_weighted(known, T, np.array([c]), np.array([delta]), np.array([float(T)]))


def mixing_weighted(known: Constants, T: int, c: Floats, delta: Floats, weights: Floats) -> float:
    """Return the bound of Theorem E step by step, with sums over steps replaced by weighted ones.

    sqrt(nu V sum_t c_t) + sum_t delta_t [Delta + sqrt(8 beta log(e / delta_t))], where delta_t
    bounds the probability that Sigma_t <= Shat_t fails, and c_t is the mean over all else of the
    least c with Shat_t <= c Sigma_t, times the probability that it does not fail.
    """
    logs = -np.log(np.maximum(delta, 1e-300))
    failed = delta * (known.delta_at_most + math.sqrt(8.0) * known.width * np.sqrt(1.0 + logs))
    spread = directions(known) * potential(known, T) * max(0.0, float(weights @ c))
    return known.noise * math.sqrt(spread) + float(weights @ failed)


def models_to_mix(d: int, T: int, signal: float, epsilon: float = 0.5, delta: float = 0.01) -> int:
    """Return an M for which the corollary of Theorem E holds: a proven number, not the least.

    The least M with M >= 1764 / epsilon^2 and

        M >= (200 / epsilon^2) [d log(1 + 40 sqrt(kappa) / epsilon)
             + log((2 M log(kappa) + 4) / delta)],   kappa = 1 + T signal.

    With probability at least 1 - delta, all eigenvalues of P_t^(-1/2) Xi Xi' P_t^(-1/2) then lie in
    [1 - epsilon, 1 + epsilon] at all T steps.

    Parameters
    ----------
    d, T : int
        Dimension, or rank if smaller, and steps.
    signal : float
        max a' Sigma_0 a / sigma^2.
    epsilon, delta : float
        In (0, 1].

    Examples
    --------
    >>> from fastes.theory.mixing import models_to_mix
    >>> models_to_mix(5, 1000, 1.0), models_to_mix(50, 10**6, 1.0)
    (45717, 468377)
    """
    d, T = numbers.integer("d", d, 1, numbers.MAX_SIZE), numbers.integer("T", T, 1, MAX_STEPS)
    signal = numbers.nonnegative("signal", signal)
    for name, value in (("epsilon", epsilon), ("delta", delta)):
        if not numbers.between(name, value, 0.0, 1.0) > 0.0:
            raise ValueError(f"{name} must be above 0, got {value:g}")
    kappa = 1.0 + T * signal
    net = d * math.log1p(40.0 * math.sqrt(kappa) / epsilon)

    def enough(M: int) -> bool:
        log = math.log((2.0 * M * math.log(kappa) + 4.0) / delta)
        return M * epsilon**2 >= max(1764.0, 200.0 * (net + log))

    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
        if high > MAX_MODELS:
            raise ValueError(f"epsilon must be larger: M is above 2^56, got {epsilon:g}")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
