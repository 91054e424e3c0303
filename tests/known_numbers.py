"""Simulations whose numbers are kept in `known_numbers.npz`: a seed means the same run after run.

A change that is meant to leave every number as it is shows here where it does not. One that is
meant to change numbers says so in CHANGELOG.md and writes the file again:

    python tests/known_numbers.py
"""

from pathlib import Path

import numpy as np

import fastes

FILE = Path(__file__).with_suffix(".npz")

_AGENTS = {
    "es": fastes.EnsembleSampling(7),
    "eager": fastes.EnsembleSampling(7, engine="eager"),
    "ts": fastes.ThompsonSampling(),
    "greedy": fastes.Greedy(),
    "linucb": fastes.LinUCB(0.8),
    "uniform": fastes.UniformRandom(),
}


def _random(K, d, arms="sphere", **rest):
    return fastes.LinearBandit.random(K, d, arms, seed=5, **rest)


# Whitening by LAPACK is left out: its last bits are the library's. The sizes are those at which
# the engine goes another way: tiles, screening, lockstep, certificates, many short runs.
_SETTINGS = {
    "smallest": (_random(1, 1), {"T": 1}),
    "two arms": (_random(2, 1, prior_mean=0.3), {"T": 400, "runs": 2}),
    "independent arms": (_random(10, 10, "basis", noise=0.5), {"T": 600, "runs": 3}),
    "correlated arms": (_random(30, 5, prior_cov=10.0), {"T": 1200, "runs": 3}),
    "diagonal": (
        _random(20, 4, "uniform", prior_mean=[1, 0, -1, 0], prior_cov=[1.0, 0.0, 3.0, 0.5]),
        {"T": 300, "runs": 2},
    ),
    "more than a tile": (_random(150, 9, "gaussian", noise=0.7), {"T": 900, "runs": 2}),
    "screening": (_random(600, 12), {"T": 300, "runs": 2}),
    "lockstep": (_random(900, 40), {"T": 300, "runs": 9}),
    "certificate": (_random(4000, 3), {"T": 3000, "runs": 2}),
    "many short runs": (_random(12, 3), {"T": 40, "runs": 600}),
    "fixed theta": (_random(25, 3), {"T": 500, "runs": 2, "theta": [0.5, -0.2, 1.0]}),
}


def simulations():
    """Yield the name of each simulation and the arrays that came of it."""
    for setting, (bandit, options) in _SETTINGS.items():
        for name, agent in _AGENTS.items():
            result = fastes.simulate(bandit, agent, seed=11, points=12, **options)
            yield f"{setting}, {name}, regret", result.regret.per_run
            yield f"{setting}, {name}, counts", result.counts.astype(np.uint32)


def probes():
    """Yield what diagnostics measure; the last bits are those of the system's exp and log."""
    bandit = _SETTINGS["correlated arms"][0]
    for name, agent in _AGENTS.items():
        result = fastes.simulate(
            bandit, agent, T=100, runs=2, seed=3, diagnostics=[0, 7, 99], samples=256
        )
        for quantity, values in result.diagnostics.per_run._asdict().items():
            yield f"{name}, {quantity}", values


def live():
    """Yield what a live agent chooses, believes and keeps."""
    bandit = _SETTINGS["diagonal"][0]
    for name, agent in _AGENTS.items():
        acting = agent.start(bandit, seed=2)
        chosen = []
        for t in range(300):
            chosen.append(acting.act())
            acting.observe([chosen[-1], t % bandit.K], [np.sin(t), np.cos(t)])
        yield f"live {name}, arms", np.array(chosen, np.uint32)
        yield f"live {name}, mean", acting.posterior().mean
        if name in ("es", "eager"):
            yield f"live {name}, ensemble", acting.ensemble()


if __name__ == "__main__":
    found = [*simulations(), *probes(), *live()]
    np.savez_compressed(FILE, **dict(found))
    print(f"wrote {len(found)} arrays to {FILE}: {FILE.stat().st_size:,} bytes")
