"""The greedy agent: no exploration but what ties and noise bring."""

from dataclasses import dataclass
from typing import ClassVar

from fastes.agents.agent import Agent
from fastes.kernels.agents.greedy import Greedy as GreedyState
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.streams.philox import Source


@dataclass(frozen=True)
class Greedy(Agent):
    """Play the arm with the largest posterior mean.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.Greedy(), T=200, runs=4).label
    'Greedy'
    """

    name: ClassVar[str] = "greedy"

    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> GreedyState:
        """Return the posterior at the prior."""
        return greedy(r)
