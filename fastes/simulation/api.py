"""The public functions: simulate one agent, or compare several."""

import os
from collections.abc import Sequence
from dataclasses import fields

from numpy.typing import ArrayLike

from fastes.agents.agent import Agent
from fastes.agents.own import OwnAgent, PlayerFactory
from fastes.agents.own_compiled import require_action_law
from fastes.checks.numbers import counted
from fastes.problem.bandit import Bandit
from fastes.problem.truth import Truth
from fastes.problem.world import World
from fastes.results.comparison import Comparison
from fastes.results.result import Result
from fastes.simulation.bars import progress_report
from fastes.simulation.checkpoint import create
from fastes.simulation.execute import execute, result_of
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import RunPlan, make_plan, thread_count
from fastes.simulation.progress import Report, of_several


def simulate(
    bandit: Bandit,
    agent: Agent | PlayerFactory,
    T: int,
    runs: int = 1,
    seed: int = 0,
    *,
    theta: ArrayLike | None = None,
    truth: Truth | None = None,
    delay: int = 0,
    points: int = 200,
    threads: int | None = None,
    diagnostics: ArrayLike | None = None,
    samples: int = 4096,
    keep: str | Sequence[str] = (),
    progress: bool | Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
) -> Result:
    """Play an agent on a bandit for T steps, many times, and measure its regret.

    Each run is a pure function of the problem, the agent, T, the seed and its number: the number of
    threads or of other runs changes no bit.

    Parameters
    ----------
    bandit : Bandit
        The problem.
    agent : Agent or custom agent
        The agent: `EnsembleSampling`, `ThompsonSampling`, `EnsemblePlusPlus`, `PerturbedHistory`,
        `LinearEnsemble`, `InformationDirectedSampling`, `BayesUCB`, `LinUCB`, `DiscountedLinUCB`,
        `EpsilonGreedy`, `Greedy` or `UniformRandom`. A custom agent is any object with
        ``start(bandit, seed)``, which returns an object with ``act()`` and
        ``observe(arm, reward)``, and for diagnostics
        ``action_law()``. If arms change, the calls are ``act(actions)`` and
        ``observe(row, reward)``.
    T : int
        Number of steps of each run.
    runs : int
        Number of independent runs.
    seed : int
        Agents with the same seed face the same theta and noise, run by run.
    theta : (d,) or (runs, d) array_like, optional
        The true parameter, for all runs or for each. By default it is drawn from the prior for
        every run (Bayesian regret).
    truth : Truth, optional
        How the world differs from the bandit's prior and noise, which agents believe, and how theta
        changes. Regret is against the true means of each step.
    delay : int
        The reward of step t is observed after the choice of step t + delay. Regret counts all
        steps, even if their rewards are never observed.
    points : int
        Largest number of recorded times: half evenly spaced, half evenly spaced in log t.
    threads : int, optional
        Number of threads; by default one for each available processor.
    diagnostics : array_like of int, optional
        Steps, from 0 to T - 1, before which to measure the quantities of the paper's theory in
        the agent's state (`Diagnostics`). It changes no action.
    samples : int
        Draws of theta per probe, if the law of the optimal action has no exact form.
    keep : {"actions", "rewards"} or a list of both, optional
        Keep the arm or the reward of every step of every run, as `Result.actions` and
        `Result.rewards`, at 4 and 8 bytes per step.
    progress : bool or callable, optional
        True shows a progress bar in a terminal or notebook. A function is called with a
        `Progress` about ten times a second.
    checkpoint : path, optional
        A new file for the state, from which `resume` continues after an interruption or with a
        longer horizon.
    every : float
        Seconds between checkpoints. Large states are written less often, so that writing takes
        about one percent of the time.

    Returns
    -------
    Result

    Raises
    ------
    SimulationStopped
        A KeyboardInterrupt, on Ctrl-C without a checkpoint. Its attribute `result` holds the
        completed runs.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=100, d=10)
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=30), T=500, runs=20, seed=1)
    >>> result
    Result(ES, M=30: regret 90.57 +- 10 at T=500, 20 runs)
    """
    given = {**locals()}  # the arguments of compare, except agents
    return compare(agents=[given.pop("agent")], **given)[0]


