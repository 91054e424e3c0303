"""The search by boxes: bounds that hold in floating point, and the choices of a full scan."""

import gc
from types import SimpleNamespace

import numpy as np
import pytest
from engine import act, from_python, start
from fastes.kernels.actions.arms import arm_values
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.arithmetic.tile_product import TILE
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.search import box_search as boxes
from fastes.kernels.search.box_search import SCANS_BEFORE, box_search
from fastes.kernels.search.box_tree import DEFECT, FANOUT, build, building_bytes, empty_tree
from fastes.kernels.search.scan import workspace
from fastes.kernels.streams.philox import source
from hostile import arms_of, problems
from hypothesis import example, given, settings

import fastes
from fastes.agents import search as policy

search_boxes = from_python(boxes.search_boxes)
bound_boxes = from_python(boxes._bound_boxes)
box_margin = from_python(boxes.box_margin)
EVERYTHING = 2**62


def searcher(arms):
    """Return a search by a tree that is built."""
    tree = empty_tree(arms)
    build(tree, arms)
    return box_search(arms, tree)


def exact_scores(arms, z):
    scores = np.empty(arms.K)
    arm_values(arms, z, np.empty(TILE), scores)
    return scores


def circle(K):
    angles = np.random.default_rng(1).uniform(0, 2 * np.pi, size=K)
    return np.column_stack([np.cos(angles), np.sin(angles)])


@settings(max_examples=200)
@given(problems(arms=(1, 1500), dimensions=(1, 3)))
@example((circle(1500), np.zeros(1500), np.array([0.6, -0.8])))
def test_the_best_arms_are_those_of_a_full_scan(problem):
    b, o, z = problem
    arms = arms_of(b, o)
    work = searcher(arms)
    margin = box_margin(work.tree, z)
    if np.isnan(margin):
        return
    scores = exact_scores(arms, z)
    tied = np.flatnonzero(scores == scores.max())
    best, ties = search_boxes(work, z, margin, EVERYTHING)
    if ties == 0:  # given up: more ties than there is room for, of the best or of one before it
        assert np.unique(scores, return_counts=True)[1].max() > TILE
    else:
        assert best == scores.max()
        assert sorted(work.tied[:ties]) == tied.tolist()


