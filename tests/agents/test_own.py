"""Custom agents: the same problem as compiled agents have, and one sentence for every mistake."""

import textwrap
from dataclasses import dataclass

import numpy as np
import pytest
from bandits import BANDITS
from click.testing import CliRunner

import fastes
from fastes.agents.own import OwnAgentError, as_agent
from fastes.cli import main

BANDIT = fastes.LinearBandit.random(12, 3, prior_cov=2.0, noise=0.5, seed=1)


class Replay:
    """Plays the arms that another agent played, run by run, and keeps what it sees."""

    def __init__(self, actions, law=None):
        self.actions, self.law, self.by_seed = actions, law, {}

    @property
    def players(self):
        return list(self.by_seed.values())

    def start(self, bandit, seed):
        if seed not in self.by_seed:
            actions = self.actions[len(self.by_seed)]
            self.by_seed[seed] = ReplayPlayer(actions, seed, self.law)
        return self.by_seed[seed]


class ReplayPlayer:
    def __init__(self, actions, seed, law):
        self.actions, self.seed, self.law, self.seen = actions, seed, law, []

    def act(self):
        return self.actions[len(self.seen)]

    def observe(self, arm, reward):
        self.seen.append((arm, reward))

    def action_law(self):
        return self.law


class Lazy:
    """Plays arm 0. Its parts are replaced by tests."""

    def start(self, bandit, seed):
        return self

    def act(self):
        return 0

    def observe(self, arm, reward):
        pass


def failing(**methods):
    return type("Failing", (Lazy,), methods)()


def raises(error):
    def method(*_):
        raise error

    return method


@pytest.mark.parametrize("name", ["full", "duplicate arms", "smallest", "more than a tile"])
@pytest.mark.parametrize("T", [1, 70])
def test_what_arms_pay_and_cost_is_that_of_the_compiled_loop_to_the_bit(name, T):
    bandit, keep = BANDITS[name], ["actions", "rewards"]
    options = {"T": T, "runs": 3, "seed": 5, "keep": keep, "points": 20}
    compiled = fastes.simulate(bandit, fastes.ThompsonSampling(), **options)
    own = fastes.simulate(bandit, Replay(compiled.actions), **options)
    for part in ("actions", "rewards", "counts", "t"):
        np.testing.assert_array_equal(getattr(own, part), getattr(compiled, part))
    np.testing.assert_array_equal(own.regret.per_run, compiled.regret.per_run)


def test_it_observes_the_rewards_of_its_own_arms_in_order():
    compiled = fastes.simulate(BANDIT, fastes.Greedy(), T=30, runs=2, keep=["actions", "rewards"])
    replay = Replay(compiled.actions)
    fastes.simulate(BANDIT, replay, T=30, runs=2)
    for player, actions, rewards in zip(
        replay.players, compiled.actions, compiled.rewards, strict=True
    ):
        assert [arm for arm, _ in player.seen] == actions.tolist()
        np.testing.assert_allclose([reward for _, reward in player.seen], rewards, rtol=1e-15)
        assert all(type(arm) is int and type(reward) is float for arm, reward in player.seen)


def test_theta_may_be_fixed():
    options = {"T": 20, "runs": 2, "theta": [1.0, -1.0, 0.5], "keep": "actions"}
    compiled = fastes.simulate(BANDIT, fastes.LinUCB(), **options)
    own = fastes.simulate(BANDIT, Replay(compiled.actions), **options)
    np.testing.assert_array_equal(own.regret.per_run, compiled.regret.per_run)


def test_every_run_has_a_seed_of_its_own_that_depends_on_nothing_else():
    def seeds(runs, seed):
        replay = Replay(np.zeros((runs, 1), int))
        fastes.simulate(BANDIT, replay, T=1, runs=runs, seed=seed)
        return [player.seed for player in replay.players]

    many = seeds(50, 3)
    assert len(set(many)) == 50
    assert seeds(4, 3) == many[:4]
    assert not set(seeds(50, 4)) & set(many)


