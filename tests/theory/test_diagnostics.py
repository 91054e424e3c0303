"""Diagnostics: they change nothing, they are right, and the paper's inequalities hold."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from bandits import BANDITS
from crafted import crafted
from engine import start
from every_agent import FAMILY
from fastes.kernels.beliefs.interface import normal_law

import fastes
from fastes.agents.best_arms import draws_of
from fastes.files.kinds import FileFormatError
from fastes.results.comparison import Comparison
from fastes.results.diagnostics import Measurements
from fastes.theory import bounds
from fastes.theory import probe as look
from fastes.theory.inequalities import (
    first_order_measured,
    inequalities,
    information_measured,
    models_of,
    probe_times,
    sum_over_steps,
    theorem2_measured,
)
from fastes.theory.optimal_action import values_under

AGENTS = [
    fastes.EnsembleSampling(7),
    fastes.EnsembleSampling(7, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(1.5),
    fastes.UniformRandom(),
    *FAMILY,
    fastes.InformationDirectedSampling(70),
]
RANDOM = fastes.LinearBandit.random(8, 4, prior_cov=2.0, noise=0.8, seed=1)
RUNS = 120


@functools.cache
def watched(agent):
    """Return a result with measurements of every step of many runs."""
    return fastes.simulate(
        RANDOM, agent, T=12, runs=RUNS, seed=5, diagnostics=range(12), samples=1024
    )


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("name", ["full", "duplicate arms", "smallest", "more than a tile"])
def test_diagnostics_change_no_action(agent, name):
    bandit = BANDITS[name]
    plain = fastes.simulate(bandit, agent, T=60, runs=3, seed=2)
    seen = fastes.simulate(
        bandit, agent, T=60, runs=3, seed=2, diagnostics=[0, 1, 30, 59], samples=64
    )
    assert (plain.regret.per_run == seen.regret.per_run).all()
    assert (plain.counts == seen.counts).all()
    assert plain.diagnostics is None


def test_nothing_depends_on_threads_or_other_runs():
    agent = fastes.EnsembleSampling(9)
    few, many = (
        fastes.simulate(
            RANDOM, agent, 20, runs, 3, diagnostics=[0, 7], samples=128, threads=threads
        )
        for runs, threads in ((3, 1), (5, 4))
    )
    for one, other in zip(few.diagnostics.per_run, many.diagnostics.per_run, strict=True):
        assert np.array_equal(one, other[:3], equal_nan=True)


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_every_kind_of_bandit_can_be_diagnosed(name, agent):
    result = fastes.simulate(
        BANDITS[name], agent, T=4, runs=2, seed=1, diagnostics=[0, 3], samples=64
    )
    seen = result.diagnostics
    distance = seen.values("hellinger_squared")
    assert (distance >= -0.1).all()  # 64 draws: what the correction may take off too much
    assert (distance <= 2 + 1e-9).all()
    entropy = seen.values("entropy")
    assert not (entropy < -1e-9).any()  # nan where 64 draws are too few
    assert not (entropy > np.log(BANDITS[name].K) + 0.1).any()
    assert np.isfinite(seen.constants.eta_closed_form)
    rounding = 1e-9 * BANDITS[name].noise
    assert (seen.values("step_regret") >= -rounding).all()
    assert (seen.values("regret") >= 0).all()


@pytest.mark.parametrize("engine", ["deferred", "eager"])
def test_divergences_of_a_fresh_ensemble_are_those_of_a_multinomial(engine):
    # M phat_0 is multinomial(M, p_0), and K = 5 arms are equally good: E[KL(phat_0 || p_0)] is
    # (K - 1) / (2 M) and E[Hel^2] (K - 1) / (4 M), up to terms of order 1 / M^2. Level 1e-4 each.
    K, M = 5, 400
    agent = fastes.EnsembleSampling(M, engine)
    seen = fastes.simulate(
        fastes.LinearBandit(np.eye(K)), agent, T=1, runs=700, seed=8, diagnostics=[0]
    ).diagnostics
    for name, expected in (
        ("kl_phat_p", (K - 1) / (2 * M)),
        ("kl_p_phat", (K - 1) / (2 * M)),
        ("hellinger_squared", (K - 1) / (4 * M)),
    ):
        mean = seen.mean(name)
        assert mean.infinite[0] == mean.unknown[0] == 0
        assert abs(mean.value[0] - expected) < 3.9 * mean.se[0] + 2 * expected * K / M
    assert (seen.values("hellinger_correction") == 0).all()


def test_the_correction_takes_off_what_few_draws_add(monkeypatch):
    # In two dimensions the law is exact; without it, 256 draws. 4.5 standard errors.
    bandit = fastes.LinearBandit.random(6, 2, seed=4)
    options = {"T": 3, "runs": 250, "seed": 2, "diagnostics": [0, 2], "samples": 256}
    agent = fastes.EnsembleSampling(40)
    exact = fastes.simulate(bandit, agent, **options).diagnostics
    assert (exact.values("hellinger_correction") == 0).all()
    monkeypatch.setattr(look, "exact_law_of_the_best", lambda *_: None)
    drawn = fastes.simulate(bandit, agent, **options).diagnostics
    assert (drawn.values("hellinger_correction") > 0).all()
    assert_unbiased(drawn, exact)


def assert_unbiased(drawn, exact):
    names = ("hellinger_squared", "kl_phat_p", "kl_p_phat", "entropy", "step_regret", "main_regret")
    for name in names:
        with np.errstate(invalid="ignore"):
            gap = drawn.values(name) - exact.values(name)
        known = np.isfinite(gap)
        assert known.mean() > 0.5, name
        gap = gap[known]
        # The second-order expansion leaves a third order: a tenth of what it takes off.
        left = 0.1 * drawn.values("hellinger_correction").mean()
        assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(len(gap)) + left, name


def test_the_correction_knows_that_equal_arms_move_together(monkeypatch):
    # Each of four arms thirty times, 256 draws: taking them for 120 would take off thirty times
    # as much. The first probe is of a fresh ensemble, whose votes are exact shares too.
    rows = np.random.default_rng(3).normal(size=(4, 2))
    bandit = fastes.LinearBandit(np.tile(rows, (30, 1)))
    assert (bandit.duplicate_counts == 30).all()
    options = {"T": 2, "runs": 200, "seed": 2, "diagnostics": [0, 1], "samples": 256}
    agent = fastes.EnsembleSampling(200)
    exact = fastes.simulate(bandit, agent, **options).diagnostics
    monkeypatch.setattr(look, "exact_law_of_the_best", lambda *_: None)
    drawn = fastes.simulate(bandit, agent, **options).diagnostics
    assert_unbiased(drawn, exact)


def test_thompson_sampling_s_step_regret_is_unbiased_for_few_draws():
    # 4.5 standard errors around the value of 4096 draws.
    many, *few = (
        fastes.simulate(
            RANDOM, fastes.ThompsonSampling(), T=1, runs=2000, diagnostics=[0], samples=n
        ).diagnostics.mean("step_regret")
        for n in (4096, 2, 4, 64)
    )
    for each in few:
        assert abs(each.value[0] - many.value[0]) < 4.5 * np.hypot(each.se[0], many.se[0])


def test_information_is_not_known_from_draws_that_are_sparse():
    # At t = 0 the reward of one of three arms tells at most 0.24 nats, whatever the noise.
    for variance in (1.0, 1e2, 1e6, 1e8):
        bandit = fastes.LinearBandit(np.eye(3), prior_cov=variance)
        seen = fastes.simulate(bandit, fastes.UniformRandom(), T=1, runs=5, diagnostics=[0])
        information = seen.diagnostics.values("information")
        assert (np.isnan(information) | (information < 0.25)).all()
        assert np.isnan(information).all() == (variance >= 1e6)


def test_a_fixed_theta_has_no_bounds():
    result = fastes.simulate(
        RANDOM, fastes.EnsembleSampling(5), T=5, runs=3, diagnostics=[0, 4], theta=np.full(4, 30.0)
    )
    table = inequalities(result)
    assert table["bounds"] is None
    assert "theorem1" not in table["totals"]
    with pytest.raises(ValueError, match="do not apply to ES, M=5: theta was fixed"):
        theorem2_measured(result)


@pytest.mark.parametrize(
    ("length", "noise"), [(1e-160, 1.0), (1e155, 1e155), (1e160, 1e160), (1.0, 1e160)]
)
@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_scales_beyond_squares(length, noise, agent):
    rows = np.random.default_rng(0).normal(size=(3, 2))
    bandit = fastes.LinearBandit(length * rows, noise=noise)
    result = fastes.simulate(bandit, agent, T=300, runs=2, diagnostics=[0, 1, 299], samples=64)
    table = inequalities(result)
    assert all(math.isfinite(x) for x in table["step_regret"]["mean"])
    assert math.isfinite(table["totals"]["theorem2_of_phat"])


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_regret_is_the_sum_of_main_regrets_and_errors(agent):
    # 4.5 standard errors, paired run by run.
    result = watched(agent)
    seen = result.diagnostics
    for name in ("step_regret", "regret"):
        gap = seen.values(name).sum(axis=1) - result.regret.final
        assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(len(gap))
    assert sum_over_steps(seen.t, seen.values(name), 12) == pytest.approx(
        seen.values(name).sum(axis=1)
    )


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_the_information_gained_is_the_entropy_lost(agent):
    # E[I_t] = E[H(A* | H_t)] - E[H(A* | H_{t+1})], summed over steps. 4.5 standard errors, and a
    # hundredth for what binning and corrections leave.
    seen = watched(agent).diagnostics
    entropy, information = seen.values("entropy"), seen.values("information")[:, :-1]
    gap = entropy[:, 0] - entropy[:, -1] - information.sum(axis=1)
    slack = 0.01 * entropy[:, 0].mean()
    assert abs(gap.mean()) < 4.5 * gap.std() / np.sqrt(len(gap)) + slack


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_the_lemmas_of_the_proof_hold(agent):
    seen = watched(agent).diagnostics
    known = seen.constants
    # G_t <= iota sqrt(d I_t), run by run; an I_t near zero is known up to 3e-4 by 1024 draws.
    information = np.maximum(seen.values("information"), 0) + 3e-4
    bound = known.iota * np.sqrt(known.d * information)
    assert (seen.values("main_regret") <= bound).all()
    ratio = seen.mean("information_ratio")
    assert (ratio.unknown == 0).all()
    assert (ratio.value <= known.iota**2 * known.d).all()
    # E[D_t] <= eta sqrt(E[Hel^2]), each within four standard errors.
    error, distance = seen.mean("approximation_error"), seen.mean("hellinger_squared")
    highest = known.eta.value * np.sqrt(np.maximum(distance.value + 4 * distance.se, 0))
    assert (error.value - 4 * error.se <= highest + 1e-9).all()
    # Hel^2 is at most either divergence, where they are finite, up to their corrections.
    for name in ("kl_phat_p", "kl_p_phat"):
        divergence = seen.values(name)
        finite = np.isfinite(divergence)
        assert (seen.values("hellinger_squared")[finite] <= divergence[finite] + 0.02).all()


def test_the_matrix_of_the_information_ratio_has_the_rank_of_the_problem():
    # M_ij = sqrt(q_i p_j) (E[v_i | A* = j] - E[v_i]), from draws.
    bandit, rng = fastes.LinearBandit.random(12, 3, seed=2), np.random.default_rng(0)
    v = rng.normal(size=(20_000, 3)) @ bandit.actions.T
    best = v.argmax(axis=1)
    found = np.unique(best)
    p = np.array([np.mean(best == j) for j in found])
    means = np.array([v[best == j].mean(axis=0) for j in found]).T
    centre = means @ p
    q = rng.dirichlet(np.ones(12))
    matrix = np.sqrt(q[:, None] * p) * (means - centre[:, None])
    sizes = np.linalg.svd(matrix, compute_uv=False)
    assert sizes[3:].max() < 1e-12 * sizes[0]


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize(
    "bandit",
    [RANDOM, fastes.LinearBandit(np.eye(2), [0.0, 0.5]), BANDITS["duplicate arms"]],
)
def test_measured_regret_is_below_theorem_2_and_that_below_theorem_1(agent, bandit):
    if bandit is RANDOM:
        result = watched(agent)
    else:
        result = fastes.simulate(
            bandit, agent, T=12, runs=50, seed=6, diagnostics=range(12), samples=512
        )
    known, M = result.diagnostics.constants, models_of(result)
    regret = result.regret.mean[-1] + 4 * result.regret.se[-1]
    assert regret < theorem2_measured(result)
    if M is not None:
        assert theorem2_measured(result) < bounds.theorem1(known, 12, M)
        divergence = result.diagnostics.mean("kl_phat_p").value
        assert (divergence < bounds.divergence_bound(bandit.K, np.arange(12), M)).all()
    if agent == fastes.ThompsonSampling():
        assert theorem2_measured(result) == bounds.term_a(known, 12)


def test_what_each_agent_s_law_is():
    thompson = watched(fastes.ThompsonSampling()).diagnostics
    for name in ("hellinger_squared", "kl_phat_p", "kl_p_phat", "approximation_error"):
        assert np.abs(thompson.values(name)).max() < 1e-12
    greedy = watched(fastes.Greedy()).diagnostics
    # A single arm after the first step: infinite in every run, and the mean says so.
    assert (greedy.mean("kl_p_phat").infinite == [0] + [RUNS] * 11).all()
    assert (greedy.mean("kl_p_phat").value[1:] == np.inf).all()
    uniform = watched(fastes.UniformRandom()).diagnostics
    assert np.isfinite(uniform.values("kl_p_phat")).all()
    for agent in AGENTS:
        variance = watched(agent).diagnostics.values("ensemble_variance")
        assert np.isnan(variance).all() == (agent.name != "es")


def test_a_fresh_ensemble_has_the_moments_of_posterior_draws():
    # Mean squares are 1 in expectation; 4.5 standard errors each.
    agent = fastes.EnsembleSampling(20)
    seen = fastes.simulate(RANDOM, agent, T=1, runs=2000, diagnostics=[0], samples=2).diagnostics
    squares = (
        seen.values("ensemble_variance"),
        seen.values("ensemble_mean_error") ** 2,
        seen.values("ensemble_cov_error") ** 2,
    )
    for figure in squares:
        assert abs(figure.mean() - 1) < 4.5 * figure.std() / np.sqrt(2000)


def test_information_is_left_out_where_it_takes_too_long(monkeypatch):
    monkeypatch.setattr(look, "_AFFORDABLE", 1000)
    agent = fastes.ThompsonSampling()
    seen = fastes.simulate(RANDOM, agent, T=3, runs=2, diagnostics=[0, 2]).diagnostics
    assert np.isnan(seen.values("information")).all()
    assert seen.mean("information_ratio").unknown.tolist() == [2, 2]
    assert np.isnan(seen.mean("information_ratio").value).all()
    assert np.isfinite(seen.values("step_regret")).all()


def test_many_arms_that_are_seldom_the_best_get_more_draws():
    # A hundred arms on a sphere: 64 draws find none of them often.
    bandit = fastes.LinearBandit.random(100, 10)
    run = start(bandit, fastes.EnsembleSampling(100), 1)
    posterior = normal_law(run.state.belief)
    every = draws_of(posterior, run.source, 0, 8 * (64 + 512))

    def draws(q):
        return look._draws(bandit, posterior, run.source, 0, 512, q)

    plain, more = draws(None), draws(np.full(100, 0.01))
    assert plain.apart.sum() == pytest.approx(64)
    np.testing.assert_array_equal(plain.z, every[64 : 64 + 512])
    # The draws that chose are not among those that measure.
    assert more.apart.sum() == pytest.approx(8 * 64)
    np.testing.assert_array_equal(more.z, every[8 * 64 :])
    assert plain.informative == more.informative == 512
    # Arms that the agent does not play need no better probability.
    only_one = np.zeros(100)
    only_one[np.argmax(plain.apart)] = 1.0
    assert len(draws(only_one).z) == 512


def test_the_probe_of_a_state_is_that_of_the_run():
    agent = fastes.EnsembleSampling(5)
    run = start(RANDOM, agent, 9, seed=4, run=1)
    run.advance(0, 9)
    figures = look.probe(RANDOM, agent, run.state, run.source, 9, run.environment.means, 200)
    seen = fastes.simulate(
        RANDOM, agent, 12, runs=2, seed=4, diagnostics=[9], samples=200
    ).diagnostics
    np.testing.assert_array_equal([figure[1, 0] for figure in seen.per_run], list(figures))


def test_saved_diagnostics_come_back(tmp_path):
    result = watched(AGENTS[0])
    other = fastes.simulate(RANDOM, fastes.Greedy(), T=12, runs=RUNS, seed=5)
    Comparison((result, other)).save(tmp_path / "both.npz")
    first, second = fastes.load(tmp_path / "both.npz").results
    assert second.diagnostics is None
    assert first.diagnostics.constants == result.diagnostics.constants
    assert first.diagnostics.t.tolist() == list(range(12))
    for name in Measurements._fields:
        assert np.array_equal(
            first.diagnostics.values(name), result.diagnostics.values(name), equal_nan=True
        )
    assert inequalities(first) == inequalities(result)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays: arrays.update(probe_entropy_0=arrays["probe_entropy_0"][:, 1:]),
        lambda arrays: arrays.update(probe_times_0=np.arange(3)),
        lambda arrays: arrays.update(probe_times_0=np.arange(12).reshape(3, 4)),
        lambda arrays: arrays.pop("probe_entropy_0"),
    ],
)
def test_diagnostics_that_do_not_fit_are_refused(change, tmp_path):
    path = tmp_path / "result.npz"
    watched(AGENTS[0]).save(path)
    crafted(path, lambda meta, arrays: change(arrays))
    with pytest.raises(FileFormatError, match="is not a valid result"):
        fastes.load(path)


@pytest.mark.parametrize("wrong", [{"iota": "x"}, {"eta": 3.0}, {"more": 1}])
def test_constants_that_do_not_fit_are_refused(wrong, tmp_path):
    path = tmp_path / "result.npz"
    watched(AGENTS[0]).save(path)
    crafted(path, lambda meta, arrays: meta["diagnostics"][0]["constants"].update(wrong))
    with pytest.raises(FileFormatError, match="is not a valid result"):
        fastes.load(path)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (
            {"diagnostics": [3, 10]},
            ValueError,
            "a step in diagnostics must be an integer from 0 to 9, got 10",
        ),
        (
            {"diagnostics": [-1]},
            ValueError,
            "a step in diagnostics must be an integer from 0 to 9, got -1",
        ),
        ({"diagnostics": []}, TypeError, "diagnostics must be steps from 0 to 9, got"),
        ({"diagnostics": [0.5]}, TypeError, "diagnostics must be steps from 0 to 9, got"),
        ({"diagnostics": [None, 1]}, TypeError, "diagnostics must be steps from 0 to 9, got"),
        ({"diagnostics": [[0], [1, 2]]}, TypeError, "diagnostics must be steps from 0 to 9, got"),
        ({"diagnostics": [0], "samples": 1}, ValueError, "samples must be an integer from 2"),
        ({"diagnostics": [0], "samples": 2**32 - 1}, MemoryError, r"diagnostics .* needs"),
    ],
)
def test_bad_arguments_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        fastes.simulate(RANDOM, fastes.Greedy(), T=10, runs=3, **options)


def test_results_without_diagnostics_say_so():
    result = fastes.simulate(RANDOM, fastes.Greedy(), T=10)
    with pytest.raises(ValueError, match="holds no diagnostics: simulate with diagnostics="):
        inequalities(result)


def test_an_unknown_figure_is_refused():
    with pytest.raises(ValueError, match=r"must be one of hellinger_squared, .*, got 'hellinger'"):
        watched(AGENTS[0]).diagnostics.values("hellinger")


def test_sums_over_steps():
    rng = np.random.default_rng(0)
    for T, t in ((1, [0]), (9, [3]), (40, [2, 3, 17, 30]), (5, range(5)), (10, [0, 9])):
        times, values = np.array(t), rng.normal(size=(3, len(t)))
        steps = np.log(np.arange(T) + 1)
        expected = [np.interp(steps, np.log(times + 1), row).sum() for row in values]
        assert sum_over_steps(times, values, T) == pytest.approx(expected)


@pytest.mark.parametrize("T", [1, 2, 13, 10**6])
def test_looking_times_span_the_steps(T):
    times = probe_times(T)
    assert times[0] == 0
    assert times[-1] == T - 1
    assert len(times) <= 12
    assert (np.diff(times) > 0).all()


def test_one_run_has_no_standard_errors():
    result = fastes.simulate(RANDOM, fastes.EnsembleSampling(3), T=5, diagnostics=[0, 4])
    table = inequalities(result)
    assert table["entropy"]["se"] == [None, None]
    assert table["totals"]["regret"]["se"] is None
    assert all(math.isfinite(x) for x in table["entropy"]["mean"])


def test_the_measured_information_bound():
    result = watched(AGENTS[0])
    found, told = result.diagnostics, information_measured(result)
    divergence = found.values("kl_phat_p")
    before = np.cumsum(divergence, axis=1) - divergence
    assert told.value == pytest.approx(before.mean(axis=0) / 7, rel=1e-9, abs=1e-12)
    se = before.std(axis=0, ddof=1) / np.sqrt(RUNS) / 7
    assert told.se == pytest.approx(se, rel=1e-9, abs=1e-12)
    printed = inequalities(result)["information_of_phat"]
    assert printed["mean"] == pytest.approx(told.value)
    assert information_measured(watched(fastes.ThompsonSampling())) is None


def test_what_leaves_a_run_out_is_no_bound():
    def with_one(value):
        result = watched(AGENTS[0])
        found = result.diagnostics
        divergence = found.per_run.kl_phat_p.copy()
        divergence[5, 3] = value
        changed = replace(found, per_run=found.per_run._replace(kl_phat_p=divergence))
        return replace(result, diagnostics=changed)

    result = with_one(np.nan)
    told = information_measured(result)
    assert told.unknown.tolist() == [0] * 4 + [1] * 8
    assert np.isfinite(told.value[:4]).all()
    assert np.isnan(told.value[4:]).all()
    assert inequalities(result)["information_of_phat"]["mean"][4:] == [None] * 8
    endless = information_measured(with_one(np.inf))
    assert np.isinf(endless.value[4:]).all()


def test_theorem_b_with_measured_laws():
    for agent in AGENTS:
        result = watched(agent)
        bound = first_order_measured(result)
        mean, known = result.diagnostics.mean("hellinger_squared"), result.diagnostics.constants
        steps = np.maximum(mean.value + 3 * mean.se, 0)
        assert bound == pytest.approx(bounds.first_order_of(known, steps))
        assert result.regret.mean[-1] + 4.5 * result.regret.se[-1] < bound
        assert inequalities(result)["totals"]["first_order_of_phat"] == bound
    exact = first_order_measured(watched(fastes.ThompsonSampling()))
    assert exact == pytest.approx(bounds.term_a(known, 12), rel=1e-3)


def test_exceedance():
    # Given the history a posterior draw and theta are alike: one exceeds the other half the time.
    # So is a fresh model. Level: 4.5 standard errors, 14 comparisons.
    drawn = watched(fastes.ThompsonSampling()).diagnostics.mean("exceedance")
    assert (np.abs(drawn.value - 0.5) < 4.5 * drawn.se).all()
    for agent in AGENTS[:2]:
        result = watched(agent)
        models = result.diagnostics.mean("exceedance")
        assert abs(models.value[0] - 0.5) < 4.5 * models.se[0]
        shares = result.diagnostics.values("exceedance") * 7
        assert shares == pytest.approx(np.round(shares))
        least = inequalities(result)["totals"]["least_exceedance"]["mean"]
        assert least == pytest.approx(result.diagnostics.values("exceedance").min(axis=1).mean())
    assert inequalities(watched(fastes.Greedy()))["totals"]["least_exceedance"] is None


def test_exceedance_of_the_models_themselves():
    agent = fastes.EnsembleSampling(9, engine="eager")
    run = start(RANDOM, agent, T=1, seed=3)
    means = np.linspace(-1.0, 0.7, 8)
    found = look.probe(RANDOM, agent, run.state, run.source, 0, means, 256)
    xi = agent.models(run.state, run.source, 0)
    o, b = values_under(RANDOM, np.zeros(RANDOM.rank), np.eye(RANDOM.rank))
    best = (o + xi @ b.T).max(axis=1)  # at the start S is the identity
    assert found.exceedance == pytest.approx((best >= 0.7).mean())
