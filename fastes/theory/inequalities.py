"""The left-hand side of each of the paper's inequalities, measured, beside its right-hand side."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fastes.checks.arrays import Floats
from fastes.results.configuration import FACTS, unusual
from fastes.results.diagnostics import Diagnostics, Mean, mean_over_runs
from fastes.results.regret import Regret
from fastes.results.result import Result
from fastes.theory import bounds
from fastes.theory.mixing import mixing_weighted


def probe_times(T: int, n: int = 12) -> NDArray[np.int64]:
    """Return at most n steps from 0 to T - 1, both included, evenly spaced in log(t + 1).

    Examples
    --------
    >>> probe_times(1000, 6).tolist()
    [0, 3, 15, 62, 250, 999]
    """
    return np.unique(np.round(np.geomspace(1, T, n)).astype(np.int64) - 1)


def step_weights(t: NDArray[np.int64], T: int) -> Floats:
    """Return the weights of values at the steps t in a sum over all steps (`sum_over_steps`)."""
    first, last = t[:-1], t[1:]
    logs = gammaln(last + 1.0) - gammaln(first + 1.0)  # of t + 1, summed from first to last - 1
    gaps = last - first
    right = (logs - gaps * np.log(first + 1.0)) / np.log((last + 1.0) / (first + 1.0))
    weights = np.zeros(len(t))
    weights[:-1] += gaps - right
    weights[1:] += right
    weights[-1] += T - t[-1]
    weights[0] += t[0]
    return weights


def sum_over_steps(t: NDArray[np.int64], values: Floats, T: int) -> Floats:
    """Return the sum over the steps 0, ..., T - 1 of what is known at the steps t.

    Between them it is taken to be linear in log(t + 1), and constant before the first and after
    the last: exact where t holds every step. The last axis of `values` is that of t.

    Examples
    --------
    >>> float(sum_over_steps(np.array([0, 1, 2]), np.array([1.0, 2.0, 4.0]), T=4))
    11.0
    """
    return np.asarray(values @ step_weights(t, T))


def diagnostics_of(result: Result) -> Diagnostics:
    """Return the diagnostics of a result, or raise ValueError."""
    if result.diagnostics is None:
        raise ValueError(
            f"the result of {result.label} holds no diagnostics: simulate with "
            "diagnostics=..., or use fastes diagnose"
        )
    return result.diagnostics


def require_bounds(result: Result) -> None:
    """Raise ValueError unless the bounds apply to a result.

    They hold for means over the prior, in the world as believed, without delay.
    """
    why = result.configuration.outside_theory
    if why:
        raise ValueError(f"the bounds do not apply to {result.label}: {why}")


def models_of(result: Result) -> int | None:
    """Return M if the result is of ensemble sampling as in the paper, which the bounds are on."""
    return models_in_the_paper(result.configuration.agent, result.configuration.parameters)


def models_in_the_paper(agent: str, parameters: Mapping[str, Any]) -> int | None:
    """Return M if an agent of this name is ensemble sampling as in the paper, and no variant."""
    usual = {
        "perturbations": "normal",
        "inflation": 1.0,
        "symmetric": False,
        "noise": "known",
        "discount": 1.0,
    }
    as_there = all(parameters.get(name, value) == value for name, value in usual.items())
    return parameters["M"] if agent == "es" and as_there else None


def distance_at_most(found: Diagnostics) -> Floats:
    """Return E[Hel^2(phat_t || p_t)], three standard errors above its mean over runs.

    So estimates enter bounds everywhere (`Constants`). A single run has no error to add.
    """
    mean = found.mean("hellinger_squared")
    return np.maximum(mean.value + 3.0 * np.nan_to_num(mean.se), 0.0)


def theorem2_measured(result: Result) -> float:
    """Return Theorem 2's bound on the regret with measured divergences of phat_t and p_t.

    By convexity E[Hel^2(pbar_t || p_t)] is at most E[Hel^2(phat_t || p_t)], which is taken at
    three standard errors above what was measured.
    """
    require_bounds(result)
    found, T = diagnostics_of(result), result.configuration.T
    known, steps = found.constants, np.sqrt(distance_at_most(found))
    return bounds.term_a(known, T) + known.eta0_at_most * float(sum_over_steps(found.t, steps, T))


def first_order_measured(result: Result) -> float:
    """Return Theorem B's bound on the regret with measured divergences of phat_t and p_t.

    Theorem B holds with phat_t in the place of pbar_t.
    """
    require_bounds(result)
    found, T = diagnostics_of(result), result.configuration.T
    weights = step_weights(found.t, T)
    return bounds.first_order_weighted(found.constants, distance_at_most(found), weights, T)


def mixing_measured(result: Result) -> float | None:
    """Return Theorem E's bound with the eigenvalues as measured, or None where it does not apply.

    For Ensemble++ with normal reference. In the place of the probability that the least eigenvalue
    is below 1 is the share of runs in which it is, in that of c the mean of the largest over the
    other runs: an estimate of a bound, which no run's failure by chance can spoil or make good.
    """
    c = result.configuration
    if c.agent != "es++" or c.parameters.get("reference") != "normal":
        return None
    require_bounds(result)
    found = diagnostics_of(result)
    holds = found.values("least_eigenvalue") >= 1.0
    largest = np.where(holds, found.values("largest_eigenvalue"), 0.0).mean(axis=0)
    failures = 1.0 - holds.mean(axis=0)
    return mixing_weighted(found.constants, c.T, largest, failures, step_weights(found.t, c.T))


def _is_misled(result: Result) -> bool:
    """Return whether what was measured bounds nothing.

    So it is in a world that is not as believed, for late rewards, and for rewards of which no model
    is a draw from the posterior.
    """
    c = result.configuration
    facts = unusual(c._asdict())
    return c.rewards != FACTS["rewards"].usual or any(
        FACTS[name].outside is not None for name in facts
    )


def information_measured(result: Result) -> Mean | None:
    """Return (1/M) sum_{s < t} E KL(phat_s || p_s), a measured bound on E KL(pbar_t || p_t).

    The information bound, of ensembles only. It is infinite or unknown at t in the runs in which a
    divergence before t is: what leaves a run out is no bound. Between probes the sum is
    interpolated.
    """
    M = models_of(result)
    if M is None or _is_misled(result):
        return None
    found = diagnostics_of(result)
    per_run = found.values("kl_phat_p")
    sums = np.zeros(per_run.shape)
    with np.errstate(invalid="ignore"):
        for i, t in enumerate(found.t):
            weights = step_weights(found.t[: i + 1], int(t))
            used = np.abs(weights) > 1e-9  # the step t itself is not before t
            sums[:, i] = per_run[:, : i + 1][:, used] @ weights[used] / M
    mean = mean_over_runs(sums)
    return mean._replace(value=np.where(mean.unknown > 0, np.nan, mean.value))


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
    [5, 28]
    >>> round(totals["theorem1"])
    98
    """
    found, c = diagnostics_of(result), result.configuration
    measured = information_measured(result)
    summed = Regret(sum_over_steps(found.t, found.values("step_regret"), c.T)[:, None])
    return {
        "agent": result.label,
        "t": found.t.tolist(),
        "samples": found.samples,
        "hellinger_squared_of_phat": {
            **plain(found.mean("hellinger_squared")),
            "correction": found.mean("hellinger_correction").value.tolist(),
        },
        "kl_phat_p": {
            **plain(found.mean("kl_phat_p")),
            "bounded": found.values("kl_phat_p_bounded").sum(axis=0).astype(int).tolist(),
        },
        "kl_p_phat": plain(found.mean("kl_p_phat")),
        "entropy": plain(found.mean("entropy")),
        "main_regret_of_phat": plain(found.mean("main_regret")),
        "approximation_error_of_phat": plain(found.mean("approximation_error")),
        "step_regret": plain(found.mean("step_regret")),
        "step_regret_given_theta": plain(found.mean("regret")),
        "information": plain(found.mean("information")),
        "information_ratio": plain(found.mean("information_ratio")),
        "ensemble": _ensemble(found),
        "eigenvalues": _eigenvalues(found),
        "exceedance": plain(found.mean("exceedance")),
        "effective_samples": _or_none(found, "effective_samples"),
        "information_of_phat": None if measured is None else plain(measured),
        "bounds": None if c.outside_theory else _bounds(result),
        "totals": {
            "every_step": len(found.t) == c.T,
            "regret": _pair(result.regret),
            "sum_of_step_regrets": _pair(summed),
            "least_exceedance": _pair_or_none(found.values("exceedance").min(axis=1)),
            **({} if c.outside_theory else _regret_bounds(result)),
        },
    }


