"""Prints regret where models are mixed at random and where one is chosen, with as many models.

Usage: python docs/explanation/mixing_simulated.py

First on Theorem D's problem for M of the order of d log T, then on the ball; then the extreme
eigenvalues of Ensemble++ along its runs, and Theorem E's bound with them.
"""

import math

import fastes
from fastes.theory.inequalities import diagnostics_of, inequalities, probe_times


def compare(bandit: fastes.LinearBandit, M: int, T: int, runs: int, name: str) -> None:
    """Print the regret of ES, Ensemble++ with as many models, and TS."""
    mixed = fastes.EnsemblePlusPlus(M, reference="normal", perturbations="normal")
    agents = [fastes.EnsembleSampling(M), mixed, fastes.ThompsonSampling()]
    found = [r.regret for r in fastes.compare(bandit, agents, T=T, runs=runs, points=2)]
    shown = "  ".join(
        f"{label} {r.mean[-1]:8.1f} +- {r.se[-1]:5.1f}"
        for label, r in zip(("ES", "ES++", "TS"), found, strict=True)
    )
    print(f"{name}  M={M:4}  T={T:7,}  {shown}")


def eigenvalues(M: int, inflation: float, T: int = 800, runs: int = 20) -> None:
    """Print the extreme eigenvalues of Ensemble++ in five dimensions, and Theorem E's bound."""
    bandit = fastes.LinearBandit.random(K=20, d=5)
    agent = fastes.EnsemblePlusPlus(
        M, reference="normal", perturbations="normal", inflation=inflation
    )
    result = fastes.simulate(
        bandit, agent, T=T, runs=runs, diagnostics=probe_times(T, 6).tolist(), samples=256
    )
    found, totals = diagnostics_of(result), inequalities(result)["totals"]
    least, largest = (found.values(f"{name}_eigenvalue") for name in ("least", "largest"))
    print(
        f"M={M:4}  inflation {inflation:4.2f}  least {least.mean():.2f}, of all {least.min():.2f}  "
        f"largest {largest.mean():.2f}, of all {largest.max():.2f}  "
        f"below 1: {(least < 1.0).mean():7.2%}  regret {totals['regret']['mean']:5.1f} +- "
        f"{totals['regret']['se']:3.1f}  Theorem E {totals['mixing_of_eigenvalues']:7.1f}"
    )


def main() -> None:
    """Simulate and print."""
    for K, T, runs in ((2, 10_000, 2000), (2, 100_000, 400), (4, 100_000, 400)):
        M = math.ceil((K - 1) * math.log(T))
        compare(fastes.LinearBandit.hard_for_ensembles(K, M), M, T, runs, f"Theorem D, K={K}")
    for T in (10_000, 100_000):
        bandit = fastes.LinearBandit.hard_for_all_ensembles(T)
        M = math.ceil(math.log(T))
        compare(bandit, M, T, 200, f"Theorem D+, K={bandit.K}")
    for M in (10, 20, 40, 76):
        compare(fastes.LinearBandit(fastes.actions.Ball(10)), M, 2000, 200, "ball, d=10")
    for M, inflation in ((40, 1.0), (40, 2.0), (160, 1.35), (640, 1.15)):
        eigenvalues(M, inflation)


if __name__ == "__main__":
    main()
