"""Small ensembles as analyses of the worst case have them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.inflation import inflation
from fastes.checks import numbers
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.checks.arrays import Floats
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source

_WIDTH = {"radius": 1.0, "delta": 0.05}
"""Parameters of a width of "confidence", and their defaults."""


@dataclass(frozen=True, repr=False)
class LinearEnsemble(Agent):
    """Small ensembles as frequentist analyses have them: wider, refreshed seldom, or optimistic.

    Models start and are perturbed as those of `EnsembleSampling`, and a step reads model m as
    mu_t + c_t (theta_m - mu_t). In the canonical form (prior N(0, I), unit noise, precision P_t)

        c_t = inflation * beta_t,   beta_t = radius + sqrt(2 log(1/delta) + log det P_t).

    beta_t is the confidence radius of Abbasi-Yadkori, Pal and Szepesvari (2011). With ``width
    "confidence"`` and ``symmetric`` this is the form of the algorithm of Janz, Litvak and
    Szepesvari (2024), without ``symmetric`` that of Janz, Akhavan and Szepesvari (2026); with
    ``refresh`` above 0 models change as seldom as in Hwang and Oh (2026). Rewards must be Gaussian.

    Parameters
    ----------
    M : int
        Number of models, all updated at every step: a step costs O(M d) beyond that of a greedy
        agent, and O(M K d) with choice "maximum".
    inflation : float
        Factor of the deviations from mu_t, at most 1e9.
    width : {"constant", "confidence"}
        Whether deviations are also multiplied by beta_t.
    radius : float
        Bound on the norm of theta in the canonical form: in prior standard deviations.
    delta : float
        Probability, in (0, 1), with which theta may leave the ellipsoid of radius beta_t.
    symmetric : bool
        Whether the deviation of the model read gets a fair random sign.
    choice : {"uniform", "maximum"}
        Uniform: the best arm of a model chosen at random. Maximum: the arm with the largest score
        by any model, on all action sets but the ball.
    refresh : float
        0: models take in a perturbation at every step. From 1 on: they are drawn anew from the
        posterior when det P_t has grown by this factor, and else left as they are.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.LinearEnsemble(M=10, refresh=2.0), T=200, runs=50)
    Result(LinES, M=10, refresh=2: regret 48.01 +- 2.8 at T=200, 50 runs)
    >>> agent = fastes.LinearEnsemble(M=10, width="confidence", symmetric=True)
    >>> fastes.simulate(bandit, agent, T=200, runs=50)
    Result(LinES, M=10, width=confidence, symmetric: regret 157.9 +- 3.7 at T=200, 50 runs)
    """

    M: int = parameter("Models in the ensemble.", "integer", 30, minimum=1)
    inflation: float = inflation()
    width: str = parameter(
        "Whether deviations are multiplied by the confidence radius beta_t.",
        "choice",
        "constant",
        default="constant",
        choices=("constant", "confidence"),
        labelled="unusual",
    )
    radius: float = parameter(
        "Bound on theta in beta_t, in prior standard deviations.",
        "number",
        _WIDTH["radius"],
        default=_WIDTH["radius"],
        minimum=0,
        labelled="unusual",
    )
    delta: float = parameter(
        "Probability with which beta_t may fail.",
        "number",
        _WIDTH["delta"],
        default=_WIDTH["delta"],
        minimum=0,
        maximum=1,
        labelled="unusual",
    )
    symmetric: bool = parameter(
        "Whether the deviation of a model gets a fair random sign.",
        "flag",
        False,
        default=False,
        labelled="unusual",
    )
    choice: str = parameter(
        "Whose best arm is played: of a model at random, or the best of all models.",
        "choice",
        "uniform",
        default="uniform",
        choices=("uniform", "maximum"),
        labelled="unusual",
    )
    refresh: float = parameter(
        "Growth of det P_t after which models are drawn anew; 0: perturbed at every step.",
        "number",
        0.0,
        default=0.0,
        minimum=0,
        labelled="unusual",
    )
    name: ClassVar[str] = "lin-es"
    title: ClassVar[str] = "LinES"
    scores: ClassVar[str] = "linear"
    starts_alike: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.width == "constant":
            for name, only in _WIDTH.items():
                if getattr(self, name) != only:
                    raise ValueError(
                        f"{name} must be left out where width is 'constant', "
                        f"got {getattr(self, name):g}"
                    )
        if self.width == "confidence" and not 0.0 < self.delta < 1.0:
            raise ValueError(f"delta must be above 0 and below 1, got {self.delta:g}")
        if self.symmetric:  # indices of M models and their reflections must fit
            numbers.integer("M of a symmetric ensemble", self.M, 1, numbers.MAX_SIZE // 2)
        if 0.0 < self.refresh < 1.0:
            raise ValueError(f"refresh must be 0 or at least 1, got {self.refresh:g}")
        if self.choice == "maximum":
            object.__setattr__(self, "scores", "any")
            if self.symmetric:
                raise ValueError(
                    "symmetric must be False where choice is 'maximum': no model is read at random"
                )

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.linear_ensemble import Width, maximum_choice, uniform_choice
        from fastes.kernels.beliefs.interface import perturbed_alike

        if not perturbed_alike(belief):
            raise ValueError(f"{self.title} plays on gaussian rewards only")
        confidence = -2.0 * math.log(self.delta) if self.width == "confidence" else -1.0
        growth = math.log(self.refresh) if self.refresh > 0.0 else -1.0
        given = belief, self.M, Width(self.inflation, self.radius, confidence), growth
        if self.choice == "maximum":
            return maximum_choice.layout(*given)
        return uniform_choice.layout(*given, 2 if self.symmetric else 1)

    def begin(self, state: Any, source: Source) -> None:
        """Draw M models from the prior."""
        from fastes.kernels.agents.linear_ensemble import draw_prior_models

        draw_prior_models(state.models, source)

    def deviations(self, state: Any) -> Floats:
        """Return c_t xi of all models, one per row: a model is z = mu + c_t S xi."""
        from fastes.kernels.agents.linear_ensemble import factor_now

        scaled: Floats = factor_now(state.models) * state.models.xi
        return scaled

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the share of models for which each arm is the best, or the arm of all models."""
        import numpy as np

        from fastes.agents.action_law import ActionLaw, extreme_eigenvalues
        from fastes.agents.best_arms import BestArmCounts, read_models
        from fastes.kernels.beliefs.interface import normal_law

        if self.choice == "maximum":
            return super().action_law(state, arms, source, t)
        xi, best = self.deviations(state), BestArmCounts(arms)
        signs = (1.0, -1.0) if self.symmetric else (1.0,)
        for sign in signs:
            best.add(read_models(state.belief, sign * xi))
        white = xi @ normal_law(state.belief).root.T
        return ActionLaw(
            best.counts / (len(signs) * self.M),
            best_scores=np.concatenate(best.best_scores),
            eigenvalues=extreme_eigenvalues(white.T @ white / self.M),
        )
