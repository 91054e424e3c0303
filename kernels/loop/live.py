"""The two halves of a step for a live agent: rewards come when they come."""

from ..actions.whitening import whiten
from ..agents.interface import learn, needs_capacity
from ..jit.decorators import entry
from .step import choose_arm, observe_reward


@entry
def act(agent, actions, source, t, work):
    """Return the agent's t-th choice, or -1: it needs capacity, or no score is a number."""
    if needs_capacity(agent):
        return -1
    return choose_arm(agent, actions, source, t, work)


@entry
def observe(agent, actions, arms, rewards, source, t, row):
    """Let the agent learn rewards, the first of them its t-th; `row` (r) is scratch.

    Return how many it learned: not all if it needs capacity.
    """
    for i in range(arms.shape[0]):
        if needs_capacity(agent):
            return i
        observe_reward(agent, actions, arms[i], rewards[i], source, t + i, row)
    return arms.shape[0]


@entry
def observe_rows(agent, whitening, rows, rewards, source, t, b):
    """Do as `observe` for arms that were offered, (n, d), by their rows; `b` (r) is scratch."""
    for i in range(rows.shape[0]):
        if needs_capacity(agent):
            return i
        offset = whiten(whitening, rows[i], b)
        learn(agent, b, t + i, rewards[i] - offset, source, t + i)
    return rows.shape[0]
