"""Agents that learn the noise, step by step beside the slow truth, in law, saved and refused."""

import copy

import numpy as np
import pytest
import reference
from fastes.kernels.agents.thompson import draw_models
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source
from scipy import stats

import fastes

SEED = 2022
SMALL = fastes.LinearBandit.random(K=12, d=4, prior_mean=0.3, prior_cov=2.0, noise=0.7, seed=1)
MANY = fastes.LinearBandit.random(K=4000, d=3, noise=0.7, seed=1)
"""So many arms that a certificate searches them, for agents of both kinds of score."""

TRUTHS = (
    {"truth": None},
    {"truth": fastes.Truth(noise=1e-6)},
    {"truth": fastes.Truth(noise=1e5)},
    {"truth": fastes.Truth(noise=3.0), "delay": 7},
)
LEARNED = {"noise": "learned", "noise_shape": 1.5, "noise_scale": 3.0, "least_noise": 0.2}


class Known:
    """What is known before step t, in canonical coordinates, and the numbers of that step."""

    def __init__(self, bandit, actions, rewards, t, delay, prior):
        self.t, self.actions = t, actions[: max(0, t - delay)]
        prior = {"shape": 2.0, "scale": 1.0, "least": 0.1} if prior is None else prior
        self.least, root = prior["least"], np.sqrt(bandit.prior_cov)
        self.b = root * bandit.actions / bandit.noise
        self.o = bandit.actions @ np.full(bandit.d, bandit.prior_mean) / bandit.noise
        self.rows = self.b[self.actions]
        problem = reference.Problem(self.b, np.zeros(bandit.d), np.eye(bandit.d), 1.0)
        paid = rewards[: len(self.actions)] / bandit.noise - self.o[self.actions]
        self.mu, self.V, self.shape, self.scale = reference.learned_noise(
            problem, self.rows, paid, *prior.values()
        )

    def noise(self, stream):
        """Return s of the step's model."""
        return np.sqrt(self.scale / reference.gamma(SEED, 0, int(stream), self.t, self.shape))

    def normals(self, stream, n):
        return reference.normal_vector(SEED, 0, int(stream), self.t, n)

    def upper(self, q):
        """Return the upper ends of intervals of q scales of Student's law."""
        widths = np.sqrt(np.einsum("ij,jk,ik->i", self.b, self.V, self.b))
        return self.o + self.b @ self.mu + q * np.sqrt(self.scale / self.shape) * widths

    def values(self, deviation):
        return self.o + self.b @ (self.mu + deviation)

    def models(self, M, weights):
        """Return xi of M models; weights(t) are those of the reward of step t."""
        r = len(self.mu)
        xi = self.least * np.array([self.initial(m, r) for m in range(M)])
        for t, row in enumerate(self.rows):
            xi += np.outer(weights(t), row)
        return xi

    @staticmethod
    def initial(m, r):
        return reference.normal_vector(SEED, 0, int(layout.INITIAL_MODELS), m, r)


def thompson(known):
    root = np.linalg.inv(np.linalg.cholesky(np.linalg.inv(known.V)))  # X with V = X'X
    normals = known.normals(layout.POSTERIOR_SAMPLE, len(known.mu))
    return known.values(known.noise(layout.POSTERIOR_SAMPLE) * root.T @ normals)


def ensemble(known):
    M = 3
    choice = reference.integer(SEED, 0, int(layout.MODEL_INDEX), known.t, 2 * M)
    m, sign = (choice, 1.0) if choice < M else (choice - M, -1.0)

    def signs(t):
        stream = int(layout.PERTURBATION)
        return np.array([reference.sign(SEED, 0, stream, m, t) for m in range(M)])

    xi = known.models(M, signs)[m]
    return known.values(1.5 * sign * known.noise(layout.MODEL_INDEX) * known.V @ xi)


