"""The greedy agent: no exploration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fastes.agents.learner import Learner


@dataclass(frozen=True, repr=False)
class Greedy(Learner):
    """Play the arm with the largest posterior mean.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.Greedy(), T=200, runs=50)
    Result(Greedy: regret 151.3 +- 14 at T=200, 50 runs)
    """

    name: ClassVar[str] = "greedy"
    title: ClassVar[str] = "Greedy"
    scores: ClassVar[str] = "linear"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.greedy import greedy

        return greedy.layout(belief)
