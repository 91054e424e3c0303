"""Ensemble++: an ensemble whose models are mixed at random at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.inflation import inflation
from fastes.agents.learner import Learner
from fastes.agents.variance import variance
from fastes.checks import numbers
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source

_LAWS = ("normal", "sphere", "signs", "coordinates")


@dataclass(frozen=True, repr=False)
class EnsemblePlusPlus(Learner):
    """Play the best arm of a random mixture of M models.

    In the canonical form (prior N(0, I), unit noise, arms b) the model of a step is

        z = mu + c S Xi zeta,   Xi <- Xi + b w' / sqrt(M) after each reward,

    with entries of Xi (d x M) initially N(0, 1) / sqrt(M), and zeta and w in R^M drawn at every
    step; c is the inflation. Given Xi the deviation Xi zeta has covariance Xi Xi', close to the
    precision P: M of order d log T models suffice. Ensemble sampling reads one model at a time
    instead. Li, Xu, Wang and Luo, "Scalable exploration via Ensemble++", arXiv 2407.13195, 2024.

    Parameters
    ----------
    M : int
        Number of models. A step costs O(M d) beyond that of a greedy agent.
    reference : {"normal", "sphere", "signs", "coordinates"}
        Law of zeta: N(0, I), uniform of norm sqrt(M), independent signs, or sqrt(M) times a
        coordinate vector with a sign. With the last, and normal perturbations, this is symmetric
        ensemble sampling.
    perturbations : {"normal", "sphere", "signs"}
        Law of w.
    inflation : float
        Factor c of the deviations from mu_t, at most 1e9.
    variance : {"fisher"} or float
        Variance of a perturbation where rewards are not Gaussian. Fisher: that of the reward it
        perturbs, by what is known once that reward is.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.EnsemblePlusPlus(M=10), T=200, runs=50)
    Result(ES++, M=10: regret 47.37 +- 2.5 at T=200, 50 runs)
    """

    M: int = parameter("Models in the ensemble.", "integer", 30, minimum=1)
    reference: str = parameter(
        "Law of the weights that mix the models.",
        "choice",
        "sphere",
        default="sphere",
        choices=_LAWS,
        labelled="unusual",
    )
    perturbations: str = parameter(
        "Law of the perturbations.",
        "choice",
        "sphere",
        default="sphere",
        choices=_LAWS[:3],
        labelled="unusual",
    )
    inflation: float = inflation()
    variance: str = variance()
    name: ClassVar[str] = "es++"
    title: ClassVar[str] = "ES++"
    scores: ClassVar[str] = "linear"
    starts_alike: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reference == "coordinates":  # indices of M coordinates with a sign must fit
            numbers.integer("M with reference coordinates", self.M, 1, numbers.MAX_SIZE // 2)

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.ensemble_plus_plus import ensemble_plus_plus

        laws = _LAWS.index(self.reference), _LAWS.index(self.perturbations)
        return ensemble_plus_plus.layout(belief, self.M, *laws, self.inflation)

    def begin(self, state: Any, source: Source) -> None:
        """Draw M models from the prior."""
        from fastes.kernels.agents.ensemble_plus_plus import draw_prior_models

        draw_prior_models(state, source)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the best arm of a random mixture, estimated by draws.

        For Gaussian rewards and normal weights a mixture is N(mu, S Xi Xi' S).
        """
        from fastes.agents.action_law import extreme_eigenvalues, law_of_drawn_models, normal_of
        from fastes.kernels.agents.ensemble_plus_plus import draw_models
        from fastes.kernels.beliefs.interface import normal_law, perturbed_alike

        posterior = normal_law(state.belief)
        white = self.inflation / math.sqrt(self.M) * state.xi @ posterior.root.T
        is_normal = self.reference == "normal" and self.noise == "known"
        is_normal = is_normal and perturbed_alike(state.belief)
        normal = normal_of(posterior.mean, white @ posterior.root) if is_normal else None
        law = law_of_drawn_models(
            arms, len(state.z), lambda z: draw_models(state, source, t, z), normal
        )
        return law._replace(eigenvalues=extreme_eigenvalues(white.T @ white))
