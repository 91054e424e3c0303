"""LinUCB: optimism in the face of uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.belief_options import (
    belief,
    least_noise,
    noise,
    noise_scale,
    noise_shape,
)
from fastes.agents.discount import discount
from fastes.checks.parameters import parameter


@dataclass(frozen=True, repr=False)
class LinUCB(Agent):
    """Play the arm with the largest a'mu_t + alpha sqrt(a'Sigma_t a).

    Parameters
    ----------
    alpha : float
        Number of posterior standard deviations of optimism.
    belief : {"auto", "exact", "online"}
        What is kept of rewards that are not Gaussian. Exact: all data, by distinct arm. Online: a
        normal belief that takes in each reward once, linearised. Auto is exact where arms come
        again, else online.
    noise : {"known", "learned"}
        Whether the standard deviation of Gaussian rewards is the bandit's, or learned: its square
        then has an inverse gamma prior, and the bandit's noise is a first guess.
    noise_shape, noise_scale : float
        That prior's shape, at least 1, and scale, in units of the bandit's squared noise.
    least_noise : float
        The noise with which theta has the bandit's prior, from 0.001 to 1 of the bandit's noise.
        With more noise the prior is wider, in proportion: name the least that is likely.
    discount : float
        Factor of the weight of a reward for each one taken in after it, from 1e-9 to 1. Below 1 the
        agent remembers about 1 / (1 - discount) rewards; what it forgets goes back to the prior.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.LinUCB(alpha=0.5), T=200, runs=50)
    Result(LinUCB, alpha=0.5: regret 74.37 +- 9.5 at T=200, 50 runs)
    """

    alpha: float = parameter(
        "Standard deviations of optimism.", "number", 1.0, default=1.0, minimum=0
    )
    belief: str = belief()
    noise: str = noise()
    noise_shape: float = noise_shape()
    noise_scale: float = noise_scale()
    least_noise: float = least_noise()
    discount: float = discount()
    name: ClassVar[str] = "linucb"
    title: ClassVar[str] = "LinUCB"
    scores: ClassVar[str] = "quadratic"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.linucb import linucb

        return linucb.layout(belief, self.alpha)
