"""How far what logistic agents draw is from the exact posterior, which a grid gives at d = 2.

``python laplace_error.py`` prints, for problems of ten arms in the plane, the total variation
distance between the law of the best arm under the exact posterior and under

- models of ensemble sampling, each the mode of perturbed data;
- draws from Laplace's approximation, which Thompson sampling uses by default;
- the draws of its Markov chain,

after some plays of that Thompson sampling, on the average over runs.
"""

import numpy as np

import fastes

K, RUNS, DRAWS, GRID = 10, 40, 20_000, 400


def best_arm_law(arms, models, weights=None):
    """Return how often each arm is the best of models, (n, 2)."""
    best = np.argmax(models @ arms.T, axis=1)
    counts = np.bincount(best, weights, minlength=len(arms))
    return counts / counts.sum()


def posterior_grid(bandit, agent, plays, clicks):
    """Return points and their posterior weights, on a grid of eight standard deviations around."""
    mean, covariance = agent.posterior()
    root = np.linalg.cholesky(covariance)
    axis = np.linspace(-8, 8, GRID)
    points = mean + np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2) @ root.T
    values = points @ bandit.actions.T
    gap = points - bandit.prior_mean
    logs = values @ clicks - np.logaddexp(0, values) @ plays
    logs -= 0.5 * (gap**2).sum(axis=1) / bandit.prior_cov
    return points, np.exp(logs - logs.max())


def distances(prior_mean, prior_cov, T, seed):
    """Return the three distances after T plays of one run."""
    rng = np.random.default_rng(seed)
    angles = rng.uniform(0, np.pi / 2, K)
    arms = np.column_stack([np.cos(angles), np.sin(angles)])
    bandit = fastes.LogisticBandit(arms, prior_mean, prior_cov)
    theta = prior_mean + np.sqrt(prior_cov) * rng.normal(size=2)
    chosen = fastes.ThompsonSampling().start(bandit, seed=seed)
    models = fastes.EnsembleSampling(DRAWS).start(bandit, seed=seed)
    chain = fastes.ThompsonSampling(sampler="metropolis").start(bandit, seed=seed)
    plays, clicks = np.zeros(K), np.zeros(K)
    for _ in range(T):
        arm = chosen.act()
        click = float(rng.random() < 1 / (1 + np.exp(-arms[arm] @ theta)))
        for agent in (chosen, models, chain):
            agent.observe(arm, click)
        plays[arm] += 1
        clicks[arm] += click
    exact = best_arm_law(arms, *posterior_grid(bandit, chosen, plays, clicks))
    mean, covariance = chosen.posterior()
    laplace = rng.multivariate_normal(mean, covariance, DRAWS)
    played = np.bincount([chain.act() for _ in range(DRAWS)], minlength=K) / DRAWS
    laws = best_arm_law(arms, models.ensemble()), best_arm_law(arms, laplace), played
    return [0.5 * np.abs(law - exact).sum() for law in laws]


if __name__ == "__main__":
    print("prior mean  prior cov  plays  perturbed modes          Laplace       metropolis")
    for prior_mean in (0.0, -3.0):
        for prior_cov in (1.0, 9.0):
            for T in (10, 100, 1000):
                runs = [distances(prior_mean, prior_cov, T, seed) for seed in range(RUNS)]
                means, deviation = np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1)
                shown = [
                    f"{mean:.3f} +- {error:.3f}"
                    for mean, error in zip(means, deviation / np.sqrt(RUNS), strict=True)
                ]
                print(f"{prior_mean:10g}  {prior_cov:9g}  {T:5}  " + "  ".join(shown), flush=True)
