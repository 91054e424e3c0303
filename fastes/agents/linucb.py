"""LinUCB: optimism in the face of uncertainty."""

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.agents.agent import Agent
from fastes.checks import numbers
from fastes.kernels.agents.linucb import LinUCB as LinUCBState
from fastes.kernels.agents.linucb import linucb
from fastes.kernels.streams.philox import Source


@dataclass(frozen=True)
class LinUCB(Agent):
    """Play the arm with the largest a'mu_t + alpha sqrt(a'Sigma_t a).

    Parameters
    ----------
    alpha : float
        How many posterior standard deviations of optimism.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.LinUCB(alpha=0.5), T=200, runs=4).label
    'LinUCB, alpha=0.5'
    """

    alpha: float = 1.0
    name: ClassVar[str] = "linucb"

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", numbers.nonnegative("alpha", self.alpha))

    def parameters(self) -> dict[str, Any]:
        """Return the number of standard deviations."""
        return {"alpha": self.alpha}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the memory of the posterior, and of a copy of its covariance."""
        return super().state_bytes(K, r, T) + 8 * (r * r + 1)

    def certifies(self, K: int, r: int) -> bool:
        """Tell that a certificate pays sooner: a full scan takes a quadratic form an arm."""
        return K >= 512

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell that its scores are no matrix product."""
        return False

    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> LinUCBState:
        """Return the posterior at the prior."""
        return linucb(r, self.alpha)
