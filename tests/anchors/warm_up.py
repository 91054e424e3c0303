"""Any agent, after plays at random: as published experiments begin."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class WarmUp:
    """Play arms at random for some steps, then as an agent that has learnt from them."""

    agent: object
    steps: int

    def start(self, bandit, seed):
        """Return a player of a run."""
        return _Player(self.agent.start(bandit, seed), self.steps, bandit.K, seed)


class _Player:
    def __init__(self, live, steps, K, seed):
        self._live = live
        self._random = np.random.default_rng(seed).integers(K, size=steps).tolist()[::-1]
        self.observe = live.observe

    def act(self):
        """Return the next arm."""
        return self._random.pop() if self._random else self._live.act()
