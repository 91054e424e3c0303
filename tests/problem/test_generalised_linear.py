"""Logistic and Poisson bandits as users meet them: simulations, live agents, files, refusals."""

import copy
import json
import pickle

import numpy as np
import pytest
import reference
from every_agent import some
from fastes.kernels.streams import layout

import fastes
from fastes.files.kinds import FileFormatError
from fastes.problem.bandits import REWARDS, bandit_class

LOGISTIC = fastes.LogisticBandit.random(K=12, d=3, prior_cov=4.0)
POISSON = fastes.PoissonBandit.random(K=12, d=3, prior_mean=0.3, prior_cov=0.5)
BANDITS = {"bernoulli": LOGISTIC, "poisson": POISSON}
AGENTS = [
    fastes.EnsembleSampling(5),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(5, symmetric=True, inflation=1.5),
    fastes.EnsembleSampling(5, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(),
    fastes.BayesUCB(),
    fastes.EpsilonGreedy(),
    fastes.PerturbedHistory(),
    fastes.EnsemblePlusPlus(4),
    fastes.UniformRandom(),
    fastes.EnsembleSampling(5, variance=0.25),
    fastes.EnsembleSampling(5, perturbations="bootstrap"),
    fastes.EnsembleSampling(5, belief="online"),
    fastes.EnsembleSampling(10**9, belief="online"),
    fastes.EnsembleSampling(5, belief="online", engine="eager"),
    fastes.ThompsonSampling(belief="online"),
    fastes.ThompsonSampling(sampler="metropolis"),
    fastes.LinUCB(belief="online"),
    fastes.PerturbedHistory(belief="online"),
    fastes.EnsemblePlusPlus(4, belief="online"),
]
LIVE = [*AGENTS[:3], AGENTS[4], AGENTS[7], *AGENTS[12:16], *AGENTS[17:19]]
"""Deferred ensembles, Thompson sampling and Bayes-UCB."""

RNG = np.random.default_rng(0)
ARMS = RNG.normal(size=(6, 3))
CHANGING = {
    "fresh": fastes.actions.Fresh(6, 3),
    "ball": fastes.actions.Ball(3),
    "subset": fastes.actions.Subset(ARMS, 3),
    "given": fastes.actions.Given(RNG.normal(size=(120, 6, 3))),
}
METROPOLIS = fastes.ThompsonSampling(sampler="metropolis")
each_law = pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)


@each_law
def test_rewards_and_regret_are_those_of_the_law(bandit):
    """Uniform play: rewards against their means, of 200 runs, at 4.5 standard errors."""
    agent, T, runs = fastes.UniformRandom(), 300, 200
    result = fastes.simulate(bandit, agent, T, runs, keep=["actions", "rewards"])
    link = {"bernoulli": lambda v: 1 / (1 + np.exp(-v)), "poisson": np.exp}[bandit.rewards.name]
    gaps = []
    for run in range(runs):
        normals = reference.normal_vector(0, run, int(layout.THETA), 0, bandit.rank)
        theta = bandit.prior_mean + np.sqrt(bandit.prior_cov) * normals
        means = link(bandit.actions @ theta)
        played = means[result.actions[run]]
        gaps.append(result.rewards[run].mean() - played.mean())
        assert result.regret.per_run[run, -1] == pytest.approx((means.max() - played).sum())
    assert bandit.rewards.takes(result.rewards).all()
    assert abs(np.mean(gaps)) < 4.5 * np.std(gaps) / np.sqrt(runs)


@pytest.mark.parametrize("agent", some(AGENTS, *LIVE))
def test_a_live_agent_plays_as_the_simulated_one(agent):
    result = fastes.simulate(LOGISTIC, agent, T=40, keep=["actions", "rewards"])
    live = agent.start(LOGISTIC)
    for arm, reward in zip(result.actions[0], result.rewards[0], strict=True):
        assert live.act() == arm
        live.observe(int(arm), bool(reward))


@pytest.mark.parametrize("agent", [AGENTS[0], AGENTS[1], AGENTS[4], METROPOLIS], ids=str)
@each_law
def test_a_checkpoint_goes_on_to_a_longer_horizon(bandit, agent, tmp_path):
    file = tmp_path / "run.ckpt"
    fastes.simulate(bandit, agent, T=50, runs=3, delay=2, checkpoint=file)
    resumed = fastes.resume(file, T=120)
    whole = fastes.simulate(bandit, agent, T=120, runs=3, delay=2)
    assert (resumed.regret.per_run == whole.regret.per_run).all()