def test_a_live_agent_plays_with_the_law_of_the_compiled_one():
    class Wrapped:
        def start(self, bandit, seed):
            return fastes.ThompsonSampling().start(bandit, seed)

    # 4.5 standard errors, paired: wrong once in 100,000 seeds, and this one is fixed.
    both = fastes.compare(BANDIT, [Wrapped(), fastes.ThompsonSampling()], T=60, runs=300, seed=2)
    gap = both[0].regret.final - both[1].regret.final
    assert abs(gap.mean()) < 4.5 * gap.std(ddof=1) / np.sqrt(300)
    assert [result.label for result in both] == ["Wrapped", "TS"]


def test_diagnostics_are_those_of_a_compiled_agent_of_the_same_law_and_plays():
    options = {"T": 40, "runs": 3, "diagnostics": [0, 1, 20, 39], "samples": 256}
    compiled = fastes.simulate(BANDIT, fastes.UniformRandom(), **options, keep="actions")
    own = fastes.simulate(BANDIT, Replay(compiled.actions, np.full(12, 1 / 12)), **options)
    pairs = zip(own.diagnostics.per_run, compiled.diagnostics.per_run, strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (np.full(11, 1 / 11), "12 probabilities"),
        (np.full(12, 0.1), "add up to 1"),
        (np.array([1.5, -0.5] + 10 * [0.0]), "probabilities"),
        (np.full(12, np.nan), "probabilities"),
        (["a"], "action_law() raised ValueError before step 0"),
    ],
)
def test_a_law_that_is_none_is_refused(law, words):
    with pytest.raises(OwnAgentError, match=words.replace("(", r"\(").replace(")", r"\)")):
        fastes.simulate(BANDIT, Replay([[0]], law), T=1, diagnostics=[0])


def test_diagnostics_without_a_law_are_refused_before_anything_is_played():
    class Silent(Lazy):
        acted = 0

        def act(self):
            Silent.acted += 1
            return 0

    with pytest.raises(OwnAgentError, match=r"Silent has no action_law\(\)"):
        fastes.compare(BANDIT, [fastes.Greedy(), Silent()], T=5, diagnostics=[4])
    assert Silent.acted == 0


@pytest.mark.parametrize("arm", [12, -1, 1.0, None, "0", np.float64(1)])
def test_an_arm_that_is_none_is_refused_with_its_step(arm):
    with pytest.raises(OwnAgentError, match=r"act\(\) must return an integer from 0 to 11.*step 0"):
        fastes.simulate(BANDIT, failing(act=lambda self: arm), T=3)


@pytest.mark.parametrize("arm", [np.int64(3), np.uint8(3), np.array(3)])
def test_an_arm_may_be_any_integer(arm):
    result = fastes.simulate(BANDIT, failing(act=lambda self: arm), T=3)
    assert result.counts[3] == 3


@pytest.mark.parametrize("method", ["start", "act", "observe"])
def test_an_error_names_the_method_and_keeps_its_cause(method):
    cause = KeyError("mine")
    with pytest.raises(OwnAgentError, match=rf"Failing: {method}\(\) raised KeyError") as caught:
        fastes.simulate(BANDIT, failing(**{method: raises(cause)}), T=3)
    assert caught.value.__cause__ is cause
    if method != "start":
        assert "at step 0 of run 0" in str(caught.value)


def test_the_step_of_an_error_is_that_of_the_run():
    seen = []

    def observe(self, arm, reward):
        seen.append(reward)
        if len(seen) == 5018:
            raise ValueError("enough")

    with pytest.raises(OwnAgentError, match=r"observe\(\) raised .* at step 17 of run 1: enough"):
        fastes.simulate(BANDIT, failing(observe=observe), T=5000, runs=3)


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (Lazy, "not its class, got <class"),
        (object(), "or have start"),
        (None, "or have start"),
        ("ts", "or have start"),
    ],
)
def test_what_is_no_agent_is_refused(agent, words):
    with pytest.raises(TypeError, match=words):
        as_agent(agent)


def test_what_start_returns_must_be_able_to_play():
    with pytest.raises(OwnAgentError, match=r"an object with act\(\), got None"):
        fastes.simulate(BANDIT, failing(start=lambda self, bandit, seed: None), T=1)


