"""The result of a simulation."""

import os
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fastes.actions.families import RandomArms
from fastes.agents import agent_label
from fastes.checks.arrays import Floats
from fastes.checks.extras import installed
from fastes.checks.numbers import counted
from fastes.files.guard import made_of
from fastes.problem.bandit import Bandit
from fastes.problem.truth import Truth
from fastes.problem.world import AS_BELIEVED, World
from fastes.results.configuration import FACTS, Configuration
from fastes.results.diagnostics import Diagnostics
from fastes.results.regret import Regret

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastes.results.panels import Look
    from fastes.results.tables import Parts


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Regret of one agent on one bandit over many runs.

    Attributes
    ----------
    configuration : Configuration
        What was simulated, its seed and versions, and its duration.
    t : (points,) array
        Recorded times, in steps; the last is T.
    regret : Regret
        Cumulative regret at those times.
    counts : (K,) array
        Number of plays of each arm, over all runs; (0,) if arms have no fixed numbers.
    diagnostics : Diagnostics or None
        Measurements at chosen times, if requested.
    theta : (1, d) or (runs, d) array, or None
        The true parameter, for all runs or for each, if it was fixed.
    run_numbers : (runs,) array
        The numbers of the runs: 0, 1, ..., except those missing from a stopped simulation.
    actions : (runs, T) array or None
        The arm of each step, if kept.
    rewards : (runs, T) array or None
        The reward of each step, if kept.
    world : World
        How the world differed from the belief; see also `truth`.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=10, seed=1)
    >>> result
    Result(TS: regret 39.02 +- 3.1 at T=100, 10 runs)
    >>> result.t[-4:].tolist(), result.regret.mean[-4:].round(1).tolist()
    ([97, 98, 99, 100], [38.7, 38.8, 38.9, 39.0])
    >>> result.regret.final.round(1).tolist()  # of each run
    [49.3, 36.5, 29.7, 38.3, 41.2, 53.0, 35.3, 44.6, 43.1, 19.3]
    >>> int(result.counts.argmax())  # the arm that was played most
    28
    """

    configuration: Configuration
    t: NDArray[np.int64]
    regret: Regret
    counts: NDArray[np.int64]
    problem: Bandit | Mapping[str, NDArray[Any]] = field(repr=False)
    """The bandit, or its arrays, from which it is made on demand."""
    run_numbers: NDArray[np.int64]
    diagnostics: Diagnostics | None = None
    theta: Floats | None = None
    actions: NDArray[np.unsignedinteger[Any]] | None = None
    rewards: Floats | None = None
    world: World = AS_BELIEVED

    @property
    def truth(self) -> Truth | None:
        """How the world differed from what the agent believes, if it did."""
        return None if self.configuration.truth == "belief" else self.world.truth

    @property
    def label(self) -> str:
        """The agent, for legends and tables."""
        return agent_label(self.configuration.agent, self.configuration.parameters)

    @property
    def arms(self) -> str:
        """Description of the arms, such as ``sphere, drawn with seed 3``."""
        c, problem = self.configuration, self.problem
        if isinstance(problem, Bandit):
            return problem.action_set.origin
        if "arms_family" in problem:
            return RandomArms.from_arrays(problem).text
        return "given" if c.actions == "fixed" else c.actions

    @cached_property
    def bandit(self) -> Bandit:
        """The problem that was simulated.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> fastes.simulate(bandit, fastes.Greedy(), T=10).bandit
        LinearBandit(K=50, d=5, noise=1)
        """
        if isinstance(self.problem, Bandit):
            return self.problem
        with made_of("a result", "problem"):
            bandit = Bandit.from_arrays(self.problem)
        if bandit.fingerprint != self.configuration.problem:
            made = self.configuration.versions
            raise ValueError(
                "this version of fastes or NumPy does not reproduce the random arms, which were "
                f"drawn with fastes {made['fastes']} and NumPy {made['numpy']}"
            )
        return bandit

    def __repr__(self) -> str:
        c = self.configuration
        error = "" if c.runs == 1 else f" +- {self.regret.se[-1]:.2g}"
        mean = f"{self.regret.mean[-1]:.4g}{error}"
        return f"Result({self.label}: regret {mean} at T={c.T:,}, {counted(c.runs, 'run')})"

    def _repr_html_(self) -> str:
        from fastes.results.tables import parts_html

        return parts_html(self._tables())

    def _tables(self) -> "Parts":
        from fastes.results.tables import result_tables

        return result_tables([self])

    def summary(self) -> None:
        """Print the table that ``fastes simulate`` prints; `to_dict` has its numbers."""
        from fastes.results.tables import print_parts

        print_parts(self._tables())

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as plain Python values for JSON (None instead of nan).

        It has the structure of ``fastes simulate --json``: see "JSON" in the documentation.
        """
        return {**shared_facts(self), "agents": [agent_facts(self)], "differences": []}

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write everything to one npz file, atomically.

        `fastes.rerun` can repeat it from the file. A file that is not a result is replaced only
        with `force`.
        """
        from fastes.results.files import save_results

        save_results(path, [self], force)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the regret of each run at each recorded time, one row each."""
        with installed("to_dataframe", "pandas", "pandas"):
            import pandas as pd
        runs, points = self.regret.per_run.shape
        return pd.DataFrame(
            {
                "agent": self.label,
                "run": np.repeat(self.run_numbers, points),
                "t": np.tile(self.t, runs),
                "regret": self.regret.per_run.ravel(),
            }
        )

    def to_csv(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the curve to a CSV file: agent, t, runs, mean, se, median, q05, q95."""
        from fastes.results.files import write_csv

        write_csv(path, [self], force)

    def plot(self, ax: "Axes | Figure | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Draw mean regret against time (`fastes.results.figures.plot_regret`)."""
        from fastes.results.figures import plot_regret

        return plot_regret([self], ax, **look)


def shared_facts(result: Result) -> dict[str, Any]:
    """Return the facts that are equal for all results in a comparison, for JSON."""
    facts = deepcopy(result.configuration._asdict())
    return {name: facts[name] for name in FACTS if name == "runs" or not FACTS[name].own}


def agent_facts(result: Result) -> dict[str, Any]:
    """Return the facts that belong to one agent, for JSON."""
    c, regret = result.configuration, result.regret
    facts = deepcopy(c._asdict())
    several = c.runs > 1  # a single run has no quantiles
    last = {
        "mean": regret.mean[-1],
        "se": regret.se[-1],
        "median": regret.median[-1] if several else np.nan,
        "q05": regret.quantile(0.05)[-1] if several else np.nan,
        "q95": regret.quantile(0.95)[-1] if several else np.nan,
    }
    return {
        "label": result.label,
        **{name: facts[name] for name in FACTS if FACTS[name].own},
        "steps_per_second": c.T * c.runs / c.seconds,
        "regret": {name: plain(value) for name, value in last.items()},
        "regret_per_step": float(regret.mean[-1]) / c.T,
        "curve": curve(result.t, regret),
    }


def curve(t: NDArray[np.int64], regret: Regret) -> dict[str, Any]:
    """Return mean and standard error at every recorded time, for JSON."""
    means, errors = ([plain(value) for value in each] for each in (regret.mean, regret.se))
    return {"t": t.tolist(), "mean": means, "se": errors}


def plain(value: float) -> float | None:
    """Return a number for JSON, None for nan."""
    return None if np.isnan(value) else float(value)
