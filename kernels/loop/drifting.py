"""Environments whose theta drifts. Mean rewards are computed again only where they are needed."""

from typing import Any, NamedTuple

import numpy as np

from ..actions.arms import Arms
from ..actions.ball import BallActions, largest_value
from ..arithmetic.floats import fma
from ..arithmetic.tile_product import TILE, score_tile
from ..jit.decorators import entry
from ..rewards.interface import mean_of_value
from ..states.stack import Shared
from .drift import Moving, follow
from .environment import (
    arm_number,
    best_of_pool,
    best_offered,
    best_reward,
    mean_of_row,
    mean_reward,
    move_theta,
    offered_mean,
    pool_mean,
    pool_number,
)
from .late import LateRewards


class DriftingEnvironment(NamedTuple):
    """The environment of fixed arms: the mean reward of each under theta of this step."""

    means: np.ndarray  # (K,)
    best: np.ndarray  # (1,)
    moving: Moving
    tiles: Shared  # (tiles, d, TILE): the arms over the noise, a column each
    zeros: np.ndarray  # (TILE,)
    scores: np.ndarray  # (TILE,): scratch
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


class DriftingPool(NamedTuple):
    """The environment of subsets of a pool of arms."""

    means: np.ndarray  # (K,): of all arms of the pool, some of them under an earlier theta
    computed: np.ndarray  # (K,) int64: the number of the theta under which it is
    changes: np.ndarray  # (1,) int64: the number of theta now
    number: np.ndarray  # (size,) int64: which arms of the pool are on offer at this step
    moving: Moving
    rows: Shared  # (K, d): the arms over the noise
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


class DriftingOffers(NamedTuple):
    """The environment of changing arms: theta in canonical coordinates."""

    arms: Arms  # on offer at this step
    z: np.ndarray  # (r,): theta, the array of `moving`
    moving: Moving
    row: np.ndarray  # (r,): scratch, the arm played
    scores: np.ndarray  # (TILE,): scratch
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


class DriftingVectors(NamedTuple):
    """The environment of a ball."""

    arms: Arms  # one: the arm that was chosen
    z: np.ndarray  # (r,): theta, the array of `moving`
    best: np.ndarray  # (1,): the largest mean reward
    moving: Moving
    ball: BallActions  # with scratch of its own
    row: np.ndarray  # (r,): scratch, the arm played
    law: Any  # of rewards (rewards/interface.py)
    late: LateRewards


def drifting_environment(moving, tiles, K, r, law, late) -> DriftingEnvironment:
    """Return the environment of K fixed arms, given their tiles in the coordinates of theta."""
    zeros, scores = np.zeros(TILE), np.zeros(TILE)
    means, best = np.zeros(K), np.zeros(1)
    return DriftingEnvironment(
        means, best, moving, Shared(tiles), zeros, scores, np.zeros(r), law, late
    )


def drifting_pool(moving, rows, number, r, law, late) -> DriftingPool:
    """Return the environment of a pool, given its rows in the coordinates of theta."""
    K = len(rows)
    computed, changes = np.zeros(K, np.int64), np.zeros(1, np.int64)
    return DriftingPool(
        np.zeros(K), computed, changes, number, moving, Shared(rows), np.zeros(r), law, late
    )


def drifting_offers(moving, arms, law, late) -> DriftingOffers:
    """Return the environment of changing arms."""
    z = moving.theta
    return DriftingOffers(arms, z, moving, np.zeros(len(z)), np.zeros(TILE), law, late)


def drifting_vectors(moving, actions, ball, law, late) -> DriftingVectors:
    """Return the environment of a ball, given a second one like it for its scratch."""
    z = moving.theta
    return DriftingVectors(actions.arms, z, np.zeros(1), moving, ball, np.zeros(len(z)), law, late)


mean_reward.body(DriftingPool)(pool_mean)
best_reward.body(DriftingPool)(best_of_pool)
arm_number.body(DriftingPool)(pool_number)
mean_reward.body(DriftingOffers)(offered_mean)
best_reward.body(DriftingOffers)(best_offered)
mean_reward.body(DriftingVectors)(offered_mean)


@best_reward.body(DriftingEnvironment)
def _best_of_all(environment):
    return environment.best[0]


@best_reward.body(DriftingVectors)
def _best_vector(environment):
    return max(environment.best[0], mean_of_row(environment, 0))  # which rounding may raise


@move_theta.body(DriftingEnvironment)
def _move_means(environment, source, t):
    """Compute all means again if theta changed; cost O(K d)."""
    if not follow(environment.moving, source, t):
        return
    tiles, scores, means = environment.tiles.value, environment.scores, environment.means
    theta, best = environment.moving.theta, -np.inf
    for tile in range(tiles.shape[0]):
        score_tile(tiles[tile], environment.zeros, theta, scores)
        first = tile * TILE
        for i in range(min(TILE, means.shape[0] - first)):
            mean = mean_of_value(environment.law, scores[i])
            means[first + i] = mean
            best = max(best, mean)
    environment.best[0] = best


@move_theta.body(DriftingPool)
def _move_pool(environment, source, t):
    """Compute the means on offer that are of an earlier theta; cost O(d) each."""
    if follow(environment.moving, source, t):
        environment.changes[0] += 1
    now, rows, theta = environment.changes[0], environment.rows.value, environment.moving.theta
    for i in range(environment.number.shape[0]):
        arm = environment.number[i]
        if environment.computed[arm] != now:
            value = 0.0
            for j in range(theta.shape[0]):
                value = fma(theta[j], rows[arm, j], value)
            environment.means[arm] = mean_of_value(environment.law, value)
            environment.computed[arm] = now


@move_theta.body(DriftingOffers)
def _move_offers(environment, source, t):
    follow(environment.moving, source, t)


@move_theta.body(DriftingVectors)
def _move_vectors(environment, source, t):
    if follow(environment.moving, source, t):
        value = largest_value(environment.ball, environment.z)
        environment.best[0] = mean_of_value(environment.law, value)


@entry
def follow_theta(environment, source, t):
    """Do as `move_theta`, for calls from Python."""
    move_theta(environment, source, t)
