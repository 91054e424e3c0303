"""Thompson sampling: a draw from the posterior, exact or by Laplace's approximation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.inflation import inflation
from fastes.agents.learner import Learner
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


SAMPLERS = ("laplace", "metropolis")

PROPOSALS = 32
"""Of the Markov chain, a step: for a logistic posterior in 20 dimensions, of 100 arms and twice as
many plays, it stays where it was in one step of 2,000."""


LONGEST_WINDOW = 65_536
"""Rewards: beyond, computing the belief afresh would take most of the time."""


@dataclass(frozen=True, repr=False)
class ThompsonSampling(Learner):
    """Thompson sampling: draw theta from the posterior, play its best arm.

    Parameters
    ----------
    inflation : float
        What the deviation of theta from the posterior mean is multiplied by: 1 is exact
        Thompson sampling, and analyses of the worst case ask for more. At most 1e9.
    sampler : {"laplace", "metropolis"}
        How theta is drawn where rewards are not Gaussian. Laplace: from the normal law around the
        mode of the posterior. Metropolis: from the posterior itself, by a Markov chain that makes
        32 proposals a step; it needs the exact belief.
    window : int
        Number of the last rewards that count, at most 65,536; 0: all. The belief is the posterior
        given these. Where rewards are not Gaussian it needs the online belief.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=200, runs=50)
    Result(TS: regret 47.33 +- 1.8 at T=200, 50 runs)
    """

    inflation: float = inflation()
    sampler: str = parameter(
        "How theta is drawn where rewards are not Gaussian.",
        "choice",
        "laplace",
        default="laplace",
        choices=SAMPLERS,
        labelled="unusual",
    )
    window: int = parameter(
        "How many of the last rewards count; 0: all.",
        "integer",
        0,
        default=0,
        maximum=LONGEST_WINDOW,
        labelled="unusual",
    )
    name: ClassVar[str] = "ts"
    title: ClassVar[str] = "TS"
    scores: ClassVar[str] = "linear"
    rooted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window and self.discount < 1.0:
            raise ValueError(
                "window and discount are two ways to forget: leave one out, "
                f"got {self.window:,} and {self.discount:g}"
            )

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.metropolis import metropolis
        from fastes.kernels.agents.thompson import thompson
        from fastes.kernels.beliefs.interface import has_density, perturbed_alike

        if self.sampler == "laplace":
            return thompson.layout(belief, self.inflation)
        if perturbed_alike(belief):
            raise ValueError(
                "sampler is about rewards that are not gaussian, whose posterior has no closed "
                "form: leave it out"
            )
        if not has_density(belief):
            raise ValueError(
                "sampler 'metropolis' needs belief 'exact': one that is online has no density "
                "but its own"
            )
        return metropolis.layout(belief, self.inflation, PROPOSALS)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the optimal action, which it plays; or how often each arm is, by draws.

        It plays that of the posterior itself where rewards are Gaussian, their noise is known and
        nothing is inflated.
        """
        from fastes.agents.action_law import ActionLaw, law_of_drawn_models, normal_of
        from fastes.kernels.agents import metropolis, thompson
        from fastes.kernels.beliefs.interface import normal_law, perturbed_alike

        is_normal = self.noise == "known" and perturbed_alike(state.belief)
        if is_normal and self.inflation == 1.0:
            return ActionLaw(None)
        kernels, law = thompson if self.sampler == "laplace" else metropolis, None
        if is_normal:
            posterior = normal_law(state.belief)
            law = normal_of(posterior.mean, self.inflation * posterior.root)
        return law_of_drawn_models(
            arms, len(state.z), lambda z: kernels.draw_models(state, source, t, z), law
        )
