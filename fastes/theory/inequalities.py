"""The left-hand side of each of the paper's inequalities, measured, beside its right-hand side."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fastes.checks.arrays import Floats
from fastes.results.diagnostics import Diagnostics, Mean
from fastes.results.regret import Regret
from fastes.results.result import Result
from fastes.theory import bounds


def probe_times(T: int, n: int = 12) -> NDArray[np.int64]:
    """Return at most n steps from 0 to T - 1, both included, evenly spaced in log(t + 1).

    Examples
    --------
    >>> probe_times(1000, 6).tolist()
    [0, 3, 15, 62, 250, 999]
    """
    return np.unique(np.round(np.geomspace(1, T, n)).astype(np.int64) - 1)


def sum_over_steps(t: NDArray[np.int64], values: Floats, T: int) -> Floats:
    """Return the sum over the steps 0, ..., T - 1 of what is known at the steps t.

    Between them it is taken to be linear in log(t + 1), and constant before the first and after
    the last: exact where t holds every step. The last axis of `values` is that of t.

    Examples
    --------
    >>> float(sum_over_steps(np.array([0, 1, 2]), np.array([1.0, 2.0, 4.0]), T=4))
    11.0
    """
    first, last = t[:-1], t[1:]
    logs = gammaln(last + 1.0) - gammaln(first + 1.0)  # of t + 1, summed from first to last - 1
    gaps = last - first
    right = (logs - gaps * np.log(first + 1.0)) / np.log((last + 1.0) / (first + 1.0))
    weights = np.zeros(len(t))
    weights[:-1] += gaps - right
    weights[1:] += right
    weights[-1] += T - t[-1]
    weights[0] += t[0]
    return np.asarray(values @ weights)


def diagnostics_of(result: Result) -> Diagnostics:
    """Return the diagnostics of a result, or raise ValueError."""
    if result.diagnostics is None:
        raise ValueError(
            f"the result of {result.label} holds no diagnostics: simulate with "
            "diagnostics=..., or use fastes diagnose"
        )
    return result.diagnostics


def require_prior(result: Result) -> None:
    """Raise ValueError unless theta was drawn from the prior, over which the bounds are means."""
    if result.configuration.theta != "prior":
        raise ValueError(
            f"the bounds are on means over the prior, but theta was fixed for {result.label}"
        )


def theorem2_measured(result: Result) -> float:
    """Return Theorem 2's bound on the regret with measured divergences of phat_t and p_t.

    By convexity E[Hel^2(pbar_t || p_t)] is at most E[Hel^2(phat_t || p_t)]: what is returned
    estimates a number that is at least the right-hand side of Theorem 2.
    """
    require_prior(result)
    found, T = diagnostics_of(result), result.configuration.T
    steps = np.sqrt(np.maximum(found.mean("hellinger_squared").value, 0.0))
    known = found.constants
    return bounds.term_a(known, T) + known.eta.value * float(sum_over_steps(found.t, steps, T))


def inequalities(result: Result) -> dict[str, Any]:
    """Return what was measured and what bounds it, as plain values ready for JSON.

    For each measurement its mean and standard error over runs at each time, None where they are
    not finite; in how many runs it is `infinite` (then so is the mean) or `unknown` (the mean is
    over the others), and for KL(phat || p) in how many it is an upper bound.

    Examples
    --------
    >>> import fastes
    >>> from fastes.theory.inequalities import inequalities
    >>> bandit = fastes.LinearBandit.random(K=10, d=2)
    >>> agent = fastes.EnsembleSampling(M=10)
    >>> result = fastes.simulate(bandit, agent, T=10, runs=20, diagnostics=range(10))
    >>> totals = inequalities(result)["totals"]
    >>> [round(each) for each in (totals["regret"]["mean"], totals["theorem2_of_phat"])]
    [5, 29]
    >>> round(totals["theorem1"])
    98
    """
    found, c = diagnostics_of(result), result.configuration
    M = c.parameters.get("M")
    summed = Regret(sum_over_steps(found.t, found.values("step_regret"), c.T)[:, None])
    return {
        "agent": result.label,
        "t": found.t.tolist(),
        "samples": found.samples,
        "hellinger_squared_of_phat": {
            **_plain(found.mean("hellinger_squared")),
            "correction": found.mean("hellinger_correction").value.tolist(),
        },
        "kl_phat_p": {
            **_plain(found.mean("kl_phat_p")),
            "bounded": found.values("kl_phat_p_bounded").sum(axis=0).astype(int).tolist(),
        },
        "kl_p_phat": _plain(found.mean("kl_p_phat")),
        "entropy": _plain(found.mean("entropy")),
        "main_regret_of_phat": _plain(found.mean("main_regret")),
        "approximation_error_of_phat": _plain(found.mean("approximation_error")),
        "step_regret": _plain(found.mean("step_regret")),
        "step_regret_given_theta": _plain(found.mean("regret")),
        "information": _plain(found.mean("information")),
        "information_ratio": _plain(found.mean("information_ratio")),
        "ensemble": None if M is None else _ensemble(found),
        "bounds": _bounds(result) if c.theta == "prior" else None,
        "totals": {
            "every_step": len(found.t) == c.T,
            "regret": _pair(result.regret),
            "sum_of_step_regrets": _pair(summed),
            **(_regret_bounds(result) if c.theta == "prior" else {}),
        },
    }


def _bounds(result: Result) -> dict[str, Any]:
    """Return the bounds on what was measured; those on ensembles for no other agent."""
    found, M = diagnostics_of(result), result.configuration.parameters.get("M")
    known = found.constants
    distance = np.maximum(found.mean("hellinger_squared").value, 0.0)
    return {
        "kl_phat_p": M and _numbers(bounds.divergence_bound(known.K, found.t, M)),
        "hellinger_squared_of_pbar": M and _numbers(bounds.k_free_bound(found.t, M)),
        "approximation_error": _numbers(known.eta.value * np.sqrt(distance)),
        "information_ratio": _number(known.iota * known.iota * known.d),
    }


def _regret_bounds(result: Result) -> dict[str, float | None]:
    c, known = result.configuration, diagnostics_of(result).constants
    M = c.parameters.get("M")
    return {
        "theorem2_of_phat": theorem2_measured(result),
        "theorem1": M and bounds.theorem1(known, c.T, M),
        "best": M and bounds.best_bound(known, c.T, M),
        "term_a": bounds.term_a(known, c.T),
        "trivial": c.T * known.trivial.value,
    }


def _ensemble(found: Diagnostics) -> dict[str, Any]:
    names = ("variance", "mean_error", "cov_error")
    return {name: _plain(found.mean(f"ensemble_{name}")) for name in names}


def _plain(mean: Mean) -> dict[str, Any]:
    return {
        "mean": _numbers(mean.value),
        "se": _numbers(mean.se),
        "infinite": mean.infinite.tolist(),
        "unknown": mean.unknown.tolist(),
    }


def _pair(regret: Regret) -> dict[str, float | None]:
    mean, se = _numbers(np.array([regret.mean[-1], regret.se[-1]]))
    return {"mean": mean, "se": se}


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
