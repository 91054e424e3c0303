"""Epsilon-greedy: the arm of the largest posterior mean, or a random one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.learner import Learner
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class EpsilonGreedy(Learner):
    """Play the arm with the largest posterior mean, or with probability epsilon a random arm.

    The random arm is uniform on all arms on offer, or on the ball.

    Parameters
    ----------
    epsilon : float
        Probability of a random arm, from 0 to 1.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.EpsilonGreedy(epsilon=0.05), T=200, runs=50)
    Result(Epsilon-greedy, epsilon=0.05: regret 97.62 +- 8.3 at T=200, 50 runs)
    """

    epsilon: float = parameter(
        "Probability of a random arm.", "number", 0.1, default=0.1, minimum=0, maximum=1
    )
    name: ClassVar[str] = "eps-greedy"
    title: ClassVar[str] = "Epsilon-greedy"
    scores: ClassVar[str] = "linear"

    def layout(self, K: int | None, belief: Any, steps: int) -> Any:
        """Return the layout of its state."""
        from fastes.kernels.agents.epsilon_greedy import epsilon_greedy

        return epsilon_greedy.layout(belief, self.epsilon)

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the mixture of the greedy and the uniform law."""
        from fastes.agents.action_law import ActionLaw, law_of_best_score

        greedy = law_of_best_score(state, arms).probabilities
        assert greedy is not None
        return ActionLaw((1.0 - self.epsilon) * greedy + self.epsilon / arms.K)
