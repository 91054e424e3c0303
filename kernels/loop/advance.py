"""The loop: an agent plays an environment, and its regret is recorded."""

from ..agents.interface import needs_capacity
from ..jit.decorators import entry, inlined
from ..search.certificate import snapshot_due
from .environment import draw_reward, move_theta
from .late import observe_in_turn
from .record import record_step
from .step import choose_arm


@inlined
def run_steps(agent, actions, environment, record, source, work, start, stop):
    """Run the steps start, ..., stop - 1. Return the step reached.

    It is below stop if the agent needs capacity, a snapshot is due, or all scores are nan.
    """
    for t in range(start, stop):
        if needs_capacity(agent) or snapshot_due(work):
            return t
        arm = choose_arm(agent, actions, source, t, work)
        if arm < 0:
            return t
        move_theta(environment, source, t)
        reward = draw_reward(environment, source, t, arm)
        observe_in_turn(agent, actions, environment, arm, reward, source, t)
        record_step(record, environment, t, arm, reward)
    return stop


@entry
def advance(agent, actions, environment, record, source, work, start, stop):
    """Do as `run_steps`, for Python to call."""
    return run_steps(agent, actions, environment, record, source, work, start, stop)
