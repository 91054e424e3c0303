"""The record of a run."""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import inlined
from .environment import arm_number, best_reward, mean_reward


class Record(NamedTuple):
    """The record of a run: regret at chosen times, and the number of plays of each arm.

    Also every arm and reward, if the arrays have space.
    """

    times: np.ndarray  # (points,): numbers of steps, increasing
    regret: np.ndarray  # (points,): cumulative regret after that many steps
    counts: np.ndarray  # (K,); or (0,) where arms have no numbers that last
    total: np.ndarray  # (1,): cumulative regret so far
    cursor: np.ndarray  # (1,): points written so far
    arms: np.ndarray  # (T,) uint32: the arm of every step; or (0,)
    rewards: np.ndarray  # (T,): the reward of every step; or (0,)


def record(
    times: np.ndarray,
    regret: np.ndarray,
    counts: np.ndarray,
    arms: np.ndarray | None = None,
    rewards: np.ndarray | None = None,
) -> Record:
    """Return the record of a run that begins, to be kept in the given arrays."""
    arms = np.empty(0, np.uint32) if arms is None else arms
    rewards = np.empty(0) if rewards is None else rewards
    return Record(times, regret, counts, np.zeros(1), np.zeros(1, np.int64), arms, rewards)


@inlined
def record_step(record, environment, t, arm, reward):
    """Record the play of an arm at step t: its count and regret, and optionally arm and reward."""
    number = arm_number(environment, arm)
    if t < record.arms.shape[0]:
        record.arms[t] = number
    if t < record.rewards.shape[0]:
        record.rewards[t] = reward
    if number < record.counts.shape[0]:
        record.counts[number] += 1
    record.total[0] += best_reward(environment) - mean_reward(environment, arm)
    cursor = record.cursor[0]
    if cursor < record.times.shape[0] and record.times[cursor] == t + 1:
        record.regret[cursor] = record.total[0]
        record.cursor[0] = cursor + 1