@pytest.mark.parametrize("agent", [AGENTS[0], AGENTS[1], AGENTS[4], METROPOLIS], ids=str)
def test_saved_and_copied_agents_go_on_to_the_same_bit(agent, tmp_path):
    live = agent.start(LOGISTIC, seed=3)
    for _ in range(20):
        live.observe(live.act(), 1)
    live.save(tmp_path / "a.npz")
    read = fastes.load(tmp_path / "a.npz")
    others = [read, copy.deepcopy(live), pickle.loads(pickle.dumps(live))]
    for _ in range(20):
        arm = live.act()
        assert [other.act() for other in others] == [arm] * 3
        for each in (live, *others):
            each.observe(arm, 0)
    assert (live.posterior().mean == others[0].posterior().mean).all()


def test_an_ensemble_is_of_modes_of_perturbed_data():
    """Models that were never read are modes: |gradient| is that of a perturbation of N(0, P)."""
    live = fastes.EnsembleSampling(4000).start(LOGISTIC)
    rng = np.random.default_rng(5)
    arms = rng.integers(LOGISTIC.K, size=200)
    live.observe(arms, rng.integers(2, size=200))
    models, (mean, covariance) = live.ensemble(), live.posterior()
    gap = (models - mean).mean(axis=0) / np.sqrt(np.diag(covariance) / len(models))
    assert (np.abs(gap) < 10).all()  # near Laplace's mean, but not that: 4.5 of chance, a bias
    assert np.cov(models.T) == pytest.approx(covariance, rel=0.25, abs=0.02)


def test_agents_in_python_and_late_rewards_and_another_prior():
    class Follow:
        """Plays what Thompson sampling would."""

        def start(self, bandit, seed):
            return fastes.ThompsonSampling().start(bandit, seed)

    truth = fastes.Truth(prior_mean=1.0)
    results = fastes.compare(
        LOGISTIC, [Follow(), fastes.UniformRandom()], T=60, runs=4, truth=truth, delay=5
    )
    assert results[0].regret.mean[-1] < results[1].regret.mean[-1]
    assert results[0].configuration.rewards == "bernoulli"


def test_redrawn_arms_repeat():
    bandit = fastes.LogisticBandit(fastes.actions.Redrawn(8, 2))
    whole = fastes.simulate(bandit, fastes.EnsembleSampling(3), T=50, runs=4)
    assert (whole.regret.per_run[:, -1] > 0).any()


LEARNERS = [
    *(fastes.EnsembleSampling(M) for M in (5, 10**9)),
    fastes.LinUCB(),
    fastes.ThompsonSampling(),
    fastes.EnsembleSampling(5, engine="eager"),
    fastes.PerturbedHistory(),
    fastes.EnsemblePlusPlus(4),
]
SETS = [*((LOGISTIC, name) for name in CHANGING), (POISSON, "fresh")]


@pytest.mark.parametrize(
    ("bandit", "name", "agent"),
    [
        pytest.param(
            *(bandit, name, agent),
            marks=[] if (bandit, name) == SETS[0] or agent in LEARNERS[:3] else pytest.mark.slow,
            id=f"{bandit.rewards.name}-{name}-{agent}",
        )
        for bandit, name in SETS
        for agent in LEARNERS
    ],
)
def test_on_sets_that_change_all_agents_learn(bandit, name, agent):
    """Each loses less than uniform play, on the mean of 20 paired runs."""
    changing = type(bandit)(CHANGING[name], prior_cov=0.5)
    learns, uniform = fastes.compare(changing, [agent, fastes.UniformRandom()], T=120, runs=20)
    assert (uniform.regret.final - learns.regret.final).mean() > 0
    again = fastes.rerun(learns)
    assert (again.regret.per_run == learns.regret.per_run).all()


