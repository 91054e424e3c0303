"""Rewards that are counts: of the Poisson law with mean exp(value)."""

from typing import NamedTuple

import numpy as np

from ..arithmetic.poisson_quantile import poisson_quantile
from ..states.layout import allocated
from ..streams.blocks import Block, no_block, uniform_at
from ..streams.layout import NOISE
from .interface import mean_of_value, reward_of, variate

_LARGEST_VALUE = 700.0
"""Beyond it exp would overflow."""


class PoissonRewards(NamedTuple):
    """Counts: 0, 1, 2, ..."""

    scratch: Block  # the uniform numbers of some steps


@allocated
def poisson_rewards() -> PoissonRewards:
    """Return the law."""
    return PoissonRewards(no_block.layout(1))


@mean_of_value.body(PoissonRewards)
def _mean_of_value(law, value):
    return np.exp(np.minimum(value, _LARGEST_VALUE))


@variate.body(PoissonRewards)
def _variate(law, source, t):
    return uniform_at(law.scratch, source, NOISE, t)


@reward_of.body(PoissonRewards)
def _reward_of(law, mean, variate):
    """Return the quantile of the law, monotone in the mean for a given random number."""
    return poisson_quantile(mean, variate)
