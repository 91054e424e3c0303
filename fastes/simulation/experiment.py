"""What is to be simulated, and what has become of it so far."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes.agents import Agent
from fastes.checks import arrays, numbers
from fastes.checks.arrays import Floats
from fastes.checks.numbers import MAX_SEED, MAX_SIZE
from fastes.problem.bandit import LinearBandit
from fastes.simulation.recording import recording_times


@dataclass(frozen=True, eq=False)
class Experiment:
    """An agent on a bandit, and what is recorded of its runs."""

    bandit: LinearBandit
    agent: Agent
    T: int
    seed: int
    points: int
    theta: Floats | None = None  # one row for all runs, or for each; None: drawn from the prior
    probe_times: NDArray[np.int64] | None = None  # steps before which the state is looked at
    samples: int = 2  # draws of theta for each look

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """When regret is recorded."""
        return recording_times(self.T, self.points)


def make_experiment(
    bandit: LinearBandit,
    agent: Agent,
    T: int,
    runs: int,
    seed: int,
    *,
    theta: ArrayLike | None = None,
    points: int = 200,
    diagnostics: ArrayLike | None = None,
    samples: int = 4096,
) -> Experiment:
    """Return the experiment of these arguments, or raise a sentence that names the wrong one."""
    if not isinstance(bandit, LinearBandit):
        raise TypeError(f"bandit must be a LinearBandit, got {bandit!r}")
    if not isinstance(agent, Agent):
        raise TypeError(f"agent must be an agent such as ThompsonSampling(), got {agent!r}")
    T = numbers.integer("T", T, 1, agent.max_steps)
    runs = numbers.integer("runs", runs, 1, MAX_SIZE)
    seed = numbers.integer("seed", seed, 0, MAX_SEED)
    points = numbers.integer("points", points, 1, MAX_SIZE)
    samples = numbers.integer("samples", samples, 2, MAX_SIZE)
    fixed = None if theta is None else _fixed(bandit, theta, runs)
    probe_times = None if diagnostics is None else _looks(diagnostics, T)
    return Experiment(bandit, agent, T, seed, points, fixed, probe_times, samples)


def _fixed(bandit: LinearBandit, theta: ArrayLike, runs: int) -> Floats:
    """Return the caller's theta, one row for all runs or for each."""
    parameters = arrays.array("theta", theta)
    if parameters.shape not in ((bandit.d,), (runs, bandit.d)):
        raise ValueError(
            f"theta must have shape ({bandit.d},) or ({runs}, {bandit.d}), "
            f"got shape {parameters.shape}"
        )
    return np.atleast_2d(parameters)


def _looks(diagnostics: ArrayLike, T: int) -> NDArray[np.int64]:
    """Return the steps before which to look, in order."""
    try:
        times = np.unique(np.asarray(diagnostics))
    except (TypeError, ValueError):
        times = np.empty(0)
    if not np.issubdtype(times.dtype, np.integer) or not len(times):
        raise TypeError(f"diagnostics must be steps from 0 to {T - 1}, got {diagnostics!r}")
    for t in (int(times[0]), int(times[-1])):
        numbers.integer("a step in diagnostics", t, 0, T - 1)
    return times.astype(np.int64)
