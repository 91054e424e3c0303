import numpy as np
import pytest
import reference
from engine import act, from_python
from fastes.kernels.actions import arms as arms_kernels
from fastes.kernels.actions.arms import arm_values, transform_rows
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.arithmetic import tile_variance
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.search import scan, screening
from fastes.kernels.search.scan import workspace
from fastes.kernels.streams.philox import source
from hostile import arms_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

first_look = from_python(screening.screen)
scan = from_python(scan.scan)
load_arm = from_python(arms_kernels.load_arm)
variance_tile = from_python(tile_variance.variance_tile)


def greedy_at(z):
    agent = greedy(gaussian.layout(len(z)))
    agent.belief.mu[:] = z
    return agent


def best_arm(arms, z, t=0, seed=0):
    return act(greedy_at(z), arms, source(seed), t, workspace(arms))


@pytest.mark.parametrize("K", [1, 2, 63, 64, 65, 500])
@pytest.mark.parametrize("r", [1, 2, 3, 4, 5, 8, 21])
def test_the_best_arm_is_numpy_s(K, r):
    rng = np.random.default_rng([K, r])
    b, o, z = rng.normal(size=(K, r)), rng.normal(size=K), rng.normal(size=r)
    assert best_arm(arms_of(b, o), z) == np.argmax(b @ z + o)


@pytest.mark.parametrize("K", [1, 63, 64, 65, 200])
def test_mean_rewards_and_rows_come_back(K):
    rng = np.random.default_rng(K)
    b, o, z = rng.normal(size=(K, 7)), rng.normal(size=K), rng.normal(size=7)
    arms, means, row = arms_of(b, o), np.empty(K), np.empty(7)
    arm_values(arms, z, np.empty(TILE), means)
    np.testing.assert_allclose(means, b @ z + o, rtol=1e-12, atol=1e-13)
    for a in range(K):
        assert load_arm(arms, a, row) == o[a]
        assert (row == b[a]).all()


@given(
    hnp.arrays(np.float64, (9, 3), elements=st.floats(-1e6, 1e6)),
    hnp.arrays(np.float64, 3, elements=st.floats(-1e6, 1e6)),
    st.lists(st.integers(0, 8), min_size=1, max_size=300),
)
def test_equal_arms_score_equally_to_the_bit(b, z, which):
    arms, means = arms_of(b[which]), np.empty(len(which))
    arm_values(arms, z, np.empty(TILE), means)
    for row in set(which):
        scores = means[np.array(which) == row]
        assert (scores == scores[0]).all()


def test_ties_are_broken_uniformly():
    # chi-squared over 9,000 draws, level 1e-4, seed fixed
    rng = np.random.default_rng(5)
    b = rng.normal(size=(4, 3))
    places = [3, 70, 71, 130, 199, 64]
    rows = rng.normal(size=(200, 3)) * 0.01
    rows[places] = b[0]
    z = b[0] / np.linalg.norm(b[0])
    arms = arms_of(rows)
    chosen = [best_arm(arms, z, t) for t in range(9_000)]
    assert set(chosen) == set(places)
    assert stats.chisquare([chosen.count(a) for a in places]).pvalue > 1e-4


def test_places_beyond_the_last_arm_are_never_chosen():
    arms = arms_of(-np.ones((3, 1)))
    assert {best_arm(arms, np.ones(1), t) for t in range(50)} == {0, 1, 2}


def test_scores_that_are_no_numbers_are_reported_not_chosen():
    assert best_arm(arms_of(np.ones((3, 1))), np.array([np.nan])) == -1


@pytest.mark.parametrize("best", [0, 1, 7, 8, 9, 63, 64, 99])
@pytest.mark.parametrize("nan", [0, 1, 7, 8, 16, 63, 64, 98])
def test_a_nan_does_not_hide_the_best_arm(best, nan):
    b = np.linspace(0, 1, 100)[:, None]
    b[best] = 2.0
    if nan != best:
        b[nan] = np.nan
        assert best_arm(arms_of(b), np.ones(1)) == best


@given(st.lists(st.integers(0, 3), min_size=1, max_size=400), st.integers(0, 2**20))
def test_a_scan_counts_the_ties_and_finds_the_first(values, t):
    arms = arms_of(np.array(values, float)[:, None])
    top = max(values)
    agent, work = greedy_at(np.ones(1)), workspace(arms)
    assert scan(agent, arms, work) == (top, values.count(top), values.index(top))
    assert values[best_arm(arms, np.ones(1), t)] == top


@pytest.mark.parametrize("K", [130, 400])
@pytest.mark.parametrize("places", [[3, 70], [3, 5, 70, 71, 129], [64, 128], [63, 64], [129]])
def test_ties_in_several_tiles_are_all_counted(K, places):
    values = np.zeros(K)
    values[places] = 2.0
    arms = arms_of(values[:, None])
    found = scan(greedy_at(np.ones(1)), arms, workspace(arms))
    assert found == (2.0, len(places), places[0])


