"""What is kept of a run."""

from typing import NamedTuple

import numpy as np

from ..jit.decorators import inlined


class Record(NamedTuple):
    """What is kept of a run: regret at chosen times, and how often each arm was played."""

    times: np.ndarray  # (points,): numbers of steps, increasing
    regret: np.ndarray  # (points,): cumulative regret after that many steps
    counts: np.ndarray  # (K,)
    total: np.ndarray  # (1,): cumulative regret so far
    cursor: np.ndarray  # (1,): points written so far


def record(times: np.ndarray, regret: np.ndarray, counts: np.ndarray) -> Record:
    """Return the record of a run that begins, to be kept in the given arrays."""
    return Record(times, regret, counts, np.zeros(1), np.zeros(1, np.int64))


@inlined
def record_step(record, environment, t, arm):
    """Count the play of an arm at step t, and its regret."""
    record.counts[arm] += 1
    record.total[0] += environment.best - environment.means[arm]
    cursor = record.cursor[0]
    if cursor < record.times.shape[0] and record.times[cursor] == t + 1:
        record.regret[cursor] = record.total[0]
        record.cursor[0] = cursor + 1
