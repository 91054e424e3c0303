"""Constants of a problem in the paper's bounds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    se: float


@dataclass(frozen=True)
class Constants:
    """Constants of a problem in the bounds, in units of reward.

    Attributes
    ----------
    iota : float
        sqrt(2 (max a' Sigma_0 a + sigma^2)), equation (3).
    eta : Estimate
        2 sqrt(E[max (a'theta)^2] + sigma^2), equation (3), by quasi-Monte Carlo; at most
        `eta_closed_form`.
    eta_closed_form : float
        Upper bound on eta: the smaller of a bound in the dimension and one in the number of arms
        (T6 in the documentation).
    delta : Estimate
        Delta = E[max a'theta - min a'theta], the largest expected regret of a step, by
        quasi-Monte Carlo.
    width, noise : float
        sqrt(beta), beta = max a' Sigma_0 a: the largest standard deviation of an arm's value;
        and sigma.
    entropy : Estimate
        H(A*) under the prior, in nats; an upper bound where draws are few
        (`fastes.theory.optimal_action.OptimalAction`).
    trivial : Estimate
        Regret per step of a uniformly random arm.
    K : int
        Number of arms.
    d : int
        Dimension, or the rank of the problem if smaller.
    """

    iota: float
    eta: Estimate
    eta_closed_form: float
    delta: Estimate
    width: float
    noise: float
    entropy: Estimate
    trivial: Estimate
    K: int
    d: int
