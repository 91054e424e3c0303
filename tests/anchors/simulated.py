"""Measurements by simulation. An agent is named by its class, so that data need not import it."""

from collections.abc import Callable

import numpy as np
from anchors.anchor import Measurement

import fastes

SEED = 2022


def regret_of(agent, problem, T, runs, theta=None):
    """Return what measures the mean regret at T of an agent: ("EnsembleSampling", {"M": 4}).

    Parameters
    ----------
    agent : (str, dict)
        The class in fastes, and its parameters.
    problem : callable
        Returns the bandit.
    T, runs : int
        Steps of a run, and runs.
    theta : callable, optional
        From the number of runs to the true parameters, (runs, d); by default the prior's.
    """

    def measure():
        given = None if theta is None else theta(runs)
        call = {"T": T, "runs": runs, "seed": SEED, "theta": given, "points": 2}
        regret = fastes.simulate(problem(), _made(*agent), **call).regret
        return Measurement(float(regret.mean[-1]), float(regret.se[-1]), runs)

    return measure


def _made(name, parameters):
    return getattr(fastes, name)(**parameters)


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
