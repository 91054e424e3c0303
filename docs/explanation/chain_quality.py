"""How well proposals around the mode serve the Markov chain of ``sampler="metropolis"``.

``python chain_quality.py`` prints, for logistic problems that were played at random, the share of
proposals that are taken where the chain has the law of the posterior, the share of steps in which
it stays where it was, and what weighted draws from the same proposals are worth.
"""

import numpy as np
from fastes.kernels.beliefs.student import draw_weighted
from fastes.kernels.streams.philox import source

import fastes
from fastes.agents.thompson_sampling import PROPOSALS

DRAWS, STARTS = 100_000, 2000


def played_at_random(bandit, plays, seed=0):
    """Return the belief after plays of arms at random, with theta from the prior."""
    rng = np.random.default_rng(seed)
    theta = bandit.prior_mean + np.sqrt(bandit.prior_cov) * rng.normal(size=bandit.d)
    arms = rng.integers(bandit.K, size=plays)
    clicks = rng.random(plays) < 1 / (1 + np.exp(-bandit.actions[arms] @ theta))
    agent = fastes.Greedy().start(bandit)
    agent.observe(arms, clicks)
    return agent._state.belief


def separated(plays):
    """Return the belief after plays of twelve long arms, half of which always paid."""
    rows = 1e3 * np.random.default_rng(5).normal(size=(12, 3))
    agent = fastes.Greedy().start(fastes.LogisticBandit(rows))
    arms = np.arange(plays) % 12
    agent.observe(arms, rows[arms, 0] > 0)
    return agent._state.belief


def quality(belief):
    """Return the share of proposals taken, that of steps without a move, and the draws' worth."""
    r = len(belief.mu)
    z, logs = np.empty((DRAWS, r)), np.empty(DRAWS)
    draw_weighted(belief, source(1), 0, np.empty(r), z, logs)
    w = np.exp(logs - logs.max())
    w /= w.sum()
    at = np.random.default_rng(2).choice(DRAWS, STARTS, p=w)
    order = np.sort(w)
    below = np.concatenate([[0.0], np.cumsum(order)])
    index = np.searchsorted(order, w[at])
    taken = (below[index] / w[at] + DRAWS - index) / DRAWS  # mean of min(1, w' / w)
    return taken.mean(), ((1 - taken) ** PROPOSALS).mean(), 1 / (w @ w) / DRAWS


if __name__ == "__main__":
    print("   K   d  prior cov  plays  taken    stays  draws worth")
    for K, d, cov, plays in [
        (30, 5, 4.0, 100),
        (30, 5, 4.0, 1000),
        (100, 20, 4.0, 200),
        (100, 20, 4.0, 5000),
        (100, 50, 1.0, 500),
    ]:
        bandit = fastes.LogisticBandit.random(K, d, prior_cov=cov)
        taken, stays, worth = quality(played_at_random(bandit, plays))
        print(f"{K:4} {d:3} {cov:10g} {plays:6}  {taken:.0%}  {stays:.0e}  {worth:.0%}")
    taken, stays, worth = quality(separated(1200))
    print(f"long arms that clicks separate: {taken:.1%}  {stays:.0%}  {worth:.2%}")
