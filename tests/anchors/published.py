"""The published numbers: who gave them, for which setting, and what runs it here."""

import numpy as np
from anchors.anchor import Anchor, Source
from anchors.changing import CHANGING
from anchors.clicks import CLICKS
from anchors.simulated import SEED, ratio_of_smallest, regret_of

import fastes
from fastes.actions import Ball, Redrawn

TS = ("ThompsonSampling", {})

IDS = Source(
    "IDS",
    "Russo and Van Roy, Learning to Optimize via Information-Directed Sampling, Operations "
    "Research 66(1), 2018, arXiv 1403.5556, section 6, tables of realised regret",
    "Numbers from a third party; that each is the mean of 2,000 trials, from memory",
)
BALL = Source(
    "Ball",
    "Thompson sampling on the unit ball, prior $N(0, I)$, unit noise, means and 95% intervals",
    "Numbers from a third party, who did not name the publication",
)
SIGNS = Source(
    "Signs",
    r"Thompson sampling on the unit ball where $\theta=\Delta\,(\pm1,\dots,\pm1)$, "
    r"$\Delta=1.25\,\sigma\sqrt{d/T}$, and the agent believes $N(0,\Delta^2I)$, without errors",
    "Numbers from a third party, who did not name the publication",
)
ENSEMBLE = Source(
    "Ensemble++",
    "Li, Xu, Wang and Luo, Scalable Exploration via Ensemble++, arXiv 2407.13195; the problem is "
    "`Russo` of the repository szrlee/Information_Directed_Sampling",
    "Setting read in the source; the claim, in words, from a third party",
)
THEOREM = Source(
    "Theorem D",
    "the simulation that came with the proof of [Theorem D](explanation/theorems.md)",
    "Numbers from its author; the program was not seen",
)


def ten_arms():
    """Return ten independent arms of N(0, 1) values, with unit noise."""
    return fastes.LinearBandit(np.eye(10))


def uniform_arms(K, d):
    """Return arms uniform on [-1/sqrt 5, 1/sqrt 5]^d, drawn for each run, theta ~ N(0, 10 I).

    The family of fastes is uniform on [-1/sqrt d, 1/sqrt d]^d; the prior makes up for the scale.
    """
    return lambda: fastes.LinearBandit(Redrawn(K, d, "uniform"), prior_cov=10.0 * d / 5)


def ball(d, prior_cov=1.0):
    """Return the unit ball."""
    return lambda: fastes.LinearBandit(Ball(d), prior_cov=prior_cov)


def signs(d, size):
    """Return what draws a theta of entries +-size for each run."""
    return lambda runs: size * np.random.default_rng(SEED).choice([-1.0, 1.0], size=(runs, d))


def russo_van_roy():
    """Return the anchors of two tables: ten arms, and a linear bandit."""
    vids = ("InformationDirectedSampling", {})
    tables = (
        ("ten arms", "K=10, independent, T=1,000", ten_arms, 1000),
        ("linear", "K=30, d=5, uniform arms, T=250", uniform_arms(30, 5), 250),
    )
    rows = (
        (0, "TS", TS, 69.1, 20000),
        (0, "V-IDS", vids, 58.4, 4000),
        (0, "Bayes-UCB", ("BayesUCB", {}), 63.8, 20000),
        (1, "TS", TS, 38.5, 20000),
        (1, "V-IDS", vids, 29.2, 8000),
    )
    for table, label, agent, published, runs in rows:
        name, setting, problem, T = tables[table]
        measure = regret_of(agent, problem, T, runs)
        yield Anchor(f"{name}, {label}", IDS, setting, label, published, 1, measure, trials=2000)


def unit_balls():
    """Return the anchors of the ball, whose intervals are 1.96 standard errors to each side."""
    rows = (
        (2, 100_000, 413.4, 1, 19.5, 2000),
        (5, 100_000, 1603.0, 0, 41.0, 1000),
        (10, 100_000, 3650.0, 0, 89.0, 1000),
        (20, 100_000, 7729.0, 0, 158.0, 500),
        (50, 50_000, 14243.0, 0, 172.0, 400),
        (100, 20_000, 18021.0, 0, 221.0, 400),
    )
    for d, T, published, places, interval, runs in rows:
        measure = regret_of(TS, ball(d), T, runs)
        yield Anchor(
            f"ball, d={d}",
            BALL,
            f"d={d}, T={T:,}",
            "TS",
            published,
            places,
            measure,
            error=interval / 1.96,
        )


def random_signs():
    """Return the anchors of the hard prior: theta of random signs, its size known to the agent."""
    T = 8000
    rows = (
        (2, 141.6, 1, 4000),
        (5, 350.2, 1, 4000),
        (10, 695.9, 1, 2000),
        (20, 1465.9, 1, 2000),
        (50, 3623.0, 0, 1000),
        (100, 7290.0, 0, 500),
    )
    standing = (
        "published without an error. Ours for each dimension, 70.4 to 73, rises smoothly with d, "
        "the published ones do not: they scatter as means of some 70 trials would"
    )
    for d, published, places, runs in rows:
        size = 1.25 * np.sqrt(d / T)
        measure = regret_of(TS, ball(d, size**2), T, runs, signs(d, size))
        yield Anchor(
            f"signs, d={d}",
            SIGNS,
            f"d={d}, T=8,000",
            "TS",
            published,
            places,
            measure,
            standing=standing if d in (10, 20) else "",
        )


def ensemble_plus_plus():
    """Return what is claimed of the smallest M of Ensemble++: linear in d, nearly free of K."""
    agent = ("EnsemblePlusPlus", {"reference": "normal", "perturbations": "sphere"})
    sizes = [2, 4, 8, 12, 16, 24, 32, 48, 64, 128]
    rows = (
        ("d=50 over d=10, K=100", (100, 10), (100, 50), 5.0, 2.5),
        ("d=50 over d=10, K=10,000", (10_000, 10), (10_000, 50), 5.0, 2.5),
        ("K=1,000 over K=100, d=10", (100, 10), (1000, 10), 1.0, 0.5),
        ("K=10,000 over K=100, d=10", (100, 10), (10_000, 10), 1.0, 0.5),
        ("K=10,000 over K=100, d=50", (100, 50), (10_000, 50), 1.0, 0.5),
    )
    for name, small, large, published, vague in rows:
        problems = (uniform_arms(*small), uniform_arms(*large))
        yield Anchor(
            f"smallest M, {name}",
            ENSEMBLE,
            f"smallest M within 0.02 a step of TS, T=1,000: {name}",
            "Ensemble++",
            published,
            0,
            ratio_of_smallest(agent, problems, sizes, 1000, 200, 0.02),
            vague=vague,
        )


def theorem_d():
    """Return the anchors of the lower bound's problem."""
    for M, published, error in ((4, 118.6, 7.1), (16, 26.0, 2.9), (64, 6.1, 1.5)):
        problem = _hard(2, M)
        measure = regret_of(("EnsembleSampling", {"M": M}), problem, 2000, 20000)
        setting = f"K=2, the problem of M={M}, T=2,000"
        yield Anchor(
            f"theorem D, M={M}",
            THEOREM,
            setting,
            f"ES, M={M}",
            published,
            1,
            measure,
            error=error,
        )


def _hard(K, M):
    return lambda: fastes.LinearBandit.hard_for_ensembles(K, M)


ANCHORS = [
    *russo_van_roy(),
    *unit_balls(),
    *random_signs(),
    *ensemble_plus_plus(),
    *theorem_d(),
    *CLICKS,
    *CHANGING,
]
