"""A step in its two halves: the agent chooses an arm, and learns from its reward."""

from ..actions.arms import load_arm
from ..actions.offer import arm_key, offer, take_at_random
from ..agents.interface import learn, prepare, random_arm
from ..jit.decorators import inlined
from ..search.scan import choose


@inlined
def choose_arm(agent, actions, source, t, work):
    """Return the arm that the agent plays at step t, or -1 if all scores are nan."""
    offer(actions, source, t)
    prepare(agent, source, t)
    arm = random_arm(agent, actions.arms.K, source, t)
    if arm >= 0:
        return take_at_random(actions, arm, source, t)
    return choose(work, agent, actions.arms, source, t)


@inlined
def observe_reward(agent, actions, arm, reward, source, t, row):
    """Let the agent learn the reward of an arm on offer at step t; `row` (r) is scratch."""
    offset = load_arm(actions.arms, arm, row)
    learn(agent, row, offset, arm_key(actions, arm, t), reward, source, t)
