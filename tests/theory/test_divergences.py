"""Divergences: what is infinite is so, what was never drawn is not, and bounds are counted."""

import math

import numpy as np
import pytest
from engine import observe, start
from fastes.kernels.agents import ensemble_plus_plus, perturbed_history, thompson
from fastes.kernels.beliefs.interface import normal_law
from scipy.special import log_ndtr

import fastes
from fastes.agents.action_law import normal_of
from fastes.theory import divergences as module
from fastes.theory.divergences import law_of_frequencies, refined_law, seldom_best
from fastes.theory.inequalities import inequalities
from fastes.theory.line_sampling import LogProbability
from fastes.theory.measures import hellinger, kl
from fastes.theory.optimal_action import optimal_action
from fastes.theory.tables import inequalities_tables
from fastes.theory.winning_regions import inner_point, log_ball, region_of

SPHERE = fastes.LinearBandit.random(20, 4, seed=1)
ANGLES = np.linspace(0, 2 * np.pi, 300, endpoint=False)
OCTAGON = np.column_stack([np.cos(np.arange(8) * np.pi / 4), np.sin(np.arange(8) * np.pi / 4)])


def simulated(bandit, agent, **options):
    options = {"T": 40, "runs": 40, "seed": 3, "diagnostics": [0, 5, 39]} | options
    return fastes.simulate(bandit, agent, **options)


@pytest.mark.parametrize("samples", [64, 512])
def test_few_draws_give_the_divergence_of_many(samples):
    # 64 draws miss most arms of an ensemble of 40; 512 tell that eight times as many pay. 4.5
    # standard errors, paired, and a hundredth for what the second-order corrections leave.
    agent = fastes.EnsembleSampling(40)
    few, many = (simulated(SPHERE, agent, samples=n).diagnostics for n in (samples, 1 << 15))
    for name in ("kl_phat_p", "hellinger_squared"):
        gap = few.values(name) - many.values(name)
        assert np.isfinite(gap).all()
        assert (np.abs(gap.mean(axis=0)) < 4.5 * gap.std(axis=0) / math.sqrt(40) + 0.01).all()
    assert not few.values("kl_phat_p_bounded").any()


def test_an_arm_that_was_never_drawn_has_a_probability():
    # Uniform play of arms that can all be the best, most of which no draw finds in the end.
    result = simulated(SPHERE, fastes.UniformRandom(), T=400, diagnostics=[399], runs=4, samples=64)
    divergence = result.diagnostics.mean("kl_phat_p")
    assert divergence.infinite.tolist() == divergence.unknown.tolist() == [0]
    assert 1 < divergence.value[0] < 1e4


def test_probabilities_too_small_for_floats_enter_the_divergence():
    gap = 60.0
    bandit = fastes.LinearBandit(np.eye(2), prior_mean=[gap, 0.0])
    result = simulated(bandit, fastes.UniformRandom(), T=1, diagnostics=[0], runs=1, samples=64)
    z = gap / math.sqrt(2)
    exact = math.log(0.5) - 0.5 * (log_ndtr(z) + log_ndtr(-z))
    assert exact > 400
    # The lines of one arm, of which the error is known: 14 % of a probability, at most.
    assert result.diagnostics.values("kl_phat_p")[0, 0] == pytest.approx(exact, abs=0.35)


def test_an_arm_that_can_never_be_the_best_makes_the_mean_infinite():
    bandit = fastes.LinearBandit(np.vstack([np.eye(3), -np.eye(3), np.full((1, 3), 0.1)]))
    result = simulated(bandit, fastes.UniformRandom(), runs=5, samples=64)
    found = result.diagnostics
    assert found.mean("kl_phat_p").value.tolist() == [math.inf] * 3
    assert found.mean("kl_phat_p").infinite.tolist() == [5, 5, 5]
    assert np.isfinite(found.mean("hellinger_squared").value).all()
    assert inequalities(result)["kl_phat_p"]["mean"] == [None] * 3
    # The other way: uniform play misses no arm.
    assert found.mean("kl_p_phat").infinite.tolist() == [0, 0, 0]


