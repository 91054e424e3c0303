"""The loop: an agent plays an environment, and its regret is written down."""

from ..agents.interface import learn, needs_capacity, prepare
from ..jit.decorators import entry
from ..search.certificate import snapshot_due
from ..search.scan import choose
from .environment import draw_reward
from .record import record_step


@entry
def advance(agent, arms, environment, record, source, work, start, stop):
    """Run the steps start, ..., stop - 1. Return the step reached.

    It is below stop where the agent is full, a snapshot is due, or no score is a number.
    """
    for t in range(start, stop):
        if needs_capacity(agent) or snapshot_due(work):
            return t
        prepare(agent, source, t)
        arm = choose(work, agent, arms, source, t)
        if arm < 0:
            return t
        learn(agent, arms, source, t, arm, draw_reward(environment, source, t, arm))
        record_step(record, environment, t, arm)
    return stop
