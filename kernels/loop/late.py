"""Delayed rewards: that of step t is observed after the choice of step t + n.

The last n plays wait in a ring: that of step t in slot t % n, until step t + n takes its place.
"""

from typing import NamedTuple

import numpy as np

from ..actions.arms import load_arm
from ..actions.offer import arm_key
from ..agents.interface import learn
from ..jit.decorators import inlined
from ..states.layout import allocated, zeros


class LateRewards(NamedTuple):
    """Plays whose rewards have not been observed yet; n is 0 without delay."""

    rows: np.ndarray  # (n, r): the arms
    keys: np.ndarray  # (n,) int64: their keys
    offsets: np.ndarray  # (n,): their offsets
    rewards: np.ndarray  # (n,): their rewards


@allocated
def late_rewards(n: int, r: int) -> LateRewards:
    """Return an empty ring for n plays."""
    return LateRewards(zeros((n, r)), zeros(n, np.int64), zeros(n), zeros(n))


@inlined
def observe_in_turn(agent, actions, environment, arm, reward, source, t):
    """Let the agent learn the reward that is due at step t: that of step t without delay.

    Rewards are numbered by the steps that they are of: 0, 1, 2, ... without a gap.
    """
    late, row = environment.late, environment.row
    offset = load_arm(actions.arms, arm, row)
    key, n = arm_key(actions, arm, t), late.rows.shape[0]
    if n > 0:
        slot = t % n
        for j in range(row.shape[0]):
            late.rows[slot, j], row[j] = row[j], late.rows[slot, j]
        late.keys[slot], key = key, late.keys[slot]
        late.offsets[slot], offset = offset, late.offsets[slot]
        late.rewards[slot], reward = reward, late.rewards[slot]
    if t >= n:
        learn(agent, row, offset, key, reward, source, t - n)
