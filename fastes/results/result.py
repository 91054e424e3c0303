"""What a simulation gives back."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from fastes.actions.families import RandomArms
from fastes.agents import agent_label
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.files.guard import made_of
from fastes.problem.bandit import LinearBandit
from fastes.problem.truth import Truth
from fastes.results.diagnostics import Diagnostics
from fastes.results.regret import Regret

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastes.results.panels import Look
    from fastes.results.tables import Parts


@documented
class Configuration(NamedTuple):
    """What was simulated. With the problem, and theta if it was fixed, it can be done again.

    Attributes
    ----------
    agent : str
        The name of the agent, such as es.
    engine : str
        How its steps are computed: deferred or eager for an ensemble, python for a custom agent,
        exact for all others.
    parameters : dict
        The parameters of the agent.
    K : int or None
        Arms on offer at a step; None where they are not counted.
    d : int
        Dimension of theta.
    rank : int
        Dimension of what can be learned.
    T : int
        Steps a run.
    runs : int
        Runs that are in the result.
    seed : int
        The seed.
    points : int
        At most how many times are recorded.
    noise : float
        Standard deviation of a reward, as the agent believes.
    actions : str
        "fixed", or what is on offer in words.
    theta : str
        "prior": drawn anew for every run; or "fixed" and a hash of what was given.
    problem : str
        The fingerprint of the LinearBandit.
    versions : dict
        Versions of fastes, NumPy and numba, and a hash of the compiled code's source.
    date : str
        When it was done, in UTC.
    threads : int
        Threads that did the runs.
    seconds : float
        How long the runs took.
    truth : str
        "belief", or how the world differs from the bandit, in words.
    delay : int
        Steps by which rewards are late.
    """

    agent: str
    engine: str
    parameters: dict[str, Any]
    K: int | None
    d: int
    rank: int
    T: int
    runs: int
    seed: int
    points: int
    noise: float
    actions: str
    theta: str
    problem: str
    versions: dict[str, str]
    date: str
    threads: int
    seconds: float
    truth: str = "belief"
    delay: int = 0

    @property
    def outside_theory(self) -> str:
        """Why the paper's bounds do not speak of it; empty where they do."""
        if self.theta != "prior":
            return "theta was fixed"
        if self.truth != "belief":
            return "the world was not what the agent believes"
        return "rewards were late" if self.delay else ""


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Regret of one agent on one bandit over many runs.

    Attributes
    ----------
    configuration : Configuration
        What was simulated, with which seed and versions, and how long it took.
    t : (points,) array
        Recorded times, as numbers of steps; the last is T.
    regret : Regret
        Cumulative regret at those times.
    counts : (K,) array
        How often each arm was played, over all runs; (0,) where arms keep no numbers.
    diagnostics : Diagnostics or None
        What was measured at chosen times, if it was asked for.
    theta : (1, d) or (runs, d) array, or None
        The true parameter, if it was fixed, for all runs or for each.
    run_numbers : (runs,) array
        The numbers of the runs: 0, 1, ..., but for those that a stopped simulation lacks.
    actions : (runs, T) array or None
        The arm of every step, if it was kept.
    rewards : (runs, T) array or None
        The reward of every step, if it was kept.
    truth : Truth or None
        How the world differed from what the agent believes, if it did.

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
    problem: LinearBandit | Mapping[str, NDArray[Any]] = field(repr=False)
    """The bandit, or the `parts` that it is made of when it is asked for."""
    run_numbers: NDArray[np.int64]
    diagnostics: Diagnostics | None = None
    theta: Floats | None = None
    actions: NDArray[np.unsignedinteger[Any]] | None = None
    rewards: Floats | None = None
    truth: Truth | None = None

    @property
    def label(self) -> str:
        """The agent, for legends and tables."""
        return agent_label(self.configuration.agent, self.configuration.parameters)

    @property
    def arms(self) -> str:
        """Which arms were on offer, in a few words, such as ``sphere, drawn with seed 3``."""
        c, problem = self.configuration, self.problem
        if c.actions != "fixed":
            return c.actions
        if isinstance(problem, LinearBandit):
            drawn = problem.random_arms
        else:
            drawn = RandomArms.from_parts(problem) if "arms_family" in problem else None
        return "given" if drawn is None else drawn.words

    @cached_property
    def bandit(self) -> LinearBandit:
        """The problem that was simulated.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=50, d=5)
        >>> fastes.simulate(bandit, fastes.Greedy(), T=10).bandit
        LinearBandit(K=50, d=5, noise=1)
        """
        if isinstance(self.problem, LinearBandit):
            return self.problem
        with made_of("a result", "problem"):
            bandit = LinearBandit.from_parts(self.problem)
        if bandit.fingerprint != self.configuration.problem:
            made = self.configuration.versions
            raise ValueError(
                f"the arms that were drawn with fastes {made['fastes']} and NumPy {made['numpy']} "
                "are not drawn again to the bit by the versions here"
            )
        return bandit

    def __repr__(self) -> str:
        c = self.configuration
        error = "" if c.runs == 1 else f" +- {self.regret.se[-1]:.2g}"
        mean = f"{self.regret.mean[-1]:.4g}{error}"
        runs = f"{c.runs:,} run{'s' if c.runs > 1 else ''}"
        return f"Result({self.label}: regret {mean} at T={c.T:,}, {runs})"

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
        """Return the statistics as plain Python values, ready for JSON (no nan: None).

        The shape is that of ``fastes simulate --json``: in the documentation, "JSON".
        """
        return {**shared_facts(self), "agents": [agent_facts(self)], "differences": []}

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write everything to one npz file, whole or not at all.

        It holds what `fastes.rerun` needs to do it again. A file that is no result is not
        replaced, unless by `force`.
        """
        from fastes.results.files import save_results

        save_results(path, [self], force)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the regret of every run at every recorded time, one row each."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_dataframe needs pandas: install it with pip install 'fastes[pandas]'"
            ) from error
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
    """Return what a result has in common with those that it is compared with, for JSON."""
    c = result.configuration
    names = (
        "K",
        "d",
        "rank",
        "noise",
        "actions",
        "T",
        "runs",
        "seed",
        "points",
        "theta",
        "truth",
        "delay",
        "problem",
    )
    return {**{name: getattr(c, name) for name in names}, "versions": dict(c.versions)}


def agent_facts(result: Result) -> dict[str, Any]:
    """Return what is an agent's own in a result, for JSON."""
    c, regret = result.configuration, result.regret
    several = c.runs > 1  # of one run there are no quantiles
    last = {
        "mean": regret.mean[-1],
        "se": regret.se[-1],
        "median": regret.median[-1] if several else np.nan,
        "q05": regret.quantile(0.05)[-1] if several else np.nan,
        "q95": regret.quantile(0.95)[-1] if several else np.nan,
    }
    return {
        "label": result.label,
        "agent": c.agent,
        "parameters": dict(c.parameters),
        "engine": c.engine,
        "runs": c.runs,
        "regret": {name: plain(value) for name, value in last.items()},
        "regret_per_step": float(regret.mean[-1]) / c.T,
        "curve": curve(result.t, regret),
        "threads": c.threads,
        "seconds": c.seconds,
        "steps_per_second": c.T * c.runs / c.seconds,
        "date": c.date,
    }


def curve(t: NDArray[np.int64], regret: Regret) -> dict[str, Any]:
    """Return mean and standard error at every recorded time, for JSON."""
    means, errors = ([plain(value) for value in part] for part in (regret.mean, regret.se))
    return {"t": t.tolist(), "mean": means, "se": errors}


def plain(value: float) -> float | None:
    """Return a number ready for JSON, None for nan."""
    return None if np.isnan(value) else float(value)