@settings(max_examples=200)
@given(problems(arms=(1, 1500), dimensions=(1, 3)))
def test_every_bound_is_above_every_score_in_its_box(problem):
    b, o, z = problem
    arms = arms_of(b, o)
    tree = searcher(arms).tree
    margin = box_margin(tree, z)
    if np.isnan(margin):
        return
    scores = exact_scores(arms, z)[tree.arm.ravel()]
    scores[arms.K :] = -np.inf
    bounds, size = np.empty(FANOUT), TILE
    for level in range(len(tree.first) - 1, -1, -1):
        for row in range(-(-arms.K // (size * FANOUT))):
            bound_boxes(tree.boxes[tree.first[level] + row], z, bounds)
            for i in range(FANOUT):
                box = row * FANOUT + i
                inside = scores[box * size : (box + 1) * size]
                assert inside.max(initial=-np.inf) <= bounds[i] + margin
        size *= FANOUT


def nearly_tied(rng, K, r):
    return rng.normal(size=r) + 1e-15 * rng.normal(size=(K, r))


def grid(rng, K, r):
    return rng.integers(-20, 21, size=(K, r)).astype(float)


@pytest.mark.parametrize("agent", [fastes.EnsembleSampling(7), fastes.ThompsonSampling()], ids=str)
@pytest.mark.parametrize("r", [1, 2])
@pytest.mark.parametrize("kind", [nearly_tied, grid, lambda rng, K, r: rng.normal(size=(K, r))])
def test_whole_runs_are_those_of_full_scans(kind, r, agent):
    rng = np.random.default_rng(r)
    bandit = fastes.LinearBandit(kind(rng, 900, r), rng.normal(size=r), prior_cov=2.0)
    full, sparing = (start(bandit, agent, 150, 3, 0, work) for work in (workspace, searcher))
    full.advance(0, 150)
    sparing.advance(0, 150)
    assert (full.record.counts == sparing.record.counts).all()
    assert (full.record.regret == sparing.record.regret).all()
    assert sparing.work.counters[0] + sparing.work.counters[1] > 0


def test_offsets_that_are_no_function_of_the_rows_are_seen():
    rng = np.random.default_rng(5)
    arms = arms_of(rng.normal(size=(5000, 2)), rng.normal(size=5000))
    work = searcher(arms)
    for _ in range(50):
        z = rng.normal(size=2)
        best, ties = search_boxes(work, z, box_margin(work.tree, z), EVERYTHING)
        assert (best, ties, work.tied[0]) == (*_best(arms, z),)
    assert work.counters[0] < 50 * 60


def _best(arms, z):
    scores = exact_scores(arms, z)
    return scores.max(), 1, scores.argmax()


def test_few_boxes_are_opened_on_a_circle():
    work = searcher(arms_of(circle(50_000)))
    rng = np.random.default_rng(2)
    for _ in range(100):
        z = rng.normal(size=2)
        search_boxes(work, z, box_margin(work.tree, z), EVERYTHING)
    assert work.counters[0] < 100 * 25


def greedy_at(z):
    agent = greedy(gaussian.layout(len(z)))
    agent.belief.mu[:] = z
    return agent


def test_more_ties_than_there_is_room_for_are_left_to_full_scans_ever_longer():
    arms = arms_of(np.ones((500, 2)))
    work, agent = searcher(arms), greedy_at(np.ones(2))
    chosen = [act(agent, arms, source(1), t, work) for t in range(100)]
    assert chosen == [act(agent, arms, source(1), t, workspace(arms)) for t in range(100)]
    assert work.counters.tolist() == [0, 100]
    assert work.pause[1] == 64


@pytest.mark.parametrize("z", [np.nan, np.inf, 1e300, 1e160])
def test_models_beyond_the_margins_are_left_to_a_full_scan(z):
    arms = arms_of(circle(300))
    work, agent = searcher(arms), greedy_at(np.array([z, 1.0]))
    expected = act(agent, arms, source(1), 0, workspace(arms))
    assert act(agent, arms, source(1), 0, work) == expected
    assert work.counters[1] == 1


def test_arms_that_are_nearly_zero_are_left_to_a_full_scan():
    # Their bounds are off by more than the margin, and some of the choices would be wrong.
    arms = arms_of(1e-321 * circle(300))
    work = searcher(arms)
    for t, z in enumerate(np.random.default_rng(3).normal(size=(20, 2))):
        agent = greedy_at(z)
        expected = act(agent, arms, source(1), t, workspace(arms))
        assert act(agent, arms, source(1), t, work) == expected


def test_directions_that_are_not_orthogonal_are_not_relied_on(monkeypatch):
    exact = np.linalg.eigh

    def sloppy(matrices):
        values, vectors = exact(matrices)
        return SimpleNamespace(eigenvalues=values, eigenvectors=vectors * (1 - 2.0**-44))

    monkeypatch.setattr(np.linalg, "eigh", sloppy)
    rng = np.random.default_rng(5)
    arms = arms_of(rng.normal(size=(5000, 2)), rng.normal(size=5000))
    boxes_of = searcher(arms).tree.boxes[:, 3:12].transpose(0, 2, 1).reshape(-1, 3, 3)
    assert len(boxes_of) > 8
    for directions in boxes_of:
        assert np.linalg.norm(np.eye(3) * directions.any() - directions @ directions.T) < DEFECT


def test_a_tree_is_built_after_some_scans_and_serves_all_runs():
    bandit = fastes.LinearBandit(circle(5000))
    agent = fastes.ThompsonSampling()
    assert policy.search_method(agent, bandit.K, bandit.rank) == "boxes"
    first = start(bandit, agent, 600)
    first.advance(0, SCANS_BEFORE)
    assert not first.work.tree.ready[0]
    first.advance(SCANS_BEFORE, 600)
    assert first.work.tree.ready[0]
    second = start(bandit, agent, 600, run=1)
    assert second.work.tree.boxes is first.work.tree.boxes
    second.advance(0, 600)
    assert second.work.counters[1] < 100
    key = id(bandit.canonical.arms.tiles)
    assert key in policy._trees
    del bandit, first, second
    gc.collect()  # what refers to itself lives until then
    assert key not in policy._trees


@pytest.mark.parametrize(("K", "r"), [(1, 1), (5000, 1), (70_000, 2)])
def test_no_more_memory_than_announced(K, r):
    import tracemalloc

    arms = arms_of(np.random.default_rng(1).normal(size=(K, r)))
    for announced in (None, empty_tree.nbytes(arms) + building_bytes(K, r)):  # first, compile
        tracemalloc.start()
        searcher(arms)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert announced is None or peak <= announced + 4 * len(arms.tiles)
