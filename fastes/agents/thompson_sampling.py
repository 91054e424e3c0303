"""Thompson sampling with the exact posterior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.belief_options import belief
from fastes.agents.inflation import inflation

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class ThompsonSampling(Agent):
    """Thompson sampling: draw theta from the posterior, play its best arm.

    Parameters
    ----------
    inflation : float
        What the deviation of theta from the posterior mean is multiplied by: 1 is exact
        Thompson sampling, and analyses of the worst case ask for more. At most 1e9.
    belief : {"auto", "exact", "online"}
        What is kept of rewards that are not Gaussian. Exact: all data, by distinct arm. Online: a
        normal belief that takes in each reward once, linearised. Auto is exact where arms come
        again, else online.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=200, runs=50)
    Result(TS: regret 47.33 +- 1.8 at T=200, 50 runs)
    """

    inflation: float = inflation()
    belief: str = belief()
    name: ClassVar[str] = "ts"
    title: ClassVar[str] = "TS"
    scores: ClassVar[str] = "linear"
    rooted: ClassVar[bool] = True

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.thompson import thompson

        return thompson.layout(belief, self.inflation)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the optimal action, which it plays; if it is inflated, by draws."""
        from fastes.agents.action_law import ActionLaw, law_of_drawn_models
        from fastes.kernels.agents.thompson import draw_models

        if self.inflation == 1.0:
            return ActionLaw(None)
        return law_of_drawn_models(arms, len(state.z), lambda z: draw_models(state, source, t, z))
