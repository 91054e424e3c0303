"""Measurements of agents' states at chosen times, over many runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats
from fastes.checks.documented import documented
from fastes.checks.extras import installed

if TYPE_CHECKING:
    import pandas as pd


@documented
class Measurements(NamedTuple):
    """Measurements of one probe of a state, or arrays of those of many.

    Regrets are in units of reward, information in nats. phat is the law of the action given the
    agent's state, p the law of the optimal action given the history. The bias from finitely many
    draws of theta is removed to first order in 1/samples.

    Attributes
    ----------
    hellinger_squared : float
        Squared Hellinger distance of phat and p, between 0 and 2 before the correction.
    hellinger_correction : float
        The bias that was subtracted.
    kl_phat_p : float
        KL(phat || p). Infinite if p is zero at an arm where phat is not. p is zero only at arms
        that cannot be optimal, not at those that no draw found optimal. nan if too expensive.
    kl_p_phat : float
        KL(p || phat). Infinite if phat is zero at an arm where p is not.
    kl_phat_p_bounded : float
        1 if kl_phat_p is an upper bound, because only a lower bound on p is known at some arm;
        else 0.
    entropy : float
        H(A* | H_t) given this history; nan if it needs more draws.
    main_regret : float
        G_t of the proof of Theorem 2, of phat.
    approximation_error : float
        D_t of that proof. G_t + D_t is the expected regret of the step given the state.
    regret : float
        Expected regret of the step given the state and the true theta.
    information : float
        I_t(A*; (A_t, R_{t+1})) given the state; nan if too expensive, or if it needs more draws.
    ensemble_variance : float
        Variance of the models relative to the posterior's. This and the next two are about 1 for
        independent draws from the posterior; nan for agents without models.
    ensemble_mean_error : float
        Distance of the models' mean from the posterior's, relative to that of M such draws.
    ensemble_cov_error : float
        The same for their covariance.
    exceedance : float
        Share of models, or of posterior draws for Thompson sampling, with
        max_a a'z >= max_a a'theta; nan for agents without models.
    effective_samples : float
        Independent draws of theta that the weighted ones are worth, where rewards are not
        Gaussian; nan where they are, for there draws have no weights.
    least_eigenvalue, largest_eigenvalue : float
        Of the models' second moment about the posterior mean, relative to the posterior covariance;
        for Ensemble++ that of its random mixtures. nan for agents without models.
    """

    hellinger_squared: Any
    hellinger_correction: Any
    kl_phat_p: Any
    kl_phat_p_bounded: Any
    kl_p_phat: Any
    entropy: Any
    main_regret: Any
    approximation_error: Any
    regret: Any
    information: Any
    ensemble_variance: Any
    ensemble_mean_error: Any
    ensemble_cov_error: Any
    exceedance: Any
    effective_samples: Any
    least_eigenvalue: Any
    largest_eigenvalue: Any


@documented
class Mean(NamedTuple):
    """Mean over runs at each time, and the numbers of runs without a finite value.

    Attributes
    ----------
    value : (times,) array
        The mean; infinite if any run is infinite, nan if it is unknown in all runs.
    se : (times,) array
        Its standard error; nan for an infinite mean or a single run.
    infinite : (times,) array
        Number of runs with an infinite value.
    unknown : (times,) array
        Number of runs with an unknown value; the mean is over the others.
    """

    value: Floats
    se: Floats
    infinite: NDArray[np.int64]
    unknown: NDArray[np.int64]


def mean_over_runs(per_run: Floats) -> Mean:
    """Return the mean of a measurement (runs, times) over runs."""
    infinite, unknown = np.isinf(per_run), np.isnan(per_run)
    kept, unit = _in_units(np.where(infinite | unknown, 0.0, per_run))
    n = (~unknown).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = kept.sum(axis=0) / n
        squares = np.where(unknown, 0.0, (kept - mean) ** 2).sum(axis=0)
        se = np.sqrt(squares / ((n - 1) * n))
    endless = infinite.any(axis=0)
    return Mean(
        np.where(endless, np.inf, unit * mean),
        np.where(endless | (n < 2), np.nan, unit * se),
        infinite.sum(axis=0),
        unknown.sum(axis=0),
    )


@dataclass(frozen=True, eq=False, repr=False)
class Diagnostics:
    """Measurements of every run at chosen times.

    Attributes
    ----------
    t : (times,) array
        Steps, counted from 0, before which the state was probed.
    samples : int
        Draws of theta per probe.
    per_run : Measurements of (runs, times) arrays
        One row per run.
    constants : Constants or None
        Constants of the problem in the bounds, which are for Gaussian rewards only.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> agent = fastes.EnsembleSampling(M=10)
    >>> result = fastes.simulate(bandit, agent, T=50, runs=10, diagnostics=[0, 10, 49])
    >>> result.diagnostics.t.tolist()
    [0, 10, 49]
    >>> result.diagnostics.mean("hellinger_squared").value.round(2).tolist()
    [0.66, 0.29, 0.25]
    """

    t: NDArray[np.int64]
    samples: int
    per_run: Any
    constants: Any

    def mean(self, name: str) -> Mean:
        """Return the mean over runs of a measurement, `step_regret` or `information_ratio`.

        The ratio is E[G_t^2] / E[I_t], a ratio of means over runs, with its standard error by the
        delta method: G_t^2 / I_t of a single run is mostly noise where I_t is small.
        """
        if name == "information_ratio":
            return self._information_ratio()
        return mean_over_runs(self.values(name))

    def _information_ratio(self) -> Mean:
        information = np.asarray(self.per_run.information)
        known = np.isfinite(information)
        kept, unit = _in_units(np.where(known, self.per_run.main_regret, 0.0))
        squares, information = np.square(kept), np.where(known, information, 0.0)
        n, total = known.sum(axis=0), information.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            ratio = squares.sum(axis=0) / np.where(total > 0, total, np.nan)
            residuals = np.square(squares - ratio * information).sum(axis=0)
            se = np.sqrt(residuals * n / (n - 1.0)) / total
            value, error = unit * unit * ratio, unit * unit * np.where(n > 1, se, np.nan)
        unknown = np.where(total > 0, len(known) - n, len(known))
        return Mean(value, error, np.zeros_like(n), unknown)

    def values(self, name: str) -> Floats:
        """Return a measurement of each run, (runs, times).

        A name of `Measurements`, or `step_regret`: G_t + D_t.
        """
        found = self.per_run
        if name == "step_regret":
            return np.asarray(found.main_regret + found.approximation_error)
        if name not in Measurements._fields:
            known = ", ".join((*Measurements._fields, "step_regret"))
            raise ValueError(f"name must be one of {known}, got {name!r}")
        return np.asarray(getattr(found, name))

    def __repr__(self) -> str:
        runs, times = np.shape(self.per_run.entropy)
        return f"Diagnostics({times:,} times, {runs:,} runs, {self.samples:,} draws a probe)"

    def _repr_html_(self) -> str:
        from fastes.results.tables import Grid, in_brackets, parts_html

        names = ("hellinger_squared", "kl_phat_p", "entropy", "step_regret", "information_ratio")
        means = [self.mean(name) for name in names]
        rows = [
            [f"{t:,}", *(in_brackets(_known(mean.value[i]), _known(mean.se[i])) for mean in means)]
            for i, t in enumerate(self.t.tolist())
        ]
        header = ["t", *(name.replace("_", " ") for name in names)]
        note = "Means over runs; in brackets the standard error, in units of the last digit."
        return parts_html([repr(self), Grid(header, rows), note])

    def to_dataframe(self) -> "pd.DataFrame":
        """Return one row per run and time, with a column for each measurement.

        Examples
        --------
        >>> import fastes
        >>> bandit = fastes.LinearBandit.random(K=20, d=2)
        >>> result = fastes.simulate(bandit, fastes.Greedy(), T=9, runs=3, diagnostics=[0, 8])
        >>> frame = result.diagnostics.to_dataframe()
        >>> frame[["run", "t", "hellinger_squared", "entropy"]].round(2)
           run  t  hellinger_squared  entropy
        0    0  0               0.11     2.79
        1    0  8               0.90     1.92
        2    1  0               0.11     2.79
        3    1  8               1.46     2.62
        4    2  0               0.10     2.80
        5    2  8               1.62     2.63
        """
        with installed("to_dataframe", "pandas", "pandas"):
            import pandas as pd
        runs, times = np.shape(self.per_run.entropy)
        columns = {
            name: self.values(name).ravel() for name in (*Measurements._fields, "step_regret")
        }
        return pd.DataFrame(
            {"run": np.repeat(np.arange(runs), times), "t": np.tile(self.t, runs), **columns}
        )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _in_units(per_run: Floats) -> tuple[Floats, Floats]:
    """Scale each column by its largest absolute value, so that squares do not overflow."""
    unit = np.abs(per_run).max(axis=0, initial=0.0)
    unit[unit == 0] = 1.0
    return per_run / unit, unit
