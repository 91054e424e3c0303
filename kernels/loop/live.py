"""The two halves of a step for a live agent: rewards come when they come."""

from ..agents.interface import needs_capacity
from ..jit.decorators import entry
from .step import choose_arm, observe_reward


@entry
def act(agent, actions, source, t, work):
    """Return the agent's t-th choice, or -1: it needs capacity, or no score is a number."""
    if needs_capacity(agent):
        return -1
    return choose_arm(agent, actions, source, t, work)


@entry
def observe(agent, actions, arm, reward, source, t, row):
    """Let the agent learn its t-th reward; `row` (r) is scratch.

    Return False, and change nothing, if it needs capacity.
    """
    if needs_capacity(agent):
        return False
    observe_reward(agent, actions, arm, reward, source, t, row)
    return True
