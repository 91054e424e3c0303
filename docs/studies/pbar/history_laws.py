"""How far pbar_t, the law of the action given the history, is from p_t, over many runs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

import fastes
from fastes.checks import numbers
from fastes.results.diagnostics import Mean, mean_over_runs
from fastes.theory import step_bounds
from fastes.theory.inequalities import diagnostics_of, information_measured, models_of
from pbar.particle_filter import filter_history

_AFFORDABLE = 1 << 42  # multiply-adds: an hour or two


class HistoryLaws(NamedTuple):
    """Divergences of pbar_t from p_t, one row a run.

    Attributes
    ----------
    t : (times,) array
        Steps, from 0.
    kl, hellinger_squared : (runs, times) array
        KL(pbar_t || p_t) and the squared Hellinger distance; nan where the filter lost all
        particles.
    effective : (runs, times) array
        Effective number of particles.
    """

    t: np.ndarray
    kl: np.ndarray
    hellinger_squared: np.ndarray
    effective: np.ndarray

    def mean(self, name: str) -> Mean:
        """Return the mean over runs of "kl" or "hellinger_squared".

        Its error includes the filters' own noise, which is independent from run to run.
        """
        return mean_over_runs(getattr(self, name))


def history_laws(
    result: fastes.Result, particles: int = 4096, times: Sequence[int] | None = None
) -> HistoryLaws:
    """Return the divergences of pbar_t from p_t at given times, or at all that were probed.

    The result is of ensemble sampling, with diagnostics, and holds its actions and rewards:
    ``simulate(..., diagnostics=..., keep=("actions", "rewards"))``.
    """
    M = models_of(result)
    if M is None:
        raise ValueError(f"pbar is estimated for ensemble sampling only, got {result.label}")
    c, bandit = result.configuration, result.bandit
    if c.outside_theory:
        raise ValueError(f"pbar is not estimated for {result.label}: {c.outside_theory}")
    if result.actions is None or result.rewards is None:
        raise ValueError(
            f"the result of {result.label} does not hold what was played and paid: simulate with "
            'keep=("actions", "rewards")'
        )
    t = diagnostics_of(result).t if times is None else np.unique(np.asarray(times, np.int64))
    numbers.integer("the last of times", int(t[-1]), 0, c.T - 1)
    work = float(c.runs) * (t[-1] + 1.0) * particles * M * bandit.K * bandit.rank
    if work > _AFFORDABLE:
        raise ValueError(
            f"{particles:,} particles of M={M:,} models up to step {t[-1]:,} in {c.runs:,} "
            f"runs would take {work:.1e} multiply-adds, more than {_AFFORDABLE:.1e}: choose fewer "
            "runs, earlier times or fewer particles"
        )
    filtered = [
        filter_history(bandit, M, actions, rewards, t, particles, seed=int(run))
        for actions, rewards, run in zip(
            result.actions, result.rewards, result.run_numbers, strict=True
        )
    ]
    parts = (np.array([getattr(x, name) for x in filtered]) for name in HistoryLaws._fields[1:])
    return HistoryLaws(t, *parts)


def bounds_on(result: fastes.Result) -> dict[str, np.ndarray]:
    """Return all that bounds the divergences at the times that were probed, by name.

    All are on E KL(pbar_t || p_t), `information_of_phat` as measured; `fresh` is on the squared
    Hellinger distance.
    """
    K, t, M = result.bandit.K, diagnostics_of(result).t, models_of(result)
    return {
        "paper": step_bounds.divergence_bound(K, t, M),
        "proposition1": step_bounds.proposition1(K, t, M),
        "information": step_bounds.information_bound(K, t, M),
        "information_of_phat": information_measured(result).value,
        "fresh": step_bounds.fresh_bound(t, M),
    }
