"""pbar_t by particles: against rejection, at its limits, and honest where it fails."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from pbar import __main__ as command
from pbar.history_laws import bounds_on, history_laws
from pbar.particle_filter import (
    GROUPS,
    _Cloud,
    _distinct,
    _divergences,
    filter_history,
    smoothed,
)

import fastes
from fastes.theory.measures import hellinger, kl

KEPT = {"keep": ("actions", "rewards"), "diagnostics": [0, 1, 2, 5]}
BANDIT = fastes.LinearBandit([[1.0, 0.0], [0.6, 0.8], [-0.5, 0.9]], 0.1, [1.0, 2.0], 0.7)


@pytest.mark.parametrize("M", [1, 3])
@pytest.mark.parametrize(("arms", "rewards"), [([0], [0.4]), ([1, 1], [1.5, -0.2])])
def test_pbar_against_rejection(M, arms, rewards):
    # Level: 4.5 standard errors, 12 comparisons.
    problem = reference.Problem.of(BANDIT.actions, 0.1, [1.0, 2.0], 0.7)
    law, kept = reference.pbar_by_rejection(problem, M, arms, rewards, 1200, seed=M)
    times = np.arange(len(arms) + 1)
    found = filter_history(BANDIT, M, np.array(arms), np.array(rewards), times, 20_000, seed=1)
    by_arm = found.pbar[-1][_distinct(BANDIT)[2]]  # distinct arms are sorted
    error = np.sqrt(law * (1 - law) / kept) + 0.005
    assert (np.abs(by_arm - law) < 4.5 * error).all()


def test_a_first_step_knows_the_law():
    # Before anything is played pbar_0 = p_0, for every problem, equal arms and one arm included.
    for bandit in (BANDIT, BANDITS["duplicate arms"], BANDITS["smallest"]):
        found = filter_history(bandit, 3, np.zeros(1, int), np.zeros(1), np.array([0]), 4096)
        assert found.effective[0] == 4096
        assert abs(found.kl[0]) < 0.01 + 4.5 * found.kl_se[0]
        assert found.pbar[0].sum() == pytest.approx(1)
        assert found.p[0].sum() == pytest.approx(1)


def test_many_models_are_thompson_sampling_and_one_model_repeats_itself():
    arms, rewards = np.array([1, 1, 1]), np.array([0.3, 0.2, 0.1])
    many = filter_history(BANDIT, 400, arms, rewards, np.arange(4), 256)
    assert (np.abs(many.kl) < 1e-3).all()
    one = filter_history(BANDIT, 1, arms, rewards, np.arange(4), 4096)
    assert (one.kl[1:] > 0.05).all()
    assert (one.effective[1:] < 4096).all()
    assert (np.diff(one.effective) <= 0).all()


def test_what_cannot_have_been_played_is_not_known():
    bandit = fastes.LinearBandit([[1.0], [-1.0], [0.0]])  # the third is never the best
    found = filter_history(bandit, 2, np.array([2, 0]), np.zeros(2), np.arange(3), 64)
    assert np.isfinite(found.kl[0])
    assert np.isnan(found.kl[1:]).all()
    assert (found.effective[1:] == 0).all()


def test_drawing_again_changes_no_mean():
    rng = np.random.default_rng(1)
    size = 4000
    log_weights = rng.normal(size=(GROUPS, size)) * 2.0
    values = log_weights  # a value that goes with the weight: weighted twice it would be larger
    cloud = _Cloud(log_weights.copy(), np.arange(GROUPS * size))
    before = (cloud.weights() * values).sum() / cloud.weights().sum()
    totals = np.exp(log_weights).mean(axis=1)
    chosen = cloud.drawn_again(rng)
    weights = np.exp(cloud.log_weights)
    assert weights.mean(axis=1) == pytest.approx(totals)
    assert (np.ptp(weights, axis=1) == 0).all()  # what was drawn by weight has no weight left
    after = (weights * values.ravel()[chosen].reshape(GROUPS, size)).sum() / weights.sum()
    assert after == pytest.approx(before, abs=0.5)
    assert cloud.effective() < GROUPS * size / 2


@pytest.mark.parametrize("q", [[0.5, 0.3, 0.2], [0.1, 0.3, 0.6]])
def test_what_draws_of_the_optimal_action_add_is_taken_off(q):
    # 300 draws, 20,000 times: 4.5 standard errors, and 3 % of what is taken off.
    p, n, rng = np.array([0.5, 0.3, 0.2]), 300, np.random.default_rng(1)
    exact = [float(kl(q, p)), float(hellinger(q, p)) ** 2]
    drawn = [smoothed(counts, n) for counts in rng.multinomial(n, p, size=20_000)]
    found = np.array([_divergences(7.0 * np.array(q), each, n) for each in drawn])
    plain = np.array([_divergences(7.0 * np.array(q), each, np.inf) for each in drawn])
    taken = np.abs((plain - found).mean(axis=0))
    error = np.abs(found.mean(axis=0) - exact)
    assert (error < 4.5 * found.std(axis=0) / np.sqrt(20_000) + 0.03 * taken).all()
    assert (taken > 4e-4).all()


@pytest.mark.parametrize("M", [1, 8])
def test_the_information_bound_holds(M):
    # Level: 4 standard errors, 8 comparisons.
    bandit = fastes.LinearBandit.random(4, 2, seed=2)
    result = fastes.simulate(bandit, fastes.EnsembleSampling(M), T=6, runs=40, **KEPT)
    found, bounds = history_laws(result, particles=512), bounds_on(result)
    measured, error = found.mean("kl")[:2]
    for name in ("paper", "proposition1", "information"):
        assert (measured <= bounds[name] + 4 * error + 1e-9).all()
    assert (found.mean("hellinger_squared").value <= measured + 4 * error).all()
    assert (found.effective[:, 0] == 512).all()


def test_results_that_do_not_hold_what_is_needed_are_refused():
    plain = fastes.simulate(BANDIT, fastes.EnsembleSampling(2), T=6, runs=2, diagnostics=[0])
    with pytest.raises(ValueError, match=r"simulate with keep=\(\"actions\", \"rewards\"\)"):
        history_laws(plain)
    other = fastes.simulate(BANDIT, fastes.Greedy(), T=6, runs=2, **KEPT)
    with pytest.raises(ValueError, match="ensemble sampling only, got Greedy"):
        history_laws(other)
    late = fastes.simulate(BANDIT, fastes.EnsembleSampling(2), T=6, runs=2, delay=2, **KEPT)
    with pytest.raises(ValueError, match="not estimated for ES, M=2: rewards were delayed"):
        history_laws(late)
    large = fastes.simulate(BANDIT, fastes.EnsembleSampling(10**6), T=6, runs=2, **KEPT)
    with pytest.raises(ValueError, match="choose fewer runs, earlier times or fewer particles"):
        history_laws(large, particles=10**6)
    with pytest.raises(ValueError, match="particles must be an integer from 16"):
        filter_history(BANDIT, 2, np.zeros(1, int), np.zeros(1), np.array([0]), particles=15)


def test_the_command_prints_a_table_and_draws_a_figure(tmp_path, capsys):
    out = tmp_path / "pbar.svg"
    sizes = ["--M", "1,3", "--K", "4", "--d", "2", "--times", "0,1,4"]
    command.main([*sizes, "--runs", "6", "--particles", "64", "--out", str(out)])
    shown = capsys.readouterr().out
    assert [line for line in shown.splitlines() if "ES" in line] == ["ES, M=1", "ES, M=3"]
    assert shown.count("Hel^2  information  Prop. 1  paper  particles  least") == 2
    assert "</svg>" in out.read_text()
