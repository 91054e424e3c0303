"""The certified search: the choices of a full scan, and bounds that hold in floating point."""

import numpy as np
import pytest
from engine import act, from_python, observe, start
from fastes.kernels.actions.arms import arm_values, empty_arms, store_rows
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.search import certificate, snapshot_schedule
from fastes.kernels.search import snapshot as snapshots
from fastes.kernels.search.certificate import certified
from fastes.kernels.search.scan import workspace
from fastes.kernels.search.snapshot import GRID, LISTED, snapshot, take, taking_bytes
from fastes.kernels.streams.philox import source
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fastes

search = from_python(certificate._search)
measure = from_python(snapshots.measure)
margin = from_python(snapshots.margin)
ceiling = from_python(snapshots.upper_bound)

AGENTS = [
    fastes.EnsembleSampling(7),
    fastes.EnsembleSampling(10**6),
    fastes.ThompsonSampling(),
    fastes.LinUCB(1.5),
    fastes.LinUCB(0.0),
    fastes.BayesUCB(),
]
# Linear scores too, in code of their own.
LIKE_THEM = [
    pytest.param(agent, marks=pytest.mark.slow, id=str(agent))
    for agent in (fastes.EnsembleSampling(90, engine="eager"), fastes.Greedy())
]


def advance_impatiently(run, T):
    """Advance a certified run, and search and take a snapshot as often as that may be."""
    run.work.schedule[snapshot_schedule._WORTH] = 1e9
    for t in range(T):
        run.work.schedule[snapshot_schedule._PATIENCE] = 0.0
        run.advance(t, t + 1)


def clustered(rng, K, d):
    centres = rng.normal(size=(5, d))
    return centres[rng.integers(0, 5, size=K)] + 1e-3 * rng.normal(size=(K, d))


