"""What the loop asks of an agent: generic kernels, with a body for each agent's state.

An agent's state is a named tuple; its type chooses the bodies. `choose` has a default, the
argmax of `score` over all arms (argmax.py).
"""

from .jit import generic


@generic
def full(agent):
    """Tell whether the agent needs larger arrays before its next step."""
    return False


@generic
def aim(agent, source, t):
    """Fix what the scores of step t depend on (a sampled model, say)."""


@generic
def score(agent, arms, tile, work):
    """work[0] = the index of each arm of a tile, to be maximised; -inf beyond K.

    The other rows of `work` (argmax.workspace) are the body's to use.
    """


@generic
def learn(agent, arms, source, t, arm, reward):
    """Take in the reward of an arm at step t."""
