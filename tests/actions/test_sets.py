"""Action sets from outside: checked, saved, run again, and the same on any threads."""

import numpy as np
import pytest
from every_agent import FAMILY, is_quick

import fastes
from fastes.actions import Ball, Fresh, Given, Offered, Redrawn, Subset
from fastes.problem.coordinates import canonical_theta

RNG = np.random.default_rng(3)
POOL = RNG.normal(size=(300, 4))
SETS = {
    "redrawn": Redrawn(12, 4, "gaussian"),
    "fresh": Fresh(12, 4, "uniform"),
    "subset": Subset(POOL, 9),
    "given": Given(RNG.normal(size=(7, 5, 4))),
    "ball": Ball(4, 1.5),
}
AGENTS = [
    fastes.EnsembleSampling(3),
    fastes.EnsembleSampling(3, engine="eager"),
    fastes.ThompsonSampling(),
    fastes.Greedy(),
    fastes.LinUCB(),
    fastes.UniformRandom(),
]
FULL = np.array([[2.0, 0.5, 0, 0], [0.5, 1.0, 0, 0], [0, 0, 3.0, 1.0], [0, 0, 1.0, 1.0]])


def bandit_on(name, **belief):
    return fastes.LinearBandit(SETS[name], **{"prior_cov": FULL, "noise": 0.5, **belief})


def is_quick_relative(name, agent):
    """Choose the pairs of which each test run compiles the code: each agent is in one or two."""
    return name == "fresh" or (name == "ball" and agent.name in ("ts", "bayes-ucb"))


# Each set makes code of its own for each agent: all of them are slow tests.
ON_SETS = [
    pytest.param(name, agent, marks=[] if quick(name, agent) else pytest.mark.slow)
    for agents, quick in ((AGENTS, is_quick), (FAMILY, is_quick_relative))
    for name in SETS
    for agent in agents
]


def on_sets(*sets):
    """Return parameters (set, agent), slow where `ON_SETS` is."""
    return [
        pytest.param(actions, agent, marks=[] if is_quick(name, agent) else pytest.mark.slow)
        for actions in sets
        for name in (type(actions).__name__.lower(),)
        for agent in AGENTS
    ]


@pytest.mark.parametrize(("name", "agent"), ON_SETS, ids=str)
def test_runs_do_not_depend_on_threads_or_other_runs(name, agent):
    bandit = bandit_on(name)
    many = fastes.simulate(bandit, agent, T=50, runs=6, seed=4, threads=3)
    few = fastes.simulate(bandit, agent, T=50, runs=2, seed=4, threads=1)
    np.testing.assert_array_equal(many.regret.per_run[:2], few.regret.per_run)
    assert (np.diff(many.regret.per_run, axis=1) >= 0).all()


@pytest.mark.parametrize("name", SETS)
def test_agents_face_the_same_theta_arms_and_noise(name):
    """Two that choose alike have the same regret: LinUCB without optimism is greedy."""
    both = fastes.compare(
        bandit_on(name), [fastes.Greedy(), fastes.LinUCB(0.0)], T=40, runs=4, keep="rewards"
    )
    np.testing.assert_allclose(both[0].regret.per_run, both[1].regret.per_run, rtol=1e-9)


@pytest.mark.parametrize(("name", "agent"), ON_SETS, ids=str)
def test_a_checkpoint_goes_on_to_the_bit(name, agent, tmp_path):
    bandit = bandit_on(name)
    whole = fastes.simulate(bandit, agent, T=160, runs=2, seed=1)
    fastes.simulate(bandit, agent, T=70, runs=2, seed=1, checkpoint=tmp_path / "a.ckpt")
    resumed = fastes.resume(tmp_path / "a.ckpt", T=160)
    np.testing.assert_array_equal(whole.regret.final, resumed.regret.final)
    np.testing.assert_array_equal(whole.counts, resumed.counts)