@pytest.mark.parametrize("belief", ["exact", "online"])
@pytest.mark.parametrize(
    "kind",
    [
        fastes.LinUCB,
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in (fastes.Greedy, fastes.ThompsonSampling)
        ),
    ],
)
def test_a_set_that_never_changes_is_a_fixed_one(kind, belief):
    """The same arms given at every step: the same data in other places, so the same actions."""
    agent, T = kind(belief=belief), 80
    given = fastes.LogisticBandit(fastes.actions.Given(np.tile(ARMS, (T, 1, 1))), prior_cov=2.0)
    fixed = fastes.LogisticBandit(ARMS, prior_cov=2.0)
    played = [
        fastes.simulate(bandit, agent, T, runs=5, keep=["actions"]).actions
        for bandit in (given, fixed)
    ]
    assert (played[0] == played[1]).all()


@pytest.mark.parametrize(("M", "belief"), [(1, "online"), (2, "exact"), (8, "online")])
def test_ensembles_on_fresh_arms_have_the_law_of_the_eager_engine(M, belief):
    """Final regret of 2,000 runs each, at 4 standard errors of the difference."""
    bandit = fastes.LogisticBandit(fastes.actions.Fresh(4, 2), prior_cov=4.0)
    final = [
        fastes.simulate(
            bandit, fastes.EnsembleSampling(M, belief=belief, engine=engine), 40, 2000, seed=seed
        ).regret.final
        for engine, seed in (("deferred", 1), ("eager", 2))
    ]
    for power in (1, 2):
        a, b = (np.power(each, power) for each in final)
        error = np.sqrt(a.var() / len(a) + b.var() / len(b))
        assert abs(a.mean() - b.mean()) < 4 * error


@each_law
def test_a_live_agent_takes_offers(bandit, tmp_path):
    """Clicks on arms offered now: posterior and next choices come back from a file."""
    offered = type(bandit)(fastes.actions.Offered(3), prior_cov=0.5)
    live, rng = fastes.EnsembleSampling(50).start(offered), np.random.default_rng(4)
    theta = np.array([0.6, -0.5, 0.4])
    for _ in range(300):
        rows = rng.normal(size=(5, 3))
        chosen = live.act(rows)
        value = rows[chosen] @ theta
        clicked = rng.random() < 1 / (1 + np.exp(-value))
        live.observe(rows[chosen], clicked if bandit is LOGISTIC else rng.poisson(np.exp(value)))
    mean, covariance = live.posterior()
    # Of three coordinates, each within 4.5 standard deviations of the belief.
    assert (np.abs(mean - theta) < 4.5 * np.sqrt(np.diag(covariance))).all()
    live.save(tmp_path / "a.npz")
    assert fastes.load(tmp_path / "a.npz").act(rows) == live.act(rows)


@each_law
def test_problems_and_results_come_back(bandit, tmp_path):
    bandit.save(tmp_path / "p.npz")
    again = fastes.load(tmp_path / "p.npz")
    assert type(again) is type(bandit) is bandit_class(bandit.rewards.name)
    assert (
        again.fingerprint
        == bandit.fingerprint
        != fastes.LinearBandit(bandit.actions, bandit.prior_mean, bandit.prior_cov).fingerprint
    )
    result = fastes.simulate(bandit, fastes.Greedy(), T=20)
    result.save(tmp_path / "r.npz")
    read = fastes.load(tmp_path / "r.npz")
    assert (fastes.rerun(read).regret.per_run == result.regret.per_run).all()
    described = json.loads(json.dumps(read.to_dict()))
    assert (described["rewards"], described["noise"]) == (bandit.rewards.name, None)
    with pytest.raises(FileFormatError, match=r"it is a (Logistic|Poisson)Bandit, not a LinearB"):
        fastes.LinearBandit.load(tmp_path / "p.npz")


def test_the_law_is_an_axis_of_a_study(tmp_path):
    study = fastes.Study(agent=["ts"], rewards=list(REWARDS), K=6, d=2, T=20, runs=4)
    swept = fastes.sweep(study, tmp_path / "s.db").results()
    results = {setting.axes["rewards"]: result for setting, result in swept}
    for name in REWARDS:
        direct = fastes.simulate(
            bandit_class(name).random(6, 2), fastes.ThompsonSampling(), T=20, runs=4
        )
        assert (results[name].regret.per_run == direct.regret.per_run).all()


