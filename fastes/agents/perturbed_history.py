"""Perturbed history: exploration by noise on past rewards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.inflation import LARGEST
from fastes.agents.learner import Learner
from fastes.agents.variance import variance
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class PerturbedHistory(Learner):
    """Play the best arm of the posterior mean given rewards with fresh noise.

    At every step each past reward gets a fresh N(0, (scale sigma)^2) perturbation:
    theta = mu_t + Sigma_t sum_s scale W_s a_s / sigma. The prior is not perturbed, so the first
    arms are the best under the prior mean. Kveton, Szepesvari, Ghavamzadeh and Boutilier,
    "Perturbed-history exploration in stochastic linear bandits", UAI 2019, with normal noise
    instead of pseudo-rewards. A step costs O(d^2), independent of the number of rewards.

    Parameters
    ----------
    scale : float
        Standard deviation of the perturbations, in units of the noise, at most 1e9.
    variance : {"fisher"} or float
        Variance of a perturbation where rewards are not Gaussian. Fisher: that of the reward it
        perturbs, by what is known once that reward is.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.PerturbedHistory(), T=200, runs=50)
    Result(PHE: regret 83.01 +- 13 at T=200, 50 runs)
    """

    scale: float = parameter(
        "Standard deviation of perturbations, in units of the noise.",
        "number",
        1.0,
        default=1.0,
        minimum=0,
        maximum=LARGEST,
        labelled="unusual",
    )
    variance: str = variance()
    name: ClassVar[str] = "phe"
    title: ClassVar[str] = "PHE"
    scores: ClassVar[str] = "linear"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.perturbed_history import perturbed_history

        return perturbed_history.layout(belief, self.scale)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the best arm under fresh perturbations, estimated by draws.

        For Gaussian rewards a model is N(mu, scale^2 S (P - I) S).
        """
        import numpy as np

        from fastes.agents.action_law import law_of_drawn_models, normal_of
        from fastes.kernels.agents.perturbed_history import draw_models
        from fastes.kernels.beliefs.interface import normal_law, perturbed_alike

        law = None
        alike = self.discount == 1.0 and perturbed_alike(state.belief)
        if alike and self.noise == "known":
            posterior = normal_law(state.belief)
            S = posterior.root.T @ posterior.root
            e, Q = np.linalg.eigh(np.linalg.inv(S) - np.eye(len(S)))
            root = self.scale * np.sqrt(np.maximum(e, 0.0))[:, None] * (Q.T @ S)
            law = normal_of(posterior.mean, root)
        return law_of_drawn_models(
            arms, len(state.z), lambda z: draw_models(state, source, t, z), law
        )
