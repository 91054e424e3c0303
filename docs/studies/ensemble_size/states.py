"""What the states of small ensembles look like: the experiment on the dip below Thompson sampling.

On a fixed set of arms, at chosen steps: the variance of the models in units of the posterior's,
how often a model is as optimistic as the truth, the entropy of the optimal arm that is left, and
the expected regret of the step.
"""

import math
from pathlib import Path

import fastes
from ensemble_size.collect import write

SIZES = (8, 16, 32, 64, 256)
TIMES = (0, 10, 30, 100, 300, 999)
RUNS = 200
MEASURED = ("ensemble_variance", "exceedance", "entropy", "step_regret")
COLUMNS = ("agent", "M", "t", "runs", *(f"{m}{e}" for m in MEASURED for e in ("", "_se")))


def measure(data: Path, scale: float, threads: int | None) -> None:
    """Write states.csv."""
    bandit = fastes.LinearBandit.random(K=100, d=10)
    agents = [fastes.ThompsonSampling(), *(fastes.EnsembleSampling(M) for M in SIZES)]
    runs = max(2, math.ceil(scale * RUNS))
    results = fastes.compare(
        bandit, agents, T=1000, runs=runs, diagnostics=TIMES, points=2, threads=threads
    )
    rows = []
    for agent, result in zip(agents, results, strict=True):
        means = [result.diagnostics.mean(name) for name in MEASURED]
        for i, t in enumerate(TIMES):
            numbers = [x for mean in means for x in (mean.value[i], mean.se[i])]
            facts = [agent.name, getattr(agent, "M", None), t, runs]
            rows.append([*facts, *("" if math.isnan(x) else f"{x:.4g}" for x in numbers)])
    data.mkdir(parents=True, exist_ok=True)
    write(data / "states.csv", COLUMNS, rows)