def ensemble_plus_plus(known):
    M = 4

    def weights(t):
        return reference.weights("sphere", SEED, 0, int(layout.PERTURBATION), t, M)

    zeta = reference.weights("sphere", SEED, 0, int(layout.REFERENCE), known.t, M)
    mixed = known.models(M, weights).T @ zeta / np.sqrt(M)
    return known.values(known.noise(layout.REFERENCE) * known.V @ mixed)


def perturbed_history(known):
    """Before the belief is first computed afresh: a normal for each arm, by its first play."""
    r, arms = len(known.mu), list(dict.fromkeys(known.actions.tolist()))
    normals = known.normals(layout.PERTURBATION, r + len(arms))[r:]
    plays = np.array([np.sum(known.actions == arm) for arm in arms])
    xi = (np.sqrt(plays) * normals) @ known.b[arms].reshape(len(arms), r)
    return known.values(0.8 * known.noise(layout.PERTURBATION) * known.V @ xi)


def bayes_ucb(known):
    q = stats.t.isf(1 / (known.t + 2), 2 * known.shape) if known.t else 0.0
    return known.upper(q)


_SLOW = pytest.mark.slow
AGENTS = [
    pytest.param(fastes.ThompsonSampling, {}, thompson, id="ts"),
    pytest.param(
        fastes.EnsembleSampling,
        {"M": 3, "engine": "eager", "perturbations": "signs", "symmetric": True, "inflation": 1.5},
        ensemble,
        id="es",
    ),
    pytest.param(fastes.LinUCB, {"alpha": 0.8}, lambda known: known.upper(0.8), id="linucb"),
    pytest.param(fastes.BayesUCB, {}, bayes_ucb, id="bayes-ucb"),
    pytest.param(fastes.Greedy, {}, lambda known: known.values(0.0), id="greedy", marks=_SLOW),
    pytest.param(fastes.EnsemblePlusPlus, {"M": 4}, ensemble_plus_plus, id="es++", marks=_SLOW),
    pytest.param(fastes.PerturbedHistory, {"scale": 0.8}, perturbed_history, id="phe", marks=_SLOW),
]


SLOW_AGENTS = [pytest.param(*AGENTS[i].values, marks=_SLOW, id=AGENTS[i].id) for i in (0, 3)]


def check(bandit, agent, scores_of, T, prior=None, every=1, **world):
    """Check that the arms of a run are the best by the reference, or tied to rounding."""
    kept = ["actions", "rewards"]
    result = fastes.simulate(bandit, agent, T=T, seed=SEED, keep=kept, progress=False, **world)
    actions, rewards = result.actions[0].astype(int), result.rewards[0]
    for t in range(0, T, every):
        known = Known(bandit, actions, rewards, t, world.get("delay", 0), prior)
        scores = scores_of(known)
        size = np.abs(scores).max()
        assert scores[actions[t]] >= scores.max() - 1e-7 * size, t


@pytest.mark.parametrize(("kind", "options", "scores_of"), AGENTS)
def test_every_arm_is_the_reference_s(kind, options, scores_of):
    for world in TRUTHS:
        prior = {"shape": 1.5, "scale": 3.0, "least": 0.2}
        check(SMALL, kind(**options, **LEARNED), scores_of, 60, prior, **world)
        check(SMALL, kind(**options, noise="learned"), scores_of, 30, **world)
    check(fastes.LinearBandit([[1.0]]), kind(**options, noise="learned"), scores_of, 1)


@pytest.mark.parametrize(("kind", "options", "scores_of"), [AGENTS[2], *SLOW_AGENTS])
@pytest.mark.parametrize("noise", [0.05, 20.0])
def test_a_certificate_finds_the_reference_s_arm(kind, options, scores_of, noise):
    """Also where the scale rises, and snapshots of less optimism bound nothing."""
    agent, truth = kind(**options, noise="learned"), fastes.Truth(noise=noise)
    check(MANY, agent, scores_of, 400, every=9, truth=truth)


def played(agent, bandit=SMALL, n=30):
    live, rng = agent.start(bandit, seed=3), np.random.default_rng(5)
    live.observe(rng.integers(bandit.K, size=n), 4.0 * rng.normal(size=n))
    return live


