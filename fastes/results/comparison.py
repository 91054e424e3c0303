"""Results of several agents side by side, with paired differences."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from fastes.results.regret import Regret
from fastes.results.result import Configuration, Result, plain

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


# All else must be equal where differences are paired: a new field is compared unless it is listed.
_OF_AN_AGENT = ("agent", "engine", "parameters", "threads", "seconds")


class Difference(NamedTuple):
    """Mean of x's final regret less y's over runs that share theta and noise."""

    x: str
    y: str
    mean: float
    se: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of several agents that faced the same theta and noise, run by run.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> agents = [fastes.ThompsonSampling(), fastes.Greedy()]
    >>> comparison = fastes.compare(bandit, agents, T=100, runs=10)
    >>> [difference.x for difference in comparison.differences()]
    ['TS']
    """

    results: tuple[Result, ...]

    def differences(self) -> list[Difference]:
        """Return the paired difference of every two agents, in the order given."""
        return [
            _difference(x, y) for i, x in enumerate(self.results) for y in self.results[i + 1 :]
        ]

    def summary(self) -> dict[str, Any]:
        """Return the statistics of all agents and their differences, ready for JSON."""
        return {
            "agents": [result.summary() for result in self.results],
            "differences": [
                {"agents": [pair.x, pair.y], "mean": pair.mean, "se": plain(pair.se)}
                for pair in self.differences()
            ],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all results to one npz file, whole or not at all."""
        from fastes.results.files import save_results

        save_results(path, self.results)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the regret of every agent and run at every recorded time."""
        frames = [result.to_dataframe() for result in self.results]
        import pandas as pd

        return pd.concat(frames, ignore_index=True)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write all curves to one CSV file."""
        from fastes.results.files import write_csv

        write_csv(path, self.results)

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw all agents on one figure."""
        from fastes.results.figures import plot_regret

        return plot_regret(self.results, ax)


def _difference(x: Result, y: Result) -> Difference:
    for field in Configuration._fields:
        if field in _OF_AN_AGENT:
            continue
        ours, theirs = getattr(x.configuration, field), getattr(y.configuration, field)
        if ours != theirs:
            raise ValueError(
                f"a paired difference needs equal {field}, got {ours} for {x.label} "
                f"and {theirs} for {y.label}"
            )
    gaps = Regret((x.regret.final - y.regret.final)[:, None])
    return Difference(x.label, y.label, float(gaps.mean[0]), float(gaps.se[0]))
