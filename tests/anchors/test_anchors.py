"""Published numbers and ours: measured by ``pytest -m anchors``; what they say, at every run."""

from math import hypot

import anchor_table
import pytest
from anchors.anchor import WIDTH, Anchor, Measurement, Source
from anchors.published import ANCHORS
from anchors.simulated import ratio_of_smallest, regret_of

import fastes


@pytest.mark.anchors
def test_published_numbers_are_reproduced_or_known_to_differ():
    # Level: 25 anchors at three standard errors, 7% for the whole if all were exact. The seed is
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