def _bounds(result: Result) -> dict[str, Any]:
    """Return the bounds on what was measured; those on ensembles for no other agent."""
    found, M = diagnostics_of(result), models_of(result)
    known = found.constants
    K = known.contenders
    return {
        "kl_phat_p": M and _numbers(bounds.divergence_bound(known.K, found.t, M)),
        "kl_phat_p_proposition1": M and _numbers(bounds.proposition1(K, found.t, M)),
        "kl_pbar_p": M and _numbers(bounds.information_bound(K, found.t, M)),
        "hellinger_squared_of_pbar": M and _numbers(bounds.fresh_bound(found.t, M)),
        "approximation_error": _numbers(known.eta0_at_most * np.sqrt(distance_at_most(found))),
        "information_ratio": _number(known.iota * known.iota * known.d),
    }


def _regret_bounds(result: Result) -> dict[str, float | None]:
    c, known = result.configuration, diagnostics_of(result).constants
    M = models_of(result)
    return {
        "theorem2_of_phat": theorem2_measured(result),
        "first_order_of_phat": first_order_measured(result),
        "mixing_of_eigenvalues": mixing_measured(result),
        "theorem1": M and bounds.theorem1(known, c.T, M),
        "best": M and bounds.best_bound(known, c.T, M),
        "term_a": bounds.term_a(known, c.T),
        "trivial": c.T * known.trivial.value,
    }


