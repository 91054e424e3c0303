"""Uniform play: the regret of knowing nothing."""

from dataclasses import dataclass
from typing import ClassVar

from fastes.agents.agent import Agent, Arrays
from fastes.kernels.arms import Arms
from fastes.kernels.streams import Source
from fastes.kernels.uniform import Uniform


@dataclass(frozen=True)
class UniformRandom(Agent):
    """Play any arm, each as likely, at every step.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> fastes.simulate(bandit, fastes.UniformRandom(), T=200, runs=4).label
    'Uniform'
    """

    name: ClassVar[str] = "uniform"

    def state_bytes(self, K: int, r: int, T: int) -> int:
        """Return nothing: uniform play remembers nothing."""
        return 0

    def certifies(self, K: int, r: int) -> bool:
        """Tell that no arm is looked at."""
        return False

    def in_step(self, K: int, r: int, T: int) -> bool:
        """Tell that no arm is looked at."""
        return False

    def workspace(self, arms: Arms) -> Uniform:
        """Return the number of arms."""
        return Uniform(arms.K)

    def initial_state(self, K: int, r: int, source: Source, steps: int = 0) -> Uniform:
        """Return the number of arms."""
        return Uniform(K)

    def pack(self, state: Uniform) -> Arrays:
        """Return nothing: there is nothing to remember."""
        return {}

    def unpack(self, arrays: Arrays, arms: Arms, r: int, source: Source) -> Uniform:
        """Return the number of arms."""
        return Uniform(arms.K)
