"""The world of a simulation: one value, equal where the same is true."""

import numpy as np
import pytest

import fastes
from fastes import Truth
from fastes.problem.world import AS_BELIEVED, PARAMETERS, World
from fastes.results.configuration import FACTS

BANDIT = fastes.LinearBandit.random(6, 3, noise=0.5)
USUAL = {name: each.usual for name, each in PARAMETERS.items()}
OTHER = {
    "truth_prior_mean": 1.0,
    "truth_prior_cov": 0.5,
    "truth_noise": 2.0,
    "noise_law": "signs",
    "truth_drift": "ar:0.999",
    "delay": 3,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_world_is_made_of_numbers_and_says_them(name):
    values = {**USUAL, name: OTHER[name]}
    world = World.of(values)
    assert world.values == values
    assert world == World.of(values) != World.of(USUAL)
    assert hash(world) == hash(World.of(values))
    assert world.facts != AS_BELIEVED.facts


def test_every_fact_of_a_world_is_one_of_a_result():
    assert AS_BELIEVED.facts == {name: FACTS[name].usual for name in AS_BELIEVED.facts}
    assert World.of(USUAL).facts == AS_BELIEVED.facts


def test_a_truth_that_is_the_belief_is_none_where_it_is_fitted():
    assert World(Truth(noise=0.5), 2).fitted(BANDIT) == World(None, 2)
    assert World(Truth(noise=0.6), 2).fitted(BANDIT) == World(Truth(noise=0.6), 2)


@pytest.mark.parametrize("world", [AS_BELIEVED, World(Truth([1, 2, 3], np.eye(3)), 4)], ids=str)
def test_a_world_is_what_its_parts_are(world):
    assert World.from_arrays(world.facts, world.arrays()) == world


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("laplace", 0), "truth must be a Truth such as"),
        ((None, None), "delay must be an integer from 0"),
        ((None, -1), "delay must be an integer from 0"),
        ((None, 2**60), "delay must be an integer from 0"),
    ],
)
def test_what_is_no_world_is_refused(given, words):
    with pytest.raises((TypeError, ValueError), match=words):
        World(*given)
