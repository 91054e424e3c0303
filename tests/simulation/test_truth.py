"""Worlds that differ from the belief: what is drawn, what stays, and what is refused."""

import numpy as np
import pytest
import reference
from bandits import BANDITS
from checkpoints import assert_same, recorded, resumed, some
from fastes.kernels.streams import layout

import fastes
from fastes import Truth
from fastes.actions import Ball, Fresh, Given, Redrawn, Subset
from fastes.problem.truth import LAWS
from fastes.problem.world import World
from fastes.results.curves import curves_of
from fastes.results.selection import facts_of, selected
from fastes.simulation.experiment import Experiment
from fastes.theory.inequalities import inequalities, theorem2_measured

RNG = np.random.default_rng(3)
FULL = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, -0.3], [0.1, -0.3, 0.7]])
BANDIT = fastes.LinearBandit.random(12, 3, prior_mean=0.3, prior_cov=2.0, noise=0.5, seed=1)
POOL = BANDIT.actions
SETS = {
    "fresh": Fresh(5, 3),
    "redrawn": Redrawn(5, 3),
    "subset": Subset(POOL, 4),
    "given": Given(RNG.normal(size=(6, 4, 3))),
    "ball": Ball(3),
}
EVERYTHING = Truth([1.0, -1.0, 0.5], FULL, 0.9, "laplace")


def on(actions, **belief):
    return fastes.LinearBandit(actions, **belief)


def assert_same_numbers(x, y):
    assert (x.regret.per_run == y.regret.per_run).all()


@pytest.mark.parametrize("covariance", [None, 0.0, 1.5, [1.0, 0.0, 2.0], FULL], ids=str)
@pytest.mark.parametrize("mean", [None, 0.7, [1.0, 2.0, 3.0]], ids=str)
def test_theta_is_the_mean_and_a_root_of_the_covariance_times_normals(mean, covariance):
    truth = Truth(mean, covariance)
    spelled = np.broadcast_to(0.3 if mean is None else mean, 3)
    cov = np.asarray(2.0 if covariance is None else covariance, float)
    full = cov if cov.ndim == 2 else np.diag(np.broadcast_to(cov, 3))
    if cov.ndim == 2:
        root = truth._root
    else:
        root = np.sqrt(full)
        root = root[:, root.any(axis=0)] if cov.ndim else root
    np.testing.assert_allclose(root @ root.T, full, atol=1e-14)
    for run in (0, 5):
        normals = reference.normal_vector(11, run, int(layout.THETA), 0, root.shape[1])
        found = truth.theta(BANDIT, 11, run)
        np.testing.assert_allclose(found, spelled + root @ normals, atol=1e-13)


@pytest.mark.parametrize("name", ["full", "fewer arms, full", "singular", "known theta"])
def test_a_truth_of_another_mean_has_the_belief_s_covariance(name):
    """Variances of 4,000 arms' values, each within 5 standard errors."""
    bandit = BANDITS[name]
    thetas = np.array([Truth(0.5).theta(bandit, 2, run) for run in range(4000)])
    values = (thetas - 0.5) @ bandit.actions.T
    cov = reference.Problem.of(bandit.actions, 0.0, bandit.prior_cov, 1.0).covariance
    expected = np.einsum("ij,jk,ik->i", bandit.actions, cov, bandit.actions)
    found = (values**2).mean(axis=0)
    assert (np.abs(found - expected) <= 5 * np.sqrt(2 / 4000) * expected + 1e-12).all()


@pytest.mark.parametrize("actions", [POOL, *SETS.values()], ids=["fixed", *SETS])
def test_regret_is_against_the_true_means(actions):
    """The regret is that of the same theta given by hand, and rewards are of the true noise."""
    bandit, truth = on(actions, prior_cov=2.0, noise=0.5), Truth(EVERYTHING.prior_mean, FULL)
    options = {"T": 60, "runs": 4, "seed": 5}
    theta = np.array([truth.theta(bandit, 5, run) for run in range(4)])
    for agent in (fastes.LinUCB(), fastes.EnsembleSampling(4)):
        drawn = fastes.simulate(bandit, agent, **options, truth=truth)
        given = fastes.simulate(bandit, agent, **options, theta=theta)
        assert_same_numbers(drawn, given)


@pytest.mark.parametrize("actions", [POOL, *SETS.values()], ids=["fixed", *SETS])
def test_a_truth_that_equals_the_belief_changes_no_bit(actions):
    bandit, options = on(actions, prior_mean=0.3, noise=0.5), {"T": 50, "runs": 3, "seed": 2}
    plain = fastes.simulate(bandit, fastes.LinUCB(), **options)
    equal = Truth([0.3, 0.3, 0.3], np.eye(3), 0.5)
    same = fastes.simulate(bandit, fastes.LinUCB(), **options, truth=equal, delay=0)
    assert_same_numbers(plain, same)
    assert (same.truth, same.configuration.truth) == (None, "belief")


