"""Independent runs of an agent on a bandit, over threads, in slices."""

import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

import fastes
from fastes import memory, validation
from fastes.agents import Agent
from fastes.diagnostics import Diagnostics, Figures
from fastes.kernels.jit import compilation_timer
from fastes.kernels.tile_product import MODELS
from fastes.problem import LinearBandit
from fastes.result import Comparison, Configuration, Regret, Result
from fastes.runs import Job, play
from fastes.team import WORTH_SHARING, Team
from fastes.validation import MAX_SEED, MAX_SIZE, Floats

_MOST_IN_STEP = 32
_REPORT_SECONDS = 0.1


class Progress(NamedTuple):
    """How far a simulation is.

    Attributes
    ----------
    steps, total : int
        Steps done, and to do, over all runs.
    regret_per_step : float
        Mean regret of the steps done.
    """

    steps: int
    total: int
    regret_per_step: float


def simulate(
    bandit: LinearBandit,
    agent: Agent,
    T: int,
    runs: int = 1,
    seed: int = 0,
    *,
    theta: ArrayLike | None = None,
    points: int = 200,
    threads: int | None = None,
    diagnostics: ArrayLike | None = None,
    samples: int = 4096,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Play an agent on a bandit for T steps, many times, and measure its regret.

    The result is a pure function of the problem, the agent, T, the seed and a run's number:
    threads, and how many other runs there are, change no bit of it.

    Parameters
    ----------
    bandit : LinearBandit
        The problem. Its action set is the same in all runs.
    agent : EnsembleSampling, ThompsonSampling, Greedy, LinUCB or UniformRandom
        The agent.
    T : int
        Steps a run.
    runs : int
        Number of independent runs.
    seed : int
        Two agents under one seed face the same theta and noise, run by run.
    theta : (d,) or (runs, d) array_like, optional
        The true parameter, for all runs or for each. By default it is drawn from the prior
        anew for every run (Bayesian regret).
    points : int
        About how many times to record the regret at, half of them evenly spaced and half
        evenly spaced in log t.
    threads : int, optional
        How many threads to use; by default as many as this process may use processors.
    diagnostics : array_like of int, optional
        Steps, from 0 to T - 1, before which to look at the agent's state and measure what the
        paper's theory speaks of (`Diagnostics`). It changes no action.
    samples : int
        Draws of theta for each look, where the law of the optimal action has no exact form.
    progress : callable, optional
        Called with a `Progress` about ten times a second.

    Returns
    -------
    Result

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=100, d=10)
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=30), T=500, runs=20, seed=1)
    >>> bool(result.regret.mean[-1] < 200)
    True
    """
    if not isinstance(bandit, LinearBandit):
        raise TypeError(f"bandit must be a LinearBandit, got {bandit!r}")
    if not isinstance(agent, Agent):
        raise TypeError(f"agent must be an agent such as ThompsonSampling(), got {agent!r}")
    T = validation.integer("T", T, 1, agent.max_steps)
    runs = validation.integer("runs", runs, 1, MAX_SIZE)
    seed = validation.integer("seed", seed, 0, MAX_SEED)
    points = validation.integer("points", points, 1, MAX_SIZE)
    threads = validation.integer(
        "threads", _processors() if threads is None else threads, 1, 1 << 16
    )
    fixed = None if theta is None else _fixed(bandit, theta, runs)
    watch = None
    if diagnostics is not None:
        watch = _watch(diagnostics, samples, bandit, T, runs, min(runs, threads), seed)
    points = min(points, T)
    memory.require(f"a record of {runs:,} runs at {points:,} times", points * (8 * runs + 200))
    started = time.perf_counter()
    times = recording_times(T, points)
    workers, group = _plan(bandit, agent, T, runs, len(times), threads)
    group = group if watch is None else 1
    regret = np.empty((runs, len(times)))
    shared = workers == 1 < threads and agent.shared_cost(bandit.rank) >= WORTH_SHARING
    with compilation_timer() as compiling, Team(threads) if shared else nullcontext() as team:
        job = Job(bandit, agent, T, seed, times, fixed, regret, team, watch)
        counts = _run_all(job, runs, workers, group, progress)
    regret *= bandit.noise
    seconds = time.perf_counter() - started - compiling()
    configuration = _configuration(job, runs, threads, seconds)
    return Result(configuration, times, Regret(regret), counts, watch)


def compare(
    bandit: LinearBandit,
    agents: Sequence[Agent],
    T: int,
    runs: int = 1,
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Simulate several agents on the same theta and noise, for paired differences.

    Parameters are those of `simulate`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=100, d=10)
    >>> agents = [fastes.EnsembleSampling(M=100), fastes.ThompsonSampling()]
    >>> comparison = fastes.compare(bandit, agents, T=200, runs=50, seed=1)
    >>> [result.label for result in comparison.results]
    ['ES, M=100', 'TS']
    """
    if not agents:
        raise ValueError("agents must hold at least one agent, got none")
    return Comparison(tuple(simulate(bandit, agent, T, runs, seed, **options) for agent in agents))


