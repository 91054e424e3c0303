import copy
import pickle
import typing

import numpy as np
import pytest
import reference
from bandits import BANDITS
from crafted import crafted
from engine import as_reference, start
from every_agent import FAMILY
from fastes.kernels.actions.arms import store_rows
from fastes.kernels.streams import layout

import fastes
from fastes.agents import live_calls
from fastes.agents.live_calls import Numbers
from fastes.agents.live_law import Chosen
from fastes.checks.arrays import Floats
from fastes.files.kinds import FileFormatError

AGENTS = [
    *FAMILY,
    fastes.EnsembleSampling(1),
    fastes.EnsembleSampling(20),
    fastes.EnsembleSampling(10**9),
    fastes.EnsembleSampling(20, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(0.5),
    fastes.InformationDirectedSampling(70),
    fastes.UniformRandom(),
]
LEARNERS = AGENTS[:-1]
BANDIT = BANDITS["full"]
MANY = fastes.LinearBandit.random(K=300, d=4)


def played(live, steps, seed=0):
    """Let an agent play for some steps with rewards of our own. Return the arms."""
    rng = np.random.default_rng(seed)
    arms = []
    for _ in range(steps):
        arms.append(live.act())
        live.observe(arms[-1], float(rng.normal()))
    return arms


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("name", ["full", "duplicate arms", "more than a tile"])
def test_a_live_agent_plays_as_the_simulated_one(agent, name):
    bandit, T = BANDITS[name], 400
    run = start(bandit, agent, T, seed=6)
    live = agent.start(bandit, seed=6)
    for t in range(T):
        arm = live.act()
        assert arm == run.step(t)
        noise = reference.normal(6, 0, layout.NOISE, 0, t)
        live.observe(arm, float(bandit.noise * (run.environment.means[arm] + noise)))


@pytest.mark.parametrize("agent", LEARNERS, ids=str)
@pytest.mark.parametrize("name", BANDITS)
def test_the_posterior_is_the_reference_s(agent, name):
    bandit = BANDITS[name]
    problem, live = as_reference(bandit), agent.start(bandit)
    mean, covariance = problem.mean, problem.covariance
    rng = np.random.default_rng(3)
    for _ in range(25):
        arm = int(rng.integers(bandit.K))  # also arms that it did not choose
        reward = float(bandit.noise * rng.normal())
        live.observe(arm, reward)
        a = problem.actions[arm]
        mean, covariance = reference.posterior_update(problem, mean, covariance, a, reward)
    belief = live.posterior()
    unit = np.sqrt(np.abs(problem.covariance).max()) or 1.0
    size = max(unit, np.abs(problem.mean).max())
    assert np.abs(belief.mean - mean).max() <= 1e-8 * size
    assert np.abs(belief.covariance - covariance).max() <= 1e-8 * unit**2


@pytest.mark.parametrize("prior_cov", [1.0, np.eye(2) + 0.5])
def test_a_covariance_far_below_the_prior_s_keeps_its_digits(prior_cov):
    bandit = fastes.LinearBandit(np.eye(2), prior_cov=prior_cov, noise=1e-5)
    live = fastes.ThompsonSampling().start(bandit)
    live.observe([0, 1] * 10_000, [0.1, 0.2] * 10_000)
    np.testing.assert_allclose(np.diag(live.posterior().covariance), 1e-14, rtol=1e-6)


def test_the_coordinates_of_the_arms_are_saved_where_a_library_chose_them(tmp_path, monkeypatch):
    for name in ("full", "singular", "fewer arms than dimensions", "gaussian process"):
        bandit = BANDITS[name]
        live = fastes.EnsembleSampling(5).start(bandit, seed=2)
        played(live, 30)
        live.save(tmp_path / "agent.npz")
        with monkeypatch.context() as other_library:
            # Another factor of the same prior, as another library might choose it.
            other_library.setattr(
                "fastes.problem.whitening.store_rows",
                lambda arms, first, b, o: store_rows(arms, first, -b, o),
            )
            loaded = _load_with_stored_arms(tmp_path / "agent.npz", other_library)
        assert (loaded.bandit.canonical.arms.tiles == bandit.canonical.arms.tiles).all()
        assert played(loaded, 50, seed=3) == played(live, 50, seed=3)


def _load_with_stored_arms(path, patch):
    from fastes.problem import whitening as canonical

    unpack = canonical.unpack_canonical

    def honest(parts, own):
        patch.setattr("fastes.problem.whitening.store_rows", store_rows)
        return unpack(parts, own)

    patch.setattr("fastes.problem.whitening.unpack_canonical", honest)
    return fastes.LiveAgent.load(path)


def test_growth_that_fails_loses_nothing(monkeypatch):
    from fastes.kernels.ensembles import play_log as playlog

    play_log = playlog.play_log
    for failing, M in ((1, 10**8), (2, 10**8), (1, 20)):
        live, untouched = (fastes.EnsembleSampling(M).start(MANY, seed=5) for _ in range(2))
        calls = []

        def fail_once(*arguments, calls=calls, failing=failing):
            calls.append(1)
            if len(calls) == failing:
                raise MemoryError
            return play_log(*arguments)

        rng = np.random.default_rng(1)
        arms, rewards = rng.integers(0, MANY.K, size=3000), rng.normal(size=3000)
        with monkeypatch.context() as patch:
            patch.setattr(playlog, "play_log", fail_once)
            for arm, reward in zip(arms.tolist(), rewards.tolist(), strict=True):
                try:
                    live.observe(arm, reward)
                except MemoryError:
                    live.observe(arm, reward)
        untouched.observe(arms, rewards)
        assert len(calls) >= 2
        assert played(live, 100) == played(untouched, 100)


def test_more_rewards_than_can_be_counted_are_refused():
    live = fastes.EnsembleSampling(20).start(BANDIT)
    live._observed[0] = 2**32 - 2
    with pytest.raises(ValueError, match="can observe at most 1 more rewards, got 2"):
        live.observe([0, 1], [0.0, 0.0])


def test_an_agent_that_does_not_fit_says_how_much_it_needs(monkeypatch):
    monkeypatch.setattr("fastes.checks.memory.available_bytes", lambda: 2**30)
    with pytest.raises(MemoryError, match=r"M=1000000000, engine='eager'.* needs 44\."):
        fastes.EnsembleSampling(10**9, "eager").start(BANDIT)


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_rewards_may_come_late_and_in_batches(agent):
    one_by_one, batched = (agent.start(BANDIT, seed=2) for _ in range(2))
    rng = np.random.default_rng(1)
    for _ in range(30):
        first = [one_by_one.act() for _ in range(5)]
        assert first == [batched.act() for _ in range(5)]
        rewards = rng.normal(size=5)
        for arm, reward in zip(first, rewards, strict=True):
            one_by_one.observe(arm, float(reward))
        batched.observe(np.array(first), rewards)
    assert one_by_one.observations == batched.observations == 150
    assert one_by_one.acts == 150


def test_acting_twice_without_a_reward_reads_the_model_as_it_is():
    live = fastes.EnsembleSampling(1).start(BANDIT, seed=3)
    played(live, 10)
    assert len({live.act() for _ in range(20)}) == 1


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize("steps", [0, 1, 7, 300])
def test_a_saved_agent_goes_on_to_the_same_bit(agent, steps, tmp_path):
    live = agent.start(BANDIT, seed=4)
    played(live, steps)
    live.act()  # an act whose reward is still out
    live.save(tmp_path / "agent.npz")
    again = fastes.LiveAgent.load(tmp_path / "agent.npz")
    assert repr(again) == repr(live)
    assert played(again, 300, seed=9) == played(live, 300, seed=9)
    if agent is not AGENTS[-1]:
        for mine, other in zip(live.posterior(), again.posterior(), strict=True):
            assert (mine == other).all()
    again.save(tmp_path / "again.npz")
    live.save(tmp_path / "agent.npz")
    with np.load(tmp_path / "agent.npz") as a, np.load(tmp_path / "again.npz") as b:
        assert a.files == b.files
        apart = ("meta", "seal")  # when it was written
        assert all((a[name] == b[name]).all() for name in a.files if name not in apart)


@pytest.mark.parametrize("agent", AGENTS, ids=str)
def test_a_copy_goes_on_to_the_same_bit_on_its_own(agent):
    live = agent.start(BANDIT, seed=4)
    played(live, 30)
    copies = [copy.copy(live), copy.deepcopy(live), pickle.loads(pickle.dumps(live))]
    arms = played(live, 30, seed=9)
    for each in copies:
        assert (each.acts, each.observations) == (30, 30)
        assert played(each, 30, seed=9) == arms


def test_an_agent_is_saved_where_no_copy_of_it_fits(tmp_path, monkeypatch):
    live = AGENTS[1].start(BANDIT, seed=4)
    played(live, 30)
    with monkeypatch.context() as patch:
        patch.setattr("fastes.checks.memory.available_bytes", lambda: 0)
        live.save(tmp_path / "agent.npz")
    assert played(fastes.LiveAgent.load(tmp_path / "agent.npz"), 9) == played(live, 9)


@pytest.mark.parametrize("engine", ["deferred", "eager"])
def test_the_ensemble_is_in_user_coordinates_and_looking_changes_nothing(engine):
    agent = fastes.EnsembleSampling(2_000, engine)
    watched, plain = (agent.start(BANDIT, seed=1) for _ in range(2))
    played(watched, 40)
    played(plain, 40)
    models, belief = watched.ensemble(), watched.posterior()
    assert models.shape == (2_000, BANDIT.d)
    assert (models == watched.ensemble()).all()
    # Mean of 2,000 draws and their covariance: z tests, level 1e-5 each entry.
    sd = np.sqrt(np.diag(belief.covariance))
    assert (np.abs(models.mean(axis=0) - belief.mean) < 4.4 * sd / np.sqrt(2_000)).all()
    gap = np.cov(models.T) - belief.covariance
    assert (np.abs(gap) < 4.4 * np.sqrt(2 / 2_000) * np.outer(sd, sd)).all()
    assert played(watched, 40, seed=2) == played(plain, 40, seed=2)


@pytest.mark.parametrize("agent", AGENTS, ids=str)
@pytest.mark.parametrize(
    ("arm", "reward", "message"),
    [
        (0, np.nan, "reward must be finite, got nan"),
        (0, np.inf, "reward must be finite, got inf"),
        (0, 1e12, r"reward must be a number from -8e\+11 to 8e\+11, got 1e\+12"),
        ([0, 1], [1.0, 1e12], r"reward must be a number from -8e\+11 to 8e\+11, got 1e\+12"),
        (-1, 1.0, "arm must be an integer from 0 to 69, got -1"),
        (70, 1.0, "arm must be an integer from 0 to 69, got 70"),
        (0.5, 1.0, "arm must be an integer from 0 to 69, got .*0.5"),
        ("x", 1.0, "arm must be an integer from 0 to 69, got"),
        (True, 1.0, "arm must be an integer from 0 to 69, got .*True"),
        (0, "much", "reward must be an array of real numbers, got 'much'"),
        ([0, 1], [1.0, np.nan], r"reward must be finite, got nan at \[1\]"),
        ([0, 99], [1.0, 2.0], "arm must be an integer from 0 to 69, got 99"),
        ([0, 1], [1.0], "arm and reward must be single or of equal length"),
        ([[0]], [[1.0]], "arm and reward must be single or of equal length"),
    ],
)
def test_what_is_refused_changes_nothing(agent, arm, reward, message):
    live, untouched = (agent.start(BANDIT, seed=5) for _ in range(2))
    played(live, 5)
    played(untouched, 5)
    with pytest.raises((ValueError, TypeError), match=message):
        live.observe(arm, reward)
    assert live.observations == 5
    assert played(live, 20) == played(untouched, 20)


@pytest.mark.parametrize("kernel", ["observe", "observe_rows"])
def test_a_batch_that_is_interrupted_is_counted_as_far_as_it_was_learned(
    kernel, tmp_path, monkeypatch
):
    # Python raises what a signal asks for right after the call of a kernel returns.
    bandit = BANDIT if kernel == "observe" else fastes.LinearBandit(fastes.actions.Ball(3))
    arms = [0, 1, 0] if kernel == "observe" else np.eye(3)
    live, whole = (fastes.EnsembleSampling(5).start(bandit, seed=2) for _ in range(2))
    learn = getattr(live_calls, kernel)

    def interrupted(*arguments):
        learn(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(live_calls, kernel, interrupted)
        with pytest.raises(KeyboardInterrupt):
            live.observe(arms, [0.3, -0.2, 0.1])
    whole.observe(arms, [0.3, -0.2, 0.1])
    live.save(tmp_path / "agent.npz")
    for each in (live, fastes.LiveAgent.load(tmp_path / "agent.npz")):
        assert each.observations == 3
        np.testing.assert_array_equal(each.ensemble(), whole.ensemble())


def test_an_empty_batch_is_no_observation():
    live = fastes.ThompsonSampling().start(BANDIT)
    live.observe([], [])
    assert live.observations == 0


def test_uniform_play_learns_what_it_does_not_use():
    live, other = (agent.start(BANDIT) for agent in (fastes.UniformRandom(), fastes.Greedy()))
    for agent in (live, other):
        agent.observe([0, 1, 0], [0.3, -0.2, 0.1])
    assert (live.posterior().mean == other.posterior().mean).all()


def test_what_an_agent_does_not_keep_it_says():
    with pytest.raises(TypeError, match="has no ensemble"):
        fastes.ThompsonSampling().start(BANDIT).ensemble()


def test_act_says_what_it_returns():
    ways = typing.get_overloads(fastes.LiveAgent.act)
    found = [typing.get_type_hints(each)["return"] for each in ways]
    assert found == [int | Floats, Numbers, Chosen]


def test_a_bad_seed_is_refused():
    with pytest.raises(ValueError, match="seed must be an integer from 0"):
        fastes.Greedy().start(BANDIT, seed=-1)


@pytest.mark.parametrize(("engine", "M"), [("deferred", 20), ("deferred", 10**8), ("eager", 20)])
def test_damaged_agents_are_refused(engine, M, tmp_path):
    live = fastes.EnsembleSampling(M, engine).start(BANDIT, seed=4)
    played(live, 30)
    path = tmp_path / "agent.npz"
    live.save(path)
    whole = path.read_bytes()
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    for cut in range(0, len(whole), 2048):
        path.write_bytes(whole[:cut])
        with pytest.raises(FileFormatError, match="is not a fastes agent file, or it is damaged"):
            fastes.LiveAgent.load(path)
    spoiled = {
        "state_belief_mu": arrays["state_belief_mu"][:-1],
        "noise": np.array(-1.0),
    }
    if engine == "deferred":
        spoiled["state_played"] = np.full(30, 70, np.uint32)
        spoiled["state_model"] = np.zeros_like(arrays["state_model"])
        spoiled["state_xi"] = arrays["state_xi"][:, :-1]
    if "state_read_at" in arrays:
        spoiled["state_read_at"] = arrays["state_read_at"] + 1000
    elif "state_plays" in arrays:
        spoiled["state_taken_in"] = arrays["state_taken_in"][:-1]
        spoiled["state_plays"] = np.full_like(arrays["state_plays"], 2**40)
    if engine == "eager":
        spoiled["state_models_span"] = np.array([0, 9999])
        spoiled["state_models_tiles"] = arrays["state_models_tiles"][:0]
    changes = [
        lambda meta, arrays, count=count: meta.update(observations=count)
        for count in (-5, 2.5, "7", 10**30)
    ]
    for name, array in spoiled.items():
        changes.append(lambda meta, arrays, name=name, array=array: arrays.update({name: array}))
        changes.append(lambda meta, arrays, name=name: arrays.pop(name))
    for change in changes:
        path.write_bytes(whole)
        crafted(path, change)
        with pytest.raises(FileFormatError, match="is not a valid agent"):
            fastes.LiveAgent.load(path)
