"""Reward laws of problems: their unit, which rewards there can be, and the law for kernels."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fastes.checks import arrays
from fastes.checks.arrays import Floats
from fastes.problem.truth import Truth

LARGEST_REWARD = 1e12
"""In units of the noise: beyond, rounding would show in the choices."""


class GaussianRewards(NamedTuple):
    """A reward is the arm's value and noise."""

    unit: float
    """What is 1 in canonical coordinates: the standard deviation of the noise."""

    @property
    def largest(self) -> float:
        """The largest reward that an agent takes in, and with a minus the least."""
        return LARGEST_REWARD * self.unit

    def checked(self, reward: ArrayLike) -> Floats:
        """Return rewards in canonical units, or raise."""
        if type(reward) is float and abs(reward) <= self.largest:
            return np.array([reward / self.unit])  # the common case, quick
        rewards = np.atleast_1d(arrays.array("reward", reward, booleans=True))
        beyond = np.abs(rewards) > self.largest
        if beyond.any():
            raise ValueError(
                f"reward must be a number from {-self.largest:g} to {self.largest:g}, "
                f"got {rewards[beyond.argmax()]:g}"
            )
        return rewards / self.unit

    def layout(self, truth: Truth | None) -> Any:
        """Return the layout of the law by which a world pays, for kernels."""
        from fastes.kernels.rewards.gaussian import gaussian_rewards

        world = truth or Truth()
        scale = 1.0 if world.noise is None else world.noise / self.unit
        return gaussian_rewards.layout(world.law, scale)
