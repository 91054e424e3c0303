"""Draw docs/figures/forgetting.png: regret against the discount, for three speeds of change.

Prints the table of docs/how-to/choose-discount.md too.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import fastes
from fastes.drift import AutoRegressive

T, RUNS = 4000, 200
MEMORIES = (10, 20, 50, 100, 200, 500, 1000, 2000)
WORLDS = (
    (1000, AutoRegressive(0.999), "-", "o"),
    (10_000, AutoRegressive(0.9999), "--", "s"),
    (100_000, AutoRegressive(0.99999), "-.", "^"),
    (None, None, ":", "D"),
)


def regrets(agent: type, drift: AutoRegressive | None) -> np.ndarray:
    """Return the mean regret per step and its error for each memory, then without forgetting."""
    bandit = fastes.LinearBandit.random(K=50, d=5)
    agents = [agent(discount=1.0 - 1.0 / memory) for memory in MEMORIES]
    found = fastes.compare(
        bandit,
        [*agents, agent()],
        T=T,
        runs=RUNS,
        points=2,
        truth=None if drift is None else fastes.Truth(drift=drift),
    )
    return np.array([(each.regret.mean[-1], each.regret.se[-1]) for each in found]) / T


def main() -> None:
    """Draw the figure and print the table."""
    figure = Figure(figsize=(6.4, 4), layout="constrained")
    axes = figure.subplots()
    print("| theta changes over |", *[f"{memory:,} |" for memory in MEMORIES], "no discount |")
    print("|---|" + "---|" * (len(MEMORIES) + 1))
    for steps, drift, dashes, marker in WORLDS:
        mean, se = regrets(fastes.ThompsonSampling, drift).T
        label = "theta does not change" if steps is None else f"theta changes over {steps:,} steps"
        (line,) = axes.loglog(MEMORIES, mean[:-1], dashes, color="black", marker=marker, ms=4)
        line.set_label(label)
        axes.fill_between(MEMORIES, *(mean[:-1] + np.outer([-2, 2], se[:-1])), color="0.85")
        axes.plot(MEMORIES[-1] * 2, mean[-1], marker, color="black", ms=4)
        name = "never" if steps is None else f"{steps:,} steps"
        print(f"| {name} |", *[f"{x:.3f} |" for x in mean])
    axes.set_xticks([*MEMORIES, MEMORIES[-1] * 2], [*map(str, MEMORIES), "no\ndiscount"])
    axes.minorticks_off()
    axes.set_xlabel("memory 1 / (1 - discount), rewards")
    axes.set_ylabel("regret per step")
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_name("forgetting.png"), dpi=150)


if __name__ == "__main__":
    main()
