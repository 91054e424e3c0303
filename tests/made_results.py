"""Results made of numbers, for tests of figures: any agent, problem and shape, at no cost."""

from dataclasses import replace

import numpy as np

from fastes.problem.constants import Constants, Estimate
from fastes.results.diagnostics import Diagnostics, Measurements
from fastes.results.regret import Regret
from fastes.results.result import Configuration, Result


def made(agent="es", K=20, d=3, T=200, runs=10, scale=1.0, problem=None, seed=0, **more):
    """Return a result whose regret grows like a random walk; `more` are parameters of the agent.

    `points`, `theta` and `regret` (runs, points) are used as given.
    """
    points, theta, regret = (more.pop(n, None) for n in ("points", "theta", "regret"))
    if agent == "es" and "M" not in more:
        more["M"] = 30
    times = np.unique(np.round(np.linspace(1, T, points or min(T, 50))).astype(np.int64))
    if regret is None:
        rng = np.random.default_rng([seed, len(agent), *(int(v) for v in more.values())])
        regret = scale * rng.exponential(size=(runs, len(times))).cumsum(axis=1)
    configuration = Configuration(
        agent=agent,
        engine="exact",
        parameters=more,
        K=K,
        d=d,
        rank=d,
        T=T,
        runs=len(regret),
        seed=seed,
        points=len(times),
        actions="fixed",
        noise=1.0,
        rewards="gaussian",
        theta=theta or "prior",
        truth="belief",
        delay=0,
        problem=problem or f"{K or 0:x}{d:x}".rjust(16, "0"),
        versions={"fastes": "0", "kernels": "0", "numpy": "0", "numba": "0"},
        date="2026-01-01T00:00:00+00:00",
        threads=1,
        seconds=1.0,
    )
    counts = np.bincount([0], [len(regret) * T], K or 0).astype(np.int64)
    parts, runs = {"noise": np.array(1.0)}, np.arange(len(regret))
    return Result(configuration, times, Regret(np.asarray(regret, float)), counts, parts, runs)


def made_on(bandit, **more):
    """Return such a result on a problem, whatever its action set."""
    result = made(K=bandit.K, d=bandit.d, **more)
    c = result.configuration._replace(
        rank=bandit.rank,
        actions=bandit.action_set.text,
        problem=bandit.fingerprint,
    )
    counts = np.zeros(bandit.action_set.counted_arms, np.int64)
    counts[:1] = c.runs * c.T
    return replace(result, configuration=c, counts=counts, problem=bandit)


def diagnosed(result, divergence=0.1, entropy=1.0, infinite=0):
    """Return the result with diagnostics; KL(phat||p) is infinite in some runs, at every time."""
    c = result.configuration
    times = np.unique(np.round(np.geomspace(1, c.T, 6)).astype(np.int64)) - 1
    rng = np.random.default_rng(c.seed)
    values = {
        name: rng.uniform(0.5, 1.5, (c.runs, len(times))) * divergence
        for name in Measurements._fields
    }
    values["kl_phat_p"][:infinite] = np.inf
    known = Constants(
        iota=1.0,
        eta=Estimate(2.0, 0.1),
        eta_closed_form=3.0,
        eta0=Estimate(1.9, 0.1),
        eta0_closed_form=2.5,
        delta=Estimate(1.5, 0.1),
        width=0.5,
        noise=0.5,
        entropy=Estimate(entropy, 0.1),
        trivial=Estimate(1.0, 0.1),
        K=c.K,
        contenders=c.K,
        d=c.d,
    )
    found = Diagnostics(times, 64, Measurements(**values), known)
    return replace(result, diagnostics=found)
