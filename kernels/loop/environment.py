"""Environments: mean rewards and their law, the best arm on offer, and delayed rewards."""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms, arm_values, load_arm
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..jit.decorators import entry, generic, inlined
from ..rewards.interface import mean_of_value, reward_of, variate
from ..search.tile_scores import largest_of
from ..states.stack import stacked
from ..streams.layout import THETA
from ..streams.normals import fill_normals
from ..streams.philox import Source
from .late import LateRewards, late_rewards


class Environment(NamedTuple):
    """The environment of fixed arms: the mean reward of each."""

    means: np.ndarray  # (K,)
    best: float
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


def environments(means: np.ndarray, r: int, law: Any, delay: int = 0) -> Environment:
    """Return a stack of the environments of several runs, given a row of means for each.

    `law` is the layout of the reward law; rewards are delayed by `delay` steps.
    """
    runs = len(means)
    laws, late = stacked(law, runs), stacked(late_rewards.layout(delay, r), runs)
    return Environment(means, means.max(axis=1), np.zeros((runs, r)), laws, late)


class PoolEnvironment(NamedTuple):
    """The environment of subsets of a pool of arms."""

    means: np.ndarray  # (K,): of all arms of the pool
    number: np.ndarray  # (size,) int64: which arms of the pool are on offer at this step
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


class OfferEnvironment(NamedTuple):
    """The environment of changing arms: theta in canonical coordinates."""

    arms: Arms  # on offer at this step
    z: np.ndarray  # (r,): theta
    row: np.ndarray  # (r,): scratch, the arm played
    scores: np.ndarray  # (TILE,): scratch
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


class VectorEnvironment(NamedTuple):
    """The environment of vectors that are computed, with a constant best arm."""

    arms: Arms  # one: the arm that was chosen
    z: np.ndarray  # (r,): theta
    best: float  # the largest mean reward, of the arm in the direction of theta
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


def pool_environment(means, number, r, law, late) -> PoolEnvironment:
    """Return the environment of a pool, given its mean rewards and the numbers of arms on offer."""
    return PoolEnvironment(means, number, np.zeros(r), law, late)


def offer_environment(arms, z, law, late) -> OfferEnvironment:
    """Return the environment of theta, in canonical coordinates."""
    return OfferEnvironment(arms, z, np.zeros(len(z)), np.zeros(TILE), law, late)


def vector_environment(arms, z, value, law, late) -> VectorEnvironment:
    """Return the environment of theta, given the value of the best arm."""
    best = float(mean_of_value(law, value))
    return VectorEnvironment(arms, z, best, np.zeros(len(z)), law, late)


@generic
def move_theta(environment, source, t):
    """Move theta on to step t, before anything else is asked of it. By default it stays."""


@generic
def mean_reward(environment, arm):
    """Return the mean reward of an arm on offer."""
    return environment.means[arm]


@generic
def best_reward(environment):
    """Return the largest mean reward of the arms on offer."""
    return environment.best


@generic
def arm_number(environment, arm):
    """Return the number by which an arm on offer is recorded."""
    return arm


@inlined
def mean_of_row(environment, arm):
    """Return the mean of o + b'z, summed as `score_tile` does: none exceeds the best of all."""
    value = load_arm(environment.arms, arm, environment.row)
    for j in range(environment.z.shape[0]):
        value = fma(environment.z[j], environment.row[j], value)
    return mean_of_value(environment.law, value)


@mean_reward.body(VectorEnvironment)
@mean_reward.body(OfferEnvironment)
def offered_mean(environment, arm):
    """Return the mean reward of an arm on offer, by its value."""
    return mean_of_row(environment, arm)


@mean_reward.body(PoolEnvironment)
def pool_mean(environment, arm):
    """Return the mean reward of an arm on offer, of a pool."""
    return environment.means[environment.number[arm]]


@best_reward.body(PoolEnvironment)
def best_of_pool(environment):
    """Return the largest mean reward on offer, of a pool."""
    best = -np.inf
    for arm in range(environment.number.shape[0]):
        best = max(best, environment.means[environment.number[arm]])
    return best


@best_reward.body(OfferEnvironment)
def best_offered(environment):
    """Return the largest mean reward of the arms on offer, by their values."""
    arms, best = environment.arms, -np.inf
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms.tiles[tile], arms.offsets[tile], environment.z, environment.scores)
        best = max(best, largest_of(environment.scores))
    return mean_of_value(environment.law, best)


@best_reward.body(VectorEnvironment)
def _best_vector(environment):
    return max(environment.best, mean_of_row(environment, 0))  # which rounding may raise


@arm_number.body(PoolEnvironment)
def pool_number(environment, arm):
    """Return the number in the pool of an arm on offer."""
    return environment.number[arm]


@entry
def draw_values(arms, seed, first, z, scores, values):
    """values[i, a] = the value of arm a in run first + i, with theta drawn from the prior."""
    beginning = np.int64(0)
    for i in range(values.shape[0]):
        fill_normals(Source(seed, first + np.uint64(i)), THETA, beginning, z)
        arm_values(arms, z, scores, values[i])


@inlined
def draw_reward(environment, source, t, arm):
    """Return the reward of an arm at step t, to which theta has been moved."""
    law = environment.law
    return reward_of(law, mean_reward(environment, arm), variate(law, source, t))


@entry
def draw_variates(environment, source, first, out):
    """out[i] = the random number of the reward of step first + i."""
    for i in range(out.shape[0]):
        out[i] = variate(environment.law, source, first + i)
