"""What the bounds of the paper need to know of a problem."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error."""

    value: float
    se: float


@dataclass(frozen=True)
class Constants:
    """What the bounds need to know of a problem, in units of reward.

    Attributes
    ----------
    iota : float
        sqrt(2 (max a' Sigma_0 a + sigma^2)), equation (3).
    eta : Estimate
        2 sqrt(E[max (a'theta)^2] + sigma^2), equation (3), by quasi-Monte Carlo, and no more than
        the next.
    eta_closed_form : float
        A bound on eta, the smaller of one by dimension and one by the number of arms
        ((T6) of the documentation of the theory).
    delta : Estimate
        E[max a'theta - min a'theta], Delta: the most that a step can lose, by quasi-Monte Carlo.
    width, noise : float
        sqrt(beta), beta = max a' Sigma_0 a: the largest standard deviation of an arm's value;
        and sigma.
    entropy : Estimate
        H(A*) under the prior, in nats; from few draws an upper bound
        (`fastes.theory.optimal_action.OptimalAction`).
    trivial : Estimate
        Regret a step of playing any arm, each as likely.
    K : int
        Number of arms.
    d : int
        Dimension, or the problem's rank if that is smaller.
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