@pytest.mark.parametrize("name", SETS)
def test_a_result_is_saved_and_run_again(name, tmp_path):
    agent = fastes.EnsembleSampling(4)
    options = {"T": 30, "runs": 3, "seed": 2, "keep": ["actions", "rewards"]}
    if name == "ball":
        options["keep"] = "rewards"
    result = fastes.simulate(bandit_on(name), agent, **options)
    result.save(tmp_path / "r.npz")
    back = fastes.load(tmp_path / "r.npz")
    assert back.bandit.fingerprint == result.bandit.fingerprint
    again = fastes.rerun(back, threads=1)
    for part in ("actions", "rewards", "counts"):
        np.testing.assert_array_equal(getattr(again, part), getattr(result, part))
    np.testing.assert_array_equal(again.regret.per_run, result.regret.per_run)


@pytest.mark.parametrize("name", SETS)
def test_problems_are_saved_and_told_apart(name, tmp_path):
    bandit = bandit_on(name)
    bandit.save(tmp_path / "p.npz")
    back = fastes.LinearBandit.load(tmp_path / "p.npz")
    assert back.fingerprint == bandit.fingerprint
    assert repr(back) == repr(bandit)
    assert back._repr_html_() == bandit._repr_html_()
    others = [bandit_on(other).fingerprint for other in SETS if other != name]
    assert bandit.fingerprint not in others


@pytest.mark.parametrize("name", SETS)
def test_theta_may_be_fixed(name):
    theta = np.array([0.5, -1.0, 0.2, 0.0])
    result = fastes.simulate(
        bandit_on(name), fastes.UniformRandom(), T=2000, runs=1, theta=theta, keep="rewards"
    )
    given = SETS[name]
    if name == "ball":
        best, spread = 1.5 * np.linalg.norm(theta), 1.5 * np.linalg.norm(theta)
    elif name == "subset":
        best = spread = np.abs(POOL @ theta).max()
    elif name == "given":
        values = given.array @ theta
        steps = np.arange(2000) % 7
        expected = (values.max(axis=1) - values.mean(axis=1))[steps].sum()
        error = np.sqrt(values.var(axis=1)[steps].sum())
        assert abs(result.regret.final[0] - expected) < 5 * error
        return
    else:
        best = spread = 10 * np.linalg.norm(theta)
    assert 0 < result.regret.final[0] / 2000 < 2 * best
    assert np.abs(result.rewards).max() < spread + 5 * 0.5 * 4


@pytest.mark.parametrize("unit", [1e-120, 1e-10, 1e-5, 1.0, 1e140])
def test_a_theta_that_the_prior_rules_out_is_refused_in_any_unit(unit):
    def canonical(theta, prior_mean, prior_cov):
        mean, covariance = np.array(prior_mean) * unit, np.array(prior_cov) * unit**2
        bandit = fastes.LinearBandit(Fresh(3, 2), mean, covariance, noise=unit)
        return canonical_theta(bandit.canonical, np.array(theta) * unit, bandit.prior_mean)

    along_one, along_both = [1.0, 0.0], [[0.01, 0.03], [0.03, 0.09]]
    assert canonical([3.0, 0.0], [0.0, 0.0], along_one)[0] == pytest.approx(3.0)
    assert canonical([1.0, 2.0], [1.0, 2.0], [0.0, 0.0]) == [0.0]
    far_apart = np.diag([1.0, 1e-40])
    assert sorted(np.abs(canonical([1.0, 5e-20], [0.0, 0.0], far_apart))) == pytest.approx([1, 5])
    # Of a mean of 3e8 rounding leaves no more than seven digits behind the point.
    mean = [1e8 / 3, 3e8 + 0.1]
    assert np.abs(canonical([mean[0] + 0.1, mean[1] + 0.3], mean, along_both)) == pytest.approx(1.0)
    for theta, covariance in [
        ([1.0, 5.0], along_one),
        ([1.0, 1e-6], along_one),
        ([1e-12, 1e-13], [0.0, 0.0]),
        ([0.1, 0.301], along_both),
        ([1e-10, 1e-10], along_both),
    ]:
        with pytest.raises(ValueError, match="theta must be in the support of the prior"):
            canonical(theta, [0.0, 0.0], covariance)


def test_a_simulation_refuses_a_theta_that_the_prior_rules_out():
    bandit = fastes.LinearBandit(Fresh(3, 2), prior_cov=[1e-20, 0.0])
    fastes.simulate(bandit, fastes.Greedy(), T=2, theta=[1e-10, 0.0])
    with pytest.raises(ValueError, match="theta must be in the support of the prior"):
        fastes.simulate(bandit, fastes.Greedy(), T=2, theta=[1e-10, 5e-10])


