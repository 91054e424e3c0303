"""Custom agents on sets that change, with late rewards and in other worlds."""

import numpy as np
import pytest
from played import RUN, SEED, Played

import fastes
from fastes import Truth
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.agents.own import OwnAgentError

RNG = np.random.default_rng(8)
POOL = RNG.normal(size=(20, 3))
SETS = {
    "fresh": Fresh(6, 3),
    "fresh tile": Fresh(70, 3, "gaussian"),
    "redrawn": Redrawn(5, 3, "uniform"),
    "subset": Subset(POOL, 4),
    "subset of all": Subset(POOL[:2], 2),
    "given": Given(RNG.normal(size=(7, 4, 3))),
    "given in single precision": Given(RNG.normal(size=(3, 4, 3)).astype(np.float32)),
    "one arm": Fresh(1, 1),
}
WORLDS = {
    "belief": {},
    "late": {"delay": 3},
    "never": {"delay": 100},
    "other": {"truth": Truth(prior_mean=1.0, noise=2.0, noise_law="uniform"), "delay": 1},
}
KEEP = ["actions", "rewards"]


class Replay:
    """Plays the arms that another agent played, run by run, and keeps what it sees."""

    def __init__(self, arms, pool=None):
        self.arms, self.pool, self.players = arms, pool, []

    def start(self, bandit, seed):
        self.players.append(ReplayPlayer(self.arms[len(self.players)], self.pool))
        return self.players[-1]


class ReplayPlayer:
    def __init__(self, arms, pool):
        self.arms, self.pool, self.offers, self.seen, self.before = arms, pool, [], [], []

    def act(self, actions):
        arm = int(self.arms[len(self.offers)])
        if self.pool is not None:  # recorded by its number in the pool
            arm = int(np.flatnonzero((actions == self.pool[arm]).all(axis=1))[0])
        self.offers.append((actions, arm))
        self.before.append(len(self.seen))
        return arm

    def observe(self, row, reward):
        self.seen.append((row, reward))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", SETS)
def test_what_rows_pay_and_cost_is_that_of_the_compiled_loop_to_the_bit(name, world):
    bandit = fastes.LinearBandit(SETS[name], prior_cov=2.0, noise=0.5)
    options = {"T": 60, "runs": 3, "seed": 5, "keep": KEEP, "points": 20, **WORLDS[world]}
    compiled = fastes.simulate(bandit, fastes.ThompsonSampling(), **options)
    replay = Replay(compiled.actions, getattr(bandit.actions, "pool", None))
    own = fastes.simulate(bandit, replay, **options)
    for part in ("actions", "rewards", "counts", "t"):
        np.testing.assert_array_equal(getattr(own, part), getattr(compiled, part))
    np.testing.assert_array_equal(own.regret.per_run, compiled.regret.per_run)
    delay = options.get("delay", 0)
    for run, player in enumerate(replay.players):
        assert len(player.seen) == max(0, 60 - delay)
        assert player.before == [max(0, t - delay) for t in range(60)]
        pairs = zip(player.offers, player.seen, own.rewards[run], strict=False)
        for (actions, arm), (row, reward), paid in pairs:
            assert actions.shape == (bandit.K, bandit.d)
            assert (row == actions[arm]).all()
            assert reward == paid


def test_rows_are_those_of_the_set():
    for actions in (SETS["fresh"], SETS["redrawn"], SETS["given"]):
        bandit = fastes.LinearBandit(actions)
        replay = Replay(np.zeros((2, 9), int))
        fastes.simulate(bandit, replay, T=9, runs=2, seed=4)
        for run, player in enumerate(replay.players):
            for t, (rows, _) in enumerate(player.offers):
                if isinstance(actions, Given):
                    expected = actions.array[t % 7]
                else:
                    expected = actions.rows(4, run, t if isinstance(actions, Fresh) else 0)
                assert (rows == expected).all()


def test_many_rows_are_offered_in_several_pieces():
    bandit, options = fastes.LinearBandit(Fresh(4000, 30)), {"T": 20, "keep": KEEP}
    compiled = fastes.simulate(bandit, fastes.Greedy(), **options)
    own = fastes.simulate(bandit, Replay(compiled.actions), **options)
    np.testing.assert_array_equal(own.rewards, compiled.rewards)
    np.testing.assert_array_equal(own.regret.per_run, compiled.regret.per_run)


class Vectors:
    """Plays given vectors of a ball."""

    def __init__(self, vectors):
        self.vectors, self.seen = vectors, []

    def start(self, bandit, seed):
        return self

    def act(self):
        self.at = getattr(self, "at", -1) + 1
        return self.vectors[self.at % len(self.vectors)]

    def observe(self, vector, reward):
        self.seen.append((vector, reward))


