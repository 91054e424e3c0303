"""The greedy agent: no exploration but what ties and noise bring."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.kernels.greedy import Greedy as GreedyState
from fastes.kernels.greedy import greedy
from fastes.kernels.posterior import prior_bytes
from fastes.kernels.streams import Source


@dataclass(frozen=True)
class Greedy:
    """Play the arm with the largest posterior mean.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.Greedy(), T=200, runs=4).label
    'Greedy'
    """

    name: ClassVar[str] = "greedy"
    engine: ClassVar[str] = "exact"

    def parameters(self) -> dict[str, Any]:
        """Return nothing: the greedy agent has no parameters."""
        return {}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the memory of the posterior."""
        return prior_bytes(r)

    def step_cost(self, K: int, r: int) -> float:
        """Return the cost of the scan over arms."""
        return float(K * r)

    def initial_state(self, K: int, r: int, source: Source) -> GreedyState:
        """Return the posterior at the prior."""
        return greedy(r)