def test_the_reverse_divergence_is_infinite_where_an_arm_that_can_win_is_not_played():
    # Greedy play of a gap so wide that no draw finds another best arm; p is positive all the same.
    bandit = fastes.LinearBandit(np.eye(4), prior_mean=[20.0, 0.0, 0.0, 0.0])
    found = simulated(bandit, fastes.Greedy(), T=1, diagnostics=[0], runs=2, samples=64).diagnostics
    assert np.isinf(found.values("kl_p_phat")).all()
    assert found.values("kl_phat_p") == pytest.approx(0, abs=1e-12)
    # Where the others can never win it is finite: of arms on a line, the ends.
    line = fastes.LinearBandit([[0.0], [1.0], [0.5]], prior_mean=[9.0], prior_cov=0.0)
    found = simulated(line, fastes.Greedy(), T=1, diagnostics=[0], runs=1, samples=64).diagnostics
    assert found.values("kl_p_phat").tolist() == [[0.0]]


def test_where_no_line_meets_a_region_the_divergence_is_a_bound_and_counted(monkeypatch):
    agent = fastes.EnsembleSampling(15)
    options = {"runs": 6, "samples": 64}
    found = simulated(SPHERE, agent, **options).diagnostics
    monkeypatch.setattr(module, "log_probability", lambda *_: LogProbability(-math.inf, math.inf))
    result = simulated(SPHERE, agent, **options)
    bounded = result.diagnostics
    flags = bounded.values("kl_phat_p_bounded")
    assert flags[:, 0].all()
    assert np.isfinite(bounded.values("kl_phat_p")).all()
    assert (bounded.values("kl_phat_p") > found.values("kl_phat_p"))[flags > 0].all()
    table = inequalities(result)
    assert table["kl_phat_p"]["bounded"] == flags.sum(axis=0).tolist()
    words = list(inequalities_tables(fastes.Comparison((result,)), [table]))
    cells = [row[2] for row in words[3].rows]
    assert cells[0].startswith("<=")
    assert cells[0].endswith("in 6")
    assert any("an upper bound" in word for word in words if isinstance(word, str))


def test_what_would_take_too_long_is_unknown_and_counted(monkeypatch):
    monkeypatch.setattr(module, "_AFFORDABLE", 1)
    monkeypatch.setattr(module, "_TRIED", 3)
    found = simulated(SPHERE, fastes.UniformRandom(), runs=3, samples=64).diagnostics
    divergence = found.mean("kl_phat_p")
    assert divergence.unknown.tolist() == [3, 3, 3]
    assert np.isnan(divergence.value).all()
    assert np.isfinite(found.values("hellinger_squared")).all()
    # An arm that can never win is found among the few that are tried.
    inner = fastes.LinearBandit(np.vstack([np.zeros((1, 4)), SPHERE.actions]))
    found = simulated(inner, fastes.UniformRandom(), runs=3, samples=64).diagnostics
    assert found.mean("kl_phat_p").infinite.tolist() == [3, 3, 3]


def prior_law(bandit, seldom):
    run = start(bandit, fastes.UniformRandom(), 1, seed=1, run=0)
    posterior = normal_law(run.state.belief)
    frequencies = np.full(bandit.K, 1 / bandit.K)
    law = law_of_frequencies(frequencies, 100, bandit.duplicate_counts)
    return refined_law(law, np.array(seldom), bandit, posterior, run.source, 0)


def test_equal_arms_share_their_probability():
    # Eight arms on a circle, the first three times: a third of an eighth each.
    law = prior_law(fastes.LinearBandit(np.vstack([OCTAGON, OCTAGON[[0, 0]]])), [0, 3, 8, 9])
    assert law.log_p[0] == law.log_p[8] == law.log_p[9]
    assert law.p[0] == pytest.approx(1 / 24, rel=5 * math.sqrt(law.variance[0]))
    assert law.p[3] == pytest.approx(1 / 8, rel=5 * math.sqrt(law.variance[3]))
    assert law.p.sum() == pytest.approx(1)
    # The others share the rest as they did.
    assert np.ptp(law.p[[1, 2, 4, 5, 6, 7]]) < 1e-12


def test_a_seldom_arm_is_chosen_by_other_draws():
    counts = np.array([1, 1, 1, 2])
    p = np.array([0.5, 0.3, 0.01, 0.19])
    apart = np.array([9.0, 0.0, 3.0, 1.0])
    # Enough of both kinds; of none apart; of few that p is from; equal arms count together.
    assert seldom_best(p, 100, apart, counts).tolist() == [False, True, True, False]
    # An exact law is refined only where it is next to nothing.
    exact = np.array([1.0, 0.0, 1e-12, 1e-3])
    assert seldom_best(exact, math.inf, apart, counts).tolist() == [False, True, True, False]


