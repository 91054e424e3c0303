"""LinUCB: optimism in the face of uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
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
    >>> fastes.simulate(bandit, fastes.LinUCB(alpha=0.5), T=200, runs=50)
    Result(LinUCB, alpha=0.5: regret 74.37 +- 9.5 at T=200, 50 runs)
    """

    alpha: float = parameter(
        "Standard deviations of optimism.", "number", 1.0, default=1.0, minimum=0
    )
    name: ClassVar[str] = "linucb"
    title: ClassVar[str] = "LinUCB"
    scores: ClassVar[str] = "quadratic"

    def state_bytes(self, K: int | None, r: int, T: int) -> int:
        """Return the memory of the posterior, and of a copy of its covariance."""
        return super().state_bytes(K, r, T) + 8 * (r * r + 1)

    def initial_state(self, K: int | None, r: int, source: Source, steps: int = 0) -> Any:
        """Return the posterior at the prior."""
        from fastes.kernels.agents.linucb import linucb

        return linucb(r, self.alpha)
