"""Same random numbers in, same offers, actions and beliefs out, for every action set."""

import numpy as np
import pytest
import reference
from fastes.kernels.ensembles.row_log import block_length
from fastes.kernels.streams import layout
from played import RUN, SEED, TOLERANCE, Played, agents_on, compare, offered

import fastes
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset

RNG = np.random.default_rng(5)
POOL = RNG.normal(size=(90, 3))
FULL = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
BELIEFS = {
    "isotropic": {},
    "diagonal": {"prior_cov": [1.0, 4.0, 0.25], "prior_mean": [0.3, -1.0, 2.0], "noise": 0.5},
    "singular": {"prior_cov": [1.0, 0.0, 2.0], "prior_mean": 0.1},
    "full": {"prior_cov": FULL, "prior_mean": [1.0, 0.0, -0.5], "noise": 2.0},
}
SETS = {
    "fresh sphere": Fresh(7, 3),
    "fresh gaussian": Fresh(70, 3, "gaussian"),
    "fresh uniform": Fresh(1, 3, "uniform"),
    "redrawn": Redrawn(9, 3, "uniform"),
    "subset": Subset(POOL, 5),
    "subset of all": Subset(POOL[:6], 6),
    "given": Given(RNG.normal(size=(11, 6, 3))),
    "given in single precision": Given(RNG.normal(size=(4, 66, 3)).astype(np.float32)),
}


@pytest.fixture(params=BELIEFS)
def belief(request):
    return BELIEFS[request.param]


@pytest.fixture(params=SETS)
def bandit(request, belief):
    return fastes.LinearBandit(SETS[request.param], **belief)


@pytest.mark.parametrize(("name", "agent", "scores_of"), agents_on(SETS))
def test_it_plays_as_the_reference_says(name, agent, scores_of, belief):
    compare(fastes.LinearBandit(SETS[name], **belief), agent, 40, scores_of)


@pytest.mark.parametrize(
    ("M", "T", "delay"),
    [(1, 1, 0), (1, 90, 0), (3, 120, 0), (40, 200, 0), (3, 90, 1), (3, 90, 7)],
)
def test_deferred_ensemble_sampling_through_the_factors(M, T, delay):
    """Every read is the last one plus what was observed since, by the reference's factors."""
    bandit = fastes.LinearBandit(Fresh(6, 3, "gaussian"), **BELIEFS["full"])
    r, block = bandit.rank, block_length(bandit.rank)
    rows, read = [], {}  # all that were played; xi of each model, and rewards seen at its read
    played = Played(bandit, fastes.EnsembleSampling(M), T, delay=delay)
    for t in range(T):
        m, seen = reference.integer(SEED, RUN, int(layout.MODEL_INDEX), t, M), max(0, t - delay)
        known = read.get(m)
        arm = played.step(t)
        models = played.state.models
        slot = int(np.flatnonzero(models.model[: models.used[0]] == m)[0])
        xi = models.xi[slot].copy()
        if known is not None:
            normals = reference.normal_vector(
                SEED, RUN, int(layout.PERTURBATION), t, 2 * block + 20 * r
            )
            before, since = known
            expected = before + reference.missed(np.array(rows)[:seen], since, seen, normals, block)
            np.testing.assert_allclose(xi, expected, atol=TOLERANCE * max(1, np.abs(xi).max()))
        assert models.read_at[slot] == seen
        read[m] = xi, seen
        rows.append(offered(bandit.actions, t)[arm] @ played.lift / bandit.noise)


@pytest.mark.parametrize("radius", [1.0, 2.5])
def test_the_ball(belief, radius):
    bandit = fastes.LinearBandit(Ball(3, radius), **belief)
    for agent in (fastes.Greedy(), fastes.ThompsonSampling(), fastes.EnsembleSampling(4)):
        played, total = Played(bandit, agent, 40), 0.0
        U, sigma = played.lift, bandit.noise
        z = reference.normal_vector(SEED, RUN, int(layout.THETA), 0, bandit.rank)
        theta = bandit.prior_mean + U @ z
        for t in range(40):
            mu = played.state.belief.mu.copy()
            played.step(t)
            model = bandit.prior_mean + U @ (mu if agent.name == "greedy" else played.state.z)
            row = played.actions.arms.tiles[0, :, 0] * sigma  # U'a
            size = np.linalg.norm(model)
            if size > 1e-12:  # else all arms tie
                best = radius * model / size
                np.testing.assert_allclose(row, U.T @ best, atol=1e-9 * max(1, np.abs(U).max()))
            offset = played.actions.arms.offsets[0, 0] * sigma
            total += radius * np.linalg.norm(theta) - (offset + row @ z)
            assert sigma * played.record.regret[t] == pytest.approx(total, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [1e-300, 1e-3, 0.3, 1.0, 10.0, 1e300])
