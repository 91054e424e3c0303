"""Theorem B: a bound on regret of first order in the divergence at each step.

For any b_S, b_L > 1, with S the arms played more than b_S^2 times as often as they are the best,
and L those that are the best more than b_L^2 times as often as they are played,

    Regret(T) <= b_S^2 b_L iota sqrt(d T H(A*)) + sum_t max [f_S(x) + f_L(y)],

    f_S(x) = x [Delta + sqrt(8 beta log(sqrt(e) / x))],
    f_L(y) = b_S^2 y sqrt(2 beta log(K / y)),

the maximum over x, y in [0, 1], the probabilities of S and L, with c_S x + c_L y at most the
divergence of the step (`Costs`).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from fastes.checks.arrays import Floats
from fastes.problem.constants import Constants
from fastes.theory.step_bounds import excess

_RATES = 200  # at which a loss is tabulated
_DEEPEST = 26.0  # root of -log of the smallest probability
_STARTS = np.linspace(-9.0, 6.0, 16)  # values of log(b - 1)


class Costs(NamedTuple):
    """What the divergence of a step is at least, for each unit of probability of S and of L."""

    over: float
    under: float


def hellinger_costs(b_over: float, b_under: float) -> Costs:
    """Return (1 - 1/b)^2 for both: costs in Hel^2(pbar || p)."""
    return Costs((1.0 - 1.0 / b_over) ** 2, (1.0 - 1.0 / b_under) ** 2)


def kl_costs(b_over: float, b_under: float) -> Costs:
    """Return costs in KL(pbar || p).

    The divergence is sum p phi(pbar / p), phi(x) = x log x - x + 1. On S it is at least
    2 log b_S - 1 + 1/b_S^2 times pbar, on L at least 1 - (1 + 2 log b_L) / b_L^2 times p.
    """
    over, under = 2.0 * math.log(b_over), 2.0 * math.log(b_under)
    small = excess(np.array([-over, under]))
    return Costs(float(small[0]), float(small[1]) * math.exp(-under))


class StepLoss:
    """The maximum of f_S(x) + f_L(y) as a function of the divergence k of a step.

    For any rate v >= 0 it is at most max [f_S(x) - v c_S x] + max [f_L(y) - v c_L y] + v k, both
    maxima in closed form. The rates are interpolated in a table; a rate that is a little off gives
    a number that is a little larger.

    Attributes
    ----------
    highest : float
        f_S(1) + f_L(1), the loss whatever the divergence.
    level : float
        About the smallest divergence with that loss.
    """

    def __init__(self, known: Constants, b_over: float, costs: Costs) -> None:
        self._costs, self._delta = costs, known.delta_at_most
        width = max(known.width, 1e-9 * self._delta)  # of 0 there would be no rates
        self._over, self._under = math.sqrt(8.0) * width, b_over**2 * math.sqrt(2.0) * width
        self._log_arms = math.log(max(2, known.contenders))
        root = math.sqrt(self._log_arms)
        self.highest = self._delta + self._over * math.sqrt(0.5) + self._under * root
        slopes = self._delta / costs.over, self._under * (root - 0.5 / root) / costs.under
        ends = (self._delta + self._over * _DEEPEST) / costs.over, self._under / costs.under
        rates = np.geomspace(0.5 * min(slopes), max(ends[0], _DEEPEST * ends[1]), _RATES)
        free, spent = self._at(rates)
        self._log_spent, self._log_rates = np.log(spent[::-1]), np.log(rates[::-1])
        self.level = float(np.interp(-self.highest, -(free + rates * spent), spent))

    def _at(self, rate: Floats) -> tuple[Floats, Floats]:
        """Return max [f_S - v c_S x] + max [f_L - v c_L y] and c_S x + c_L y at the maxima.

        With u the root of log(A / x), x sqrt(log(A / x)) has the slope u - 1 / (2 u).
        """
        c, over, under = self._costs, self._over, self._under
        u = _root((rate * c.over - self._delta) / over)
        w = _root(rate * c.under / under)
        x, y = np.exp(0.5 - u * u), np.exp(self._log_arms - w * w)
        spent = c.over * x + c.under * y
        return x * (self._delta + over * u) + y * under * w - rate * spent, spent

    def __call__(self, divergence: Floats) -> Floats:
        """Return the loss of a step of each divergence."""
        some = divergence > 0
        logs = np.log(np.where(some, divergence, 1.0))
        rate = np.exp(np.interp(logs, self._log_spent, self._log_rates))
        loss = np.minimum(self._at(rate)[0] + rate * divergence, self.highest)
        return np.where(some, loss, 0.0)


def _root(slope: Floats) -> Floats:
    """Return the u > 0 with u - 1 / (2 u) = slope."""
    half = np.sqrt(slope * slope + 2.0)
    return np.where(slope > 0, (slope + half) / 2.0, 1.0 / (half + np.abs(slope)))


def least_over_b(
    known: Constants,
    main: float,
    costs: Callable[[float, float], Costs],
    total: Callable[[StepLoss], float],
) -> float:
    """Return the minimum over b_S and b_L of b_S^2 b_L main + total of the losses."""
    if known.delta_at_most == 0.0:  # all arms have one value
        return main

    def bound(x: Floats) -> float:
        b_over, b_under = 1.0 + np.exp(np.clip(x, -12.0, 12.0))
        loss = StepLoss(known, float(b_over), costs(float(b_over), float(b_under)))
        return float(b_over**2 * b_under * main + total(loss))

    found = [bound(np.array([x, x])) for x in _STARTS]
    start = np.full(2, _STARTS[int(np.argmin(found))])
    rules = {"xatol": 1e-4, "fatol": 1e-7 * min(found), "maxfev": 120}
    refined = minimize(bound, start, method="Nelder-Mead", options=rules)
    return min(*found, float(refined.fun))
