"""What is to be simulated, and what has become of it so far."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fastes import memory, validation
from fastes.agents import Agent
from fastes.agents.agent import Arrays
from fastes.diagnostics import Figures
from fastes.problem import LinearBandit
from fastes.validation import MAX_SEED, MAX_SIZE, Floats


@dataclass(frozen=True, eq=False)
class Experiment:
    """An agent on a bandit, and what is recorded of its runs."""

    bandit: LinearBandit
    agent: Agent
    T: int
    seed: int
    points: int
    theta: Floats | None = None  # one row for all runs, or for each; None: drawn from the prior
    looks: NDArray[np.int64] | None = None  # steps before which the state is looked at
    samples: int = 2  # draws of theta for each look

    @cached_property
    def times(self) -> NDArray[np.int64]:
        """When regret is recorded."""
        return recording_times(self.T, self.points)


class Standing(NamedTuple):
    """Where runs that go together stand."""

    runs: range
    t: int
    totals: Floats  # (runs,): regret so far, in units of the noise
    states: list[Arrays]  # of the agents, packed

    def one_by_one(self) -> list["Standing"]:
        """Return where each of them stands."""
        return [
            Standing(range(run, run + 1), self.t, self.totals[i : i + 1], [self.states[i]])
            for i, run in enumerate(self.runs)
        ]


@dataclass(eq=False)
class Ledger:
    """What is known of the runs of an experiment so far."""

    runs: range
    regret: Floats  # (runs, times), in units of the noise: of a run, as far as it has come
    figures: Figures | None  # of (runs, looks) arrays
    counts: NDArray[np.int64]  # (K,): how often each arm was played
    done: NDArray[np.bool_]  # (runs,)
    in_progress: list[Standing] = field(default_factory=list)
    finished: list[Standing] = field(default_factory=list)  # of runs done, those kept
    seconds: float = 0.0

    def rows(self, runs: range) -> slice:
        """Return where in the ledger some of its runs are."""
        return slice(runs.start - self.runs.start, runs.stop - self.runs.start)


def empty_ledger(experiment: Experiment, runs: range) -> Ledger:
    """Return the ledger of runs before they begin."""
    n, times = len(runs), len(experiment.times)
    memory.require(f"a record of {n:,} runs at {times:,} times", times * (8 * n + 200))
    figures = None
    if experiment.looks is not None:
        looks = len(experiment.looks)
        needed = 8 * len(Figures._fields) * n * looks
        memory.require(f"diagnostics of {n:,} runs at {looks:,} times", needed)
        figures = Figures(*(np.full((n, looks), np.nan) for _ in Figures._fields))
    return Ledger(
        runs,
        np.zeros((n, times)),
        figures,
        np.zeros(experiment.bandit.K, np.int64),
        np.zeros(n, np.bool_),
    )


def experiment_of(
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
    T = validation.integer("T", T, 1, agent.max_steps)
    runs = validation.integer("runs", runs, 1, MAX_SIZE)
    seed = validation.integer("seed", seed, 0, MAX_SEED)
    points = validation.integer("points", points, 1, MAX_SIZE)
    samples = validation.integer("samples", samples, 2, MAX_SIZE)
    fixed = None if theta is None else _fixed(bandit, theta, runs)
    looks = None if diagnostics is None else _looks(diagnostics, T)
    return Experiment(bandit, agent, T, seed, points, fixed, looks, samples)


def _fixed(bandit: LinearBandit, theta: ArrayLike, runs: int) -> Floats:
    """Return the caller's theta, one row for all runs or for each."""
    parameters = validation.array("theta", theta)
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
        validation.integer("a step in diagnostics", t, 0, T - 1)
    return times.astype(np.int64)


def recording_times(T: int, points: int) -> NDArray[np.int64]:
    """Return T, and at most so many times before: half evenly spaced, half evenly in log t.

    They are nested: the times of a longer horizon are, as far as a shorter one goes, among the
    shorter one's. So a simulation can be extended as if it had been that long from the start.

    Examples
    --------
    >>> recording_times(1000, 8).tolist()
    [1, 16, 256, 512, 768, 1000]
    >>> recording_times(2000, 8).tolist()
    [1, 16, 256, 512, 1024, 1536, 2000]
    """
    if points >= T:
        return np.arange(1, T + 1)
    half = max(1, points // 2)
    # Powers of two: a coarser spacing is a multiple of every finer one.
    spacing = 1 << max(0, (-(-T // half) - 1).bit_length())
    even = range(spacing, T, spacing)
    octaves = T.bit_length()
    rest = points - half
    gap = 1.0 / 64  # octaves
    while octaves / gap > rest:
        gap *= 2.0
    geometric = (round(2.0 ** (i * gap)) for i in range(int(octaves / gap) + 1) if rest)
    return np.array(sorted({*even, *(t for t in geometric if t < T), T}), np.int64)
