"""The result of a replay: estimates, as a table, JSON, a data frame and files."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from fastes.checks.documented import documented
from fastes.checks.numbers import printable
from fastes.files.archive import load_arrays, save_arrays
from fastes.files.guard import made_of
from fastes.files.kinds import require_replaceable
from fastes.logs.estimates import ASSUMPTIONS, PolicyValue
from fastes.results.result import plain

if TYPE_CHECKING:
    import pandas as pd

    from fastes.logs.log import Log


@documented
class LogFacts(NamedTuple):
    """What was replayed.

    Attributes
    ----------
    rows : int
        Number of rows of the log.
    arms : str
        Description of the arms on offer.
    d : int
        Dimension of an arm.
    uniform : bool
        Whether the log says that arms were drawn uniformly.
    mean_reward, mean_reward_se : float
        Mean logged reward, the value of the policy that wrote the log, and its standard error.
    rewards : str
        Reward law that agents assumed.
    draws : int
        Choices per row for ips and snips.
    seed : int
        Seed of the agents' random numbers.
    """

    rows: int
    arms: str
    d: int
    uniform: bool
    mean_reward: float
    mean_reward_se: float
    rewards: str
    draws: int
    seed: int

    @classmethod
    def of(cls, log: "Log", rewards: str, draws: int, seed: int) -> Self:
        """Return the facts of a log."""
        n, mean = len(log), float(log.reward.mean())
        se = float(log.reward.std(ddof=1)) / np.sqrt(n) if n > 1 else np.nan
        known = n, log.arms_text, log.d, log.is_uniform
        return cls(*known, mean, float(se), rewards, draws, seed)


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """Estimates of the values of agents from a log, made by `replay`. A sequence of `PolicyValue`.

    Examples
    --------
    >>> import fastes
    >>> log = fastes.Log(2, arm=[0, 1] * 500, reward=[0.0, 1.0] * 500, propensity="uniform")
    >>> found = fastes.replay(log, fastes.Greedy(), methods="rejection")
    >>> found
    Replay(PolicyValue(Greedy, rejection: 1 +- 0))
    >>> found.to_dict()["log"]["mean_reward"]
    0.5
    """

    estimates: tuple[PolicyValue, ...]
    log: LogFacts

    def __iter__(self) -> Iterator[PolicyValue]:
        return iter(self.estimates)

    def __len__(self) -> int:
        return len(self.estimates)

    def __getitem__(self, i: int) -> PolicyValue:
        return self.estimates[i]

    def __repr__(self) -> str:
        return f"Replay({', '.join(map(repr, self))})"

    def _repr_html_(self) -> str:
        from fastes.logs.tables import replay_tables
        from fastes.results.tables import parts_html

        return parts_html(replay_tables(self))

    def summary(self) -> None:
        """Print the table that ``fastes replay`` prints."""
        from fastes.logs.tables import replay_tables
        from fastes.results.tables import print_parts

        print_parts(replay_tables(self))

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values for JSON (None instead of nan), as ``--json`` prints them."""
        return {
            "log": _plain(self.log._asdict()),
            "methods": {name: ASSUMPTIONS[name] for name in dict.fromkeys(e.method for e in self)},
            "estimates": [_plain(each._asdict()) for each in self],
        }

    def to_dataframe(self) -> "pd.DataFrame":
        """Return a row for each estimate."""
        import pandas as pd

        return pd.DataFrame(self._rows())

    def to_csv(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write a row for each estimate to a CSV file."""
        from fastes.results.files import write_table

        write_table(path, [_plain(row) for row in self._rows()], force)

    def _rows(self) -> list[dict[str, Any]]:
        kept = [
            name for name in PolicyValue._fields if name not in ("label", "agent", "parameters")
        ]
        return [
            {"agent": each.label, **{name: getattr(each, name) for name in kept}} for each in self
        ]

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write it to an npz file, atomically, which `fastes.load` reads.

        A file that is not a replay is replaced only with `force`.
        """
        require_replaceable(path, "replay", force)
        save_arrays(path, "replay", self.to_dict(), {})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote."""
        meta, _ = load_arrays(path, "replay")
        with made_of(path, "replay"):
            estimates = tuple(PolicyValue(**_read(each)) for each in meta["estimates"])
            found = cls(estimates, LogFacts(**_read(meta["log"])))
            repr(found)  # raises if a value is of the wrong type
            return found


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {k: plain(v) if isinstance(v, float) else v for k, v in facts.items()}


def _read(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts from a file: nan instead of None, and texts without control characters."""
    texts = {k: printable(v) for k, v in facts.items() if isinstance(v, str)}
    return {k: np.nan if v is None else v for k, v in facts.items()} | texts
