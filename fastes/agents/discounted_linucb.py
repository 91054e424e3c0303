"""Discounted LinUCB: optimism where theta changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.agents.learner import Forgetting
from fastes.checks.parameters import parameter


@dataclass(frozen=True, repr=False)
class DiscountedLinUCB(Forgetting):
    """Play the arm of the largest upper confidence bound, with past rewards discounted.

    Widths account for the discount: in the canonical form (prior N(0, I), unit noise, arms b) the
    index of an arm is

        b'mu_t + alpha sqrt(b'S_t V_t S_t b),   S_t = P_t^-1,

    where P_t discounts b b' by gamma and V_t by gamma^2. Russac, Vernade and Cappe, "Weighted
    linear bandits for non-stationary environments", NeurIPS 2019, prove a bound on the regret for
    alpha = S + sqrt(2 log(1/delta) + d log(1 + L^2 (1 - gamma^(2 t)) / (d (1 - gamma^2)))), with S
    the largest length of theta in that form and L that of an arm. Theirs gives the prior its weight
    back at every step, this one with every n-th reward: see "Beliefs that forget" in the
    documentation. It plays Gaussian rewards.

    Parameters
    ----------
    alpha : float
        Number of standard deviations of optimism.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.DiscountedLinUCB(discount=0.99), T=200, runs=50)
    Result(D-LinUCB, alpha=1, discount=0.99: regret 39.72 +- 4.1 at T=200, 50 runs)
    """

    alpha: float = parameter(
        "Standard deviations of optimism.", "number", 1.0, default=1.0, minimum=0
    )
    name: ClassVar[str] = "d-linucb"
    title: ClassVar[str] = "D-LinUCB"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.discounted_linucb import discounted_linucb
        from fastes.kernels.beliefs.interface import perturbed_alike

        if not perturbed_alike(belief):
            raise ValueError(f"{self.title} plays on gaussian rewards only")
        return discounted_linucb.layout(belief, self.alpha)