def test_thompson_sampling_draws_from_student_s_law():
    """Rejects a right program with probability 1e-4 for each of four directions."""
    live = played(fastes.ThompsonSampling(**LEARNED), n=5)
    belief, origin = live._state.belief, source(7)
    z = np.empty((20_000, SMALL.d))
    draw_models(live._state, origin, 0, z)
    shape, scale = belief.rewards.law
    root = belief.root  # S = X'X
    standard = (z - belief.mu) @ np.linalg.inv(root) / np.sqrt(scale / shape)
    for j in range(SMALL.d):
        assert stats.kstest(standard[:, j], stats.t(2 * shape).cdf).pvalue > 1e-4


@pytest.mark.parametrize("options", [{}, {"perturbations": "signs"}], ids=str)
def test_models_of_an_ensemble_are_draws_given_the_noise(options):
    """Their covariance, over four standard errors of 20,000 models: s^2 S of the next choice."""
    live = played(fastes.EnsembleSampling(20_000, **options, **LEARNED))
    again = live.ensemble()
    models = live.ensemble()
    assert (models == again).all()
    posterior, law = live.posterior(), live.noise_posterior()
    s2 = _noise_of_next(live) ** 2
    believed = posterior.covariance * (law.shape - 1) / law.scale * s2
    errors = np.sqrt((np.outer(*[np.diag(believed)] * 2) + believed**2) / len(models))
    centred = models - posterior.mean
    assert (np.abs(centred.T @ centred / len(models) - believed) <= 5 * errors).all()
    assert (
        np.abs(models.mean(axis=0) - posterior.mean) <= 5 * np.sqrt(np.diag(believed / 2e4))
    ).all()


def _noise_of_next(live):
    """Return s of the next choice, in units of reward."""
    law = live.noise_posterior()
    drawn = reference.gamma(live.seed, 0, int(layout.MODEL_INDEX), live.acts, law.shape)
    return np.sqrt(law.scale / drawn)


def test_a_live_agent_reports_the_reference_s_posterior():
    live = played(fastes.ThompsonSampling(**LEARNED))
    rng = np.random.default_rng(5)
    arms, rewards = rng.integers(SMALL.K, size=30), 4.0 * rng.normal(size=30)
    problem = reference.Problem.of(SMALL.actions, 0.3, 2.0, 0.7)
    prior = problem, SMALL.actions[arms], rewards, 1.5, 3.0, 0.2
    mean, V, shape, scale = reference.learned_noise(*prior)
    np.testing.assert_allclose(live.noise_posterior(), (shape, scale))
    np.testing.assert_allclose(live.posterior().mean, mean, atol=1e-9)
    np.testing.assert_allclose(live.posterior().covariance, scale / (shape - 1) * V, atol=1e-9)


def test_directions_that_no_arm_tells_of_are_as_uncertain_as_the_prior():
    bandit = fastes.LinearBandit([[1.0, 0.0, 0.0]], prior_cov=np.diag([1.0, 2.0, 3.0]))
    live = fastes.ThompsonSampling(noise="learned", least_noise=0.5).start(bandit)
    np.testing.assert_allclose(live.posterior().covariance, 4.0 * bandit.prior_cov, atol=1e-12)


AGENTS_OF_BITS = [
    fastes.ThompsonSampling(noise="learned"),
    fastes.EnsembleSampling(40, noise="learned"),
]


@pytest.mark.parametrize("agent", AGENTS_OF_BITS, ids=str)
def test_a_saved_agent_goes_on_to_the_same_bit(agent, tmp_path):
    live = played(agent)
    live.save(tmp_path / "agent.npz")
    for other in (fastes.LiveAgent.load(tmp_path / "agent.npz"), copy.deepcopy(live)):
        assert other.noise_posterior() == live.noise_posterior()
        assert other.agent == agent
        one = copy.deepcopy(live)
        for _ in range(20):
            arm = one.act()
            assert other.act() == arm
            for each in (one, other):
                each.observe(arm, 0.1 * arm)


