"""Results of several agents side by side, with paired differences."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from fastes.results.configuration import FACTS
from fastes.results.regret import Regret
from fastes.results.result import Result, agent_facts, curve, plain, shared_facts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fastes.results.panels import Look
    from fastes.results.tables import Parts


@dataclass(frozen=True, eq=False)
class Difference:
    """The regret of an agent minus that of a baseline, paired by runs with equal theta and noise.

    Attributes
    ----------
    agent : str
        Label of the agent.
    baseline : str
        Label of the baseline.
    t : (points,) array
        Recorded times.
    regret : Regret
        The differences at those times, one row for each run in both results.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> agents = [fastes.Greedy(), fastes.ThompsonSampling()]
    >>> (difference,) = fastes.compare(bandit, agents, T=100, runs=50).differences()
    >>> round(difference.mean, 1), round(difference.se, 1)  # at T
    (41.2, 7.2)
    """

    agent: str
    baseline: str
    t: NDArray[np.int64]
    regret: Regret

    @property
    def mean(self) -> float:
        """Mean difference at T."""
        return float(self.regret.mean[-1])

    @property
    def se(self) -> float:
        """Its standard error; nan for a single run."""
        return float(self.regret.se[-1])

    def __repr__(self) -> str:
        return f"Difference({self.agent} minus {self.baseline}: {self.mean:.4g} +- {self.se:.2g})"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON (None instead of nan)."""
        return {
            "agent": self.agent,
            "baseline": self.baseline,
            "runs": len(self.regret.per_run),
            "mean": self.mean,
            "se": plain(self.se),
            "curve": curve(self.t, self.regret),
        }


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Results of several agents that faced the same theta and noise, run by run.

    A sequence of results. They can also be indexed by label, or by an agent's short name if that
    is unique.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> agents = [fastes.EnsembleSampling(M=10), fastes.ThompsonSampling(), fastes.Greedy()]
    >>> comparison = fastes.compare(bandit, agents, T=100, runs=10)
    >>> comparison["ts"]  # or comparison["TS"], or comparison[1]
    Result(TS: regret 35.55 +- 4.6 at T=100, 10 runs)
    >>> for difference in comparison.differences("ts"):
    ...     print(difference)
    Difference(ES, M=10 minus TS: -8.369 +- 8)
    Difference(Greedy minus TS: 74.39 +- 26)
    """

    results: tuple[Result, ...]

    def __post_init__(self) -> None:
        if not self.results:
            raise ValueError("a comparison needs at least one result, got none")
        for result in self.results[1:]:
            _require_paired(self.results[0], result)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, key: str | int) -> Result:
        if not isinstance(key, str):
            return self.results[key]
        position = _position(key, [(each.label, each.configuration.agent) for each in self])
        if position is None:
            labels = ", ".join(repr(each.label) for each in self)
            raise KeyError(f"no result is labelled {key!r}; there are {labels}")
        return self.results[position]

    def __repr__(self) -> str:
        return f"Comparison({', '.join(map(repr, self))})"

    def _repr_html_(self) -> str:
        from fastes.results.tables import parts_html

        return parts_html(self._tables())

    def _tables(self, baseline: str | int | None = None) -> "Parts":
        from fastes.results.tables import result_tables

        return result_tables(self.results, self.differences(baseline))

    def differences(self, baseline: str | int | None = None) -> list[Difference]:
        """Return the difference of each other agent from a baseline, run by run.

        Parameters
        ----------
        baseline : str or int, optional
            A label, the short name of an agent if unique, or a position. By default the last.
        """
        names = [(result.label, result.configuration.agent) for result in self]
        other = self[check_baseline(baseline, names)]
        return [difference(result, other) for result in self if result is not other]

    def summary(self, baseline: str | int | None = None) -> None:
        """Print the tables that ``fastes simulate`` prints; `to_dict` has their numbers."""
        from fastes.results.tables import print_parts

        print_parts(self._tables(baseline))

    def to_dict(self, baseline: str | int | None = None) -> dict[str, Any]:
        """Return the statistics of all agents and their differences, ready for JSON.

        It has the structure of ``fastes simulate --json``: see "JSON" in the documentation.
        """
        return {
            **shared_facts(self.results[0]),
            "runs": max(result.configuration.runs for result in self),
            "agents": [agent_facts(result) for result in self],
            "differences": [each.to_dict() for each in self.differences(baseline)],
        }

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write all results to one npz file, atomically.

        `fastes.rerun` can repeat them from it. A file that is not a result is replaced only with
        `force`.
        """
        from fastes.results.files import save_results

        save_results(path, self.results, force)

    def to_dataframe(self) -> "pd.DataFrame":
        """Return the regret of each agent and run at each recorded time."""
        frames = [result.to_dataframe() for result in self]
        import pandas as pd

        return pd.concat(frames, ignore_index=True)

    def to_csv(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write all curves to one CSV file."""
        from fastes.results.files import write_csv

        write_csv(path, self.results, force)

    def plot(self, ax: "Axes | Figure | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Draw all agents on one figure (`fastes.results.figures.plot_regret`)."""
        from fastes.results.figures import plot_regret

        return plot_regret(self.results, ax, **look)


def check_baseline(baseline: str | int | None, names: Sequence[tuple[str, str]]) -> int:
    """Return the position of a baseline among (label, short name) pairs, or raise."""
    if baseline is None:
        return len(names) - 1
    found = _position(baseline, names) if isinstance(baseline, str) else baseline
    if not isinstance(found, int) or not -len(names) <= found < len(names):
        labels = ", ".join(repr(label) for label, _ in names)
        raise ValueError(f"baseline must be one of {labels}, got {baseline!r}")
    return found


def _position(key: str, names: Sequence[tuple[str, str]]) -> int | None:
    """Return the position of the agent with this label, or with this short name if unique."""
    for column in zip(*names, strict=True):
        if column.count(key) == 1:
            return column.index(key)
    return None


def _require_paired(x: Result, y: Result) -> None:
    """Raise ValueError unless two results share theta and noise."""
    for field, fact in FACTS.items():
        ours, theirs = (getattr(each.configuration, field) for each in (x, y))
        if field == "versions":  # other kernels may draw different numbers
            ours, theirs = ours.get("kernels"), theirs.get("kernels")
        elif fact.own:
            continue
        if ours != theirs:
            raise ValueError(
                f"results in a comparison must have equal {field}, got {ours} for {x.label} "
                f"and {theirs} for {y.label}"
            )


def paired_groups(results: Sequence[Result]) -> list[list[Result]]:
    """Return results in groups whose runs share theta and noise, in order."""
    groups: list[list[Result]] = []
    for result in results:
        for group in groups:
            try:
                _require_paired(group[0], result)
            except ValueError:
                continue
            group.append(result)
            break
        else:
            groups.append([result])
    return groups


def difference(x: Result, y: Result) -> Difference:
    """Return the difference of two results over their common runs, or raise ValueError."""
    _require_paired(x, y)
    _, ours, theirs = np.intersect1d(
        x.run_numbers, y.run_numbers, assume_unique=True, return_indices=True
    )
    if not len(ours):
        raise ValueError(f"{x.label} and {y.label} have no run in common")
    gaps = x.regret.per_run[ours] - y.regret.per_run[theirs]
    return Difference(x.label, y.label, x.t, Regret(gaps))