def test_no_arm_of_the_ball_is_more_optimistic_than_linucb_s(belief, alpha):
    bandit = fastes.LinearBandit(Ball(3, 2.0), **belief)
    played = Played(bandit, fastes.LinUCB(alpha), 30)
    U, sigma = played.lift, bandit.noise
    directions = np.random.default_rng(1).normal(size=(20_000, 3))
    directions *= 2.0 / np.linalg.norm(directions, axis=1)[:, None]

    def optimistic(rows, offsets, mu, S):
        spread = np.sqrt(np.maximum(0, np.einsum("ij,jk,ik->i", rows, S, rows)))
        return offsets + rows @ mu + alpha * spread

    for t in range(30):
        mu, S = played.state.belief.mu.copy(), played.state.belief.S.copy()
        played.step(t)
        rows, offsets = directions @ U / sigma, directions @ bandit.prior_mean / sigma
        row = played.actions.arms.tiles[:1, :, 0]
        mine = optimistic(row, played.actions.arms.offsets[:1, 0], mu, S)[0]
        best = optimistic(rows, offsets, mu, S).max()
        assert mine >= best - 1e-9 * abs(best)


def first_arm(prior_mean, prior_cov):
    """Return the arm of the unit disc that LinUCB with alpha 1 plays before any reward."""
    bandit = fastes.LinearBandit(Ball(2), prior_mean=prior_mean, prior_cov=prior_cov)
    played = Played(bandit, fastes.LinUCB(1.0), 1)
    played.step(0)
    return played.actions.scratch.a


@pytest.mark.parametrize("missing", [1.0, 0.5, 1e-6, 1e-10, -1e-3])
def test_what_optimism_adds_where_mirrored_arms_tie(missing):
    """Of variances 1 and 1/4 and a mean (0, m), |u|^2 = (2 m / 3)^2 comes of the mean alone."""
    m = 1.5 * np.sqrt(1 - missing)
    expected = np.array([np.sqrt(max(missing, 0.0)), m * 4 / 3])
    arm = first_arm([0.0, m], [1.0, 0.25])
    np.testing.assert_allclose(np.abs(arm), expected / np.linalg.norm(expected), atol=1e-10)


@pytest.mark.parametrize("sign", [-1, 1])
def test_a_small_mean_that_is_no_rounding_breaks_a_tie(sign):
    for m in (0.5, 1.0):
        assert sign * first_arm([sign * 1e-8, m], [1.0, 0.25])[0] > 0.1


def test_uniform_play_of_the_ball_is_uniform():
    """The radius to the power d is uniform on [0, 1], and directions have mean 0: 4.5 errors."""
    bandit = fastes.LinearBandit(Ball(3))
    played = Played(bandit, fastes.UniformRandom(), 4000)
    rows = []
    for t in range(4000):
        played.step(t)
        rows.append(played.actions.arms.tiles[0, :, 0].copy())
    radius = np.linalg.norm(rows, axis=1) ** 3
    assert radius.max() <= 1 + 1e-12
    for k in (1, 2, 3):
        spread = np.sqrt((1 / (2 * k + 1) - 1 / (k + 1) ** 2) / 4000)
        assert abs((radius**k).mean() - 1 / (k + 1)) < 4.5 * spread
    assert (np.abs(np.mean(rows, axis=0)) < 4.5 * np.sqrt(1 / 5 / 4000)).all()


def test_every_subset_is_as_likely():
    """Ten subsets of two of five arms, 4,000 steps: chi-squared below its 1e-6 quantile."""
    from collections import Counter

    bandit = fastes.LinearBandit(Subset(POOL[:5], 2))
    played = Played(bandit, fastes.UniformRandom(), 4000)
    seen = Counter()
    for t in range(4000):
        played.step(t)
        seen[tuple(sorted(played.actions.chosen.tolist()))] += 1
    assert len(seen) == 10
    assert sum((n - 400) ** 2 / 400 for n in seen.values()) < 45.1
