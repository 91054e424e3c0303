"""Measures the inequalities behind the theorems on a grid of small problems.

Usage: cd docs/studies; python -m pbar.grid [--runs 40] [--particles 512]

For every problem, number of models and time: E KL(phat_t || p_t), and E KL(pbar_t || p_t) and
E Hel^2(pbar_t, p_t) by a particle filter, over what bounds each. Prints the largest ratio, by how
many standard errors the worst one exceeds its bound, and how often half of the bound is exceeded
by more than four: where that is never so, the bound is too loose there for a factor of two to be
seen.
"""

import argparse
from itertools import product

import numpy as np

import fastes
from fastes.theory.inequalities import information_measured
from fastes.theory.step_bounds import (
    divergence_bound,
    fresh_bound,
    information_bound,
    proposition1,
)
from pbar.history_laws import history_laws

TIMES = [0, 1, 2, 5, 12, 29]
CORRELATED = [("sphere", K, d) for K, d in product((2, 5, 10), (1, 3, 5))]
INDEPENDENT = [("basis", K, K) for K in (2, 3, 5)]
MODELS = (1, 2, 4, 16)


def ratios(arms, K, d, M, runs, particles):
    """Yield the name of an inequality, its sides at each time and the error of their difference."""
    bandit = fastes.LinearBandit.random(K, d, arms, seed=K + d)
    # Every step is probed up to the last time, so that sums over steps are exact.
    times = range(TIMES[-1] + 1)
    result = fastes.simulate(
        *(bandit, fastes.EnsembleSampling(M)),
        **{"T": 30, "runs": runs, "seed": M, "diagnostics": times, "samples": 1024},
        keep=("actions", "rewards"),
    )
    t = np.array(TIMES)
    phat = result.diagnostics.mean("kl_phat_p")
    yield "KL(phat||p), paper", phat.value[t], divergence_bound(K, t, M), phat.se[t]
    yield "KL(phat||p), Proposition 1", phat.value[t], proposition1(K, t, M), phat.se[t]
    found = history_laws(result, particles, TIMES)
    kl, hellinger = found.mean("kl"), found.mean("hellinger_squared")
    measured = information_measured(result)
    yield "KL(pbar||p), information", kl.value, information_bound(K, t, M), kl.se
    both = np.hypot(kl.se, measured.se[t])
    yield "KL(pbar||p), information measured", kl.value, measured.value[t], both
    gap = phat.value[t] - kl.value  # what a step tells of the models
    error = np.hypot(phat.se[t], kl.se)
    yield "KL(phat||pbar), log K", gap, np.full(len(t), np.log(K)), error
    yield "Hel^2(pbar,p), fresh", hellinger.value, fresh_bound(t, M), hellinger.se


def main():
    """Print one line for each inequality."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--particles", type=int, default=512)
    chosen = parser.parse_args()
    seen = {}
    for (arms, K, d), M in product(CORRELATED + INDEPENDENT, MODELS):
        for name, left, right, error in ratios(arms, K, d, M, chosen.runs, chosen.particles):
            known = np.isfinite(left) & np.isfinite(right) & (right > 0)
            left, right, error = left[known], right[known], error[known] + 1e-9
            seen.setdefault(name, []).append((left / right, (left - right) / error))
            seen[name][-1] += ((left - right / 2) / error,)
        print(f"{arms}, K={K}, d={d}, M={M}: done", flush=True)
    for name, found in seen.items():
        ratio, excess, half = (np.concatenate(part) for part in zip(*found, strict=True))
        print(
            f"| {name} | {len(ratio)} | {ratio.max():.2f} | {excess.max():.1f} "
            f"| {(half > 4).sum()} |"
        )


if __name__ == "__main__":
    main()