def duplicated(rng, K, d):
    return rng.normal(size=(K // 3, d))[rng.integers(0, K // 3, size=K)]


def nearly_tied(rng, K, d):
    return rng.normal(size=d) + 1e-9 * rng.normal(size=(K, d))


def huge_norms(rng, K, d):
    return rng.normal(size=(K, d)) * 10.0 ** rng.uniform(-4, 4, size=(K, 1))


def rank_deficient(rng, K, d):
    rank = max(1, d // 3)
    return rng.normal(size=(K, rank)) @ rng.normal(size=(rank, d))


def with_zeros(rng, K, d):
    return rng.normal(size=(K, d)) * (rng.random(size=(K, 1)) < 0.5)


KINDS = [
    lambda rng, K, d: rng.normal(size=(K, d)),
    clustered,
    duplicated,
    nearly_tied,
    huge_norms,
    rank_deficient,
    with_zeros,
]


def check_same_choices(bandit, agent, T, seed=3):
    full, sparing = (start(bandit, agent, T, seed, 0, kind) for kind in (workspace, certified))
    full.advance(0, T)
    advance_impatiently(sparing, T)
    assert (full.record.counts == sparing.record.counts).all()
    assert (full.record.regret == sparing.record.regret).all()
    return sparing.work.counters


@pytest.mark.parametrize("agent", [*AGENTS, *LIKE_THEM], ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_the_choices_are_those_of_a_full_scan(kind, agent):
    searched = 0
    for K, d, T in [(700, 1, 60), (500, 2, 120), (1000, 5, 300), (300, 21, 150)]:
        rng = np.random.default_rng([K, d])
        bandit = fastes.LinearBandit(kind(rng, K, d), rng.normal(size=d), prior_cov=2.0)
        tally = check_same_choices(bandit, agent, T)
        searched += tally[0]
        assert tally[3] > 1
    assert searched > 0


@pytest.mark.parametrize("agent", [AGENTS[1], AGENTS[2], AGENTS[3]], ids=str)
@pytest.mark.parametrize(("K", "d", "T"), [(3000, 50, 300), (2000, 100, 250), (1500, 200, 250)])
def test_the_same_in_many_dimensions(K, d, T, agent):
    check_same_choices(fastes.LinearBandit.random(K, d), agent, T)


@pytest.mark.parametrize("agent", [*AGENTS, *LIKE_THEM], ids=str)
@pytest.mark.parametrize("K", [1, 2, 63, 64, 65])
def test_the_same_with_few_arms(agent, K):
    check_same_choices(fastes.LinearBandit.random(K, 2), agent, 40)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 400),
    st.integers(1, 12),
    st.sampled_from(KINDS),
    st.sampled_from(AGENTS),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.sampled_from([0.0, 1.0, 100.0]),
)
def test_no_counterexample(seed, K, d, kind, agent, noise, offset):
    rng = np.random.default_rng(seed)
    actions = kind(rng, max(3, K), d)
    actions *= 100.0 / max(100.0, np.abs(actions).max())
    bandit = fastes.LinearBandit(actions, offset * rng.normal(size=d), prior_cov=1.0, noise=noise)
    check_same_choices(bandit, agent, 80, seed % 1000)


def test_a_snapshot_saves_looking_at_arms():
    bandit = fastes.LinearBandit.random(20_000, 10)
    run = start(bandit, fastes.ThompsonSampling(), 30_000, workspace=certified)
    run.advance(0, 30_000)
    looked, scored, full, snaps = run.work.counters
    assert snaps >= 1
    assert looked + 20_000 * full < 0.1 * 20_000 * 30_000
    assert scored < looked


def test_ties_go_to_the_arm_of_a_full_scan_whatever_their_order():
    rng = np.random.default_rng(5)
    actions = 0.5 * rng.normal(size=(500, 3))
    actions[[3, 70, 71, 130, 199, 499]] = [3.0, 0.0, 0.0]
    bandit = fastes.LinearBandit(actions, [1.0, 0.0, 0.0], prior_cov=1e-4)
    tally = check_same_choices(bandit, fastes.Greedy(), 200)
    assert tally[0] > 0
    check_same_choices(bandit, fastes.LinUCB(1.0), 200)


def test_more_ties_than_there_is_room_for_are_left_to_a_full_scan():
    bandit = fastes.LinearBandit(np.ones((500, 2)), [1.0, 1.0])
    tally = check_same_choices(bandit, fastes.Greedy(), 60)
    assert tally[2] > 50


def test_a_search_that_is_given_up_certifies_no_arm():
    """The best arm that it found may not be the best of all: it is certain of nothing."""
    bandit, rng = fastes.LinearBandit.random(3000, 5), np.random.default_rng(0)
    run = start(bandit, fastes.ThompsonSampling(), 300, seed=4, workspace=certified)
    advance_impatiently(run, 300)
    arms, agent, exact = bandit.canonical.arms, run.state, np.empty(3000)
    certificate.retake_snapshot(run.work, agent, arms)
    certain, wrong = 0, 0
    for _ in range(8):
        agent.z[:] = agent.belief.mu + agent.belief.root.T @ rng.normal(size=5)
        arm_values(arms, agent.z, np.empty(TILE), exact)
        for limit in np.geomspace(1e3, 1e5, 30):
            best, ties, _ = search(agent, arms, run.work, limit)
            assert ties in (0, 1)
            assert ties == 0 or best == exact.max()
            certain += ties
            wrong += -np.inf < best < exact.max()
    assert min(certain, wrong) > 0


def test_a_posterior_that_is_no_number_is_left_to_a_full_scan():
    bandit = fastes.LinearBandit.random(500, 3)
    arms, agent = bandit.canonical.arms, greedy(gaussian.layout(3))
    work = certified(arms)
    for t in range(5):
        observe(agent, arms, source(1), t, act(agent, arms, source(1), t, work), 1.0)
    agent.belief.factor[0, 1] = np.nan
    certificate.retake_snapshot(work, agent, arms)
    assert work.schedule[snapshot_schedule._PAUSE] == np.inf
    agent.belief.mu[0] = np.nan
    assert act(agent, arms, source(1), 5, work) == -1


def test_a_snapshot_that_is_interrupted_is_not_trusted(monkeypatch):
    bandit = fastes.LinearBandit.random(5000, 3)
    live, untouched = (fastes.ThompsonSampling().start(bandit, seed=1) for _ in range(2))
    rng = np.random.default_rng(1)

    def both(steps):
        for _ in range(steps):
            arm, reward = live.act(), rng.normal()
            assert untouched.act() == arm
            for agent in (live, untouched):
                agent.observe(arm, reward)

    for _ in range(2):
        both(5)
        live._all.work.schedule[snapshot_schedule._DUE] = 1.0
        both(5)
    assert live._all.work.counters[3] == 2
    live._all.work.schedule[snapshot_schedule._DUE] = 1.0
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "_bound_all", lambda *arguments: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            live.act()
    assert live.acts == untouched.acts
    assert live._all.work.schedule[snapshot_schedule._PAUSE] == np.inf
    both(100)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("alpha", [1e19, 1e39, 1e300])
def test_optimism_beyond_single_precision_is_left_to_a_full_scan(alpha):
    tally = check_same_choices(fastes.LinearBandit.random(600, 3), fastes.LinUCB(alpha), 100)
    assert tally[3] > 0
    assert alpha < 1e20 or tally[0] == 0


def test_an_arm_that_is_known_and_the_best_is_listed():
    actions = np.vstack([[[0.9, 0.0]], np.tile([[-5.0, 0.1]], (2999, 1))])
    bandit = fastes.LinearBandit(actions, prior_mean=[1.0, 0.0], prior_cov=[0.0, 1.0])
    tally = check_same_choices(bandit, fastes.Greedy(), 50)
    assert tally[2] < 10


def arms_of(b, o):
    arms = empty_arms(*b.shape)
    store_rows(arms, 0, np.ascontiguousarray(b), o)
    return arms


def aged_agent(rng, arms, plays, pay):
    """Return a greedy agent that has seen some plays of these arms."""
    agent = greedy(gaussian.layout(arms.tiles.shape[1]))
    for t in range(plays):
        observe(agent, arms, source(1), t, int(rng.integers(arms.K)), pay * rng.normal())
    return agent


@settings(max_examples=150)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 300),
    st.integers(1, 40),
    st.integers(0, 300),
    st.sampled_from([1e-45, 1e-30, 1e-19, 1e-3, 1.0, 1e3, 1e6]),
    st.sampled_from([0.0, 1.0, 1e9]),
    st.sampled_from([0.0, 1e-6, 1.0, 3.0]),
    st.booleans(),
)
@example(seed=0, K=200, r=20, plays=0, size=1e-30, offset=0.0, distance=1.0, aligned=False)
@example(seed=0, K=200, r=20, plays=30, size=1e-19, offset=0.0, distance=1.0, aligned=False)
@example(seed=0, K=200, r=20, plays=30, size=1e-45, offset=0.0, distance=1.0, aligned=False)
def test_every_bound_is_above_every_score(seed, K, r, plays, size, offset, distance, aligned):
    # Try to break it: arms and models of one sign, all rounded the same way; far models; arms
    # of all sizes; a posterior that is all but singular.
    rng = np.random.default_rng(seed)
    b = size * rng.normal(size=(K, r)) * 10.0 ** rng.uniform(-3, 0, size=(K, 1))
    if aligned:
        b = size * (1 + 2.0**-25) * 2.0 ** rng.integers(-3, 4, size=(K, r))
    arms = arms_of(b, offset * rng.normal(size=K))
    agent = aged_agent(rng, arms, plays, max(1.0, size))
    root = np.linalg.cholesky(agent.belief.S + 1e-30 * np.eye(r))
    z = agent.belief.mu + distance * root @ rng.normal(size=r)
    if aligned:
        z = np.abs(z) * (1 + 2.0**-25)
    known = snapshot(arms)
    exact = np.empty(K)
    arm_values(arms, z, np.empty(TILE), exact)
    assert take(known, agent.belief, arms, z, exact.max() - 0.1 * exact.std(), 0.0, 1.0, 2 * arms.K)
    for _ in range(3):
        arm_values(arms, z, np.empty(TILE), exact)
        rho = measure(known, z)
        slack = margin(known, arms, z, rho, 0.0)
        n = int(known.scalars[LISTED])
        listed = known.arm[:n]
        leading_coordinates = known.leading_coordinates[: -(-n // TILE)].astype(float)
        bounds = known.base[: len(leading_coordinates)].ravel()[:n].astype(float)
        bounds += np.einsum("tji,j->ti", leading_coordinates, known.leading.astype(float)).ravel()[
            :n
        ]
        assert (exact[listed] <= bounds + slack).all()
        rest = np.delete(exact, listed)
        for tile in range(len(leading_coordinates), -1, -1):
            rest = np.append(rest, exact[listed[tile * TILE : (tile + 1) * TILE]])
            assert rest.max(initial=-1e300) <= ceiling(known, tile, rho) + slack
        z = z + distance * root @ rng.normal(size=r)


def test_the_envelope_is_convex_and_falls_from_tile_to_tile():
    rng = np.random.default_rng(1)
    arms = arms_of(rng.normal(size=(900, 4)), np.zeros(900))
    agent, known = aged_agent(rng, arms, 40, 1.0), snapshot(arms)
    take(known, agent.belief, arms, agent.z + 0.1, 0.5, 0.0, 1.0, 2 * arms.K)
    tiles = -(-int(known.scalars[LISTED]) // TILE)
    envelope = known.envelope[: tiles + 1]
    assert (np.diff(envelope, axis=0) <= 0).all()
    assert (np.diff(envelope, 2, axis=1)[:tiles] >= -1e-5).all()
    assert envelope.shape == (tiles + 1, GRID)


@pytest.mark.parametrize(("K", "r"), [(1, 1), (5000, 3), (3000, 60)])
def test_no_more_memory_than_announced(K, r):
    import tracemalloc

    rng = np.random.default_rng(K)
    arms = arms_of(rng.normal(size=(K, r)), np.zeros(K))
    agent = aged_agent(rng, arms, 50, 1.0)
    for announced in (None, certified.nbytes(arms) + taking_bytes(K, r)):  # first, compile
        tracemalloc.start()
        work = certified(arms)
        take(work.snapshot, agent.belief, arms, agent.z, -np.inf, 1.0, 1.0, 2 * arms.K)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert announced is None or peak <= announced


@pytest.mark.slow
def test_a_million_arms_are_played_as_by_a_full_scan():
    bandit = fastes.LinearBandit.random(1_000_000, 20)
    tally = check_same_choices(bandit, fastes.EnsembleSampling(1_000_000), 600)
    assert tally[0] < 0.5 * 600 * bandit.K


def test_a_sample_of_arms_shows_that_a_snapshot_would_not_help(monkeypatch):
    rng, K = np.random.default_rng(8), 5000
    arms = fastes.LinearBandit(rng.normal(size=(K, 6))).canonical.arms
    agent, known, strides = greedy(gaussian.layout(6)), snapshot(arms), []
    bound_all = snapshots._bound_all

    def watched(*rest):
        strides.append(rest[-1])
        bound_all(*rest)

    monkeypatch.setattr(snapshots, "_bound_all", watched)
    # At first all arms may be the best; a search that may bound a third of them would fail.
    assert not take(known, agent.belief, arms, agent.z + 1.0, 0.0, 0.0, 1.0, K // 3)
    assert strides == [4]
    assert take(known, agent.belief, arms, agent.z + 1.0, 0.0, 0.0, 1.0, 2 * K)
    assert strides == [4, 4, 1]
