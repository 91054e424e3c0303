"""The two halves of a step of a live agent: to act and to observe."""

from ..actions.whitening import first_refused, store_whitened, whiten
from ..agents.interface import learn, needs_capacity
from ..jit.decorators import entry
from .step import choose_arm, observe_reward


@entry
def act(agent, actions, source, t, work):
    """Return the agent's t-th choice, or -1 if it needs capacity or all scores are nan."""
    if needs_capacity(agent):
        return -1
    return choose_arm(agent, actions, source, t, work)


@entry
def observe(agent, actions, arms, rewards, source, count, row):
    """Let the agent learn rewards; `row` (r) is scratch.

    `count` (1,) is the number of rewards learned. It is increased here and not in Python, where a
    signal may interrupt. Return how many were learned: not all if the agent needs capacity.
    """
    for i in range(arms.shape[0]):
        if needs_capacity(agent):
            return i
        observe_reward(agent, actions, arms[i], rewards[i], source, count[0], row)
        count[0] += 1
    return arms.shape[0]


@entry
def act_on_rows(agent, actions, whitening, rows, most, source, t, work, b):
    """Do as `act` for arms that are offered as rows (n x d), which become those of `actions`.

    Return -2 - i where row i is the first that is not allowed; `b` (r) is scratch.
    """
    wrong = store_whitened(actions.arms, whitening, rows, b, most)
    if wrong >= 0:
        return -2 - wrong
    if needs_capacity(agent):
        return -1
    return choose_arm(agent, actions, source, t, work)


@entry
def observe_rows(agent, whitening, rows, rewards, most, source, count, b):
    """Do as `observe` for arms that were offered, (n, d), by their rows; `b` (r) is scratch.

    Return -1 - i, and learn nothing, where row i is the first that is not allowed.
    """
    wrong = first_refused(whitening, rows, most, b)
    if wrong >= 0:
        return -1 - wrong
    for i in range(rows.shape[0]):
        if needs_capacity(agent):
            return i
        offset = whiten(whitening, rows[i], b)
        learn(agent, b, offset, count[0], rewards[i], source, count[0])
        count[0] += 1
    return rows.shape[0]
