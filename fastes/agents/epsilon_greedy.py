"""Epsilon-greedy: the arm of the largest posterior mean, or a random one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from fastes.agents.agent import Agent
from fastes.agents.belief_options import (
    belief,
    least_noise,
    noise,
    noise_scale,
    noise_shape,
)
from fastes.agents.discount import discount
from fastes.checks.parameters import parameter

if TYPE_CHECKING:
    from fastes.agents.action_law import ActionLaw
    from fastes.kernels.actions.arms import Arms
    from fastes.kernels.streams.philox import Source


@dataclass(frozen=True, repr=False)
class EpsilonGreedy(Agent):
    """Play the arm with the largest posterior mean, or with probability epsilon a random arm.

    The random arm is uniform on all arms on offer, or on the ball.

    Parameters
    ----------
    epsilon : float
        Probability of a random arm, from 0 to 1.
    belief : {"auto", "exact", "online"}
        What is kept of rewards that are not Gaussian. Exact: all data, by distinct arm. Online: a
        normal belief that takes in each reward once, linearised. Auto is exact where arms come
        again, else online.
    noise : {"known", "learned"}
        Whether the standard deviation of Gaussian rewards is the bandit's, or learned: its square
        then has an inverse gamma prior, and the bandit's noise is a first guess.
    noise_shape, noise_scale : float
        That prior's shape, at least 1, and scale, in units of the bandit's squared noise.
    least_noise : float
        The noise with which theta has the bandit's prior, from 0.001 to 1 of the bandit's noise.
        With more noise the prior is wider, in proportion: name the least that is likely.
    discount : float
        Factor of the weight of a reward for each one taken in after it, from 1e-9 to 1. Below 1 the
        agent remembers about 1 / (1 - discount) rewards; what it forgets goes back to the prior.

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
    belief: str = belief()
    noise: str = noise()
    noise_shape: float = noise_shape()
    noise_scale: float = noise_scale()
    least_noise: float = least_noise()
    discount: float = discount()
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
