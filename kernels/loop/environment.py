"""What pays: mean rewards and noise, the best that is on offer, and rewards that are late."""

from typing import NamedTuple

import numpy as np

from ..actions.arms import Arms, load_arm, mean_rewards
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import score_tile
from ..jit.decorators import entry, generic, inlined
from ..search.tile_scores import largest_of
from ..streams.layout import THETA
from ..streams.noise import NORMAL, Noise, noise_at, noises_of
from ..streams.normals import fill_normals
from ..streams.philox import Source
from .late import LateRewards, late_rewards


class Environment(NamedTuple):
    """What pays: the mean reward of every arm, in units of the noise."""

    means: np.ndarray  # (K,)
    best: float
    row: np.ndarray  # (r,): scratch, the arm played
    noise: Noise
    late: LateRewards


def environments(
    means: np.ndarray, r: int, law: int = NORMAL, scale: float = 1.0, delay: int = 0
) -> Environment:
    """Return what pays in each of several runs, a row of means each, as a stack.

    The noise is of a law and a standard deviation, and rewards are late by `delay` steps.
    """
    runs = len(means)
    noise, late = noises_of(law, scale, runs), late_rewards(delay, r, (runs,))
    return Environment(means, means.max(axis=1), np.zeros((runs, r)), noise, late)


class PoolEnvironment(NamedTuple):
    """What pays where some arms of a pool are on offer."""

    means: np.ndarray  # (K,): of all arms of the pool
    number: np.ndarray  # (size,) int64: which arms of the pool are on offer at this step
    row: np.ndarray  # (r,): scratch, the arm played
    noise: Noise
    late: LateRewards


class OfferEnvironment(NamedTuple):
    """What pays where the arms on offer change: theta itself, in canonical coordinates."""

    arms: Arms  # on offer at this step
    z: np.ndarray  # (r,): theta
    row: np.ndarray  # (r,): scratch, the arm played
    scores: np.ndarray  # (TILE,): scratch
    noise: Noise
    late: LateRewards


class BallEnvironment(NamedTuple):
    """What pays where every vector of at most a norm is on offer."""

    arms: Arms  # one: the arm that was chosen
    z: np.ndarray  # (r,): theta
    best: float  # the largest mean reward, of the arm in the direction of theta
    row: np.ndarray  # (r,): scratch, the arm played
    noise: Noise
    late: LateRewards


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
def _mean_of_row(environment, arm):
    """Return o + b'z, summed as `score_tile` does: no arm may have more than the best of all."""
    mean = load_arm(environment.arms, arm, environment.row)
    for j in range(environment.z.shape[0]):
        mean = fma(environment.z[j], environment.row[j], mean)
    return mean


@mean_reward.body(PoolEnvironment)
def _pool_mean(environment, arm):
    return environment.means[environment.number[arm]]


@mean_reward.body(OfferEnvironment)
def _offered_mean(environment, arm):
    return _mean_of_row(environment, arm)


@mean_reward.body(BallEnvironment)
def _ball_mean(environment, arm):
    return _mean_of_row(environment, arm)


@best_reward.body(PoolEnvironment)
def _best_of_pool(environment):
    best = -np.inf
    for arm in range(environment.number.shape[0]):
        best = max(best, environment.means[environment.number[arm]])
    return best


@best_reward.body(OfferEnvironment)
def _best_offered(environment):
    arms, best = environment.arms, -np.inf
    for tile in range(arms.tiles.shape[0]):
        score_tile(arms.tiles[tile], arms.offsets[tile], environment.z, environment.scores)
        best = max(best, largest_of(environment.scores))
    return best


@best_reward.body(BallEnvironment)
def _best_of_ball(environment):
    return max(environment.best, _mean_of_row(environment, 0))  # which rounding may raise


@arm_number.body(PoolEnvironment)
def _pool_number(environment, arm):
    return environment.number[arm]


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
    return mean_reward(environment, arm) + noise_at(environment.noise, source, t)
