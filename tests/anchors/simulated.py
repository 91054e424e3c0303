"""Measurements by simulation.

An agent is named by its class, so that data need not import it; a custom one is its class.
"""

from collections.abc import Callable

import numpy as np
from anchors.anchor import Measurement
from anchors.warm_up import WarmUp

import fastes

SEED = 2022


def regret_of(agent, problem, T, runs, theta=None, *, truth=None, median=False):
    """Return what measures the regret at T of an agent: ("EnsembleSampling", {"M": 4}).

    Parameters
    ----------
    agent : (str, dict)
        The class in fastes, and its parameters; `steps` of them are plays at random to begin with.
    problem : callable
        Returns the bandit.
    T, runs : int
        Steps of a run, and runs.
    theta : callable, optional
        From the number of runs to the true parameters, (runs, d); by default the prior's.
    truth : dict, optional
        How the world differs from the belief, as `fastes.Truth` takes it.
    median : bool
        Measure the median of the runs instead of their mean.
    """

    def measure():
        given = None if theta is None else theta(runs)
        call = {"T": T, "runs": runs, "seed": SEED, "theta": given, "points": 2}
        world = None if truth is None else fastes.Truth(**truth)
        regret = fastes.simulate(problem(), _made(*agent), **call, truth=world).regret
        if median:
            return median_of(regret.final)
        return Measurement(float(regret.mean[-1]), float(regret.se[-1]), runs)

    return measure


def regret_over_draws(agent, problem, T, draws, runs, *, truth=None):
    """Return what measures the mean regret at T over problems: problem(0), problem(1) and so on.

    For what all runs of a simulation share, such as contexts. A problem is a bandit and its theta,
    or None for one of the prior. The error is that of the draws.
    """

    def measure():
        world = None if truth is None else fastes.Truth(**truth)
        call = {"T": T, "runs": runs, "points": 2, "truth": world}
        means = []
        for i in range(draws):
            bandit, theta = problem(i)
            result = fastes.simulate(bandit, _made(*agent), **call, theta=theta, seed=SEED + i)
            means.append(result.regret.final.mean())
        error = np.std(means, ddof=1) / np.sqrt(draws)
        return Measurement(float(np.mean(means)), float(error), draws * runs)

    return measure


def median_of(values):
    """Return the median of runs, with the standard error of a bootstrap."""
    n = len(values)
    drawn = np.random.default_rng(SEED).integers(n, size=(2000, n))
    error = np.median(values[drawn], axis=1).std(ddof=1)
    return Measurement(float(np.median(values)), float(error), n)


def _made(name, parameters):
    own = dict(parameters)
    steps = own.pop("steps", 0)
    agent = (getattr(fastes, name) if isinstance(name, str) else name)(**own)
    return WarmUp(agent, steps) if steps else agent


def ratio_of_smallest(agent, problems, sizes, T, runs, near) -> Callable[[], Measurement]:
    """Return what measures by how much the smallest sufficient M grows from a problem to another.

    Sufficient is a mean regret of at most `near` a step above Thompson sampling's. The error is
    that of a bootstrap over runs, which keeps the differences of a run together.
    """

    def measure():
        draws = [_smallest_sizes(agent, make(), sizes, T, runs, near) for make in problems]
        (first, *others), (second, *rest) = draws
        ratios = np.array(rest) / np.array(others)
        return Measurement(second / first, float(ratios.std(ddof=1)), runs)

    return measure


def _smallest_sizes(agent, bandit, sizes, T, runs, near, draws=200):
    """Return the smallest M, then those of runs drawn again."""
    from ensemble_size.smallest import smallest  # of docs/studies, which the tests see

    agents = [fastes.ThompsonSampling(), *(_made(agent[0], {**agent[1], "M": M}) for M in sizes)]
    results = fastes.compare(bandit, agents, T=T, runs=runs, seed=SEED, points=2)
    ts, *others = (result.regret.final for result in results)
    gaps = np.array(others) - ts
    drawn = np.random.default_rng(SEED).integers(runs, size=(draws, runs))
    samples = [gaps.mean(axis=1), *(gaps[:, rows].mean(axis=1) for rows in drawn)]
    return [smallest(sizes, sample, near * T) for sample in samples]
