"""Uniform play: any arm, whatever was seen. To it all arms tie."""

from typing import NamedTuple

from .agent import learn
from .argmax import choose
from .streams import TIES, integer


class Uniform(NamedTuple):
    """State of uniform play."""

    K: int


@choose.body(Uniform)
def _choose(agent, arms, source, t, work):
    return integer(source, TIES, t, agent.K)


@learn.body(Uniform)
def _learn(agent, arms, source, t, arm, reward):
    """Learn nothing."""
