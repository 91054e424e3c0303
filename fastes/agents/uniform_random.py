"""Uniform play: the regret of knowing nothing."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.kernels.streams import Source
from fastes.kernels.uniform import Uniform


@dataclass(frozen=True)
class UniformRandom:
    """Play any arm, each as likely, at every step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.UniformRandom(), T=200, runs=4).label
    'Uniform'
    """

    name: ClassVar[str] = "uniform"
    engine: ClassVar[str] = "exact"

    def parameters(self) -> dict[str, Any]:
        """Return nothing: uniform play has no parameters."""
        return {}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return nothing: uniform play remembers nothing."""
        return 0

    def step_cost(self, K: int, r: int) -> float:
        """Return the cost of a random number."""
        return 1.0

    def initial_state(self, K: int, r: int, source: Source) -> Uniform:
        """Return the number of arms."""
        return Uniform(K)
