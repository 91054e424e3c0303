"""Bayes-UCB: optimism by posterior quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.belief_options import (
    belief,
    least_noise,
    noise,
    noise_scale,
    noise_shape,
)
from fastes.agents.discount import discount

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class BayesUCB(Agent):
    """Play the arm with the largest posterior quantile at 1 - 1/(t + 1), t = 1, 2, ...

    The mean reward of arm a is N(a'mu_t, a'Sigma_t a) given the history, so that the index is
    a'mu_t + q_t sqrt(a'Sigma_t a), q_t the quantile of N(0, 1). Kaufmann, Cappe and Garivier,
    "On Bayesian upper confidence bounds for bandit problems", AISTATS 2012.

    Parameters
    ----------
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
    >>> fastes.simulate(bandit, fastes.BayesUCB(), T=200, runs=50)
    Result(Bayes-UCB: regret 38.51 +- 1.8 at T=200, 50 runs)
    """

    belief: str = belief()
    noise: str = noise()
    noise_shape: float = noise_shape()
    noise_scale: float = noise_scale()
    least_noise: float = least_noise()
    discount: float = discount()
    name: ClassVar[str] = "bayes-ucb"
    title: ClassVar[str] = "Bayes-UCB"
    scores: ClassVar[str] = "quadratic"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.bayes_ucb import bayes_ucb

        return bayes_ucb.layout(belief)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the arm with the largest index at step t."""
        from fastes.agents.action_law import law_of_best_score
        from fastes.kernels.agents.bayes_ucb import set_quantile

        set_quantile(state, t)
        return law_of_best_score(state, arms)