def compare(
    bandit: Bandit,
    agents: Sequence[Agent | PlayerFactory],
    T: int,
    runs: int = 1,
    seed: int = 0,
    *,
    theta: ArrayLike | None = None,
    truth: Truth | None = None,
    delay: int = 0,
    points: int = 200,
    threads: int | None = None,
    diagnostics: ArrayLike | None = None,
    samples: int = 4096,
    keep: str | Sequence[str] = (),
    progress: bool | Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
) -> Comparison:
    """Simulate several agents on the same theta and noise, for paired differences.

    Parameters are those of `simulate`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=100, d=10)
    >>> agents = [fastes.EnsembleSampling(M=100), fastes.ThompsonSampling()]
    >>> comparison = fastes.compare(bandit, agents, T=200, runs=50, seed=1)
    >>> for result in comparison:
    ...     print(result)
    Result(ES, M=100: regret 83.86 +- 4 at T=200, 50 runs)
    Result(TS: regret 81.74 +- 3.5 at T=200, 50 runs)
    >>> comparison.differences()  # to the last, paired run by run
    [Difference(ES, M=100 minus TS: 2.126 +- 5.6)]
    """
    given = {**locals()}  # of the experiment, of its world, and of its execution
    execution = {name: given.pop(name) for name in ("threads", "progress", "checkpoint", "every")}
    world = World(**{each.name: given.pop(each.name) for each in fields(World)})
    probe_times = given.pop("diagnostics")
    experiment = Experiment(**given, world=world, probe_times=probe_times)
    return Comparison(run_experiment(experiment, **execution))


class SimulationStopped(KeyboardInterrupt):
    """A simulation without a checkpoint was interrupted.

    Attributes
    ----------
    result : Comparison or None
        The completed runs, of the agents that have any.
    done : str
        Says how many runs were completed.
    """

    def __init__(self, result: Comparison | None, done: str) -> None:
        super().__init__(f"stopped {done}; use checkpoint= to keep unfinished runs")
        self.result = result
        self.done = done


def run_experiment(
    experiment: Experiment,
    threads: int | None,
    progress: bool | Report | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: float = 60.0,
) -> tuple[Result, ...]:
    """Do all runs of all agents, with a checkpoint if one is named. Return a result for each."""
    threads, runs = thread_count(threads), experiment.runs
    custom = [agent.label for agent in experiment.agents if not agent.compiled]
    if checkpoint is not None and custom:
        raise ValueError(f"checkpoint cannot save the state of the custom agent {custom[0]}")
    if experiment.probe_times is not None:
        for agent in experiment.agents:
            if isinstance(agent, OwnAgent):
                agent.require_action_law(experiment.bandit, experiment.seed)
            else:
                require_action_law(agent)
        from fastes.theory.constants import constants_beside

        constants_beside(
            experiment.bandit, experiment.seed
        )  # raises now if they cannot be computed
    plans = [
        make_plan(experiment, agent, runs, threads, saved=checkpoint is not None)
        for agent in experiment.agents
    ]
    with progress_report(progress) as report:
        if checkpoint is not None:
            return create(checkpoint, experiment, every).run(plans, threads, report)
        return _run_unsaved(experiment, plans, threads, report)


def _run_unsaved(
    experiment: Experiment, plans: Sequence[RunPlan], threads: int, report: Report | None
) -> tuple[Result, ...]:
    e, results = experiment, []
    for i, (agent, plan) in enumerate(zip(e.agents, plans, strict=True)):
        partial = empty_partial_result(e, range(e.runs))
        try:
            overall = of_several(report, i, len(e.agents))
            execute(e, agent, partial, plan, progress=overall)
        except KeyboardInterrupt:
            if partial.done.any():
                results.append(result_of(e, agent, partial, threads))
            raise _stopped(e, results) from None
        results.append(result_of(e, agent, partial, threads))
    return tuple(results)


def _stopped(experiment: Experiment, results: Sequence[Result]) -> SimulationStopped:
    """Return the exception with the completed runs."""
    if not results:
        return SimulationStopped(None, "before the first run was completed")
    runs = {result.label: result.configuration.runs for result in results}
    total = counted(experiment.runs, "run")
    counts = [
        f"{runs.get(agent.label, 0):,} of {total} of {agent.label}" for agent in experiment.agents
    ]
    done = f"after {', '.join(counts)}"
    return SimulationStopped(Comparison(tuple(results)), done)
