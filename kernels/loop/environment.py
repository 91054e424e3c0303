"""What pays: mean rewards and noise."""

from typing import NamedTuple

import numpy as np

from ..actions.arms import mean_rewards
from ..jit.decorators import entry, inlined
from ..streams.blocks import Block, no_block, normal_at
from ..streams.layout import NOISE, THETA
from ..streams.normals import fill_normals
from ..streams.philox import Source


class Environment(NamedTuple):
    """What pays: the mean reward of every arm, in units of the noise."""

    means: np.ndarray  # (K,)
    best: float
    row: np.ndarray  # (r,): scratch, the arm played
    noise: Block  # scratch


def environments(means: np.ndarray, r: int) -> Environment:
    """Return what pays in each of several runs, a row of means each, as a stack."""
    runs = len(means)
    noise = no_block(1, runs=(runs,))
    return Environment(means, means.max(axis=1), np.zeros((runs, r)), noise)


@entry
def draw_means(arms, seed, first, z, scores, means):
    """means[i, a] = the mean reward of arm a in run first + i, with theta drawn from the prior."""
    beginning = np.int64(0)
    for i in range(means.shape[0]):
        fill_normals(Source(seed, first + np.uint64(i)), THETA, beginning, z)
        mean_rewards(arms, z, scores, means[i])


@inlined
def draw_reward(environment, source, t, arm):
    """Return the reward of an arm at step t."""
    return environment.means[arm] + normal_at(environment.noise, source, NOISE, t)
