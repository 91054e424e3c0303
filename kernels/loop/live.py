"""A step in its two halves, for the live agent: it chooses, and rewards come as they come."""

from ..agents.interface import learn, needs_capacity, prepare
from ..jit.decorators import entry
from ..search.scan import choose


@entry
def act(agent, arms, source, t, work):
    """Return the agent's t-th choice, or -1: it is full, or no score is a number."""
    if needs_capacity(agent):
        return -1
    prepare(agent, source, t)
    return choose(work, agent, arms, source, t)


@entry
def observe(agent, arms, source, t, arm, reward):
    """Let the agent learn its t-th reward. Return False, and change nothing, if it is full."""
    if needs_capacity(agent):
        return False
    learn(agent, arms, source, t, arm, reward)
    return True
