"""The best and the least scores of many models: a screening pass may change no bit of them."""

import numpy as np
import pytest
from fastes.kernels.actions.arms import empty_arms, store_rows
from fastes.kernels.arithmetic.tile_product import MODELS, TILE
from fastes.kernels.search.screening import SCREEN_FROM
from hypothesis import given
from hypothesis import strategies as st

from fastes.agents import best_arms as best_arms_module
from fastes.agents.best_arms import BestArmCounts, BestArms, best_arms, models_at_a_time

SCREENED = SCREEN_FROM * TILE


def stored(b, o):
    arms = empty_arms(*b.shape)
    store_rows(arms, 0, np.ascontiguousarray(b), np.ascontiguousarray(o))
    return arms


def tile_by_tile(arms, z):
    """Search one tile at a time, which is too few for screening, and put the tiles together."""
    n = len(z)
    score, ties, arm = np.full(n, -np.inf), np.zeros(n, np.int64), np.full(n, -1)
    least = np.full(n, np.inf)
    for tile in range(len(arms.tiles)):
        part = arms._replace(
            tiles=arms.tiles[tile : tile + 1],
            offsets=arms.offsets[tile : tile + 1],
            K=min(TILE, arms.K - tile * TILE),
        )
        found = best_arms(part, z, least=True)
        ties = np.where(found.score == score, ties + found.ties, ties)
        ties = np.where(found.score > score, found.ties, ties)
        arm = np.where(found.score > score, tile * TILE + found.arm, arm)
        score, least = np.maximum(score, found.score), np.minimum(least, found.least)
    return BestArms(score, ties, arm, least)


def assert_same_bits(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("K", [1, 2, TILE, TILE + 1, SCREENED - TILE, SCREENED - 1, SCREENED + 1])
@pytest.mark.parametrize("r", [1, 2, 7, 33])
@pytest.mark.parametrize("n", [1, MODELS, MODELS + 1])
def test_scores_are_those_of_plain_products(K, r, n):
    rng = np.random.default_rng([K, r, n])
    b, o, z = rng.normal(size=(K, r)), rng.normal(size=K), rng.normal(size=(n, r))
    found, scores = best_arms(stored(b, o), z, least=True), o + z @ b.T
    assert found.score == pytest.approx(scores.max(axis=1))
    assert found.least == pytest.approx(scores.min(axis=1))
    assert found.arm.tolist() == scores.argmax(axis=1).tolist()
    assert found.ties.tolist() == [1] * n
    assert len(best_arms(stored(b, o), z).least) == 0


@given(
    st.integers(0, 2**32 - 1),
    st.integers(SCREENED - TILE + 1, SCREENED + 3 * TILE),
    st.integers(1, 40),
    st.sampled_from([1e-200, 1e-46, 1e-38, 1e-12, 1.0, 1e6]),
    st.sampled_from([1e-300, 1e-40, 1.0, 1e20, 1e30, 1e39, 1e200]),
    st.sampled_from([0.0, 1e-9, 1e-7, 1e-5, 1.0]),
    st.sampled_from([0.0, 1.0, -1e9]),
    st.sampled_from(["normal", "one sign", "one coordinate"]),
)
def test_screening_changes_no_bit(seed, K, r, size, length, spread, offset, shape):
    # Arms as close to each other as `spread`, some equal, so that single precision cannot tell.
    rng = np.random.default_rng(seed)
    centre, z = rng.normal(size=r), rng.normal(size=(5, r))
    if shape == "one sign":
        centre, z = np.abs(centre), np.abs(z)
    if shape == "one coordinate":
        centre[0] *= 1e8
    b = size * (centre + spread * rng.normal(size=(K, r)))
    b[rng.integers(0, K, size=20)] = b[rng.integers(0, K)]
    arms, z = stored(b, offset * (1 + spread * rng.normal(size=K))), length * z
    with np.errstate(all="ignore"):
        assert_same_bits(best_arms(arms, z, least=True), tile_by_tile(arms, z))


def seen_too_low_and_too_high():
    """Return arms of which single precision sees the best too low, another too high; and a model.

    Terms of a little less than half a unit in the last place are lost, of a little more become
    a whole one.
    """
    r, unit = 64, 2.0**-24
    z = np.full(r, 2.0**-12)
    z[0] = 1.0
    b = np.zeros((SCREENED + 40, r))
    b[10], b[200] = 0.99 * 2.0**-12, 1.01 * 2.0**-12
    b[10, 0], b[200, 0] = 1.0 + 2 * unit, 1.0
    return b, z


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_margin_is_taken_on_either_side(sign):
    b, z = seen_too_low_and_too_high()
    arms = stored(b, np.zeros(len(b)))
    found = best_arms(arms, sign * z[None, :], least=True)
    assert_same_bits(found, tile_by_tile(arms, sign * z[None, :]))
    if sign > 0:
        assert found.arm.tolist() == [10]
    else:
        assert found.least == pytest.approx([-(b[10] @ z)], abs=1e-12)
        assert b[10] @ z - b[200] @ z > 1e-8


def test_columns_beyond_the_last_arm_are_not_the_least():
    arms = stored(np.linspace(1.0, 2.0, SCREENED + 1)[:, None], np.zeros(SCREENED + 1))
    found = best_arms(arms, np.array([[1.0], [-1.0]]), least=True)
    assert found.least.tolist() == [1.0, -2.0]


def test_ties_in_several_tiles_share_to_the_bit():
    values = np.zeros(SCREENED + 5)
    places = [3, TILE, TILE + 1, SCREENED + 4]
    values[places] = 2.0
    counts = BestArmCounts(stored(values[:, None], np.zeros(len(values))))
    assert counts.add(np.ones((6, 1))).tolist() == [3] * 6
    assert counts.counts[places].tolist() == [1.5] * 4
    assert counts.values[places].tolist() == [3.0] * 4
    assert counts.counts.sum() == 6


def test_models_are_taken_through_in_parts(monkeypatch):
    rng = np.random.default_rng(3)
    arms = stored(rng.normal(size=(SCREENED, 3)), rng.normal(size=SCREENED))
    z = rng.normal(size=(50, 3))
    whole = best_arms(arms, z, least=True)
    monkeypatch.setattr(best_arms_module, "_SCREENED", 1)
    assert models_at_a_time(arms) == MODELS
    assert_same_bits(best_arms(arms, z, least=True), whole)