@pytest.mark.parametrize(
    ("actions", "agent"),
    on_sets(
        Redrawn(1, 1),
        Fresh(1, 1, "gaussian"),
        Subset([[0.5]], 1),
        Given(np.zeros((1, 1, 1))),
        Ball(1),
        Given([[[1e-300], [0.0]], [[5.0], [-5.0]]]),
        Subset(np.zeros((4, 2)), 3),
    ),
    ids=str,
)
def test_the_smallest_sets(actions, agent):
    result = fastes.simulate(fastes.LinearBandit(actions), agent, T=5, runs=2)
    assert np.isfinite(result.regret.per_run).all()
    one = fastes.simulate(fastes.LinearBandit(actions), agent, T=1)
    assert one.regret.per_run.shape == (1, 1)


def test_arms_of_a_subset_are_recorded_by_their_numbers_in_the_pool():
    result = fastes.simulate(
        fastes.LinearBandit(Subset(POOL, 9)), fastes.Greedy(), T=400, runs=2, keep="actions"
    )
    assert result.actions.max() > 9
    np.testing.assert_array_equal(np.bincount(result.actions.ravel(), minlength=300), result.counts)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Redrawn(0, 2), "K must be an integer from 1"),
        (lambda: Fresh(2, 2, "basis"), "arms must be one of sphere, gaussian, uniform"),
        (lambda: Fresh(2**31, 8), "below 2\\^33"),
        (lambda: Subset(POOL, 301), "size must be an integer from 1 to 300, got 301"),
        (lambda: Subset([1.0], 1), "pool must have two dimensions"),
        (lambda: Given(POOL), "array must have three dimensions"),
        (lambda: Given(np.full((1, 1, 1), np.nan)), "array must be finite"),
        (lambda: Ball(0), "d must be an integer from 1"),
        (lambda: Ball(2, -1.0), "radius must be a number from 1e-200 to 1e\\+200, got -1.0"),
        (lambda: Ball(2, 1e201), "radius must be a number from 1e-200 to 1e\\+200"),
        (lambda: Offered(0), "d must be an integer from 1"),
        (lambda: fastes.LinearBandit(Ball(2), prior_cov=np.eye(3)), "prior_cov must be"),
        (lambda: fastes.LinearBandit(Ball(2, 1e9)), "the arms' values must be within 1e\\+06"),
        (
            lambda: fastes.LinearBandit(Ball(2, 2.0**650), 2.0**-600, prior_cov=0.0),
            "the arms' mean rewards must be within 1e\\+09",
        ),
        (
            lambda: fastes.LinearBandit(Ball(2), prior_cov=1e-62),
            "value on a ball must be 0 or at least 1e-30 noise standard deviations, got 1e-31",
        ),
    ],
)
def test_what_is_no_set_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


class Corner:
    """An agent that plays the same vector of a ball at every step, and learns nothing."""

    def __init__(self, vector):
        self.vector = vector

    def start(self, bandit, seed):
        return self

    def act(self):
        return self.vector

    def observe(self, row, reward):
        assert row is not None


# The length of an arm, and the noise, of units of 2 to these powers.
SCALES = [(550, 50), (-260, 230), (530, 20), (270, -200), (-660, -160), (660, 150)]


def ball_in_units(belief, length, noise, **rest):
    """Return one problem in these units: theta is 2^(noise - length) as large."""
    theta = 2.0 ** (noise - length)
    mean, covariance = np.array([0.3, -0.2, 1.0]), np.array(belief)
    return fastes.LinearBandit(
        Ball(3, 1.5 * 2.0**length), mean * theta, covariance * theta**2, 0.75 * 2.0**noise
    )


