"""What all agents share: frozen parameters, and the kernel state that they start."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from fastes.agents.action_law import ActionLaw
from fastes.agents.states import Arrays, pack_posterior, unpack_posterior
from fastes.checks import numbers
from fastes.checks.memory import require
from fastes.kernels.actions.arms import Arms
from fastes.kernels.posterior.state import prior_bytes
from fastes.kernels.search.certificate import certified, certified_bytes
from fastes.kernels.search.scan import workspace
from fastes.kernels.streams.philox import Source, source

if TYPE_CHECKING:
    from fastes.agents.live import LiveAgent
    from fastes.problem.bandit import LinearBandit


class Agent(ABC):
    """An agent: a rule for choosing arms, and its parameters.

    `simulate` plays it many times; `start` gives one that chooses and learns live.
    """

    name: ClassVar[str]
    """The short name, as on the command line."""

    engine: str = "exact"
    """How its steps are computed."""

    @property
    def max_steps(self) -> int:
        """The most steps that it can take."""
        return numbers.MAX_STEPS

    @abstractmethod
    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> Any:
        """Return a kernel state on the canonical problem, before the first step.

        `steps` is how many are to come, where that is known.
        """

    def parameters(self) -> dict[str, Any]:
        """Return what sets this agent apart from others of its name."""
        return {}

    def description(self) -> dict[str, Any]:
        """Return what `agent_of` makes the same agent of, ready for JSON."""
        return {"agent": self.name, "engine": self.engine, "parameters": self.parameters()}

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the most memory that one run's state takes in T steps."""
        return prior_bytes(r)

    def certifies(self, K: int, r: int) -> bool:
        """Tell whether to look for the best arm with a certificate rather than by a full scan.

        It changes no choice. Measured: where a full scan takes longer than the bookkeeping.
        """
        return K >= max(2048, 80 * r)

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell whether several runs are done faster in step, the arms read once for all of them.

        It changes no bit. Measured: where a certificate rules out few arms, or comes too late.
        """
        return K * r >= 32_768 and (not self.certifies(K, r) or r >= 64 or T < 20 * r)

    def brief(self, K: int, r: int, T: int) -> bool:
        """Tell whether a run is so short that several are better done in one call.

        It changes no bit. Measured: where handing the interpreter's lock from thread to thread
        for every call takes as long as the steps in it.
        """
        return T <= 10_000 and not self.certifies(K, r)

    def workspace(self, arms: Arms) -> Any:
        """Return what a run needs to find the best of these arms."""
        return (certified if self.certifies(arms.K, arms.tiles.shape[1]) else workspace)(arms)

    def run_bytes(self, K: int, r: int, T: int) -> int:
        """Return the most memory that one run takes in T steps: its state and workspace."""
        search = certified_bytes(K, r) if self.certifies(K, r) else K
        return self.state_bytes(K, r, T) + search

    def shared_cost(self, r: int) -> float:
        """Return about how many multiply-adds a step takes that threads can share."""
        return 0.0

    def action_law(self, state: Any, arms: Arms, source: Source, t: int) -> ActionLaw:
        """Return the law of the arm that the agent plays at step t, changing nothing.

        By default: any arm of the largest index, each as likely.
        """
        from fastes.kernels.diagnostics.best_of_models import indices

        scores = np.empty(arms.K)
        indices(state, arms, workspace(arms), scores)
        best = scores == scores.max()
        return ActionLaw(best / best.sum())

    def start(self, bandit: "LinearBandit", seed: int = 0) -> "LiveAgent":
        """Return an agent that chooses arms and learns from rewards as they come.

        Parameters
        ----------
        bandit : LinearBandit
            The arms, the prior and the noise. Its rewards come from the caller.
        seed : int
            Of the agent's own randomness.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> agent = fastes.EnsembleSampling(M=100).start(bandit, seed=1)
        >>> arm = agent.act()
        >>> agent.observe(arm, reward=0.7)
        """
        from fastes.agents.live import LiveAgent

        seed = numbers.integer("seed", seed, 0, numbers.MAX_SEED)
        require(f"{self}", self.run_bytes(bandit.K, bandit.rank, 1))
        state = self.initial_state(bandit.K, bandit.rank, source(seed))
        return LiveAgent(bandit, self, seed, state)

    def pack(self, state: Any) -> Arrays:
        """Return the arrays from which `unpack` makes the same state again."""
        return pack_posterior(state.posterior)

    def unpack(self, arrays: Arrays, arms: Arms, r: int, source: Source, steps: int = 0) -> Any:
        """Return the state that `pack` was given, or raise FileFormatError.

        `steps` is how many there will be in all, where that is known.
        """
        state = self.initial_state(arms.K, r, source, steps)
        unpack_posterior(arrays, state.posterior)
        return state
