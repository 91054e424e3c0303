"""Repeat a result, and compare the bits."""

from typing import Any, TypeVar

import numpy as np

from fastes.agents import AGENTS, agent_from_description
from fastes.agents.own_compiled import imported_class
from fastes.results.comparison import Comparison
from fastes.results.configuration import PARAMETERS, TRAJECTORIES
from fastes.results.result import Result
from fastes.results.versions import versions
from fastes.simulation.bars import progress_report
from fastes.simulation.execute import execute, result_of
from fastes.simulation.experiment import Experiment
from fastes.simulation.partial_result import empty_partial_result
from fastes.simulation.plan import make_plan, thread_count
from fastes.simulation.progress import Report, of_several

_Results = TypeVar("_Results", Result, Comparison)


def rerun(
    result: _Results, *, threads: int | None = None, progress: bool | Report | None = None
) -> _Results:
    """Repeat the simulation of a result: same problem, agents, seed and runs.

    With the same versions the new result has the same bits, on any number of threads.

    Parameters
    ----------
    result : Result or Comparison
        From `simulate`, `compare`, `resume` or a file.
    threads, progress
        As for `simulate`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.Greedy(), T=100, runs=5)
    >>> bool((fastes.rerun(result).regret.per_run == result.regret.per_run).all())
    True
    """
    if not isinstance(result, (Result, Comparison)):
        raise TypeError(f"result must be a Result or a Comparison, got {result!r}")
    threads = thread_count(threads)
    with progress_report(progress) as report:
        if isinstance(result, Result):
            again: Any = _again(result, threads, report)
            return again
        reports = (of_several(report, i, len(result)) for i in range(len(result)))
        pairs = zip(result, reports, strict=True)
        return Comparison(tuple(_again(old, threads, each) for old, each in pairs))


def _again(old: Result, threads: int, report: Report | None) -> Result:
    experiment = _experiment(old)
    (agent,) = experiment.agents
    partial = empty_partial_result(experiment, range(experiment.runs))
    missing = np.setdiff1d(np.arange(experiment.runs), old.run_numbers)
    partial.done[missing] = True  # skip these runs, which the result lacks
    plan = make_plan(experiment, agent, experiment.runs, threads)
    execute(experiment, agent, partial, plan, progress=report)
    partial.done[missing] = False
    return result_of(experiment, agent, partial, threads)


def _experiment(old: Result) -> Experiment:
    c, found = old.configuration, old.diagnostics
    if c.agent not in AGENTS and imported_class(c.agent) is None:
        raise ValueError(
            f"{old.label} is a custom agent, whose code is not in the result: import "
            f"{c.agent.partition(':')[0]} first if it is compiled, else call simulate() with it, "
            "result.bandit and the same T, runs and seed"
        )
    runs = int(old.run_numbers[-1]) + 1
    probes: dict[str, Any] = (
        {} if found is None else {"probe_times": found.t, "samples": found.samples}
    )
    asked = {name: getattr(c, name) for name in PARAMETERS}
    return Experiment(
        old.bandit,
        (agent_from_description({"agent": c.agent, "parameters": c.parameters}),),
        **{**asked, **probes, "runs": runs},
        theta=None if old.theta is None else old.theta[:runs],
        keep=tuple(name for name in TRAJECTORIES if getattr(old, name) is not None),
        world=old.world,
    )


def why_different(old: Result, new: Result) -> str | None:
    """Return a sentence on how two results differ, with a possible reason; None if equal."""
    pairs: dict[str, Any] = {
        "regret": (old.regret.per_run, new.regret.per_run),
        "counts": (old.counts, new.counts),
        **{name: (getattr(old, name), getattr(new, name)) for name in TRAJECTORIES},
    }
    if old.diagnostics is not None and new.diagnostics is not None:
        measured = zip(old.diagnostics.per_run, new.diagnostics.per_run, strict=True)
        pairs |= {f"diagnostics {i}": pair for i, pair in enumerate(measured)}
    apart = [name for name, pair in pairs.items() if not _same(*pair)]
    if not apart:
        return None
    made, here = old.configuration.versions, versions()._asdict()
    names = [name for name in here if made.get(name) != here[name]]
    reason = "the versions are equal: another processor or LAPACK may round differently"
    if old.configuration.agent not in AGENTS:
        reason += ", or the agent's code has changed"
    if names:
        reason = "the versions differ: " + ", ".join(
            f"{name} {made.get(name)}, here {here[name]}" for name in names
        )
    return f"{old.label}: {apart[0]} differs; {reason}"


def _same(old: object, new: object) -> bool:
    if old is None or new is None:
        return old is new
    return np.array_equal(np.asarray(old), np.asarray(new), equal_nan=True)
