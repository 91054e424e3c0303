"""Theorem 2 of the paper for an agent of each kind: measured regret, and the measured right side.

    python docs/explanation/theorem_2_family.py

prints the table of docs/explanation/diagnostics.md. The guide's own compiled agent is among them.
"""

import sys
from pathlib import Path

import fastes
from fastes.theory.inequalities import probe_times, theorem2_measured

sys.path.append(str(Path(__file__).parents[1] / "how-to"))
from softmax import Softmax

K, D, T, RUNS, SEED = 30, 5, 250, 100, 1
AGENTS = [
    fastes.ThompsonSampling(),
    fastes.ThompsonSampling(inflation=0.5),
    fastes.EnsembleSampling(32),
    fastes.EnsembleSampling(32, symmetric=True),
    fastes.EnsembleSampling(32, perturbations="signs"),
    fastes.EnsemblePlusPlus(32),
    fastes.PerturbedHistory(),
    fastes.InformationDirectedSampling(),
    fastes.BayesUCB(),
    fastes.LinUCB(1.0),
    fastes.EpsilonGreedy(0.1),
    fastes.Greedy(),
    fastes.UniformRandom(),
    Softmax(),
]


def main() -> None:
    """Print a row for each agent."""
    bandit = fastes.LinearBandit.random(K, D, arms="uniform", prior_cov=10.0, seed=SEED)
    print("| agent | regret | right side of Theorem 2 |")
    print("|---|---|---|")
    for agent in AGENTS:
        times = probe_times(T)
        result = fastes.simulate(
            bandit, agent, T=T, runs=RUNS, seed=SEED, diagnostics=times, samples=2048
        )
        regret = f"{result.regret.mean[-1]:.1f} ± {result.regret.se[-1]:.1f}"
        print(f"| {result.label} | {regret} | {theorem2_measured(result):,.0f} |", flush=True)


if __name__ == "__main__":
    main()