def test_an_entropy_from_too_few_draws_is_unknown():
    # 300 arms of one probability: 64 to 4,096 draws. Where it is known it is right to a tenth.
    bandit = fastes.LinearBandit(np.column_stack([np.cos(ANGLES), np.sin(ANGLES)]))
    options = {"T": 1, "runs": 20, "diagnostics": [0]}
    for samples, known in ((64, False), (256, False), (1024, True), (4096, True)):
        found = simulated(bandit, fastes.ThompsonSampling(), samples=samples, **options)
        entropy = found.diagnostics.values("entropy")
        assert np.isfinite(entropy).all() == known
        assert np.isnan(entropy).all() != known
        assert not known or abs(entropy.mean() - math.log(300)) < 0.1
    # Equal arms share a draw, and are one arm for this.
    twice = fastes.LinearBandit(np.tile(np.eye(3), (40, 1)))
    found = simulated(twice, fastes.ThompsonSampling(), samples=64, **options).diagnostics
    assert np.isfinite(found.values("entropy")).all()


def test_the_bound_by_a_ball_is_below_the_probability():
    rng = np.random.default_rng(0)
    m, c = rng.normal(size=30), rng.normal(size=(30, 3))
    best = (m + rng.normal(size=(200_000, 3)) @ c.T).argmax(axis=1)
    p = np.bincount(best, minlength=30) / len(best)
    for arm in np.flatnonzero(p > 1e-3):
        region = region_of(m, c, arm)
        assert log_ball(region, inner_point(region)) < math.log(p[arm])


TWISTED = fastes.LinearBandit.random(12, 3, prior_mean=0.8, seed=5)


@pytest.mark.parametrize("inflation", [0.4, 2.0])
def test_the_law_of_inflated_draws_is_known_where_few_draws_play_an_arm(inflation):
    # At the prior q is the law of the best arm under N(0, inflation^2 I), by draws of their own.
    agent = fastes.ThompsonSampling(inflation=inflation)
    found = simulated(TWISTED, agent, T=1, diagnostics=[0], runs=12, samples=4096).diagnostics
    p = optimal_action(TWISTED, samples=1 << 18).probabilities
    q = optimal_action(TWISTED, root=inflation * np.eye(3), samples=1 << 22).probabilities
    assert (q > 0).all()
    for name, expected in (("kl_p_phat", kl(p, q)), ("kl_phat_p", kl(q, p))):
        mean = found.mean(name)
        assert mean.unknown.tolist() == [0] == mean.infinite.tolist()
        # Twelve probes and the error of the sample q: 4.5 standard errors, and 2 %.
        assert abs(mean.value[0] - expected) < 4.5 * mean.se[0] + 0.02 * expected
    expected = hellinger(p, q) ** 2
    mean = found.mean("hellinger_squared")
    assert abs(mean.value[0] - expected) < 4.5 * mean.se[0] + 0.02 * expected


@pytest.mark.parametrize(
    ("agent", "kernels"),
    [
        (fastes.ThompsonSampling(inflation=0.5), thompson),
        (fastes.PerturbedHistory(scale=1.3), perturbed_history),
        (fastes.EnsemblePlusPlus(7, reference="normal"), ensemble_plus_plus),
    ],
)
def test_the_normal_law_of_a_model_is_that_of_its_draws(agent, kernels):
    run, arms = start(TWISTED, agent, 20, seed=3), TWISTED.canonical.arms
    agent.begin(run.state, run.source)
    for t in range(9):
        observe(run.state, arms, run.source, t, t, 0.3 * t - 1.0)
    law = agent.action_law(run.state, arms, run.source, 9).normal
    z = np.empty((40_000, 3))
    kernels.draw_models(run.state, run.source, 9, z)
    white = np.linalg.solve(law.root.T, (z - law.mean).T)
    # 4.5 standard errors, of three means and nine products.
    assert (np.abs(white.mean(axis=1)) < 4.5 / 200).all()
    assert (np.abs(white @ white.T / 40_000 - np.eye(3)) < 4.5 * math.sqrt(2) / 200).all()


def test_laws_that_are_flat_in_a_direction_are_left_to_draws():
    assert normal_of(np.zeros(3), np.ones((2, 3))) is None
    assert normal_of(np.zeros(2), np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])) is None
    root = np.random.default_rng(0).normal(size=(5, 3))
    law = normal_of(np.zeros(3), root)
    np.testing.assert_allclose(law.root.T @ law.root, root.T @ root, atol=1e-12)
