"""Bayes-UCB: optimism by posterior quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.learner import Learner

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class BayesUCB(Learner):
    """Play the arm with the largest posterior quantile at 1 - 1/(t + 1), t = 1, 2, ...

    The mean reward of arm a is N(a'mu_t, a'Sigma_t a) given the history, so that the index is
    a'mu_t + q_t sqrt(a'Sigma_t a), q_t the quantile of N(0, 1). Kaufmann, Cappe and Garivier,
    "On Bayesian upper confidence bounds for bandit problems", AISTATS 2012.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.BayesUCB(), T=200, runs=50)
    Result(Bayes-UCB: regret 38.51 +- 1.8 at T=200, 50 runs)
    """

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
