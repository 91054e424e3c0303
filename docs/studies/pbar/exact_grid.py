"""Compares every inequality behind the theorems with laws that are not sampled.

Usage: cd docs/studies; python -m pbar.exact_grid [--histories 16] [--runs 1000]

Two and three independent arms, 1 to 3 models, noise from 0.1 to 100: pbar_t by `pbar.exact`, p_t
in closed form, both given a history; means over histories. What needs phat_t or regret is a mean
over more runs. Prints the largest ratio of measured over bound, and where.
"""

import argparse
from itertools import product

import numpy as np

import fastes
from fastes.theory import bounds, step_bounds
from fastes.theory.constants import constants
from fastes.theory.first_order import hellinger_costs, kl_costs
from fastes.theory.measures import hellinger, kl
from fastes.theory.optimal_action import law_of_the_best
from pbar.exact import laws, models

PROBLEMS = ((2, 6), (3, 4))  # arms and steps
NOISES = (0.1, 1.0, 10.0, 100.0)
MODELS = (1, 2, 3)
FACTORS = (1.1, 1.5, 3.0)  # b_S and b_L


def ratios(K, T, noise, M, histories, runs):
    """Yield the name of an inequality, both sides at each step, and the standard error of one."""
    bandit = fastes.LinearBandit(np.eye(K), noise=noise)
    kept = {"diagnostics": range(T), "samples": 256, "keep": ("actions", "rewards")}
    result = fastes.simulate(bandit, fastes.EnsembleSampling(M), T=T, runs=runs, seed=M, **kept)
    known, t = constants(bandit), np.arange(T + 1)
    of_phat = result.diagnostics.mean("kl_phat_p")
    yield "l, Proposition 1", of_phat.value, bounds.proposition1(K, t[:T], M), of_phat.se
    pairs = list(zip(result.actions[:histories], result.rewards[:histories], strict=True))
    pbar = np.array([laws(bandit, M, *pair) for pair in pairs])
    best = [optimal(bandit, *pair) for pair in pairs]
    p, values, expected = (np.array(each) for each in zip(*best, strict=True))
    k, h = kl(pbar, p), hellinger(pbar, p) ** 2
    yield "k, information bound", *mean_beside(k, bounds.information_bound(K, t, M))
    yield "h, Proposition 3", *mean_beside(h, bounds.fresh_bound(t, M))
    gained, se = of_phat.value - k.mean(axis=0)[:T], np.hypot(of_phat.se, error_of(k)[:T])
    J = np.concatenate([[0.0], np.cumsum(gained)])
    errors = np.concatenate([[0.0], np.sqrt(np.cumsum(se**2))])
    yield "J, corollary", J, step_bounds.history_information(K, t, M), errors
    regret = values.sum(axis=-1) - (pbar * expected).sum(axis=-1)
    conditional = np.divide(values, p, out=np.zeros_like(p), where=p > 0)
    main = (np.sqrt(pbar * p) * (conditional - expected)).sum(axis=-1)
    error = np.abs((regret - main).mean(axis=0))
    allowed = known.eta0_at_most * np.sqrt(h.mean(axis=0))
    yield "D, eta0 sqrt(h)", error, allowed, error_of(regret - main)
    for b, c in product(FACTORS, FACTORS):
        over, under = pbar > b * b * p, p > c * c * pbar
        spent_on = (pbar * over).sum(axis=-1).mean(axis=0), (p * under).sum(axis=-1).mean(axis=0)
        for name, costs, divergence in (
            ("KL buys S and L", kl_costs(b, c), k.mean(axis=0)),
            ("Hel^2 buys S and L", hellinger_costs(b, c), h.mean(axis=0)),
        ):
            spent = costs.over * spent_on[0] + costs.under * spent_on[1]
            yield name, spent, divergence, np.zeros(T + 1)
    total = result.regret.mean[-1:], result.regret.se[-1:]
    for name, bound in bounds.BOUNDS.items():
        value = bound.value(known, T, M)
        if value is not None:
            yield f"regret, {name}", total[0], np.array([value]), total[1]


def optimal(bandit, actions, rewards):
    """Return p_t, E_t[v; A* = a] and E_t[v] of each arm at each step, given a history."""
    found = []
    for mean, root in zip(*models(bandit, actions, rewards), strict=True):
        m, c = bandit.actions @ mean, bandit.actions @ root
        law = law_of_the_best(m, c, 1 << 12, 0)
        found.append((law.probabilities, law.values, m))
    return tuple(np.array(each) for each in zip(*found, strict=True))


def mean_beside(per_history, bound):
    """Return the mean over histories, a bound, and the mean's standard error."""
    return per_history.mean(axis=0), bound, error_of(per_history)


def error_of(per_history):
    """Return the standard error of the mean over histories."""
    return per_history.std(axis=0, ddof=1) / np.sqrt(len(per_history))


def largest(histories, runs, problems=PROBLEMS, noises=NOISES, sizes=MODELS):
    """Return, for each inequality, the largest ratio, where it is, and the largest excess.

    The excess is in standard errors of the left-hand side, of which 1e-3 of the bound at least:
    the normal probabilities have errors too.
    """
    found = {}
    for (K, T), noise, M in product(problems, noises, sizes):
        for name, left, right, error in ratios(K, T, noise, M, histories, runs):
            some = right > 1e-9
            left, right, error = left[some], right[some], error[some]
            if len(left):
                excess = ((left - right) / np.maximum(error, 1e-3 * right)).max()
                where = f"K={K}, M={M}, noise {noise:g}"
                before = found.get(name, (0.0, "", -np.inf))
                ratio = float((left / right).max())
                first = (ratio, where) if ratio > before[0] else before[:2]
                found[name] = (*first, max(before[2], float(excess)))
    return found


def main():
    """Print a row of a table for each inequality."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=16)
    parser.add_argument("--runs", type=int, default=1000)
    chosen = parser.parse_args()
    for name, (ratio, where, excess) in largest(chosen.histories, chosen.runs).items():
        print(f"| {name} | {ratio:.2f} | {where} | {excess:.1f} |", flush=True)


if __name__ == "__main__":
    main()
