"""Uniform play: any arm, whatever was seen. To it all arms tie."""

from typing import NamedTuple

from .agent import learn
from .argmax import choose
from .streams import TIES, integer


class Uniform(NamedTuple):
    """State of uniform play, and all that it needs to choose."""

    K: int


@choose.body(Uniform)
def _choose(work, agent, arms, source, t):
    return integer(source, TIES, t, agent.K)


@learn.body(Uniform)
def _learn(agent, arms, source, t, arm, reward):
    """Learn nothing."""
