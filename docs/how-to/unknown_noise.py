"""Regret where the noise is not what the bandit says: of agents that learn, know or believe it.

``python docs/how-to/unknown_noise.py`` prints two tables in Markdown, mean regret with its standard
error: of agents that learn the noise beside those that know it and those that do not, and of agents
that learn it, by `least_noise`. All face the same parameters, run by run.
"""

import fastes

K, D, T, RUNS, TRUTHS = 100, 10, 2_000, 400, (0.2, 1.0, 5.0)


def agents(**options):
    """Return an agent of each kind by its name."""
    return {
        "`ts`": fastes.ThompsonSampling(**options),
        "`es`, M=30": fastes.EnsembleSampling(30, **options),
        "`linucb`": fastes.LinUCB(**options),
        "`bayes-ucb`": fastes.BayesUCB(**options),
    }


def regret(agent, truth, believed):
    """Return the regret of an agent that was given one noise in a world of another."""
    bandit = fastes.LinearBandit.random(K=K, d=D, noise=believed)
    world = fastes.Truth(noise=truth)
    final = fastes.simulate(bandit, agent, T=T, runs=RUNS, truth=world, progress=False).regret
    return f"{final.mean[-1]:.1f} ± {final.se[-1]:.1f}"


def table(columns, rows):
    """Print a table of texts."""
    print(f"\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def main():
    """Print both tables."""
    kinds, learning = agents(), agents(noise="learned")
    table(
        ["true noise", "agent", "learns the noise", "knows it", "believes it is 1"],
        (
            (
                f"{truth:g}",
                name,
                regret(learning[name], truth, 1.0),
                regret(kinds[name], truth, truth),
                regret(kinds[name], truth, 1.0),
            )
            for truth in TRUTHS
            for name in kinds
        ),
    )
    least = (1.0, 0.3, 0.1, 0.03)
    table(
        ["true noise", "agent", *(f"`least_noise={each:g}`" for each in least)],
        (
            (
                f"{truth:g}",
                name,
                *(
                    regret(agents(noise="learned", least_noise=each)[name], truth, 1.0)
                    for each in least
                ),
            )
            for truth in (TRUTHS[0], TRUTHS[-1])
            for name in kinds
        ),
    )


if __name__ == "__main__":
    main()
