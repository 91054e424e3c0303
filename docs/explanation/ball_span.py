"""Prints the regret of few models on the ball, confined to the span of their first draws.

Usage: python docs/explanation/ball_span.py [--d 10] [--T 1000] [--runs 200]

Ensemble sampling is simulated in coordinates of that span, which rounding cannot leave, and by
fastes, in those of R^d, which it leaves by rounding after some tens of steps.
"""

import argparse

import numpy as np

import fastes
from fastes.theory.lower_bounds import lower_bound_on_the_ball


def in_the_span(d: int, M: int, T: int, inflation: float, runs: int, seed: int = 0) -> np.ndarray:
    """Return the regret of each run: prior N(0, I), unit noise, arms of norm at most 1.

    With Q an orthonormal basis of the span of the initial draws xi_1, ..., xi_M, all arms are Q'a.
    """
    rng, n = np.random.default_rng(seed), min(M, d)
    xi = np.linalg.qr(rng.standard_normal((runs, M, d)).transpose(0, 2, 1))[1].transpose(0, 2, 1)
    theta = rng.standard_normal((runs, d))  # the first n coordinates are those in the span
    P, eta = np.tile(np.eye(n), (runs, 1, 1)), np.zeros((runs, n))
    every, total, best = np.arange(runs), np.zeros(runs), np.linalg.norm(theta, axis=1)
    for _ in range(T):
        read = eta + inflation * xi[every, rng.integers(M, size=runs)]
        z = np.linalg.solve(P, read[:, :, None])[:, :, 0]
        a = z / np.linalg.norm(z, axis=1, keepdims=True)
        mean = (a * theta[:, :n]).sum(axis=1)
        total += best - mean
        P += a[:, :, None] * a[:, None, :]
        eta += (mean + rng.standard_normal(runs))[:, None] * a
        xi += rng.standard_normal((runs, M))[:, :, None] * a[:, None, :]
    return total


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("d", 10), ("T", 1000), ("runs", 200)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    bandit = fastes.LinearBandit(fastes.actions.Ball(given.d))
    for M in (1, 2, 5, 9, 10, 20):
        for inflation in (1.0, 5.0):
            exact = in_the_span(given.d, M, given.T, inflation, given.runs)
            agent = fastes.EnsembleSampling(M, inflation=inflation)
            seen = fastes.simulate(bandit, agent, given.T, given.runs, points=2).regret
            print(
                f"M={M:2}  inflation {inflation:g}  "
                f"lower bound {lower_bound_on_the_ball(given.d, M, given.T):7.1f}  "
                f"in the span {exact.mean():7.1f} +- {exact.std() / np.sqrt(given.runs):4.1f}  "
                f"fastes {seen.mean[-1]:7.1f} +- {seen.se[-1]:4.1f}"
            )


if __name__ == "__main__":
    main()
