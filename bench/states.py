"""States of agents to measure on."""

from typing import Any

import numpy as np

import fastes
from fastes.agents.agent import Agent


def state_after(bandit: fastes.LinearBandit, agent: Agent, T: int) -> Any:
    """Return an agent's state after T steps of standard normal theta and noise."""
    live = agent.start(bandit, seed=1)
    rng = np.random.default_rng(0)
    values = bandit.actions @ rng.normal(size=bandit.d)
    for _ in range(T):
        arm = live.act()
        live.observe(arm, float(values[arm] + rng.normal()))
    return live._state