EQUAL = {
    "nothing": [{}],
    "noise": [{"noise": 0.5}, {"noise": 0.5, "noise_law": "normal"}],
    "mean": [{"prior_mean": 0.3}, {"prior_mean": [0.3, 0.3, 0.3]}],
    "variance": [{"prior_cov": v} for v in (2.0, [2.0, 2.0, 2.0], 2 * np.eye(3))],
    "all": [{"prior_mean": 0.3, "prior_cov": 2 * np.eye(3), "noise": 0.5}],
}
OTHER = [
    {"noise": 0.6},
    {"noise_law": "signs"},
    {"prior_mean": [0.3, 0.3, 0.2]},
    {"prior_cov": [2.0, 2.0, 1.0]},
    {"prior_cov": [[2.0, 0.1, 0.0], [0.1, 2.0, 0.0], [0.0, 0.0, 2.0]]},
]


@pytest.mark.parametrize("covariance", [2.0, [2.0, 2.0, 2.0], 2 * np.eye(3)], ids=["1", "d", "dd"])
@pytest.mark.parametrize("part", [*EQUAL, "other"])
def test_a_truth_is_compared_with_the_belief_by_its_values(part, covariance):
    bandit = on(POOL[:2], prior_mean=0.3, prior_cov=covariance, noise=0.5)  # fewer arms than d
    for given in EQUAL.get(part, OTHER):
        experiment = Experiment(bandit, [fastes.Greedy()], 5, 2, 0, world=World(Truth(**given)))
        assert (experiment.world.truth is None) == (part in EQUAL), given
        if part in EQUAL:  # so it is where only the noise differs, too
            noisy = Experiment(
                bandit, [fastes.Greedy()], 5, 2, 0, world=World(Truth(**{**given, "noise": 3.0}))
            )
            assert noisy.true_theta(0) is None


@pytest.mark.parametrize("law", LAWS)
def test_another_noise_leaves_theta_as_it_is(law):
    keep = {"T": 40, "runs": 5, "keep": ["actions", "rewards"]}
    agent = fastes.UniformRandom()  # it plays the same arms whatever they pay
    plain = fastes.simulate(BANDIT, agent, **keep, truth=Truth(noise=0.0))
    noisy = fastes.simulate(BANDIT, agent, **keep, truth=Truth(noise=2.0, noise_law=law))
    assert_same_numbers(plain, noisy)
    noise = (noisy.rewards - plain.rewards).ravel()
    drawn = [
        2.0 * reference.noise(0, run, int(layout.NOISE), t, law)
        for run in range(5)
        for t in range(40)
    ]
    np.testing.assert_allclose(noise, drawn, atol=1e-12)


@pytest.mark.parametrize("name", ["full", "singular", "fewer arms, full", "diagonal"])
def test_another_noise_leaves_every_bit_of_theta(name):
    options = {"T": 30, "runs": 3}
    plain = fastes.simulate(BANDITS[name], fastes.UniformRandom(), **options)
    noisy = fastes.simulate(BANDITS[name], fastes.UniformRandom(), **options, truth=Truth(noise=2))
    assert_same_numbers(plain, noisy)