@pytest.mark.parametrize("belief", [2.0, [1.0, 0.0, 3.0], FULL[:3, :3]], ids=np.ndim)
def test_units_change_no_bit_of_the_ball(belief):
    agents = [
        fastes.Greedy(),
        fastes.ThompsonSampling(),
        fastes.EnsembleSampling(3),
        fastes.LinUCB(),
        fastes.UniformRandom(),
    ]
    theta = np.array([0.5, -0.2, -1.0])
    for agent in agents:
        for given in (None, theta):
            expected = fastes.simulate(
                ball_in_units(belief, 0, 0), agent, T=30, runs=2, theta=given, keep="rewards"
            )
            for length, noise in SCALES:
                found = fastes.simulate(
                    ball_in_units(belief, length, noise),
                    agent,
                    T=30,
                    runs=2,
                    theta=None if given is None else given * 2.0 ** (noise - length),
                    keep="rewards",
                )
                unit = 2.0**noise
                np.testing.assert_array_equal(found.regret.final / unit, expected.regret.final)
                np.testing.assert_array_equal(found.rewards / unit, expected.rewards)


def test_a_large_mean_beside_a_large_noise_is_a_problem():
    bandit = fastes.LinearBandit(Fresh(3, 2), 2.0**600, prior_cov=0.0, noise=2.0**600)
    theta = np.full(2, 2.0**600)
    regret = fastes.simulate(bandit, fastes.UniformRandom(), T=3, theta=theta).regret
    assert 0 < regret.final[0] / 2.0**600 < 3 * 2 * np.sqrt(2)


def test_units_change_no_bit_of_a_live_agent_or_of_one_s_own():
    def played(length, noise):
        live = fastes.ThompsonSampling().start(ball_in_units(2.0, length, noise), seed=3)
        for _ in range(10):
            arm = live.act()
            live.observe(arm, 2.0**noise)
        return arm / 2.0**length

    def regret(length, noise):
        agent = Corner(np.array([1.5, 0.0, 0.0]) * 2.0**length)
        result = fastes.simulate(ball_in_units(2.0, length, noise), agent, T=3, runs=2)
        return result.regret.final / 2.0**noise

    for units in SCALES:
        np.testing.assert_array_equal(played(*units), played(0, 0))
        np.testing.assert_array_equal(regret(*units), regret(0, 0))


def test_what_speaks_of_fixed_arms_refuses_others():
    bandit = fastes.LinearBandit(Fresh(3, 2))
    with pytest.raises(ValueError, match="bounds and diagnostics need a fixed set of arms"):
        fastes.simulate(bandit, fastes.ThompsonSampling(), T=5, diagnostics=[0])
    with pytest.raises(ValueError, match="bounds and diagnostics need a fixed set"):
        fastes.theory.constants.constants(bandit)
    with pytest.raises(ValueError, match="Offered actions are for live agents"):
        fastes.simulate(fastes.LinearBandit(Offered(2)), fastes.Greedy(), T=3)
    with pytest.raises(ValueError, match="keep='actions' needs numbered arms"):
        fastes.simulate(fastes.LinearBandit(Ball(2)), fastes.Greedy(), T=3, keep="actions")


def test_a_mapped_file_is_read_as_it_is_needed(tmp_path):
    array = RNG.normal(size=(20, 6, 3))
    np.save(tmp_path / "a.npy", array)
    mapped = Given(np.load(tmp_path / "a.npy", mmap_mode="r"))
    options = {"agent": fastes.EnsembleSampling(5), "T": 60, "runs": 2}
    ours = fastes.simulate(fastes.LinearBandit(mapped), **options)
    plain = fastes.simulate(fastes.LinearBandit(Given(array)), **options)
    np.testing.assert_array_equal(ours.regret.per_run, plain.regret.per_run)
    ours.save(tmp_path / "r.npz")
    again = fastes.rerun(fastes.load(tmp_path / "r.npz"))
    np.testing.assert_array_equal(again.regret.per_run, ours.regret.per_run)
    del mapped
    np.save(tmp_path / "a.npy", array + 1)
    with pytest.raises(ValueError, match="has changed since"):
        fastes.rerun(fastes.load(tmp_path / "r.npz"))
    (tmp_path / "a.npy").unlink()
    with pytest.raises(ValueError, match="cannot be read"):
        fastes.rerun(fastes.load(tmp_path / "r.npz"))


def test_a_mapped_file_with_a_hole_says_where(tmp_path):
    array = RNG.normal(size=(20, 6, 3))
    array[13, 2, 1] = np.nan
    np.save(tmp_path / "a.npy", array)
    bandit = fastes.LinearBandit(Given(np.load(tmp_path / "a.npy", mmap_mode="r")))
    with pytest.raises(ValueError, match="actions must be finite, but an arm of step 13 is not"):
        fastes.simulate(bandit, fastes.LinUCB(), T=60)


