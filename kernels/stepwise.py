"""A step in parts, for those who take it apart: the live agent, and a team of threads."""

from .agent import aim, full, learn
from .argmax import break_tie, choose, scan
from .jit import entry
from .loop import pay, write_down


@entry
def act(agent, arms, source, t, work):
    """Return the agent's t-th choice, or -1: it is full, or no score is a number."""
    if full(agent):
        return -1
    aim(agent, source, t)
    return choose(agent, arms, source, t, work)


@entry
def observe(agent, arms, source, t, arm, reward):
    """Let the agent learn its t-th reward. Return False, and change nothing, if it is full."""
    if full(agent):
        return False
    learn(agent, arms, source, t, arm, reward)
    return True


@entry
def prepare(agent, source, t):
    """Fix what the scores of step t depend on. Return False, and change nothing, if it is full."""
    if full(agent):
        return False
    aim(agent, source, t)
    return True


@entry
def scan_tiles(agent, arms, first, last, work):
    """Return `argmax.scan` of a range of tiles."""
    return scan(agent, arms, first, last, work)


@entry
def pick(agent, arms, source, t, best, ties, arm, work):
    """Return `argmax.break_tie` of a scan of all tiles."""
    return break_tie(agent, arms, source, t, best, ties, arm, work)


@entry
def settle(agent, arms, environment, record, source, t, arm):
    """Let the chosen arm pay, let the agent learn, and write the step down."""
    learn(agent, arms, source, t, arm, pay(environment, source, t, arm))
    write_down(record, environment, t, arm)