def test_fields_of_a_dataclass_are_parameters():
    @dataclass
    class Tuned(Lazy):
        epsilon: float = 0.5
        words: tuple = ()

    result = fastes.simulate(BANDIT, Tuned(0.25), T=2)
    assert result.label == "Tuned, epsilon=0.25"
    assert result.configuration.parameters == {"epsilon": 0.25}
    assert result.configuration.engine == "python"


def test_results_are_saved_and_loaded_but_not_run_again(tmp_path):
    result = fastes.simulate(BANDIT, Lazy(), T=4, runs=2)
    result.save(tmp_path / "own.npz")
    back = fastes.load(tmp_path / "own.npz")
    np.testing.assert_array_equal(back.regret.per_run, result.regret.per_run)
    assert back.label == "Lazy"
    with pytest.raises(ValueError, match="Lazy is a custom agent, whose code is not in the result"):
        fastes.rerun(back)


def test_checkpoints_are_refused(tmp_path):
    with pytest.raises(
        ValueError, match="checkpoint cannot save the state of the custom agent Lazy"
    ):
        fastes.simulate(BANDIT, Lazy(), T=4, checkpoint=tmp_path / "own.ckpt")
    assert not list(tmp_path.iterdir())


MODULE = """
    class First:
        def start(self, bandit, seed):
            return self

        def act(self):
            return 0

        def observe(self, arm, reward):
            if reward == reward and NAME_OF_CHOICE:
                raise ArithmeticError("a line of mine")

    first = First()
"""


@pytest.fixture
def module(tmp_path, monkeypatch, request):
    """A module in the current folder, of a name that no other test has imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"own_{abs(hash(request.node.name)):x}"

    def write(fails=False):
        text = textwrap.dedent(MODULE).replace("NAME_OF_CHOICE", str(fails))
        (tmp_path / f"{name}.py").write_text(text)
        return name

    return write


def run(*words):
    return CliRunner().invoke(main, [*words, "--K", "5", "--d", "2", "--T", "20", "--runs", "3"])


@pytest.mark.parametrize("attribute", ["First", "first"])
def test_the_command_line_takes_a_class_or_an_object(module, attribute):
    shown = run("simulate", "--agent", f"ts,{module()}:{attribute}")
    assert shown.exit_code == 0, shown.output
    assert "First" in shown.output
    assert "TS" in shown.output


def test_the_command_line_shows_the_traceback_of_an_own_agent(module):
    name = module(fails=True)
    shown = run("simulate", "--agent", f"{name}:First")
    assert shown.exit_code == 1
    assert "First: observe() raised ArithmeticError at step 0 of run 0" in shown.output
    assert 'raise ArithmeticError("a line of mine")' in shown.output
    assert "python_loop" not in shown.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("no_such_module_of_mine:First", "there is no module"),
        ("math:nothing", "math has no 'nothing'"),
        ("math:pi", "or have start"),
        ("a b:c", "is not one of es"),
        ("own", "is not one of es"),
    ],
)
def test_the_command_line_refuses_what_is_no_agent(words, message):
    shown = run("simulate", "--agent", words)
    assert shown.exit_code == 2
    assert message in " ".join(shown.output.split())


def test_a_module_that_does_not_import_shows_where(module, tmp_path):
    name = module()
    (tmp_path / f"{name}.py").write_text("1 / 0\n")
    shown = run("simulate", "--agent", f"{name}:First")
    assert shown.exit_code == 1
    assert f"importing {name} raised ZeroDivisionError" in shown.output
    assert "1 / 0" in shown.output


def test_a_study_plays_an_own_agent_beside_others(module, tmp_path):
    word = f"{module()}:First"
    study = fastes.Study(agent=["es", word], M=[2, 4], K=5, d=2, T=20, runs=6)
    assert len(study.settings) == 3
    sweep = fastes.sweep(study, tmp_path / "own.db")
    assert set(sweep.to_dataframe()["agent"]) == {"es", word}
    (own,) = [result for _, result in sweep.results() if result.label == "First"]
    problem = fastes.LinearBandit.random(5, 2)
    alone = fastes.simulate(problem, Lazy(), T=20, runs=6, points=50)  # it plays arm 0 too
    np.testing.assert_array_equal(own.regret.per_run, alone.regret.per_run)
