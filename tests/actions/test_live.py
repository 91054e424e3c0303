"""Live agents that are offered arms, some of a pool, or a ball."""

import numpy as np
import pytest
from every_agent import FAMILY, some
from fastes.kernels.actions.arms import empty_arms
from fastes.kernels.actions.whitening import store_whitened
from fastes.kernels.jit.events import announce_compilation

import fastes
from fastes.actions import Ball, Fresh, Offered

AGENTS = [
    *FAMILY,
    fastes.EnsembleSampling(3),
    fastes.EnsembleSampling(3, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(),
    fastes.UniformRandom(),
]
# One of each way to keep models, and of each way to score arms. Whatever the agent, the same code
# offers it arms; how it learns and is saved is tested for every agent where it is simulated.
SOME = some(AGENTS, FAMILY[0], *AGENTS[len(FAMILY) : len(FAMILY) + 3], fastes.LinUCB())

RNG = np.random.default_rng(8)
FRESH = Fresh(7, 3)
OFFERS = RNG.normal(size=(60, 7, 3))
BELIEF = {"prior_cov": [1.0, 2.0, 0.5], "prior_mean": [0.1, 0.0, -0.2], "noise": 0.5}


def offered():
    return fastes.LinearBandit(Offered(3), **BELIEF)


@pytest.mark.parametrize("agent", SOME)
def test_it_plays_as_the_simulated_one_on_the_same_offers(agent):
    bandit = fastes.LinearBandit(FRESH, **BELIEF)
    simulated = fastes.simulate(bandit, agent, T=60, seed=5, keep=["actions", "rewards"])
    live = agent.start(offered(), seed=5)
    for t, (arm, reward) in enumerate(zip(simulated.actions[0], simulated.rewards[0], strict=True)):
        rows = FRESH.rows(5, 0, t)
        assert live.act(rows) == arm
        live.observe(rows[arm], float(reward))


@pytest.mark.parametrize("agent", SOME)
def test_the_posterior_is_that_of_the_rows_and_rewards(agent):
    live = agent.start(offered(), seed=1)
    rows, rewards = OFFERS[:, 0], RNG.normal(size=60)
    live.observe(rows[:40], rewards[:40])
    for row, reward in zip(rows[40:], rewards[40:], strict=True):
        live.observe(row, reward)
    precision = np.diag(1 / np.array(BELIEF["prior_cov"])) + rows.T @ rows / 0.25
    weight = BELIEF["prior_mean"] / np.array(BELIEF["prior_cov"]) + rows.T @ rewards / 0.25
    belief = live.posterior()
    np.testing.assert_allclose(belief.covariance, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(belief.mean, np.linalg.solve(precision, weight), rtol=1e-9)


@pytest.mark.parametrize("agent", SOME)
def test_a_saved_agent_goes_on_to_the_same_bit(agent, tmp_path):
    live = agent.start(offered(), seed=2)
    for rows in OFFERS[:45]:
        live.observe(rows[live.act(rows)], 0.2)
    live.save(tmp_path / "a.npz")
    again = fastes.LiveAgent.load(tmp_path / "a.npz")
    for rows in OFFERS[45:]:
        arm = live.act(rows)
        assert again.act(rows) == arm
        for each in (live, again):
            each.observe(rows[arm], -0.1)
    np.testing.assert_array_equal(live.posterior().mean, again.posterior().mean)
    if isinstance(agent, fastes.EnsembleSampling):
        np.testing.assert_array_equal(live.ensemble(), again.ensemble())


@pytest.mark.parametrize("mean", [0.0, [0.1, 0.3, -0.2]], ids=["no mean", "a mean"])
@pytest.mark.parametrize(
    "cov", [2.0, [1.0, 0.0, 0.5], np.eye(3) + 0.5, np.outer([1, 2, 0], [1, 2, 0])], ids=str
)
def test_rows_on_offer_become_arms(mean, cov):
    canonical = fastes.LinearBandit(Offered(3), prior_mean=mean, prior_cov=cov).canonical
    whole = cov * np.eye(3) if np.ndim(cov) < 2 else cov
    r = canonical.rank
    for n in (1, 63, 64, 65, 128):
        arms, rows = empty_arms(130, r), RNG.normal(size=(n, 3))
        arms.tiles[:], arms.offsets[:] = 7.0, 7.0  # of an earlier offer
        given = canonical.whitening(), rows, np.empty(r), canonical.limits
        assert store_whitened(arms, *given) == -1
        b = arms.tiles.transpose(0, 2, 1).reshape(-1, r)[:n]
        np.testing.assert_allclose(b @ b.T, rows @ whole @ rows.T, atol=1e-12)
        offsets = arms.offsets.ravel()
        np.testing.assert_allclose(offsets[:n], rows @ np.broadcast_to(mean, 3), atol=1e-14)
        assert (offsets[n:] == -np.inf).all()
        for wrong in (np.nan, np.inf, -np.inf):
            for i, j in ((n - 1, 0), (n // 2, 1), (0, 2)):
                kept, rows[i, j] = rows[i, j], wrong
                assert store_whitened(arms, *given) == i
                rows[i, j] = kept


def test_offers_of_any_size_one_after_the_other():
    live = fastes.Greedy().start(fastes.LinearBandit(Offered(2)), seed=0)
    live.observe([[1.0, 0.0], [0.0, 1.0]], [2.0, 1.0])
    for n in (1, 64, 65, 3, 1000, 2):
        rows = np.random.default_rng(n).normal(size=(n, 2))
        assert live.act(rows) == np.argmax(rows @ live.posterior().mean)
    assert live.act([[0.0, -1.0], [1.0, 0.0], [-1.0, 0.0]]) == 1  # lists are rows too


def test_rows_that_cannot_be_written_to_need_no_code_of_their_own():
    def play(offers):
        live = fastes.LinUCB().start(offered(), seed=0)
        for rows in offers[:3]:
            live.observe(rows[live.act(rows)], 0.5)
        live.observe(offers[0], np.ones(7))

    play(OFFERS)
    compiled, read_only = [], OFFERS.copy()
    read_only.flags.writeable = False
    with announce_compilation(lambda: compiled.append(True)):
        for offers in (read_only, np.asfortranarray(OFFERS), OFFERS.astype(np.float32)):
            play(offers)
    assert not compiled
    assert not read_only.flags.writeable


def test_a_million_rows_are_an_answer():
    live = fastes.ThompsonSampling().start(fastes.LinearBandit(Offered(2)), seed=0)
    rows = np.random.default_rng(0).normal(size=(1_000_000, 2))
    assert 0 <= live.act(rows) < 1_000_000


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        (None, TypeError, "needs actions, the arms on offer"),
        ([], ValueError, "actions must be rows of 3 numbers, got shape \\(0,\\)"),
        (np.empty((0, 3)), ValueError, "actions must have at least one arm"),
        ([[1.0, 2.0]], ValueError, "actions must be rows of 3 numbers, got shape \\(1, 2\\)"),
        ([1.0, 2.0, 3.0], ValueError, "actions must be rows of 3 numbers"),
        ([[0.0, 0.0, 1.0], [np.nan, 0.0, 0.0]], ValueError, "actions\\[1\\] must be finite"),
        ([[1e9, 0.0, 0.0]], ValueError, "actions\\[0\\] must be finite, and its value within"),
        ("abc", TypeError, "actions must be an array of real numbers"),
    ],
)
def test_offers_that_are_none_are_refused_and_change_nothing(rows, error, words):
    live = fastes.EnsembleSampling(4).start(offered(), seed=3)
    with pytest.raises(error, match=words):
        live.act(rows)
    assert live.acts == 0
    assert live.act(OFFERS[0]) == fastes.EnsembleSampling(4).start(offered(), seed=3).act(OFFERS[0])


@pytest.mark.parametrize(
    ("row", "reward", "words"),
    [
        ([1.0, 2.0], 0.5, "row must be rows of 3 numbers"),
        ([[1.0, 2.0, 3.0]], [0.5, 0.6], "row and reward must be single or of equal length"),
        ([np.inf, 0.0, 0.0], 0.5, "row must be finite"),
        ([1.0, 0.0, 0.0], 1e30, "reward must be a number from"),
    ],
)
def test_rewards_of_rows_that_are_none_are_refused(row, reward, words):
    live = fastes.Greedy().start(offered(), seed=3)
    with pytest.raises(ValueError, match=words):
        live.observe(row, reward)
    assert live.observations == 0


def test_one_row_of_many_that_is_none_keeps_all_from_being_learned():
    live, rows = fastes.Greedy().start(offered(), seed=3), np.ones((25_000, 3))
    rows[24_000, 1] = np.nan
    with pytest.raises(ValueError, match="row must be finite"):
        live.observe(rows, np.ones(25_000))
    assert live.observations == 0
    np.testing.assert_array_equal(live.posterior().mean, BELIEF["prior_mean"])


@pytest.mark.parametrize("agent", some(AGENTS, fastes.EnsembleSampling(3), fastes.LinUCB()))
def test_some_of_a_pool(agent):
    bandit = fastes.LinearBandit.random(K=90, d=4, seed=2)
    live, other = agent.start(bandit, seed=7), agent.start(bandit, seed=7)
    for t in range(50):
        some = np.random.default_rng(t).choice(90, size=8, replace=False)
        arm = live.act(available=some)
        assert arm in some
        everything = other.act(available=np.arange(90))
        assert 0 <= everything < 90
        for each in (live, other):
            each.observe(arm, 0.1)


def test_all_of_a_pool_is_the_pool():
    bandit = fastes.LinearBandit.random(K=90, d=4, seed=2)
    for agent in (fastes.EnsembleSampling(5), fastes.LinUCB()):
        live, other = agent.start(bandit, seed=7), agent.start(bandit, seed=7)
        for t in range(30):
            arm = live.act(available=range(90))
            assert arm == other.act()
            live.observe(arm, 0.1 * t)
            other.observe(arm, 0.1 * t)


@pytest.mark.parametrize(
    ("available", "error"),
    [([], ValueError), ([3, 3], ValueError), ([90], ValueError), ([-1], ValueError)],
)
def test_arms_of_a_pool_that_are_none_are_refused(available, error):
    live = fastes.Greedy().start(fastes.LinearBandit.random(K=90, d=4), seed=7)
    with pytest.raises(error, match="available must"):
        live.act(available=available)


def test_words_that_do_not_fit_the_set_are_refused():
    fixed = fastes.Greedy().start(fastes.LinearBandit.random(K=9, d=3), seed=7)
    with pytest.raises(TypeError, match="takes no actions, if arms are fixed"):
        fixed.act(OFFERS[0])
    with pytest.raises(TypeError, match="available needs fixed arms"):
        fastes.Greedy().start(offered()).act(OFFERS[0], available=[1])
    with pytest.raises(ValueError, match="a live agent needs fixed arms, Offered"):
        fastes.Greedy().start(fastes.LinearBandit(Fresh(3, 2)))


@pytest.mark.parametrize(
    "agent", some(AGENTS, fastes.EnsembleSampling(3), fastes.LinUCB(), fastes.UniformRandom())
)
def test_a_ball(agent, tmp_path):
    bandit = fastes.LinearBandit(Ball(3, 2.0), **BELIEF)
    live = agent.start(bandit, seed=4)
    for _ in range(30):
        row = live.act()
        assert row.shape == (3,)
        norm = np.linalg.norm(row)
        assert norm <= 2 + 1e-12
        assert norm == pytest.approx(2) or agent.name in ("uniform", "eps-greedy")
        live.observe(row, 0.3)
    live.save(tmp_path / "b.npz")
    np.testing.assert_array_equal(fastes.LiveAgent.load(tmp_path / "b.npz").act(), live.act())