def recording_times(T: int, points: int) -> NDArray[np.int64]:
    """Return about `points` times from 1 to T: half evenly spaced, half evenly in log t.

    Examples
    --------
    >>> recording_times(1000, 8).tolist()
    [1, 6, 32, 178, 250, 500, 750, 1000]
    """
    if points >= T:
        return np.arange(1, T + 1)
    half = max(1, points // 2)
    even = [T * (i + 1) // half for i in range(half)]
    geometric = [round(T ** (i / half)) for i in range(points - half)]
    return np.array(sorted({t for t in (*even, *geometric) if t >= 1}), np.int64)


def _run_all(
    job: Job, runs: int, workers: int, group: int, progress: Callable[[Progress], None] | None
) -> NDArray[np.int64]:
    """Do all runs in groups on `workers` threads. Return how often each arm was played.

    The calling thread only waits and reports, so that Ctrl-C reaches it at once. The threads
    are daemons: one that is still compiling does not keep a stopped program alive.
    """
    waiting = (range(runs)[first : first + group] for first in range(0, runs, group))
    lock = threading.Lock()
    stop = threading.Event()
    done = np.zeros(workers, np.int64)
    regret = np.zeros(workers)
    counts = np.zeros((workers, job.bandit.K), np.int64)
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            while not stop.is_set():
                with lock:
                    together = next(waiting, None)
                if together is None:
                    return
                for steps, added in play(job, together, counts[worker]):
                    done[worker] += steps
                    regret[worker] += added
                    if stop.is_set():
                        return
        except BaseException as failure:
            failures.append(failure)
            stop.set()

    def report() -> None:
        if progress is not None:
            steps = int(done.sum())
            mean = float(regret.sum()) * job.bandit.noise / max(1, steps)
            progress(Progress(steps, job.T * runs, mean))

    crew = [threading.Thread(target=work, args=(w,), daemon=True) for w in range(workers)]
    try:
        for thread in crew:
            thread.start()
        for thread in crew:
            while thread.is_alive():
                thread.join(_REPORT_SECONDS)
                report()
        report()
    finally:
        stop.set()
    if failures:
        raise failures[0]
    return counts.sum(axis=0)


def _configuration(job: Job, runs: int, threads: int, seconds: float) -> Configuration:
    """Return what was simulated."""
    bandit, agent, theta = job.bandit, job.agent, job.theta
    return Configuration(
        agent=agent.name,
        engine=agent.engine,
        parameters=agent.parameters(),
        K=bandit.K,
        d=bandit.d,
        rank=bandit.rank,
        T=job.T,
        runs=runs,
        seed=job.seed,
        noise=bandit.noise,
        theta="prior" if theta is None else f"fixed, {validation.fingerprint(theta)}",
        problem=bandit.fingerprint,
        version=fastes.__version__,
        threads=threads,
        seconds=seconds,
    )


def _fixed(bandit: LinearBandit, theta: ArrayLike, runs: int) -> Floats:
    """Return the caller's theta, one row for all runs or for each."""
    parameters = validation.array("theta", theta)
    if parameters.shape not in ((bandit.d,), (runs, bandit.d)):
        raise ValueError(
            f"theta must have shape ({bandit.d},) or ({runs}, {bandit.d}), "
            f"got shape {parameters.shape}"
        )
    return np.atleast_2d(parameters)


def _watch(
    diagnostics: ArrayLike,
    samples: int,
    bandit: LinearBandit,
    T: int,
    runs: int,
    workers: int,
    seed: int,
) -> Diagnostics:
    """Return when to look and how, with room for what is seen."""
    try:
        times = np.unique(np.asarray(diagnostics))
    except (TypeError, ValueError):
        times = np.empty(0)
    if not np.issubdtype(times.dtype, np.integer) or not len(times):
        raise TypeError(f"diagnostics must be steps from 0 to {T - 1}, got {diagnostics!r}")
    for t in (int(times[0]), int(times[-1])):
        validation.integer("a step in diagnostics", t, 0, T - 1)
    samples = validation.integer("samples", samples, 2, MAX_SIZE)
    shape = runs, len(times)
    draws = 8 * samples * (bandit.rank + 4)
    needed = 8 * len(Figures._fields) * runs * len(times) + workers * draws
    memory.require(f"diagnostics of {runs:,} runs at {len(times):,} times", needed)
    figures = Figures(*(np.full(shape, np.nan) for _ in Figures._fields))
    from fastes.theory.bounds import constants

    # The constants now: a failure there loses no run.
    known = constants(bandit, seed=seed)
    return Diagnostics(times.astype(np.int64), samples, figures, known)


def _plan(
    bandit: LinearBandit, agent: Agent, T: int, runs: int, points: int, threads: int
) -> tuple[int, int]:
    """Return how many threads to use and how many runs each does in step.

    As many as there are runs and memory for.
    """
    K, r = bandit.K, bandit.rank
    once, shown = 8 * runs * points, 2 * 8 * K  # means and counts
    alone = agent.run_bytes(K, r, T) + shown
    memory.require(f"a run with {_sizes(agent, K, r, T)}", once + alone)
    available = memory.available_bytes() - once
    workers = int(min(threads, runs, max(1, available // alone)))
    if not agent.in_step(K, r, T):
        return workers, 1
    # A group has its stack of states, and one more while they are made.
    state = agent.state_bytes(K, r, T) + K + 8 * K
    stack = state + shown + 8 * points
    group = min(_MOST_IN_STEP, -(-runs // workers), (available // workers - state) // stack)
    return workers, int(group) if group >= MODELS else 1


def _sizes(agent: Agent, K: int, r: int, T: int) -> str:
    sizes = {"K": K, "rank": r, "T": T, **agent.parameters()}
    return ", ".join(f"{name}={value:,}" for name, value in sizes.items())


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