@pytest.mark.parametrize(
    ("bandit", "reward"),
    [
        *((LOGISTIC, reward) for reward in (0.5, 2, -1, 1.0001, np.nan, "yes", None, [0, 3])),
        *((POISSON, reward) for reward in (0.5, -1, 1e13, np.inf)),
    ],
)
def test_rewards_that_cannot_be_are_refused(bandit, reward):
    live = fastes.Greedy().start(bandit)
    arms = [0, 1] if isinstance(reward, list) else 0
    with pytest.raises((ValueError, TypeError), match="reward must be"):
        live.observe(arms, reward)
    assert live.observations == 0
    assert (live.posterior().mean == bandit.prior_mean).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: fastes.simulate(LOGISTIC, fastes.InformationDirectedSampling(64), T=5),
            "V-IDS plays on gaussian rewards only",
        ),
        (
            lambda: fastes.EnsembleSampling(3, perturbations="signs").start(LOGISTIC),
            "perturbations must be normal for rewards that are not gaussian",
        ),
        (
            lambda: fastes.Greedy(belief="exact").start(
                fastes.PoissonBandit(fastes.actions.Offered(2))
            ),
            "belief 'exact' keeps every reward of arms that do not come again",
        ),
        (
            lambda: fastes.simulate(
                LOGISTIC, fastes.EnsembleSampling(3, belief="online", variance=0.2), T=5
            ),
            "variance is that of the rewards, 'fisher', where a belief is online, got 0.2",
        ),
        (
            lambda: fastes.EnsembleSampling(3, variance=-1.0),
            "variance must be one of fisher, a positive number, got -1.0",
        ),
        (
            lambda: fastes.simulate(fastes.LinearBandit.random(5, 2), METROPOLIS, T=5),
            "sampler is about rewards that are not gaussian, whose posterior has no closed form",
        ),
        (
            lambda: fastes.simulate(
                LOGISTIC, fastes.ThompsonSampling(sampler="metropolis", belief="online"), T=5
            ),
            "sampler 'metropolis' needs belief 'exact'",
        ),
        (
            lambda: METROPOLIS.start(fastes.LogisticBandit(fastes.actions.Offered(2))),
            "sampler 'metropolis' needs belief 'exact'",
        ),
        (
            lambda: fastes.simulate(
                fastes.LinearBandit.random(5, 2), fastes.Greedy(belief="online"), T=5
            ),
            "belief is about rewards that are not gaussian: leave it out",
        ),
        (
            lambda: fastes.simulate(LOGISTIC, fastes.Greedy(), T=5, truth=fastes.Truth(noise=2)),
            "truth's noise is about Gaussian rewards, got Truth.noise=2.0. for bernoulli rewards",
        ),
        (
            lambda: fastes.simulate(LOGISTIC, fastes.Greedy(belief="online"), T=5, diagnostics=[0]),
            "diagnostics compare with the posterior given all data, which belief 'online' does not",
        ),
        (
            lambda: fastes.Study(rewards="poisson", noise=2.0),
            "noise is about gaussian rewards, got 2 for poisson rewards",
        ),
        (
            lambda: fastes.Study(rewards="clicks"),
            "rewards must be one of gaussian, bernoulli, poisson, got 'clicks'",
        ),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("reward", [0, 1])
@pytest.mark.parametrize("agent", [AGENTS[0], AGENTS[4], AGENTS[6], METROPOLIS], ids=str)
def test_the_smallest_problem_and_rewards_that_are_all_alike(agent, reward):
    bandit = fastes.LogisticBandit([[1000.0]], prior_cov=100.0)
    live = agent.start(bandit)
    for _ in range(30):
        live.observe(live.act(), reward)
    mean = float(live.posterior().mean[0])
    assert np.isfinite(mean)
    assert (mean > 0) == (reward == 1)


@pytest.mark.parametrize(
    ("actions", "belief"),
    [
        ([[1.0], [0.5]], {"prior_mean": 1e5}),
        ([[1.0], [-1.0]], {"prior_cov": 1e4}),
        (fastes.actions.Redrawn(5, 2), {"prior_mean": 300.0}),
        (fastes.actions.Redrawn(5, 2), {"prior_cov": np.diag([1.0, 1e4])}),
    ],
)
def test_counts_that_would_overflow_are_refused(actions, belief):
    with pytest.raises(ValueError, match="the arms' values must stay below 200 within six"):
        fastes.PoissonBandit(actions, **belief)
