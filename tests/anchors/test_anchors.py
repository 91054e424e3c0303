"""Published numbers and ours: measured by ``pytest -m anchors``; what they say, at every run."""

from math import hypot

import anchor_table
import numpy as np
import pytest
from anchors.anchor import WIDTH, Anchor, Measurement, Source
from anchors.clicks import articles, biased_sphere, triples
from anchors.published import ANCHORS
from anchors.simulated import ratio_of_smallest, regret_of, regret_over_draws
from anchors.warm_up import WarmUp

import fastes


@pytest.mark.anchors
def test_published_numbers_are_reproduced_or_known_to_differ():
    # Level: 47 anchors at three standard errors, 12% for the whole if all were exact. The seed is
    # fixed, so that it fails for a changed program and not by chance.
    surprises = []
    for anchor in ANCHORS:
        ours = anchor.measure()
        anchor_table.keep(anchor.name, ours)
        if anchor.agrees(ours) == bool(anchor.standing):
            surprises.append(f"{anchor.name}: {anchor.published:g} published, ours {ours}")
    assert not surprises, "\n".join(surprises)


def test_the_table_in_the_documents_is_the_one_of_the_measurements():
    assert anchor_table.shown() == anchor_table.table(), "run python tests/anchor_table.py"


def test_every_measurement_is_of_an_anchor_and_every_anchor_has_a_name_of_its_own():
    names = [anchor.name for anchor in ANCHORS]
    assert len(set(names)) == len(names)
    assert set(anchor_table.measured()) <= set(names)


def test_what_was_measured_agrees_but_for_what_is_known_to_differ():
    known = anchor_table.measured()
    for anchor in ANCHORS:
        if anchor.name in known:
            assert anchor.agrees(known[anchor.name]) != bool(anchor.standing), anchor.name


SOURCE = Source("a", "b", "c")


def anchor(published, places=1, **rest):
    return Anchor("name", SOURCE, "setting", "TS", published, places, lambda: None, **rest)


def test_rounding_vagueness_and_both_errors_make_the_margin():
    ours = Measurement(10.0, 0.3, 400)
    assert anchor(10.0).margin(ours) == pytest.approx(0.05 + WIDTH * 0.3)
    assert anchor(10.0, 0, error=0.4).margin(ours) == pytest.approx(0.5 + WIDTH * hypot(0.3, 0.4))
    assert anchor(10.0, vague=2.0).margin(ours) == pytest.approx(2.05 + WIDTH * 0.3)
    # A hundred runs that scatter as our 400 do have twice their error.
    assert anchor(10.0, trials=100).their_error(ours) == pytest.approx(0.6)


def test_a_number_agrees_up_to_its_margin_and_no_further():
    ours = Measurement(10.0, 0.0, 400)
    assert anchor(10.05 - 1e-9).agrees(ours)
    assert not anchor(10.06).agrees(ours)
    assert not anchor(9.94).agrees(ours)


def small():
    return fastes.LinearBandit.random(K=10, d=3)


def test_a_measurement_is_the_mean_regret_of_the_agent_that_is_named():
    found = regret_of(("EnsembleSampling", {"M": 4}), small, T=20, runs=30)()
    call = {"T": 20, "runs": 30, "seed": 2022}
    regret = fastes.simulate(small(), fastes.EnsembleSampling(M=4), **call).regret
    assert (found.mean, found.se, found.runs) == (regret.mean[-1], regret.se[-1], 30)


def test_the_smallest_size_of_a_problem_is_once_that_of_itself():
    agent = ("EnsembleSampling", {})
    ratio = ratio_of_smallest(agent, [small, small], [1, 2, 4, 8, 16], T=50, runs=60, near=0.1)()
    assert (ratio.mean, ratio.se) == (1.0, 0.0)  # of the same runs, so that errors cancel


def test_a_median_has_the_error_of_a_bootstrap():
    call = (("ThompsonSampling", {}), small, 20, 200)
    found = regret_of(*call, median=True)()
    regret = fastes.simulate(small(), fastes.ThompsonSampling(), T=20, runs=200, seed=2022).regret
    assert found.mean == np.median(regret.final)
    # Of the mean of a normal law it would be 0.8 of the error of the median.
    assert 0.5 < regret.se[-1] / found.se < 1.5


def test_draws_of_a_problem_are_averaged_with_the_error_of_draws():
    def problem(draw):
        return fastes.LinearBandit.random(K=10, d=3, seed=draw), np.full(3, draw + 1.0)

    found = regret_over_draws(("Greedy", {}), problem, T=20, draws=4, runs=5)()
    means = [
        fastes.simulate(bandit, fastes.Greedy(), T=20, runs=5, seed=2022 + i, theta=theta).regret
        for i, (bandit, theta) in enumerate(map(problem, range(4)))
    ]
    means = [regret.mean[-1] for regret in means]
    assert (found.mean, found.runs) == (pytest.approx(np.mean(means)), 20)
    assert found.se == pytest.approx(np.std(means, ddof=1) / 2)


def test_a_warm_up_plays_at_random_and_the_agent_learns_from_it():
    bandit = fastes.LinearBandit(np.eye(4))
    player = WarmUp(fastes.Greedy(), 200).start(bandit, seed=1)
    for _ in range(200):
        arm = player.act()
        player.observe(arm, float(arm == 2))
    assert player.act() == 2
    counts = fastes.simulate(bandit, WarmUp(fastes.Greedy(), 400), T=400, runs=10).counts
    assert abs(counts - 1000).max() < 150  # 5 standard deviations


def test_the_arms_and_theta_of_others_are_as_they_say():
    arms, theta = triples(4.0)
    assert arms.shape == (120, 10)
    assert (arms.sum(axis=1) == 3).all()
    assert (arms @ theta).max() == pytest.approx(4.0)
    assert (arms @ theta).min() == pytest.approx(0.1)
    rows = articles(0)[0].actions.array.reshape(500, 3, 3, 7)
    assert (rows[:, 0, 0] == rows[:, 2, 2]).all()  # one reader, for all articles
    assert (rows[:, 0, 1] == 0).all()
    assert rows[:, 0, 0, 1:].mean() == pytest.approx(1 / 6, abs=0.03)  # 4 standard errors
    bandit, theta = biased_sphere(5)(0)
    assert bandit.actions[:5] == pytest.approx(np.eye(5) * [1, 1, 1, 1, 0] + [0, 0, 0, 0, 1])
    assert np.linalg.norm(bandit.actions[5:], axis=1) == pytest.approx(np.full(95, np.sqrt(2)))
    assert np.linalg.norm(theta) == pytest.approx(1.5)