@pytest.mark.parametrize("world", WORLDS)
def test_the_ball_pays_what_the_compiled_loop_pays(world):
    """The vectors are those of a compiled run, read from its workspace after each step."""
    bandit = fastes.LinearBandit(Ball(3, 2.0), prior_cov=[1.0, 2.0, 0.5], prior_mean=0.2, noise=0.5)
    played, vectors = Played(bandit, fastes.ThompsonSampling(), 30, **WORLDS[world]), []
    for t in range(30):
        played.step(t)
        vectors.append(2.0 * played.actions.scratch.a)  # what was played: the ball's unit is 2
    agent = Vectors([np.zeros(3)] * 30 * RUN + vectors)
    options = {"T": 30, "runs": RUN + 1, "seed": SEED, "keep": "rewards"}
    own = fastes.simulate(bandit, agent, **options, **WORLDS[world])
    np.testing.assert_array_equal(own.rewards[RUN], bandit.noise * played.record.rewards)
    np.testing.assert_array_equal(own.regret.final[RUN], bandit.noise * played.record.total[0])
    delay = WORLDS[world].get("delay", 0)
    assert len(agent.seen) == (RUN + 1) * max(0, 30 - delay)
    for (vector, reward), expected, paid in zip(
        agent.seen[RUN * max(0, 30 - delay) :], vectors, own.rewards[RUN], strict=False
    ):
        assert (vector == expected).all()
        assert reward == paid


@pytest.mark.parametrize(
    "vector", [[0.0, 3.0, 0.0], [1.0, 1.0], 1, None, "abc", [np.nan] * 3, [[0.0] * 3]], ids=str
)
def test_what_is_no_vector_of_the_ball_is_refused(vector):
    bandit = fastes.LinearBandit(Ball(3, 2.0))
    words = r"act\(\) must return 3 numbers, a vector of norm at most 2, got .* at step 1 of run 0"
    with pytest.raises(OwnAgentError, match=words):
        fastes.simulate(bandit, Vectors([[2.0, 0.0, 0.0], vector]), T=3)


@pytest.mark.parametrize("arm", [6, -1, 1.5, None])
def test_what_is_no_row_is_refused(arm):
    bandit = fastes.LinearBandit(SETS["fresh"])
    lazy = type("Lazy", (), {"start": lambda self, bandit, seed: self})
    lazy.act, lazy.observe = lambda self, actions: arm, lambda self, row, reward: None
    with pytest.raises(OwnAgentError, match=r"act\(\) must return an integer from 0 to 5, got .*"):
        fastes.simulate(bandit, lazy(), T=3)


def test_an_error_names_the_step_with_late_rewards():
    class Failing:
        seen = 0

        def start(self, bandit, seed):
            return self

        def act(self, actions):
            return 0

        def observe(self, row, reward):
            self.seen += 1
            if self.seen == 3:
                raise KeyError("mine")

    bandit = fastes.LinearBandit(SETS["fresh"])
    with pytest.raises(OwnAgentError, match=r"observe\(\) raised KeyError at step 6 of run 0"):
        fastes.simulate(bandit, Failing(), T=30, delay=4)


def test_a_row_that_is_not_finite_is_named(tmp_path):
    array = RNG.normal(size=(5, 3, 2))
    array[3, 1, 0] = np.nan
    np.save(tmp_path / "rows.npy", array)
    bandit = fastes.LinearBandit(Given(np.load(tmp_path / "rows.npy", mmap_mode="r")))
    with pytest.raises(ValueError, match="actions must be finite, but an arm of step 3 is not"):
        fastes.simulate(bandit, Replay(np.zeros((1, 9), int)), T=9)


def test_late_rewards_are_late_for_the_belief_that_is_probed():
    bandit = fastes.LinearBandit.random(6, 2, noise=0.5)

    class Uniform(Replay):
        def start(self, bandit, seed):
            player = super().start(bandit, seed)
            player.act = lambda: player.before.append(0) or int(player.arms[len(player.before) - 1])
            player.action_law = lambda: np.full(6, 1 / 6)
            return player

    options = {"T": 40, "runs": 3, "diagnostics": [0, 1, 20, 39], "samples": 256, "delay": 5}
    compiled = fastes.simulate(bandit, fastes.UniformRandom(), **options, keep="actions")
    arms = np.concatenate([compiled.actions[:1], compiled.actions])  # one starts to be asked
    own = fastes.simulate(bandit, Uniform(arms), **options)
    for ours, theirs in zip(own.diagnostics.per_run, compiled.diagnostics.per_run, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
