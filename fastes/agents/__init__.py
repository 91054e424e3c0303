"""The agents, one a file, and the names that the command line gives them."""

from typing import Any, Protocol

from fastes.agents.ensemble_sampling import EnsembleSampling
from fastes.agents.greedy import Greedy
from fastes.agents.linucb import LinUCB
from fastes.agents.thompson_sampling import ThompsonSampling
from fastes.agents.uniform_random import UniformRandom
from fastes.kernels.streams import Source

__all__ = [
    "AGENTS",
    "Agent",
    "EnsembleSampling",
    "Greedy",
    "LinUCB",
    "ThompsonSampling",
    "UniformRandom",
]


class Agent(Protocol):
    """What `simulate` asks of an agent: frozen parameters, and the state that they start."""

    @property
    def name(self) -> str:
        """The short name, as on the command line."""
        ...

    @property
    def engine(self) -> str:
        """How its steps are computed."""
        ...

    def parameters(self) -> dict[str, Any]:
        """Return what sets this agent apart from others of its name."""
        ...

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return the most memory that one run's state takes in T steps."""
        ...

    def step_cost(self, K: int, r: int) -> float:
        """Return about how many multiply-adds a step takes, for K and r that are large."""
        ...

    def initial_state(self, K: int, r: int, source: Source) -> Any:
        """Return a kernel state on the canonical problem, before the first step."""
        ...


AGENTS: dict[str, type] = {
    agent.name: agent
    for agent in (EnsembleSampling, ThompsonSampling, Greedy, LinUCB, UniformRandom)
}
