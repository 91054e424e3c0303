"""Clicks lost by logistic agents on five problems, with rates near one half and near one fiftieth.

``python five_problems.py`` prints two tables in Markdown: mean regret with its standard error, and
the squared Hellinger distance of the law of the next action from that of the best arm given all
clicks, at steps 100 and 1,000. All agents face the same parameters and clicks.
"""

import sys

import numpy as np

import fastes

RUNS, PROBED_RUNS, T, PROBES = 200, 20, 2_000, [100, 1_000]

AGENTS = {
    "`es`, M=10": fastes.EnsembleSampling(10),
    "`es`, M=100": fastes.EnsembleSampling(100),
    "`es`, M=100, bootstrap": fastes.EnsembleSampling(100, perturbations="bootstrap"),
    "`es`, M=100, online": fastes.EnsembleSampling(100, belief="online"),
    "`es++`, M=30": fastes.EnsemblePlusPlus(30),
    "`ts`": fastes.ThompsonSampling(),
    "`ts`, metropolis": fastes.ThompsonSampling(sampler="metropolis"),
    "`phe`": fastes.PerturbedHistory(),
    "`linucb`": fastes.LinUCB(),
    "`bayes-ucb`": fastes.BayesUCB(),
    "`eps-greedy`": fastes.EpsilonGreedy(),
    "`greedy`": fastes.Greedy(),
    "`uniform`": fastes.UniformRandom(),
}


def with_constant(K, d, spread):
    """Return a bandit whose rates are near one fiftieth: the first feature is 1."""
    rows = np.random.default_rng(K).normal(size=(K, d - 1)) / np.sqrt(d - 1)
    prior_mean = np.r_[-3.9, np.zeros(d - 1)]
    return fastes.LogisticBandit(np.c_[np.ones(K), rows], prior_mean, spread)


PROBLEMS = {
    "K=30, d=5, values N(0, 1)": fastes.LogisticBandit.random(30, 5),
    "K=30, d=5, values N(0, 4)": fastes.LogisticBandit.random(30, 5, prior_cov=4.0),
    "K=300, d=20, values N(0, 1)": fastes.LogisticBandit.random(300, 20),
    "K=30, d=5, rates near 0.02": with_constant(30, 5, 0.25),
    "K=30, d=5, rates near 0.02, wide": with_constant(30, 5, 1.0),
}


def print_table(cell):
    """Print what `cell` says of each agent on each problem."""
    print("| agent |" + "".join(f" {name} |" for name in PROBLEMS))
    print("|---|" + "---|" * len(PROBLEMS))
    for name, agent in AGENTS.items():
        cells = [cell(bandit, agent) for bandit in PROBLEMS.values()]
        print(f"| {name} |" + "".join(f" {text} |" for text in cells))
        sys.stdout.flush()


def regret(bandit, agent):
    """Return mean regret and its standard error, as text."""
    found = fastes.simulate(bandit, agent, T, RUNS, progress=False).regret
    return f"{found.mean[-1]:.3g} ± {found.se[-1]:.2g}"


def hellinger(bandit, agent):
    """Return the mean squared distance at each probe, as text."""
    if getattr(agent, "belief", "auto") == "online":
        return "not known"
    found = fastes.simulate(
        bandit, agent, max(PROBES) + 1, PROBED_RUNS, diagnostics=PROBES, progress=False
    )
    return ", ".join(f"{v:.2f}" for v in found.diagnostics.mean("hellinger_squared").value)


if __name__ == "__main__":
    print_table(regret)
    print()
    print_table(hellinger)
