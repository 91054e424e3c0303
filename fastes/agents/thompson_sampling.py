"""Thompson sampling with the exact posterior."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.kernels.posterior import prior_bytes
from fastes.kernels.streams import Source
from fastes.kernels.thompson import Thompson, thompson


@dataclass(frozen=True)
class ThompsonSampling:
    """Thompson sampling: draw theta from the posterior, play its best arm.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.ThompsonSampling(), T=200, runs=4).label
    'TS'
    """

    name: ClassVar[str] = "ts"
    engine: ClassVar[str] = "exact"

    def parameters(self) -> dict[str, Any]:
        """Return nothing: Thompson sampling has no parameters."""
        return {}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the memory of the posterior."""
        return prior_bytes(r)

    def step_cost(self, K: int, r: int) -> float:
        """Return the cost of the scan over arms."""
        return float(K * r)

    def initial_state(self, K: int, r: int, source: Source) -> Thompson:
        """Return the posterior at the prior."""
        return thompson(r)
