"""How far pbar_t, the law of the action given the history, is from p_t, over many runs."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.checks import numbers
from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.results.diagnostics import Mean, mean_over_runs
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.inequalities import diagnostics_of, information_measured, models_of
from fastes.theory.particle_filter import filter_history

_AFFORDABLE = 1 << 42  # multiply-adds: an hour or two


@documented
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
    particles : int
        How many there were.
    """

    t: NDArray[np.int64]
    kl: Floats
    hellinger_squared: Floats
    effective: Floats
    particles: int

    def mean(self, name: str) -> Mean:
        """Return the mean over runs of "kl" or "hellinger_squared".

        Its error holds the filters' own noise, which is independent from run to run.
        """
        return mean_over_runs(getattr(self, name))


def history_laws(
    result: Result, particles: int = 4096, times: Sequence[int] | None = None
) -> HistoryLaws:
    """Return the divergences of pbar_t from p_t at given times, or at all that were probed.

    The result is of ensemble sampling, with diagnostics, and holds its actions and rewards:
    ``simulate(..., diagnostics=..., keep=("actions", "rewards"))``.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.history_laws import history_laws
    >>> bandit = fastes.LinearBandit.random(K=3, d=2)
    >>> kept = {"diagnostics": [0, 1, 5], "keep": ("actions", "rewards")}
    >>> result = fastes.simulate(bandit, fastes.EnsembleSampling(M=4), T=6, runs=20, **kept)
    >>> found = history_laws(result, particles=512)
    >>> found.mean("kl").value.round(2)[0] == 0, found.effective.shape
    (np.True_, (20, 3))
    """
    M = models_of(result)
    if M is None:
        raise ValueError(f"pbar is estimated for ensemble sampling only, got {result.label}")
    if result.configuration.delay:
        raise ValueError("pbar is estimated where rewards come at once, got late rewards")
    if result.actions is None or result.rewards is None:
        raise ValueError(
            f"the result of {result.label} does not hold what was played and paid: simulate with "
            'keep=("actions", "rewards")'
        )
    c, bandit = result.configuration, result.bandit
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
    return HistoryLaws(
        t,
        np.array([each.kl for each in filtered]),
        np.array([each.hellinger_squared for each in filtered]),
        np.array([each.effective for each in filtered]),
        particles,
    )


def history_laws_table(result: Result, particles: int = 4096) -> dict[str, Any]:
    """Return what `history_laws` finds beside all that bounds it, as plain values for JSON."""
    from fastes.theory.inequalities import plain

    found, M = history_laws(result, particles), models_of(result)
    assert M is not None
    K, t = result.bandit.K, found.t
    told = information_measured(result)
    if told is None:
        why = result.configuration.outside_theory
        raise ValueError(f"the bounds on pbar do not speak of {result.label}: {why}")
    return {
        "particles": particles,
        "kl_pbar_p": plain(found.mean("kl")),
        "hellinger_squared_of_pbar": plain(found.mean("hellinger_squared")),
        "effective": {
            "median": np.median(found.effective, axis=0).tolist(),
            "least": found.effective.min(axis=0).tolist(),
        },
        "bounds": {
            "paper": bounds.divergence_bound(K, t, M).tolist(),
            "proposition1": bounds.proposition1(K, t, M).tolist(),
            "information": bounds.information_bound(K, t, M).tolist(),
            "information_of_phat": [
                float(value) if math.isfinite(value) else None for value in told.value
            ],
            "fresh": bounds.fresh_bound(t, M).tolist(),
        },
    }
