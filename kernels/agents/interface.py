"""What a step asks of an agent: generic kernels, with a body for each agent's state.

An agent's state is a named tuple; its type chooses the bodies when the loop is compiled. A state
has a `belief` (beliefs/interface.py) and a model `z` of the step, unless its own bodies do without.
Fields named `scratch`, and `z`, hold nothing from one step to the next: they are not saved.

The loop plays an arm with the largest `score`, which for most agents is o + b'z; `choose` finds it
(search/scan.py, search/certificate.py).
"""

from ..arithmetic.tile_product import score_tile
from ..beliefs.interface import update
from ..jit.decorators import generic
from ..states.layout import filled, saved_fields


@generic
def needs_capacity(agent):
    """Return whether the agent needs larger arrays before its next step."""
    return False


@generic
def prepare(agent, source, t):
    """Fix what the scores of step t depend on (a sampled model, say)."""


@generic
def random_arm(agent, K, source, t):
    """Return an arm chosen at random, whatever its score, or -1 to choose by score."""
    return -1


@generic
def has_linear_scores(agent):
    """Return whether the agent's scores are o + b'z with z = agent.z.

    An agent that says so is searched in single precision first and with certificates. By default
    it is not: every arm is scored by `score`.
    """
    return False


@generic
def optimism(agent):
    """Return how many standard deviations, sqrt(b'S b), the agent adds to o + b'z."""
    return 0.0


@generic
def optimism_level(agent):
    """Return a number that `optimism` does not exceed for some steps to come: by default itself.

    Bounds on scores are made for it, and hold until `optimism` is larger.
    """
    return optimism(agent)


@generic
def variance_drift(agent):
    """Return by how much at most, in all, rounding may have raised b'S b / b'b."""
    return 0.0


@generic
def score(agent, arms, tile, work):
    """work.scores[0] = the score of each arm of a tile, to be maximised; -inf beyond K.

    The other rows of `work.scores` (search/scan.py) are the body's to use.
    """
    score_tile(arms.tiles[tile], arms.offsets[tile], agent.z, work.scores[0])


@generic
def saved_arrays(agent):
    """Return the arrays that a state is saved as, by name. Python calls it."""
    return dict(saved_fields(agent))


@generic
def restored_state(layout, arrays, arms, steps):
    """Return the state of a layout that was saved as these arrays, or raise. Python calls it.

    `steps` is how many there will be in all, where that is known.
    """
    return filled(layout, arrays)


@generic
def learn(agent, row, offset, key, reward, source, t):
    """Take in a reward at step t, of the arm with this row and offset; by default, by `update`.

    Arms of one key are equal: it is the arm's number where arms repeat.
    """
    update(agent.belief, row, offset, key, reward)
