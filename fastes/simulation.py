"""Independent runs of agents on a bandit, over threads, in slices."""

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import fastes
from fastes import memory, validation
from fastes.agents import Agent
from fastes.crew import Assignment, Keeper, Progress, run_all
from fastes.diagnostics import Diagnostics
from fastes.experiment import Experiment, Ledger, empty_ledger, experiment_of
from fastes.kernels.jit import compilation_timer
from fastes.kernels.tile_product import MODELS
from fastes.problem import LinearBandit
from fastes.result import Comparison, Configuration, Regret, Result
from fastes.runs import Job
from fastes.team import WORTH_SHARING, Team

_MOST_IN_STEP = 32
_MANY_RUNS = 8 * _MOST_IN_STEP
"""From so many runs a thread on, short ones are done several in a call."""


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
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
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
        At most how many times to record the regret at, half of them evenly spaced and half
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
    checkpoint : path, optional
        A new file to keep the state in, from which `resume` goes on: after a power cut, on
        Ctrl-C or SIGTERM, or with a longer horizon.
    every : float
        Seconds from one checkpoint to the next. Large states are written less often, so that
        writing takes about a hundredth of the time.

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
    experiment = experiment_of(
        bandit,
        agent,
        T,
        runs,
        seed,
        theta=theta,
        points=points,
        diagnostics=diagnostics,
        samples=samples,
    )
    return _simulate([experiment], runs, threads, progress, checkpoint, every)[0]


def compare(
    bandit: LinearBandit,
    agents: Sequence[Agent],
    T: int,
    runs: int = 1,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Callable[[Progress], None] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
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
    experiments = [experiment_of(bandit, agent, T, runs, seed, **options) for agent in agents]
    return Comparison(_simulate(experiments, runs, threads, progress, checkpoint, every))


def _simulate(
    experiments: Sequence[Experiment],
    runs: int,
    threads: int | None,
    progress: Callable[[Progress], None] | None,
    checkpoint: str | os.PathLike[str] | None,
    every: float,
) -> tuple[Result, ...]:
    threads = thread_count(threads)
    if checkpoint is None:
        return tuple(
            one_result(experiment, empty_ledger(experiment, range(runs)), threads, progress)
            for experiment in experiments
        )
    from fastes.checkpoint import begin

    for experiment in experiments:
        _prepare(experiment, runs, threads, kept=True)  # what is refused leaves no file behind
    return begin(checkpoint, experiments, runs, every).go_on(threads, progress)


def one_result(
    experiment: Experiment,
    ledger: Ledger,
    threads: int,
    progress: Callable[[Progress], None] | None = None,
    keeper: Keeper | None = None,
) -> Result:
    """Do all runs of a ledger that are not done yet, and return what was measured."""
    e = experiment
    workers, group = _prepare(e, len(ledger.runs), threads, keeper is not None)
    began, before = time.perf_counter(), ledger.seconds
    shared = workers == 1 < threads and e.agent.shared_cost(e.bandit.rank) >= WORTH_SHARING
    with compilation_timer() as compiling, Team(threads) if shared else nullcontext() as team:

        def seconds() -> float:
            return before + time.perf_counter() - began - compiling()

        job = Job(e, ledger, team, seconds)
        run_all(job, list(_assignments(ledger, group)), workers, progress, keeper)
    return result_of(e, ledger, threads)


def _assignments(ledger: Ledger, group: int) -> Iterator[Assignment]:
    """Yield what is left to do, in groups: first what was begun."""
    begun = np.zeros_like(ledger.done)
    for standing in ledger.in_progress:
        begun[ledger.rows(standing.runs)] = True
        if len(standing.runs) <= group:
            yield Assignment(standing.runs, standing)
        else:
            yield from (Assignment(each.runs, each) for each in standing.one_by_one())
    left = np.flatnonzero(~ledger.done & ~begun) + ledger.runs.start
    for stretch in np.split(left, np.flatnonzero(np.diff(left) > 1) + 1):
        for i in range(0, len(stretch), group):
            together = stretch[i : i + group]
            yield Assignment(range(int(together[0]), int(together[-1]) + 1), None)


def result_of(e: Experiment, ledger: Ledger, threads: int) -> Result:
    """Return what was measured in runs that are done."""
    seen = None
    if e.looks is not None:
        from fastes.theory.bounds import constants

        seen = Diagnostics(e.looks, e.samples, ledger.figures, constants(e.bandit, seed=e.seed))
    regret = Regret(ledger.regret * e.bandit.noise)
    return Result(_configuration(e, ledger, threads), e.times, regret, ledger.counts, seen)


def _configuration(e: Experiment, ledger: Ledger, threads: int) -> Configuration:
    """Return what was simulated."""
    bandit, agent, theta = e.bandit, e.agent, e.theta
    return Configuration(
        agent=agent.name,
        engine=agent.engine,
        parameters=agent.parameters(),
        K=bandit.K,
        d=bandit.d,
        rank=bandit.rank,
        T=e.T,
        runs=len(ledger.runs),
        seed=e.seed,
        noise=bandit.noise,
        theta="prior" if theta is None else f"fixed, {validation.fingerprint(theta)}",
        problem=bandit.fingerprint,
        version=fastes.__version__,
        threads=threads,
        seconds=ledger.seconds,
    )


def _prepare(e: Experiment, runs: int, threads: int, kept: bool) -> tuple[int, int]:
    """Return how many threads to use and how many runs each does in step.

    What cannot be done is refused here, before anything is.
    """
    if e.looks is not None:
        from fastes.theory.bounds import constants

        draws = 8 * e.samples * (e.bandit.rank + 4)
        memory.require(f"diagnostics by {e.samples:,} draws", min(threads, runs) * draws)
        constants(e.bandit, seed=e.seed)
    workers, group = _plan(e.bandit, e.agent, e.T, runs, len(e.times), threads, kept)
    return workers, 1 if e.looks is not None else group


def _plan(
    bandit: LinearBandit,
    agent: Agent,
    T: int,
    runs: int,
    points: int,
    threads: int,
    kept: bool,
) -> tuple[int, int]:
    """Return how many threads to use and how many runs each does in step.

    As many as there are runs and memory for. What is `kept` is copied when it is written.
    """
    K, r = bandit.K, bandit.rank
    once, shown = 8 * runs * points, 2 * 8 * K  # means and counts
    copy = agent.state_bytes(K, r, T) if kept else 0
    alone = agent.run_bytes(K, r, T) + shown + copy
    memory.require(f"a run with {_sizes(agent, K, r, T)}", once + alone)
    available = memory.available_bytes() - once
    workers = int(min(threads, runs, max(1, available // alone)))
    brief = agent.brief(K, r, T) and runs >= _MANY_RUNS * workers
    if not (brief or agent.in_step(K, r, T)):
        return workers, 1
    # A group has its stack of states, and one more while they are made.
    state = agent.state_bytes(K, r, T) + K + 8 * K
    stack = state + shown + 8 * points + copy
    group = min(_MOST_IN_STEP, -(-runs // workers), (available // workers - state) // stack)
    return workers, int(group) if group >= MODELS else 1


def _sizes(agent: Agent, K: int, r: int, T: int) -> str:
    sizes = {"K": K, "rank": r, "T": T, **agent.parameters()}
    return ", ".join(f"{name}={value:,}" for name, value in sizes.items())


def thread_count(threads: int | None) -> int:
    """Return how many threads to use, by default as many as there are processors."""
    return processors() if threads is None else validation.integer("threads", threads, 1, 1 << 16)


def processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
