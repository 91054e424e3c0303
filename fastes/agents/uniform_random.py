"""Uniform play: the regret of knowing nothing."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fastes.agents.action_law import ActionLaw
from fastes.agents.agent import Agent
from fastes.kernels.actions.arms import Arms
from fastes.kernels.agents.greedy import Greedy, greedy
from fastes.kernels.agents.uniform import Uniform
from fastes.kernels.streams.philox import Source


@dataclass(frozen=True)
class UniformRandom(Agent):
    """Play any arm, each as likely, at every step. What it learns it does not use.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.UniformRandom(), T=200, runs=4).label
    'Uniform'
    """

    name: ClassVar[str] = "uniform"

    def certifies(self, K: int, r: int) -> bool:
        """Tell that no arm is looked at."""
        return False

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell that no arm is looked at."""
        return False

    def workspace(self, arms: Arms) -> Uniform:
        """Return the number of arms."""
        return Uniform(arms.K)

    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> Greedy:
        """Return the posterior at the prior."""
        return greedy(r)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the uniform law."""
        return ActionLaw(np.full(arms.K, 1.0 / arms.K))
