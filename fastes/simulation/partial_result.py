"""Partial results: what is known so far of the runs of one agent."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.checks import memory
from fastes.checks.arrays import Arrays, Floats
from fastes.results.configuration import TRAJECTORIES
from fastes.results.diagnostics import Measurements
from fastes.simulation.experiment import Experiment


class BatchState(NamedTuple):
    """The state of a batch of runs after t steps."""

    runs: range
    t: int
    totals: Floats  # (runs,): regret so far, in units of the noise
    states: list[Arrays]  # of the agents

    def one_by_one(self) -> list["BatchState"]:
        """Return the state of each run as a batch of one."""
        return [
            BatchState(range(run, run + 1), self.t, self.totals[i : i + 1], [self.states[i]])
            for i, run in enumerate(self.runs)
        ]


@dataclass(eq=False)
class PartialResult:
    """What is known so far of some runs."""

    runs: range
    regret: Floats  # (runs, times), in units of the noise, up to each run's current step
    measurements: Measurements | None  # of (runs, probe times) arrays
    counts: NDArray[np.int64]  # (K,): plays of each arm
    done: NDArray[np.bool_]  # (runs,)
    actions: NDArray[np.uint32]  # (runs, T): the arm of each step; (runs, 0) if not kept
    rewards: Floats  # (runs, T), in units of the noise; (runs, 0) if not kept
    in_progress: list[BatchState] = field(default_factory=list)
    finished: list[BatchState] = field(default_factory=list)  # final states, if kept
    seconds: float = 0.0

    def rows(self, runs: range) -> slice:
        """Return the rows of some of the runs."""
        return slice(runs.start - self.runs.start, runs.stop - self.runs.start)


def empty_partial_result(experiment: Experiment, runs: range) -> PartialResult:
    """Return the partial result of runs before they start."""
    n, times = len(runs), len(experiment.times)
    memory.require(f"a record of {n:,} runs at {times:,} times", times * (8 * n + 200))
    measurements = None
    if experiment.probe_times is not None:
        probes = len(experiment.probe_times)
        needed = 8 * len(Measurements._fields) * n * probes
        memory.require(f"diagnostics of {n:,} runs at {probes:,} times", needed)
        measurements = Measurements(*(np.full((n, probes), np.nan) for _ in Measurements._fields))
    return PartialResult(
        runs,
        np.zeros((n, times)),
        measurements,
        np.zeros(experiment.bandit.action_set.counted_arms, np.int64),
        np.zeros(n, np.bool_),
        *_empty_trajectories(experiment, n),
    )


def _empty_trajectories(experiment: Experiment, n: int) -> tuple[NDArray[np.uint32], Floats]:
    """Return empty arrays of the trajectories of n runs, or raise MemoryError."""
    T, keep = experiment.T, experiment.keep
    shapes = {name: (n, T if name in keep else 0) for name in TRAJECTORIES}
    needed = 4 * math.prod(shapes["actions"]) + 8 * math.prod(shapes["rewards"])
    memory.require(f"keeping {' and '.join(keep)} of {n:,} runs of {T:,} steps", needed)
    return np.zeros(shapes["actions"], np.uint32), np.zeros(shapes["rewards"])
