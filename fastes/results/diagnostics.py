"""What was measured of an agent's states at chosen times, over many runs."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fastes.checks.arrays import Floats

if TYPE_CHECKING:
    from fastes.results.constants import Constants


class Measurements(NamedTuple):
    """What one probe of a state finds, or arrays of what many did.

    Regrets are in units of reward, information in nats. phat is the law of the action given the
    agent's state, p the law of the optimal action given the history. What draws of theta add on
    average is taken off, to the first order in 1/samples.

    Attributes
    ----------
    hellinger_squared : float
        Of phat and p, between 0 and 2 before the correction.
    hellinger_correction : float
        What was taken off it.
    kl_phat_p, kl_p_phat : float
        KL(phat || p) and KL(p || phat). Infinite where the second is zero and the first is not;
        an estimated p is zero at arms that no draw found to be the best.
    entropy : float
        H(A* | H_t) given this history.
    main_regret, approximation_error : float
        G_t and D_t of the proof of Theorem 2, of phat. They add up to the expected regret of the
        step given the state.
    regret : float
        Expected regret of the step given the state and the true theta.
    information : float
        I_t(A*; (A_t, R_{t+1})) given the state; nan where it would take too long, or ask for
        more draws.
    ensemble_variance, ensemble_mean_error, ensemble_cov_error : float
        The models against independent draws from the posterior, for which all three are about
        1 (`fastes.agents.agent.Moments`); nan for agents without models.
    """

    hellinger_squared: Any
    hellinger_correction: Any
    kl_phat_p: Any
    kl_p_phat: Any
    entropy: Any
    main_regret: Any
    approximation_error: Any
    regret: Any
    information: Any
    ensemble_variance: Any
    ensemble_mean_error: Any
    ensemble_cov_error: Any


class Mean(NamedTuple):
    """Mean over runs at each time, its standard error, and how many runs were left out."""

    value: Floats
    se: Floats
    left_out: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Measurements of every run at chosen times.

    Attributes
    ----------
    t : (times,) array
        Steps, from 0, before which the state was probed.
    samples : int
        Draws of theta for each probe.
    per_run : Measurements of (runs, times) arrays
        One row a run.
    constants : Constants
        What the bounds need to know of the problem.

    Examples
    --------
    >>> import fastes
    >>> bandit = fastes.LinearBandit.random(K=20, d=2)
    >>> agent = fastes.EnsembleSampling(M=10)
    >>> result = fastes.simulate(bandit, agent, T=50, runs=10, diagnostics=[0, 10, 49])
    >>> result.diagnostics.t.tolist()
    [0, 10, 49]
    >>> result.diagnostics.mean("hellinger_squared").value.shape
    (3,)
    """

    t: NDArray[np.int64]
    samples: int
    per_run: Any
    constants: "Constants"

    def mean(self, name: str) -> Mean:
        """Return the mean over runs of a measurement, of `step_regret` or of `information_ratio`.

        Runs in which it is infinite or not known are left out, and counted.
        """
        per_run = self.values(name)
        known = np.isfinite(per_run)
        n = known.sum(axis=0)
        kept = np.where(known, per_run, 0.0)
        # Squares of numbers of any size: in units of the largest they do not overflow.
        unit = np.abs(kept).max() or 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = (kept / unit).sum(axis=0) / n
            squares = np.where(known, (kept / unit - mean) ** 2, 0.0).sum(axis=0)
            se = np.sqrt(squares / ((n - 1) * n))
        return Mean(unit * mean, unit * np.where(n > 1, se, np.nan), len(per_run) - n)

    def values(self, name: str) -> Floats:
        """Return a measurement of every run, (runs, times).

        Beside those of `Measurements`: `step_regret`, G_t + D_t; and `information_ratio`,
        G_t^2 / I_t, nan where I_t is not above zero.
        """
        found = self.per_run
        if name == "step_regret":
            return np.asarray(found.main_regret + found.approximation_error)
        if name == "information_ratio":
            positive = found.information > 0
            roots = np.sqrt(np.where(positive, found.information, np.nan))
            with np.errstate(over="ignore"):
                return np.square(found.main_regret / roots)
        if name not in Measurements._fields:
            known = ", ".join((*Measurements._fields, "step_regret", "information_ratio"))
            raise ValueError(f"the name must be one of {known}, got {name!r}")
        return np.asarray(getattr(found, name))
