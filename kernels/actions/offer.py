"""Generic kernels of action sets, resolved by type when a loop is compiled."""

from typing import NamedTuple

from ..jit.decorators import generic, required
from .arms import Arms


class FixedActions(NamedTuple):
    """The same arms at every step."""

    arms: Arms


@generic
def offer(actions, source, t):
    """Set `actions.arms` to the arms on offer at step t. By default they are fixed."""


@generic
def take_at_random(actions, arm, source, t):
    """Return a uniformly random arm; by default the one with this random number below K."""
    return arm


@required
def take_vector(actions, a):
    """Set the arm to play to a vector, for sets chosen by vector. Return its number."""


@generic
def arm_key(actions, arm, t):
    """Return the key of an arm on offer at step t.

    Arms with one key are equal, at all steps. In a fixed set it is the arm's number.
    """
    return arm
