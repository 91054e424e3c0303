"""What is on offer at each step, by the type of the action set: chosen when a loop is compiled."""

from typing import NamedTuple

from ..jit.decorators import generic, required
from .arms import Arms


class FixedActions(NamedTuple):
    """The same arms at every step."""

    arms: Arms


@generic
def offer(actions, source, t):
    """Make `actions.arms` the arms on offer at step t. A fixed set is on offer as it is."""


@generic
def take_at_random(actions, arm, source, t):
    """Return an arm on offer that is drawn uniformly: of K of them the one with this number."""
    return arm


@required
def take_vector(actions, a):
    """Make a vector the arm to be played, where arms are chosen as vectors. Return its number."""


@generic
def arm_key(actions, arm, t):
    """Return a number by which the arm that is `arm` of those on offer at t is known.

    Arms of one key are equal, whenever they are offered. In a fixed set it is the arm's number.
    """
    return arm
