"""Variance-based information-directed sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.learner import Forgetting
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class InformationDirectedSampling(Forgetting):
    """V-IDS: sample the arm from the law pi that minimises Delta_t(pi)^2 / v_t(pi).

    Delta_t(a) = E_t[max_a' a'theta - a'theta] is the expected regret of arm a, and
    v_t(a) = Var_t(E_t[a'theta | A*]) the variance of its mean reward explained by the optimal
    action A*; both are averaged over pi. So an arm of large regret is played only if it is
    informative about the best arm. Russo and Van Roy (2018), "Learning to optimize via
    information-directed sampling", Operations Research 66: the variance-based form, with
    expectations estimated by draws of theta from the posterior. Two arms suffice (their
    Proposition 6), which a search along the frontier of the points (Delta, v) finds: see
    "Information-directed sampling" in the documentation. Ties with either arm are broken uniformly.

    It plays on all action sets except the ball, where each arm is optimal with probability zero. It
    takes the noise as known: the draws of a step have one law, N(mu_t, Sigma_t).

    Parameters
    ----------
    samples : int
        Draws from the posterior at every step, from 1 to 65,536.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.InformationDirectedSampling(), T=200, runs=50)
    Result(V-IDS: regret 35.61 +- 2.1 at T=200, 50 runs)
    """

    samples: int = parameter(
        "Draws from the posterior at every step.",
        "integer",
        1000,
        default=1000,
        minimum=1,
        maximum=65_536,
        labelled="unusual",
    )
    name: ClassVar[str] = "ids"
    title: ClassVar[str] = "V-IDS"
    scores: ClassVar[str] = "information"
    rooted: ClassVar[bool] = True

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.information_directed import information_directed
        from fastes.kernels.beliefs.interface import perturbed_alike

        if not perturbed_alike(belief):
            raise ValueError(f"{self.title} plays on gaussian rewards only")
        return information_directed.layout(belief, self.samples)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law on two arms, from fresh draws from the posterior.

        The draws belong to the probe. So the law is random given the history, as is phat_t of an
        ensemble: the arm of step t comes from other draws, with another law.
        """
        import numpy as np

        from fastes.agents.action_law import ActionLaw
        from fastes.kernels.search.information_ratio import law_at_probe, ratio_search

        work = ratio_search(arms)
        first, second, q = law_at_probe(work, state, arms, source, t)
        if first < 0:
            raise FloatingPointError("a model failed numerically: all of its scores are nan")
        regret, variance = work.regret[: arms.K], work.variance[: arms.K]
        probabilities = np.zeros(arms.K)
        for arm, share in ((first, 1.0 - q), (second, q)):
            equal = (regret == regret[arm]) & (variance == variance[arm])
            probabilities += share * equal / equal.sum()
        return ActionLaw(probabilities)
