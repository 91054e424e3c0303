"""The loop: an agent plays an environment, and its regret is written down."""

from typing import NamedTuple

import numpy as np

from .agent import aim, full, learn
from .argmax import choose
from .arms import mean_rewards
from .certificate import due
from .jit import entry, inlined
from .streams import NOISE, THETA, Source, fill_normals, normal


class Environment(NamedTuple):
    """What pays: the mean reward of every arm, in units of the noise."""

    means: np.ndarray  # (K,)
    best: float


class Record(NamedTuple):
    """What is kept of a run: regret at chosen times, and how often each arm was played."""

    times: np.ndarray  # (points,): numbers of steps, increasing
    regret: np.ndarray  # (points,): cumulative regret after so many steps
    counts: np.ndarray  # (K,)
    total: np.ndarray  # (1,): cumulative regret so far
    cursor: np.ndarray  # (1,): points written so far


def record(times: np.ndarray, regret: np.ndarray, counts: np.ndarray) -> Record:
    """Return the record of a run that begins, to be kept in the given arrays."""
    return Record(times, regret, counts, np.zeros(1), np.zeros(1, np.int64))


@entry
def draw_means(arms, seed, first, z, scores, means):
    """means[i, a] = the mean reward of arm a in run first + i, with theta drawn from the prior."""
    beginning = np.int64(0)
    for i in range(means.shape[0]):
        fill_normals(Source(seed, first + np.uint64(i)), THETA, beginning, z)
        mean_rewards(arms, z, scores, means[i])


@inlined
def pay(environment, source, t, arm):
    """Return the reward of an arm at step t."""
    return environment.means[arm] + normal(source, NOISE, 0, t)


@inlined
def write_down(record, environment, t, arm):
    """Count the play of an arm at step t, and its regret."""
    record.counts[arm] += 1
    record.total[0] += environment.best - environment.means[arm]
    cursor = record.cursor[0]
    if cursor < record.times.shape[0] and record.times[cursor] == t + 1:
        record.regret[cursor] = record.total[0]
        record.cursor[0] = cursor + 1


@entry
def advance(agent, arms, environment, record, source, work, start, stop):
    """Run the steps start, ..., stop - 1. Return the step reached.

    It is below stop where the agent is full, a snapshot is due, or no score is a number.
    """
    for t in range(start, stop):
        if full(agent) or due(work):
            return t
        aim(agent, source, t)
        arm = choose(work, agent, arms, source, t)
        if arm < 0:
            return t
        learn(agent, arms, source, t, arm, pay(environment, source, t, arm))
        write_down(record, environment, t, arm)
    return stop
