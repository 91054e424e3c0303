"""Ensemble++: an ensemble whose models are mixed at random at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.belief_options import belief, variance
from fastes.agents.discount import discount
from fastes.checks import numbers
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source

_LAWS = ("normal", "sphere", "signs", "coordinates")


@dataclass(frozen=True, repr=False)
class EnsemblePlusPlus(Agent):
    """Play the best arm of a random mixture of M models.

    In the canonical form (prior N(0, I), unit noise, arms b) the model of a step is

        z = mu + S Xi zeta,   Xi <- Xi + b w' / sqrt(M) after each reward,

    with entries of Xi (d x M) initially N(0, 1) / sqrt(M), and zeta and w in R^M drawn at every
    step. Given Xi the deviation Xi zeta has covariance Xi Xi', close to the precision P: M of order
    d log T models suffice. Ensemble sampling reads one model at a time instead. Li, Xu, Wang and
    Luo, "Scalable exploration via Ensemble++", arXiv 2407.13195, 2024.

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
    belief : {"auto", "exact", "online"}
        What is kept of rewards that are not Gaussian. Exact: all data, by distinct arm. Online: a
        normal belief that takes in each reward once, linearised. Auto is exact where arms come
        again, else online.
    variance : {"fisher"} or float
        Variance of a perturbation where rewards are not Gaussian. Fisher: that of the reward it
        perturbs, by what is known once that reward is.
    discount : float
        Factor of the weight of a reward for each one taken in after it, from 1e-9 to 1. Below 1 the
        agent remembers about 1 / (1 - discount) rewards; what it forgets goes back to the prior.

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
    belief: str = belief()
    variance: str = variance()
    discount: float = discount()
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
        return ensemble_plus_plus.layout(belief, self.M, *laws)

    def begin(self, state: Any, source: Source) -> None:
        """Draw M models from the prior."""
        from fastes.kernels.agents.ensemble_plus_plus import draw_prior_models

        draw_prior_models(state, source)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the best arm of a random mixture, estimated by draws."""
        from fastes.agents.action_law import law_of_drawn_models
        from fastes.kernels.agents.ensemble_plus_plus import draw_models

        return law_of_drawn_models(arms, len(state.z), lambda z: draw_models(state, source, t, z))
