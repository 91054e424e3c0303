"""Thompson sampling that leaves out unlikely arms: what a finite ensemble does, without models.

An ensemble of M models plays an arm with a share of at least 1/M or not at all. This agent plays
arms with their posterior probability p_t(a) of being the best, those below a threshold left out.
If it saves the regret that an ensemble saves, unlikely arms are what that was spent on.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fastes
from ensemble_size.collect import write

SHARES = (1 / 32, 1 / 128)
SIZES = (32, 128)
RUNS = 400
DRAWS = 1000
COLUMNS = ("agent", "M", "runs", "mean", "se", "gap", "gap_se")


@dataclass(frozen=True)
class TruncatedThompsonSampling:
    """Play arms with their probability of being the best, where that is at least `share`.

    Examples
    --------
    >>> import fastes
    >>> from ensemble_size.truncated import TruncatedThompsonSampling
    >>> bandit = fastes.LinearBandit.random(K=10, d=2)
    >>> fastes.simulate(bandit, TruncatedThompsonSampling(1 / 32), T=20, runs=5).label
    'TruncatedThompsonSampling, share=0.03125'
    """

    share: float

    def start(self, bandit, seed):
        """Return one that begins to play."""
        return _Player(bandit, seed, self.share)


class _Player:
    def __init__(self, bandit, seed, share):
        self.arms = np.asarray(bandit.actions)
        self.precision = np.eye(bandit.d) / bandit.prior_cov
        self.evidence = self.precision @ bandit.prior_mean
        self.variance = bandit.noise**2
        self.share = share
        self.generator = np.random.default_rng(seed)

    def act(self):
        root = np.linalg.cholesky(np.linalg.inv(self.precision))
        mean = root @ (root.T @ self.evidence)
        normals = self.generator.standard_normal((DRAWS, len(mean)))
        best = ((mean + normals @ root.T) @ self.arms.T).argmax(axis=1)
        p = np.bincount(best, minlength=len(self.arms)) / DRAWS
        # Where no arm is likely enough, all are kept, as an ensemble's best arms all differ then.
        kept = np.where(p >= self.share, p, 0.0)
        law = kept / kept.sum() if kept.any() else p
        return int(self.generator.choice(len(law), p=law))

    def observe(self, arm, reward):
        row = self.arms[arm]
        self.precision += np.outer(row, row) / self.variance
        self.evidence += row * (reward / self.variance)


def measure(data: Path, scale: float) -> None:
    """Write truncated.csv: regret of 1,000 steps beside ensembles and Thompson sampling."""
    bandit = fastes.LinearBandit.random(K=100, d=10)
    agents = [
        fastes.ThompsonSampling(),
        *(fastes.EnsembleSampling(M) for M in SIZES),
        *(TruncatedThompsonSampling(share) for share in SHARES),
    ]
    facts = [("ts", None), *(("es", M) for M in SIZES), *(("truncated", M) for M in SIZES)]
    runs = max(2, math.ceil(scale * RUNS))
    results = fastes.compare(bandit, agents, T=1000, runs=runs, points=2)
    ts = results[0].regret.final
    rows = []
    for fact, result in zip(facts, results, strict=True):
        regret, gap = result.regret.final, result.regret.final - ts
        errors = [x.std(ddof=1) / np.sqrt(runs) for x in (regret, gap)]
        numbers = (regret.mean(), errors[0], gap.mean(), errors[1])
        rows.append([*fact, runs, *(f"{x:.4g}" for x in numbers)])
    data.mkdir(parents=True, exist_ok=True)
    write(data / "truncated.csv", COLUMNS, rows)
