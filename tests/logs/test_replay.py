"""Replays: the choices of a live agent, and estimates of known values."""

import math

import numpy as np
import pytest
import reference
from crafted import crafted
from fastes.kernels.streams import layout

import fastes
from fastes.actions import Offered

ES = fastes.EnsembleSampling(20)
MEANS = np.array([0.1, 0.5, 0.3, 0.8])
POLICY = np.array([0.1, 0.2, 0.3, 0.4])


def drawn_log(n, seed, p=(0.25, 0.25, 0.25, 0.25), declared=None):
    """Draw a log of arms without features: means MEANS, noise 0.5."""
    rng = np.random.default_rng(seed)
    arm = rng.choice(4, size=n, p=p)
    reward = MEANS[arm] + 0.5 * rng.normal(size=n)
    return fastes.Log(4, arm, reward, np.array(p)[arm] if declared is None else declared)


BANDIT = fastes.LinearBandit(np.eye(4), noise=0.5)


def offers(kind, n, rng):
    """Return arguments of a log with other arms in each row, and those of `act` for each."""
    features = rng.normal(size=(5 if kind == "all" else 70, 3))
    if kind == "all":
        return {"actions": features}, [{} for _ in range(n)]
    sizes = rng.integers(1, 4, size=n) if kind != "sets" else np.full(n, 4)
    sizes[n // 2] = 70 if kind == "ragged" else sizes[n // 2]  # more than there was room for
    if kind == "some":
        chosen = [rng.permutation(70)[:size] for size in sizes]
        acts = [{"available": each} for each in chosen]
        return {"actions": features, "available": chosen}, acts
    sets = [rng.normal(size=(size, 3)) for size in sizes]
    acts = [{"actions": each} for each in sets]
    return {"actions": np.array(sets) if kind == "sets" else sets}, acts


@pytest.mark.parametrize("method", ["rejection", "ips"])
@pytest.mark.parametrize(
    ("kind", "agent", "law"),
    [
        ("all", ES, fastes.LinearBandit),
        ("some", ES, fastes.LinearBandit),
        ("sets", ES, fastes.LinearBandit),
        ("ragged", ES, fastes.LinearBandit),
        ("all", fastes.ThompsonSampling(), fastes.LogisticBandit),
    ],
)
def test_a_replay_is_a_live_agent_s_loop(kind, agent, law, method):
    rng, n, draws = np.random.default_rng(3), 300, 1 if method == "rejection" else 3
    given, acts = offers(kind, n, rng)
    sizes = [len(each.get("available", each.get("actions", range(5)))) for each in acts]
    places = [int(rng.integers(size)) for size in sizes]
    reward = rng.integers(2, size=n).astype(float)
    if "available" in given:
        arm = [each["available"][place] for each, place in zip(acts, places, strict=True)]
    else:
        arm = places
    p = rng.uniform(0.2, 1.0, size=n)
    log = fastes.Log(arm=arm, reward=reward, propensity=p, **given)
    bandit = law(log.actions, prior_cov=0.5)
    (found,) = fastes.replay(log, agent, bandit, method, draws=3, seed=5)

    known = bandit.actions if kind in ("all", "some") else Offered(3)
    live = agent.start(law(known, prior_cov=0.5), seed=5)
    if kind in ("all", "some"):
        names = [(int(each), int(each)) for each in arm]
    else:
        pairs = zip(acts, places, strict=True)
        names = [(place, each["actions"][place]) for each, place in pairs]
    weights = 1.0 / p
    if method == "rejection":
        words = [reference.random_pair(5, 0, layout.KEPT_ROWS, 0, t)[0] for t in range(n)]
        uniforms = np.array([(word >> 11) * 2.0**-53 for word in words])
        weights = np.where(uniforms < p.min() / p, 1.0 / p.min(), 0.0)
    rows = list(zip(acts, names, reward, strict=True))
    total, mass = reference.replayed(
        _Timed(live, weights, draws), rows, weights, draws, method == "ips"
    )
    assert found.value == pytest.approx(total / (n if method == "ips" else mass), rel=1e-12)
    assert found.mean_weight == pytest.approx(mass / n, rel=1e-12)
    assert found.rows > 20


class _Timed:
    """A live agent whose choices in a row have that row's times, also after rows passed over."""

    def __init__(self, live, weights, draws):
        self._live = live
        self._times = iter(
            [t * draws + k for t, w in enumerate(weights) if w > 0.0 for k in range(draws)]
        )
        self.observe = live.observe

    def act(self, **offer):
        self._live._acts = next(self._times)
        return self._live.act(**offer)


def test_a_replay_grows_and_takes_snapshots():
    # The ensemble needs capacity several times; LinUCB searches with certificates.
    rng = np.random.default_rng(0)
    for agent, K in ((fastes.EnsembleSampling(10**6), 5), (fastes.LinUCB(), 600)):
        rows, arm = rng.normal(size=(K, 3)), rng.integers(K, size=3000)
        log = fastes.Log(rows, arm, rng.normal(size=3000), "uniform")
        live, hits = agent.start(fastes.LinearBandit(rows), seed=1), 0
        for place, reward in zip(arm.tolist(), log.reward.tolist(), strict=True):
            hits += live.act() == place
            live.observe(place, reward)
        (found,) = fastes.replay(log, agent, methods="ips", draws=1, seed=1)
        assert found.rows == hits


class Fixed:
    """A custom agent that draws from POLICY and learns nothing."""

    def start(self, bandit, seed):
        self.rng = np.random.default_rng(seed)
        self.seen = []
        return self

    def act(self):
        return int(self.rng.choice(4, p=POLICY))

    def observe(self, arm, reward):
        self.seen.append((arm, reward))


@pytest.mark.parametrize("method", ["rejection", "ips", "snips"])
def test_estimates_of_a_known_policy_are_unbiased_with_right_errors(method):
    # 40 logs of 500 rows. Each assertion fails a right program with probability below 10^-5: the
    # mean of 40 by more than 4.5 standard errors; the mean square, about chi-square with 40
    # degrees of freedom over 40, outside 0.25 to 2.4.
    z = []
    for seed in range(40):
        log = drawn_log(500, seed, p=(0.4, 0.3, 0.2, 0.1))
        (found,) = fastes.replay(log, Fixed(), BANDIT, method, draws=2, seed=seed)
        z.append((found.value - POLICY @ MEANS) / found.se)
        assert not found.suspect
    assert abs(np.mean(z)) < 4.5 * np.std(z, ddof=1) / math.sqrt(40)
    assert 0.25 < np.mean(np.square(z)) < 2.4


def test_ips_of_an_agent_that_learns_is_the_value_of_its_policies():
    # The mean over rows of the value of the policy that has learned the rows before; a right
    # program fails with probability below 10^-5 (4.5 standard errors).
    log, agent = drawn_log(4000, 7), fastes.ThompsonSampling()
    live, played = agent.start(BANDIT, seed=99), []
    for arm, reward in zip(log.places.tolist(), log.reward.tolist(), strict=True):
        played.append(MEANS[live.act()])
        live.observe(arm, reward)
    error = np.std(played, ddof=1) / math.sqrt(len(played))
    for found in fastes.replay(log, agent, BANDIT, ["ips", "snips"], draws=4):
        assert abs(found.value - np.mean(played)) < 4.5 * math.hypot(error, found.se)


@pytest.mark.parametrize("p", [(0.25,) * 4, (0.4, 0.3, 0.2, 0.1)])
def test_rejection_is_live_play_in_law(p):
    # The regret per row that counts, against that of as many simulated steps: 300 logs; a right
    # program fails with probability below 10^-5 (4.5 standard errors).
    T, agent = 80, fastes.ThompsonSampling()
    simulated = fastes.simulate(BANDIT, agent, T, runs=4000, theta=MEANS, seed=1, points=2 * T)
    regret, error = simulated.regret.mean, simulated.regret.se
    gaps, errors = [], []
    for seed in range(300):
        log = drawn_log(160 if p[0] == 0.25 else 320, 1000 + seed, p)
        (found,) = fastes.replay(log, agent, BANDIT, "rejection", seed=seed)
        place = int(np.searchsorted(simulated.t, found.rows))
        assert simulated.t[place] == found.rows
        gaps.append(0.8 - found.value - regret[place] / found.rows)
        errors.append(error[place] / found.rows)
    spread = math.hypot(np.std(gaps, ddof=1) / math.sqrt(300), max(errors))
    assert abs(np.mean(gaps)) < 4.5 * spread
    assert spread < 0.02  # a policy that does not learn is at a distance of 0.1


def test_wrong_propensities_are_noticed():
    arm = np.random.default_rng(0).choice(4, size=4000, p=[0.4, 0.3, 0.2, 0.1])
    log = fastes.Log(4, arm, MEANS[arm], 0.25)
    found = fastes.replay(log, fastes.ThompsonSampling(), BANDIT, ["rejection", "snips"])
    assert all(each.suspect for each in found)
    assert "Warning: TS, snips: the mean weight is far from 1" in found._repr_html_()


def test_a_custom_agent_observes_rewards_in_their_own_units():
    agent, log = Fixed(), drawn_log(50, 1)
    fastes.replay(log, agent, BANDIT, "ips")
    expected = list(zip(log.places.tolist(), log.reward.tolist(), strict=True))
    np.testing.assert_allclose(agent.seen, expected, rtol=1e-12)


class Last:
    """A custom agent on offered arms, which plays the last."""

    def start(self, bandit, seed):
        return self

    def act(self, actions):
        return len(actions) - 1

    def observe(self, row, reward):
        assert row.shape == (3,)


def test_custom_agents_are_offered_rows():
    rng = np.random.default_rng(2)
    log = fastes.Log(rng.normal(size=(90, 4, 3)), [3, 0, 1] * 30, [1.0] * 90, 0.25)
    (found,) = fastes.replay(log, Last(), methods="rejection")
    assert (found.rows, found.value, found.se) == (30, 1.0, 0.0)


@pytest.mark.parametrize("rows", [1, 2])
def test_the_smallest_logs(rows):
    log = fastes.Log(np.ones((1, 1)), [0] * rows, [0.5] * rows, "uniform")
    for each in fastes.replay(log, fastes.Greedy(), methods=["rejection", "ips", "snips"]):
        assert (each.value, each.rows, each.mean_weight) == (0.5, rows, 1.0)
        assert math.isnan(each.se) == (rows == 1)


def test_no_row_that_counts_gives_no_value(tmp_path):
    log = fastes.Log(np.ones((3, 4, 3)), [0] * 3, [1.0] * 3, 0.25)
    found = fastes.replay(log, Last(), methods=["rejection", "ips", "snips"])
    assert [math.isnan(each.value) for each in found] == [True, False, True]
    assert [each["value"] for each in found.to_dict()["estimates"]] == [None, 0.0, None]
    found.save(tmp_path / "replay.npz")
    assert fastes.load(tmp_path / "replay.npz").to_dict() == found.to_dict()
    found.summary()


def test_a_replay_is_saved_shown_and_written(tmp_path):
    found = fastes.replay(drawn_log(200, 1), [ES, fastes.UniformRandom()], BANDIT)
    found.save(tmp_path / "replay.npz")
    loaded = fastes.load(tmp_path / "replay.npz")
    assert repr(loaded) == repr(found)
    assert loaded.to_dict() == found.to_dict()
    frame = found.to_dataframe()
    assert frame["agent"].tolist() == ["ES, M=20"] * 2 + ["Uniform"] * 2
    found.to_csv(tmp_path / "replay.csv")
    found.to_csv(tmp_path / "replay.csv")  # its own kind is replaced
    BANDIT.save(tmp_path / "problem.npz")
    with pytest.raises(FileExistsError, match="is a fastes problem"):
        found.save(tmp_path / "problem.npz")


def test_no_text_of_a_file_is_shown_as_it_is(tmp_path):
    fastes.replay(drawn_log(20, 1), ES, BANDIT).save(tmp_path / "replay.npz")

    def change(meta, arrays):
        meta["estimates"][0]["label"] += "\x1b]0;a title\x07"
        meta["log"]["arms"] += "\x9b31m"

    crafted(tmp_path / "replay.npz", change)
    loaded = fastes.load(tmp_path / "replay.npz")
    assert (repr(loaded) + loaded.log.arms).isprintable()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"log": 3}, TypeError, "log must be a Log"),
        ({"log": fastes.Log(4, [0], [1.0])}, ValueError, "replay needs the log's propensity"),
        ({"agents": []}, ValueError, "at least one agent"),
        ({"agents": fastes.Greedy}, TypeError, "not its class"),
        ({"methods": "dr"}, ValueError, "methods must be some of rejection, ips, snips, got 'dr'"),
        ({"methods": []}, ValueError, "methods must be some of"),
        ({"draws": 0}, ValueError, "draws must be an integer from 1"),
        ({"bandit": 3}, TypeError, "bandit must be a problem"),
        ({"bandit": fastes.LinearBandit(np.eye(3))}, ValueError, "must have the arms of the log"),
        ({"bandit": fastes.LogisticBandit(np.eye(4))}, ValueError, "0 or 1, got .* in row 0"),
        (
            {"log": fastes.Log(np.ones((1, 2, 4)), [0], [1.0], 0.5)},
            ValueError,
            r"bandit must have Offered\(d=4\) arms",
        ),
        (
            {"log": fastes.Log(None, np.ones((1, 4)), [1.0], 0.5), "bandit": None},
            ValueError,
            "the arms played only: give Log the actions on offer",
        ),
        (
            {"log": fastes.Log(4, [0], [1.0], 0.5, available=[[0, 2]]), "agents": Fixed()},
            ValueError,
            "custom agent in Python, whose act",
        ),
    ],
)
def test_what_cannot_be_replayed_is_refused_in_a_sentence(change, error, message):
    given = {
        "log": drawn_log(20, 1),
        "agents": fastes.ThompsonSampling(),
        "bandit": BANDIT,
        **change,
    }
    with pytest.raises(error, match=message):
        fastes.replay(**given)


def test_arms_in_a_file_that_are_not_finite_are_refused_with_their_row(tmp_path):
    sets = np.ones((20, 2, 3))
    sets[17, 1] = np.nan
    np.save(tmp_path / "sets.npy", sets)
    log = fastes.Log(np.load(tmp_path / "sets.npy", mmap_mode="r"), [0] * 20, [1.0] * 20, 0.5)
    with pytest.raises(ValueError, match=r"actions must be finite, .* in row 17"):
        fastes.replay(log, fastes.Greedy())
