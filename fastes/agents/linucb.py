"""LinUCB: optimism in the face of uncertainty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.agents.learner import Learner
from fastes.checks.parameters import parameter


@dataclass(frozen=True, repr=False)
class LinUCB(Learner):
    """Play the arm with the largest a'mu_t + alpha sqrt(a'Sigma_t a).

    Parameters
    ----------
    alpha : float
        Number of posterior standard deviations of optimism.

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

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.linucb import linucb

        return linucb.layout(belief, self.alpha)
