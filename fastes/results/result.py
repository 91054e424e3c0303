"""What a simulation gives back."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.agents import agent_label
from fastes.results.diagnostics import Diagnostics
from fastes.results.regret import Regret

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Configuration(NamedTuple):
    """What was simulated. With the problem, and theta if it was fixed, it can be done again."""

    agent: str
    engine: str
    parameters: dict[str, Any]
    K: int
    d: int
    rank: int
    T: int
    runs: int
    seed: int
    noise: float
    theta: str  # "prior": drawn anew for every run; or "fixed" and a hash of what was given
    problem: str  # the fingerprint of the LinearBandit
    version: str
    threads: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """Regret of one agent on one bandit over many runs.

    Attributes
    ----------
    configuration : Configuration
        What was simulated, with which seed and version, and how long it took.
    t : (points,) array
        Recorded times, as numbers of steps; the last is T.
    regret : Regret
        Cumulative regret at those times.
    counts : (K,) array
        How often each arm was played, over all runs.
    diagnostics : Diagnostics or None
        What was measured at chosen times, if it was asked for.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> result = fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=10, seed=1)
    >>> result.t[-1], result.regret.mean.shape == result.t.shape
    (np.int64(100), True)
    >>> int(result.counts.sum())
    1000
    """

    configuration: Configuration
    t: NDArray[np.int64]
    regret: Regret
    counts: NDArray[np.int64]
    diagnostics: Diagnostics | None = None

    @property
    def label(self) -> str:
        """The agent, for legends and tables."""
        return agent_label(self.configuration.agent, self.configuration.parameters)

    def __repr__(self) -> str:
        c = self.configuration
        return (
            f"Result({self.label}: regret {self.regret.mean[-1]:.4g} +- {self.regret.se[-1]:.2g} "
            f"at T={c.T:,}, runs={c.runs:,})"
        )

    def summary(self) -> dict[str, Any]:
        """Return the statistics as plain Python values, ready for JSON (no nan: None)."""
        c = self.configuration
        last = {
            "mean": self.regret.mean[-1],
            "se": self.regret.se[-1],
            "median": self.regret.median[-1],
            "q05": self.regret.quantile(0.05)[-1],
            "q95": self.regret.quantile(0.95)[-1],
        }
        return {
            "agent": c.agent,
            "engine": c.engine,
            "K": c.K,
            "d": c.d,
            "rank": c.rank,
            "M": c.parameters.get("M"),
            **{name: value for name, value in c.parameters.items() if name != "M"},
            "T": c.T,
            "runs": c.runs,
            "seed": c.seed,
            "noise": c.noise,
            "theta": c.theta,
            "regret": {name: plain(value) for name, value in last.items()},
            "curve": {
                "t": self.t.tolist(),
                "mean": [plain(value) for value in self.regret.mean],
                "se": [plain(value) for value in self.regret.se],
            },
            "threads": c.threads,
            "seconds": c.seconds,
            "steps_per_second": c.T * c.runs / c.seconds,
            "problem": c.problem,
            "version": c.version,
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one npz file, whole or not at all."""
        from fastes.results.files import save_results

        save_results(path, [self])

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
                "run": np.repeat(np.arange(runs), points),
                "t": np.tile(self.t, runs),
                "regret": self.regret.per_run.ravel(),
            }
        )

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the curve to a CSV file: agent, t, mean, se, median, q05, q95."""
        from fastes.results.files import write_csv

        write_csv(path, [self])

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw mean regret against time with a band of two standard errors."""
        from fastes.results.figures import plot_regret

        return plot_regret([self], ax)


def plain(value: float) -> float | None:
    """Return a number ready for JSON, None for nan."""
    return None if np.isnan(value) else float(value)