def test_a_fixed_theta_may_have_another_noise_but_no_prior():
    theta = [0.1, 0.2, 0.3]
    result = fastes.simulate(BANDIT, fastes.Greedy(), 5, theta=theta, truth=Truth(noise=3.0))
    assert result.configuration.truth == "noise 3.0"
    with pytest.raises(
        ValueError, match="theta is fixed, so truth must not set its prior, got Truth"
    ):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, theta=theta, truth=Truth(prior_mean=1.0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"noise_law": "cauchy"}, "noise_law must be one of normal, uniform, signs, laplace"),
        ({"noise": -1.0}, "noise must be a finite number of at least 0"),
        ({"prior_mean": [[1.0]]}, "prior_mean must be a number or a vector"),
        ({"prior_mean": np.nan}, "prior_mean must be finite"),
        ({"prior_cov": -1.0}, "prior_cov must be a finite number of at least 0"),
        ({"prior_cov": [[1.0, 2.0], [2.0, 1.0]]}, "prior_cov must be positive semidefinite"),
        ({"prior_cov": [[1.0, 0.5], [0.2, 1.0]]}, "prior_cov must be symmetric"),
        ({"prior_cov": np.ones((2, 3))}, "prior_cov must be a number or have shape"),
        ({"prior_cov": np.ones((0, 0))}, "truth's prior_cov must be a number, a vector or a"),
        ({"prior_cov": []}, "truth's prior_cov must be a number, a vector or a square matrix"),
    ],
)
def test_what_is_no_truth_is_refused(arguments, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Truth(**arguments)


@pytest.mark.parametrize(
    ("truth", "words"),
    [
        (Truth(prior_mean=[1.0, 2.0]), r"truth's prior_mean must fit a bandit with d=3.*\(2,\)"),
        (Truth(prior_cov=np.eye(2)), r"truth's prior_cov must fit a bandit with d=3.*\(2, 2\)"),
        (Truth(noise=1e10), "truth's noise must be at most 1e.09 times the bandit's 0.5"),
        ("laplace", "truth must be a Truth such as"),
    ],
)
def test_a_truth_that_does_not_fit_is_refused(truth, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fastes.simulate(BANDIT, fastes.Greedy(), 5, truth=truth)


def test_results_of_the_belief_are_asked_for_by_name():
    options = {"T": 20, "runs": 2}
    plain = fastes.simulate(BANDIT, fastes.Greedy(), **options)
    late = fastes.simulate(BANDIT, fastes.Greedy(), **options, delay=3)
    other = fastes.simulate(BANDIT, fastes.Greedy(), **options, truth=Truth(noise=2.0))
    items = [(facts_of(result), result) for result in (plain, late, other)]
    assert selected(items, {"delay": "0"}) == [plain, other]
    assert selected(items, {"truth": "belief"}) == [plain, late]
    assert selected(items, {"truth": "belief", "delay": 3}) == [late]


@pytest.mark.parametrize("name", ["fresh", "given", "ball"])
@pytest.mark.parametrize("truth", [Truth(prior_mean=1e308), Truth(prior_cov=1e308)], ids=str)
def test_a_theta_whose_square_overflows_is_refused_without_a_warning(name, truth):
    with pytest.raises(ValueError, match=r"the arms' mean rewards must be within 1e.09"):
        fastes.simulate(on(SETS[name]), fastes.Greedy(), 5, truth=truth)


@pytest.mark.parametrize("name", ["fresh", "given", "ball"])
@pytest.mark.parametrize(
    "truth",
    [Truth(prior_mean=1.0), Truth(prior_cov=1.0), Truth(prior_cov=[1.0, 1.0, 0.0])],
    ids=str,
)
def test_where_arms_change_theta_must_be_possible_under_a_singular_belief(name, truth):
    bandit = on(SETS[name], prior_cov=[1.0, 0.0, 2.0])
    with pytest.raises(ValueError, match="the support of truth's prior must lie within"):
        fastes.simulate(bandit, fastes.Greedy(), 5, truth=truth)
    inside = Truth([5.0, 0.0, 1.0], [3.0, 0.0, 0.0])
    assert fastes.simulate(bandit, fastes.Greedy(), 5, truth=inside).regret.final[0] >= 0


@pytest.mark.parametrize(
    "actions", [POOL, POOL[:2], Redrawn(5, 3), Subset(POOL, 3), Subset(POOL[:2], 1)]
)
@pytest.mark.parametrize("covariance", [[1.0, 0.0, 2.0], 0.0, FULL], ids=str)
def test_a_theta_that_the_agent_holds_to_be_impossible_is_right_elsewhere(actions, covariance):
    bandit, theta = on(actions, prior_cov=covariance), np.array([1.0, -2.0, 0.5])
    keep = ["rewards"] if isinstance(actions, Redrawn) else ["rewards", "actions"]
    options = {"T": 30, "runs": 2, "truth": Truth(theta, 0.0, noise=0.0), "keep": keep}
    result = fastes.simulate(bandit, fastes.UniformRandom(), **options)
    for run in range(2):
        rows = actions
        if isinstance(actions, Redrawn):
            rows = actions.rows(0, run, 0)
            values = rows @ theta
            assert all(np.isclose(values, reward).any() for reward in result.rewards[run])
            continue
        rows = actions.pool if isinstance(actions, Subset) else actions
        np.testing.assert_allclose(result.rewards[run], (rows @ theta)[result.actions[run]])


def test_a_truth_is_kept_by_files_and_done_again(tmp_path):
    agents = [fastes.EnsembleSampling(5), fastes.Greedy()]
    both = fastes.compare(BANDIT, agents, T=40, runs=3, truth=EVERYTHING, delay=2)
    both.save(tmp_path / "both.npz")
    loaded = fastes.load(tmp_path / "both.npz")
    for old, new in zip(both, loaded, strict=True):
        assert new.configuration == old.configuration
        assert new.truth.text == EVERYTHING.text
        assert (new.truth._root == EVERYTHING._root).all()
        assert_same(fastes.rerun(new, threads=2), old)
    assert loaded.to_dict()["truth"] == EVERYTHING.text
    assert loaded.to_dict()["delay"] == 2


def test_results_of_different_worlds_are_no_pairs():
    plain = fastes.simulate(BANDIT, fastes.Greedy(), 20)
    for world in ({"truth": Truth(noise=2.0)}, {"delay": 1}):
        other = fastes.simulate(BANDIT, fastes.Greedy(), 20, **world)
        with pytest.raises(ValueError, match=f"must have equal {next(iter(world))}"):
            fastes.Comparison((plain, other))


@pytest.mark.parametrize(
    "actions", [POOL, SETS["fresh"], SETS["ball"]], ids=["fixed", "fresh", "ball"]
)
def test_any_checkpoint_goes_on_in_the_same_world(actions, tmp_path):
    bandit, agent = on(actions, prior_cov=2.0), fastes.EnsembleSampling(6)
    arguments = {"T": 700, "runs": 3, "seed": 5, "truth": EVERYTHING, "delay": 40}
    whole = fastes.simulate(bandit, agent, **arguments)
    watched, copies = recorded(tmp_path, fastes.simulate, bandit, agent, **arguments, threads=2)
    assert_same(watched, whole)
    longer = fastes.simulate(bandit, agent, **{**arguments, "T": 900})
    for copy in some(copies):
        assert_same(resumed(copy, threads=2), whole)
        assert_same(resumed(copy, T=900), longer)


def test_labels_say_in_which_world_a_curve_was_measured():
    worlds = ({}, {"delay": 5}, {"truth": Truth(noise=2.0)})
    results = [fastes.simulate(BANDIT, fastes.Greedy(), 9, **world) for world in worlds]
    curves = curves_of(results, lambda r: (r.t, r.regret.mean, r.regret.se))
    assert [curve.label() for curve in curves] == [
        "Greedy, as believed, delay=0",
        "Greedy, as believed, delay=5",
        "Greedy, truth: noise 2.0, delay=0",
    ]


def test_words_tell_truths_apart():
    truths = [
        *(Truth(noise=noise) for noise in (1.0, 1.0 + 1e-15)),
        *(Truth(prior_mean=mean) for mean in (0.0, [0.0], [1.0])),
        *(Truth(prior_cov=cov) for cov in (1.0, [1.0], [[1.0]])),
        *(Truth(noise_law=law) for law in LAWS),
    ]
    assert len({truth.text for truth in truths}) == len(truths)
    assert repr(EVERYTHING) == (
        "Truth(prior_mean=array of shape (3,), prior_cov=array of shape (3, 3), noise=0.9, "
        "noise_law='laplace')"
    )


@pytest.mark.parametrize("world", [{"truth": Truth(noise=2.0)}, {"delay": 3}], ids=str)
def test_what_the_theory_does_not_speak_of_is_measured_without_bounds(world):
    agent = fastes.EnsembleSampling(5)
    result = fastes.simulate(BANDIT, agent, T=12, runs=4, diagnostics=[0, 11], **world)
    table = inequalities(result)
    assert (table["bounds"], table["information_of_phat"]) == (None, None)
    assert "theorem1" not in table["totals"]
    assert table["hellinger_squared_of_phat"]["mean"][1] is not None
    with pytest.raises(ValueError, match="the bounds do not apply to ES, M=5"):
        theorem2_measured(result)


def test_the_belief_is_probed_and_the_truth_is_paid():
    """In a world far from the belief, p_t is the belief's and the regret the truth's."""
    truth = Truth(prior_mean=[3.0, 0.0, 0.0], prior_cov=0.0, noise=0.0)
    result = fastes.simulate(
        BANDIT, fastes.Greedy(), T=1, runs=1, diagnostics=[0], truth=truth, keep="actions"
    )
    values = BANDIT.actions @ [3.0, 0.0, 0.0]
    expected = values.max() - values[result.actions[0, 0]]
    assert result.diagnostics.mean("regret").value[0] == pytest.approx(expected)
    plain = fastes.simulate(BANDIT, fastes.Greedy(), T=1, runs=1, diagnostics=[0])
    for name in ("entropy", "hellinger_squared", "main_regret"):
        assert result.diagnostics.mean(name).value == plain.diagnostics.mean(name).value


def test_an_experiment_of_a_truth_describes_itself():
    experiment = Experiment(BANDIT, [fastes.Greedy()], 9, 2, 0, world=World(EVERYTHING, 4))
    again = type(experiment).from_saved(*experiment.saved())
    assert again.world.delay == 4
    assert again.world.truth.text == EVERYTHING.text
    assert (again.true_theta(1) == experiment.true_theta(1)).all()
