"""Uniformly random play."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True)
class UniformRandom(Agent):
    """Play a uniformly random arm at every step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.UniformRandom(), T=200, runs=50)
    Result(Uniform: regret 368.8 +- 17 at T=200, 50 runs)
    """

    name: ClassVar[str] = "uniform"
    title: ClassVar[str] = "Uniform"
    scores: ClassVar[str] = "none"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.uniform import uniform

        return uniform.layout(belief)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the uniform law."""
        import numpy as np

        from fastes.agents.action_law import ActionLaw

        return ActionLaw(np.full(arms.K, 1.0 / arms.K))
