"""The interface of reward laws: generic kernels, with a body for each law.

An arm's value is o + b'z. A law gives its mean reward, and makes a reward from that mean and a
random number of the step, which is the same for all agents with one seed.
"""

from ..jit.decorators import generic, required


@generic
def mean_of_value(law, value):
    """Return the mean reward of an arm of this value: by default the value itself."""
    return value


@required
def variate(law, source, t):
    """Return the random number of step t."""


@required
def reward_of(law, mean, variate):
    """Return the reward of an arm with this mean, for a random number."""
