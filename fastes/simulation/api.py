"""Independent runs of agents on a bandit, over threads, in slices."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from fastes.agents import Agent
from fastes.problem.bandit import LinearBandit
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.simulation.execute import one_result
from fastes.simulation.experiment import Experiment, make_experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import _prepare, thread_count
from fastes.simulation.progress import Progress


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
    experiment = make_experiment(
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
    experiments = [make_experiment(bandit, agent, T, runs, seed, **options) for agent in agents]
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
            one_result(experiment, empty_partial_result(experiment, range(runs)), threads, progress)
            for experiment in experiments
        )
    from fastes.simulation.checkpoint import begin

    for experiment in experiments:
        _prepare(experiment, runs, threads, kept=True)  # what is refused leaves no file behind
    return begin(checkpoint, experiments, runs, every).go_on(threads, progress)