def _ensemble(found: Diagnostics) -> dict[str, Any] | None:
    """Return the moments of the models, or None where none were measured."""
    if np.isnan(found.values("ensemble_variance")).all():
        return None
    names = ("variance", "mean_error", "cov_error")
    return {name: plain(found.mean(f"ensemble_{name}")) for name in names}


def _eigenvalues(found: Diagnostics) -> dict[str, Any] | None:
    """Return the extreme eigenvalues of the models' second moment, and where it is too small."""
    least = found.values("least_eigenvalue")
    if np.isnan(least).all():
        return None
    return {
        "least": {
            **plain(found.mean("least_eigenvalue")),
            "below_one": (least < 1.0).sum(axis=0).tolist(),
        },
        "largest": plain(found.mean("largest_eigenvalue")),
    }


def _or_none(found: Diagnostics, name: str) -> dict[str, Any] | None:
    """Return a mean over runs as plain values, or None for what no run has."""
    return None if np.isnan(found.values(name)).all() else plain(found.mean(name))


def plain(mean: Mean) -> dict[str, Any]:
    """Return a mean over runs as plain values, None where they are not finite."""
    return {
        "mean": _numbers(mean.value),
        "se": _numbers(mean.se),
        "infinite": mean.infinite.tolist(),
        "unknown": mean.unknown.tolist(),
    }


def _pair(regret: Regret) -> dict[str, float | None]:
    mean, se = _numbers(np.array([regret.mean[-1], regret.se[-1]]))
    return {"mean": mean, "se": se}


def _pair_or_none(per_run: Floats) -> dict[str, float | None] | None:
    """Return the mean over runs and its error, or None for what no run has."""
    return None if np.isnan(per_run).all() else _pair(Regret(per_run[:, None]))


def _numbers(values: Floats) -> list[float | None]:
    return [_number(value) for value in values]


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