def every_tile(agent, arms):
    """Return what a scan finds that scores every arm in double precision."""
    scores = np.empty(arms.K)
    arm_values(arms, agent.z, np.empty(TILE), scores)
    return reference.full_scan(scores)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(300, 700),
    st.integers(1, 40),
    st.sampled_from([1e-200, 1e-46, 1e-38, 1e-12, 1.0, 1e6]),
    st.sampled_from([1e-300, 1e-40, 1.0, 1e20, 1e30, 1e39, 1e300]),
    st.sampled_from([0.0, 1e-9, 1e-7, 1e-5, 1.0]),
    st.sampled_from([0.0, 1.0, 1e9]),
)
def test_a_first_look_changes_no_choice(seed, K, r, size, length, spread, offset):
    # Arms as close to each other as `spread`, some equal, so that single precision cannot tell.
    rng = np.random.default_rng(seed)
    b = size * (rng.normal(size=r) + spread * rng.normal(size=(K, r)))
    b[rng.integers(0, K, size=20)] = b[rng.integers(0, K)]
    o = offset * (1 + spread * rng.normal(size=K))
    agent, arms = greedy_at(length * rng.normal(size=r)), arms_of(b, o)
    with np.errstate(all="ignore"):
        assert scan(agent, arms, workspace(arms)) == every_tile(agent, arms)


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.sampled_from([1e-3, 1.0, 1e6]))
def test_the_margin_of_a_first_look_holds(seed, r, size):
    # The worst for a margin: all terms of one sign, all inputs rounded the same way.
    rng = np.random.default_rng(seed)
    b = size * (1 + 2.0**-25) * 2.0 ** rng.integers(-3, 4, size=(256, r))
    z = (1 + 2.0**-25) * 2.0 ** rng.integers(-3, 4, size=r).astype(float)
    arms = arms_of(b)
    work = workspace(arms)
    floor = first_look(arms, z, work)
    margin = (float(work.tile_maxima.max()) - floor) / 2
    exact = np.empty(256)
    arm_values(arms, z, np.empty(TILE), exact)
    tops = exact.reshape(-1, TILE).max(axis=1)
    seen = work.tile_maxima > -np.inf  # the others were ruled out in 8 bits
    assert (np.abs(work.tile_maxima - tops) <= margin)[seen].all()
    assert (tops < exact.max())[~seen].all()
    assert floor <= exact.max()


def test_a_first_look_leaves_room_for_an_error_on_either_side():
    # Terms of a little less than half a unit in the last place are lost in single precision, of a
    # little more become a whole one: of two arms, one is seen too low and the other too high.
    r, unit = 64, 2.0**-24
    z = np.full(r, 2.0**-12)
    z[0] = 1.0
    b = np.zeros((300, r))
    b[10], b[200] = 0.99 * 2.0**-12, 1.01 * 2.0**-12
    b[10, 0], b[200, 0] = 1.0 + 2 * unit, 1.0
    arms, agent = arms_of(b), greedy_at(z)
    work = workspace(arms)
    first_look(arms, z, work)
    assert work.tile_maxima[3] - work.tile_maxima[0] > 100 * unit
    assert b[10] @ z > b[200] @ z
    assert scan(agent, arms, work)[2] == 10


@pytest.mark.parametrize("z", [np.nan, np.inf, 1e300, 1e39])
def test_a_first_look_that_is_not_to_be_relied_on_says_so(z):
    arms = arms_of(np.full((300, 2), 1e-30))
    assert np.isnan(first_look(arms, np.array([z, 1.0]), workspace(arms)))


@pytest.mark.parametrize("r", [1, 2, 5, 20])
def test_variance_tile_is_the_quadratic_form(r):
    rng = np.random.default_rng(r)
    b = rng.normal(size=(TILE, r))
    root = rng.normal(size=(r, r))
    S, out = root @ root.T, np.empty(TILE)
    variance_tile((S + S.T) / 2, np.ascontiguousarray(b.T), np.empty(TILE), out)
    np.testing.assert_allclose(out, np.einsum("ij,jk,ik->i", b, S, b), rtol=1e-10)


def test_transform_rows_is_the_product_and_the_same_for_equal_rows():
    rng = np.random.default_rng(9)
    rows = rng.normal(size=(5, 4))[[0, 1, 2, 1, 3, 4, 0]]
    rows[2, 1] = 0.0
    factor, out = rng.normal(size=(4, 3)), np.empty((7, 3))
    transform_rows(rows, factor, 0.5, out)
    np.testing.assert_allclose(out, 0.5 * rows @ factor, rtol=1e-12)
    assert (out[0] == out[6]).all()
    assert (out[1] == out[3]).all()
