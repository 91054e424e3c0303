"""Rewards of 0 or 1: 1 with probability 1 / (1 + exp(-value)), the logistic model of clicks."""

from typing import NamedTuple

import numpy as np

from ..states.layout import allocated
from ..streams.blocks import Block, no_block, uniform_at
from ..streams.layout import NOISE
from .interface import mean_of_value, reward_of, variate


class BernoulliRewards(NamedTuple):
    """1 or 0."""

    scratch: Block  # the uniform numbers of some steps


@allocated
def bernoulli_rewards() -> BernoulliRewards:
    """Return the law."""
    return BernoulliRewards(no_block.layout(1))


@mean_of_value.body(BernoulliRewards)
def _mean_of_value(law, value):
    # Neither exponential overflows. Python asks this for arrays, too.
    return np.exp(np.minimum(value, 0.0)) / (1.0 + np.exp(-np.abs(value)))


@variate.body(BernoulliRewards)
def _variate(law, source, t):
    return uniform_at(law.scratch, source, NOISE, t)


@reward_of.body(BernoulliRewards)
def _reward_of(law, mean, variate):
    """Return 1 with probability `mean`, monotone in the mean for a given random number.

    A large number makes a large reward, as in poisson.py.
    """
    return 1.0 if 1.0 - variate < mean else 0.0