@pytest.mark.parametrize("agent", AGENTS_OF_BITS, ids=str)
def test_runs_have_the_same_bits_together_alone_and_resumed(agent, tmp_path):
    """Run 0 of 3 is run 0 of 1; on two threads; and from a checkpoint with a longer horizon."""
    given = {"truth": fastes.Truth(noise=3.0), "seed": 4, "progress": False}
    whole = fastes.simulate(SMALL, agent, T=200, runs=3, threads=1, **given)
    for threads, runs in ((2, 3), (1, 1)):
        found = fastes.simulate(SMALL, agent, T=200, runs=runs, threads=threads, **given)
        assert (found.regret.per_run == whole.regret.per_run[:runs]).all()
    path = tmp_path / "run.ckpt"
    fastes.simulate(SMALL, agent, T=90, runs=3, checkpoint=path, **given)
    resumed = fastes.resume(path, T=200, progress=False)
    assert (resumed.regret.per_run[:, -1] == whole.regret.per_run[:, -1]).all()
    assert resumed.label == whole.label == agent.label


@pytest.mark.slow
def test_greedy_acts_on_the_mean_alone():
    """So its arms are those of noise that is known, with theta's prior as wide."""
    wide = fastes.LinearBandit(SMALL.actions, 0.3, 2.0 / 0.1**2, 0.7)
    live = fastes.Greedy(noise="learned").start(SMALL), fastes.Greedy().start(wide)
    rng = np.random.default_rng(2)
    for _ in range(40):
        arm, reward = int(rng.integers(SMALL.K)), 3.0 * rng.normal()
        for each in live:
            each.observe(arm, reward)
        assert live[0].act() == live[1].act()
    np.testing.assert_allclose(live[0].posterior().mean, live[1].posterior().mean)


def test_the_action_law_is_how_often_the_agent_plays_each_arm():
    """Of 20,000 choices, over five standard errors, the next s and model drawn anew for each."""
    for agent in AGENTS_OF_BITS:
        live = played(agent)
        arms, n = SMALL.canonical.arms, 20_000
        choices = np.bincount([live.act() for _ in range(n)], minlength=SMALL.K) / n
        law = agent.action_law(live._state, arms, source(9), 0)  # all models have been read
        assert law.draws >= 8192
        error = np.sqrt(law.probabilities * (1 - law.probabilities) * (1 / n + 1 / law.draws))
        assert (np.abs(choices - law.probabilities) <= 5 * error + 1e-3).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: fastes.Greedy(noise="guessed"), "noise must be one of known, learned"),
        (
            lambda: fastes.Greedy(noise_shape=3),
            "noise_shape is for agents that learn",
        ),
        (
            lambda: fastes.Greedy(least_noise=0.5),
            "noise, got 0.5",
        ),
        (
            lambda: fastes.LinUCB(noise="learned", noise_shape=0.5),
            "noise_shape must be a number from 1",
        ),
        (
            lambda: fastes.LinUCB(noise="learned", noise_scale=0),
            "noise_scale must be a number from 1e-09",
        ),
        (
            lambda: fastes.LinUCB(noise="learned", least_noise=2),
            "least_noise must be a number from 0.001",
        ),
        (
            lambda: fastes.ThompsonSampling(noise="learned").start(
                fastes.LogisticBandit(np.eye(2))
            ),
            "noise 'learned' is about gaussian rewards, got bernoulli",
        ),
        (
            lambda: fastes.simulate(
                SMALL, fastes.ThompsonSampling(noise="learned"), T=3, diagnostics=[0]
            ),
            "diagnostics compare with the posterior given the noise",
        ),
        (
            lambda: (
                fastes.ThompsonSampling(noise="learned", noise_shape=1).start(SMALL).posterior()
            ),
            "the covariance of theta is infinite before the first reward",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_noise_that_is_known_has_no_posterior():
    with pytest.raises(TypeError, match="knows the noise"):
        fastes.Greedy().start(SMALL).noise_posterior()