@pytest.mark.parametrize("M", [1, 2, 8, 32])
@pytest.mark.parametrize("name", ["fresh", "ball"])
def test_deferred_and_eager_ensembles_have_the_same_law(name, M):
    """Mean regret of 1,200 runs on the same theta, arms and noise: 4.5 standard errors, paired."""
    agents = [fastes.EnsembleSampling(M), fastes.EnsembleSampling(M, engine="eager")]
    both = fastes.compare(bandit_on(name, prior_cov=1.0), agents, T=60, runs=1200, seed=6)
    gap = both[0].regret.final - both[1].regret.final
    assert abs(gap.mean()) < 4.5 * gap.std(ddof=1) / np.sqrt(len(gap))


@pytest.mark.parametrize(
    ("agent", "runs"),
    [
        (fastes.LinUCB(), 3000),
        pytest.param(fastes.BayesUCB(), 8000, marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_ties_of_the_ball_are_broken_at_random_whatever_the_axes(agent, runs):
    """The mean regret of theta is that of theta along another axis: 4.5 standard errors."""
    bandit = fastes.LinearBandit(Ball(3))
    first, last = (
        fastes.simulate(bandit, agent, T=6, runs=runs, seed=seed, theta=theta).regret
        for seed, theta in enumerate([[3.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    )
    gap = first.final.mean() - last.final.mean()
    assert abs(gap) < 4.5 * np.hypot(first.se[-1], last.se[-1])


@pytest.mark.parametrize(
    ("agent", "mean", "theta", "runs"),
    [
        (fastes.LinUCB(alpha=2.0), [0.6, 0.8], [0.8, -0.6], 2000),
        (fastes.LinUCB(alpha=2.0), [0.6, 0.8], [-0.8, 0.6], 2000),
        (fastes.BayesUCB(), [0.06, 0.08], [0.8, -0.6], 4000),
    ],
    ids=str,
)
def test_mirrored_arms_of_the_ball_are_as_likely(agent, mean, theta, runs):
    """Theta is orthogonal to the prior mean: a mean regret of 1 a step; 4.5 standard errors."""
    bandit = fastes.LinearBandit(Ball(2), prior_mean=mean)
    regret = fastes.simulate(bandit, agent, T=2, runs=runs, seed=1, theta=theta).regret
    assert abs(regret.final.mean() - 2.0) < 4.5 * regret.se[-1]


@pytest.mark.parametrize("angle", [0.3, 1.0, 2.0])
def test_ties_are_seen_beside_a_variance_that_is_hardly_smaller(angle):
    """The mean is along the smaller one: of 64 first arms, some are on either side of it."""
    widest, other = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    covariance = np.outer(widest, widest) + (1 - 1e-7) * np.outer(other, other)
    bandit = fastes.LinearBandit(Ball(2), prior_mean=2e-8 * other, prior_cov=covariance)
    result = fastes.simulate(bandit, fastes.LinUCB(1.0), T=1, runs=64, theta=widest)
    assert 10 < np.sum(result.regret.final > 1.0) < 54


def test_published_regret_is_met():
    """Russo and Van Roy (2018), K=30, d=5, T=250: 38.5; 1,500 runs, 4.5 standard errors and 0.3."""
    bandit = fastes.LinearBandit(Redrawn(30, 5, "uniform"), prior_cov=10.0)
    result = fastes.simulate(bandit, fastes.ThompsonSampling(), T=250, runs=1500, seed=3)
    assert abs(result.regret.final.mean() - 38.5) < 4.5 * result.regret.se[-1] + 0.3


def test_the_lines_above_a_table_fit_a_terminal(capsys):
    bandit = fastes.LinearBandit(Subset(np.ones((100_000, 2)), 20_000), noise=0.25)
    fastes.simulate(bandit, fastes.Greedy(), T=10, runs=2, seed=2**63, delay=3).summary()
    first, second, *rest = capsys.readouterr().out.splitlines()
    assert f"{first} {second}" == (
        "K=20,000 arms of a pool of 100,000, drawn every step, d=2, T=10 steps, 2 runs, "
        "noise 0.25, seed 9223372036854775808"
    )
    assert max(map(len, (first, second, *rest))) <= 80
