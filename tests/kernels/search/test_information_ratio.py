"""Regret and information of all arms from models of a step, against their definitions."""

import numpy as np
import pytest
import reference
from engine import from_python, offsets, rows
from fastes.kernels.search import information_ratio
from fastes.kernels.search.information_ratio import law_at_probe, ratio_search
from fastes.kernels.streams import layout
from fastes.kernels.streams.philox import source

import fastes

SEED, RUN = 5, 2
law = from_python(information_ratio._law)


def learned(agent, bandit, steps):
    """Return a state that has seen rewards of arms drawn at random."""
    live = agent.start(bandit, seed=1)
    rng = np.random.default_rng(7)
    for arm in rng.integers(bandit.K, size=steps):
        live.observe(arm, rng.normal())
    return live._state


def models_of(state, stream, t):
    posterior, n, r = state.belief, state.samples, len(state.belief.mu)
    normals = reference.normals_of_models(SEED, RUN, stream, t, n, r)
    return posterior.mu + normals @ posterior.root


@pytest.mark.parametrize("samples", [1, 2, 63, 64, 65, 200])
@pytest.mark.parametrize(("K", "d"), [(1, 1), (2, 1), (3, 4), (30, 5), (64, 3), (65, 2), (300, 7)])
def test_regret_and_variance_are_their_definitions(K, d, samples):
    bandit = fastes.LinearBandit.random(K, d, prior_mean=0.2, noise=0.7)
    agent = fastes.InformationDirectedSampling(samples)
    state, arms = learned(agent, bandit, 4), bandit.canonical.arms
    work = ratio_search(arms)
    first, second, q = law(work, state, arms, source(SEED, RUN), layout.INFORMATION_MODELS, 3)
    models = models_of(state, layout.INFORMATION_MODELS, 3)
    extended = np.column_stack([rows(bandit), offsets(bandit)]) / bandit.noise
    D, v = reference.regret_and_information(
        extended, np.column_stack([models, np.ones(len(models))])
    )
    size = np.abs(extended @ np.append(np.abs(models).max(axis=0), 1.0)).max()
    np.testing.assert_allclose(work.regret[:K], D, rtol=1e-9, atol=1e-12 * size)
    np.testing.assert_allclose(work.variance[:K], v, rtol=1e-9, atol=1e-12 * size**2)
    assert (work.slot == -1).all()
    if samples == 1:
        assert D[first] == pytest.approx(0, abs=1e-12 * size)
        assert q == 0
    elif v.max() > 0 and D.min() > 1e-9 * size:
        pairs = reference.pairs_of_least_ratio(D, v, close=1e-7)
        assert any({i, j} >= {first, second} for i, j, _ in pairs)


def test_a_model_is_the_same_however_many_there_are():
    bandit = fastes.LinearBandit.random(20, 3)
    arms, found = bandit.canonical.arms, []
    for samples in (70, 200):
        state = fastes.InformationDirectedSampling(samples).initial_state(20, 3, source(0))
        law(ratio_search(arms), state, arms, source(SEED, RUN), layout.INFORMATION_MODELS, 0)
        found.append(state.scratch.arm.ravel()[:70].tolist())
    assert found[0] == found[1]


def test_where_all_models_agree_nothing_is_left_to_learn_or_to_lose():
    # One arm is 50 standard deviations better than the others: rounding must not say otherwise.
    rng = np.random.default_rng(3)
    actions = np.vstack([rng.normal(size=(40, 4)) / 3, 60 * np.ones(4)])
    bandit = fastes.LinearBandit(actions, prior_mean=1.0, prior_cov=0.01)
    state, arms = (
        fastes.InformationDirectedSampling(500).initial_state(41, 4, source(0)),
        bandit.canonical.arms,
    )
    work = ratio_search(arms)
    assert law(work, state, arms, source(1), layout.INFORMATION_MODELS, 0) == (40, 40, 0.0)
    assert work.regret[40] == 0
    assert not work.variance[:41].any()


def test_equal_arms_tie_to_the_bit_and_the_first_is_best():
    rng = np.random.default_rng(4)
    once = rng.normal(size=(50, 6))
    bandit = fastes.LinearBandit(np.vstack([once, once, once]))
    agent = fastes.InformationDirectedSampling(300)
    state, arms = learned(agent, bandit, 30), bandit.canonical.arms
    work = ratio_search(arms)
    first, second, _ = law(work, state, arms, source(1), layout.INFORMATION_MODELS, 0)
    assert max(first, second) < 50
    assert state.scratch.arm.max() < 50
    for part in (work.regret, work.variance):
        np.testing.assert_array_equal(part[:50], part[50:100])
        np.testing.assert_array_equal(part[:50], part[100:150])


def test_a_model_without_a_number_is_told_and_the_workspace_is_whole():
    bandit = fastes.LinearBandit.random(10, 3)
    state = fastes.InformationDirectedSampling(100).initial_state(10, 3, source(0))
    state.belief.mu[1] = np.nan
    work, arms = ratio_search(bandit.canonical.arms), bandit.canonical.arms
    assert law(work, state, arms, source(1), layout.INFORMATION_MODELS, 0) == (-1, -1, 0.0)
    assert (work.slot == -1).all()
    with pytest.raises(FloatingPointError, match="all of its scores are nan"):
        fastes.InformationDirectedSampling(100).action_law(state, arms, source(1), 0)


def test_a_probe_draws_its_own_models():
    bandit = fastes.LinearBandit.random(30, 5)
    state = fastes.InformationDirectedSampling(100).initial_state(30, 5, source(0))
    arms = bandit.canonical.arms
    law_at_probe(ratio_search(arms), state, arms, source(SEED, RUN), 7)
    drawn = reference.normals_of_models(SEED, RUN, layout.DIAGNOSTICS, 7 << 32, 100, 5)
    blocks = state.scratch.models[:, 1:].transpose(0, 2, 1).reshape(-1, 5)[:100]
    np.testing.assert_allclose(blocks, drawn, rtol=1e-12, atol=1e-12)
