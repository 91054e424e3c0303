"""Cumulative regret of many runs, and its statistics."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fastes.checks.arrays import Floats, frozen


@dataclass(frozen=True, eq=False)
class Regret:
    """Cumulative regret of every run at the recorded times, in units of reward.

    Attributes
    ----------
    per_run : (runs, points) array
        One row per run.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=50, d=5)
    >>> regret = fastes.simulate(bandit, fastes.ThompsonSampling(), T=100, runs=10).regret
    >>> regret.final.round(1).tolist()
    [26.5, 15.0, 26.7, 38.3, 53.0, 58.7, 19.9, 50.9, 36.1, 30.4]
    >>> round(float(regret.mean[-1]), 1), round(float(regret.se[-1]), 1)
    (35.5, 4.6)
    >>> round(float(regret.quantile(0.9)[-1]), 1)
    53.6
    """

    per_run: Floats

    def __post_init__(self) -> None:
        frozen(self.per_run)  # its statistics are cached

    @cached_property
    def mean(self) -> Floats:
        """Mean over runs, at each recorded time."""
        return self.per_run.mean(axis=0)

    @cached_property
    def se(self) -> Floats:
        """Standard error of the mean; nan for a single run."""
        runs = len(self.per_run)
        if runs == 1:
            return np.full(self.per_run.shape[1], np.nan)
        # Scaled by the largest value, so that squares neither overflow nor underflow.
        unit = np.max(np.abs(self.per_run)) or 1.0
        return unit * ((self.per_run / unit).std(axis=0, ddof=1) / np.sqrt(runs))

    @cached_property
    def median(self) -> Floats:
        """Median over runs, at each recorded time."""
        return self.quantile(0.5)

    def quantile(self, q: float) -> Floats:
        """Return the q-quantile over runs, at each recorded time."""
        return np.quantile(self.per_run, q, axis=0)

    @property
    def final(self) -> Floats:
        """Final regret of each run."""
        return self.per_run[:, -1]
