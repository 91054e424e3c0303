"""Constants of a problem in bounds on regret."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error.

    Examples
    --------
    >>> from fastes.problem.constants import Estimate
    >>> Estimate(2.0, 0.25).at_most
    2.75
    """

    value: float
    se: float

    @property
    def at_most(self) -> float:
        """Three standard errors above the value: what bounds are computed from."""
        return self.value + 3.0 * self.se


@dataclass(frozen=True)
class Constants:
    """Constants of a problem in the bounds, in units of reward.

    Bounds take an estimate at three standard errors above its value, or at a bound in closed form
    if that is smaller: `eta_at_most` and the like.

    Attributes
    ----------
    iota : float
        sqrt(2 (max a' Sigma_0 a + sigma^2)), equation (3).
    eta : Estimate
        2 sqrt(E[max (a'theta)^2] + sigma^2), equation (3), by quasi-Monte Carlo; at most
        `eta_closed_form`. Only Theorem 1 has it.
    eta_closed_form : float
        Upper bound on eta: the smaller of a bound in the dimension and one in the number of arms
        (T6 in the documentation).
    eta0 : Estimate
        2 sqrt(min_c E[max (a'theta - c)^2]), which takes the place of eta in Theorem 2 (T7).
    eta0_closed_form : float
        Upper bound on eta0 (T8).
    delta : Estimate
        Delta = E[max a'theta - min a'theta], the largest expected regret of a step, by
        quasi-Monte Carlo.
    width, noise : float
        sqrt(beta), beta = max a' Sigma_0 a: the largest standard deviation of an arm's value;
        and sigma.
    entropy : Estimate
        H(A*) under the prior, in nats, equal arms counted as one; an upper bound where draws are
        few (`fastes.theory.optimal_action.OptimalAction`).
    trivial : Estimate
        Regret per step of a uniformly random arm.
    K : int
        Number of arms.
    contenders : int
        Number of arms that can be the best, equal arms counted as one. It takes the place of K in
        all bounds but the paper's.
    d : int
        Dimension, or the rank of the problem if smaller.
    """

    iota: float
    eta: Estimate
    eta_closed_form: float
    eta0: Estimate
    eta0_closed_form: float
    delta: Estimate
    width: float
    noise: float
    entropy: Estimate
    trivial: Estimate
    K: int
    contenders: int
    d: int

    @property
    def eta_at_most(self) -> float:
        """Upper bound on eta."""
        return min(self.eta.at_most, self.eta_closed_form)

    @property
    def eta0_at_most(self) -> float:
        """Upper bound on eta0, which is never above eta."""
        return min(self.eta0.at_most, self.eta0_closed_form, self.eta_at_most)

    @property
    def delta_at_most(self) -> float:
        """Upper bound on Delta, which is never above eta0."""
        return min(self.delta.at_most, self.eta0_at_most)

    @property
    def entropy_at_most(self) -> float:
        """Upper bound on H(A*), which is never above the logarithm of the contenders."""
        return min(max(0.0, self.entropy.at_most), math.log(self.contenders))
