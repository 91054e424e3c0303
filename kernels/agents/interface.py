"""What the loop asks of an agent: generic kernels, with a body for each agent's state.

An agent's state is a named tuple; its type chooses the bodies. The loop plays an arm with the
largest `score`, which for models z is o + b z; `choose` finds it (argmax.py, certificate.py).
"""

from ..actions.arms import load_arm
from ..arithmetic.tile_product import score_tile
from ..jit.decorators import generic
from ..posterior.update import update


@generic
def needs_capacity(agent):
    """Tell whether the agent needs larger arrays before its next step."""
    return False


@generic
def prepare(agent, source, t):
    """Fix what the scores of step t depend on (a sampled model, say)."""


@generic
def is_linear(agent):
    """Tell whether the agent's scores are o + b z with z = agent.z."""
    return True


@generic
def optimism(agent):
    """Return how many standard deviations, sqrt(b'S b), the agent adds to o + b z."""
    return 0.0


@generic
def variance_drift(agent):
    """Return by how much at most, in all, b'S b / b'b may have risen. Only rounding makes it."""
    return 0.0


@generic
def score(agent, arms, tile, work):
    """work.scores[0] = the index of each arm of a tile, to be maximised; -inf beyond K.

    The other rows of `work.scores` (argmax.workspace) are the body's to use.
    """
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, work.scores[0])


@generic
def learn(agent, arms, source, t, arm, reward):
    """Take in the reward of an arm at step t; by default, update the posterior."""
    offset = load_arm(arms, arm, agent.posterior.b)
    update(agent.posterior, arm, reward - offset)
