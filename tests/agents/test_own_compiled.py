"""A compiled agent from outside the package: it does all that ours do, or says why not."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from compiled_skeleton import Mine
from fastes.kernels.agents.interface import (
    has_linear_scores,
    optimism,
    prepare,
    random_arm,
    score,
)
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.beliefs.interface import Belief, mean_of
from fastes.kernels.states.layout import zeros
from fastes.kernels.streams.philox import source
from programs import python
from softmax import Softmax
from softmax_twin import twin_arms

import fastes
from bench.outside_thompson import OutsideThompson
from fastes import actions
from fastes.agents.agent import Agent
from fastes.agents.own import OwnAgentError
from fastes.agents.search import search_method
from fastes.cli import main
from fastes.simulation.plan import runs_in_lockstep

ROOT = Path(__file__).parents[2]
BANDIT = fastes.LinearBandit.random(12, 3, prior_mean=0.3, prior_cov=2.0, noise=0.5, seed=1)
TS = fastes.ThompsonSampling()


# The same agent as one of ours does the same, to the bit, everywhere.


def same(bandit, **options):
    found = [fastes.simulate(bandit, agent, seed=5, **options) for agent in (OutsideThompson(), TS)]
    np.testing.assert_array_equal(found[0].regret.per_run, found[1].regret.per_run)
    return found


SETS = {
    "fixed": BANDIT,
    "one arm": fastes.LinearBandit([[1.0]]),
    "boxes": fastes.LinearBandit.random(5000, 2),
    "redrawn": fastes.LinearBandit(actions.Redrawn(8, 3)),
    "fresh": fastes.LinearBandit(actions.Fresh(8, 3)),
    "subset": fastes.LinearBandit(actions.Subset(BANDIT.actions, 4)),
    "given": fastes.LinearBandit(actions.Given(np.random.default_rng(1).normal(size=(7, 4, 3)))),
    "ball": fastes.LinearBandit(actions.Ball(3)),
}
CHANGING = {name: SETS[name] for name in ("subset", "fresh", "given", "redrawn")}


def those_of(sets, *quick):
    """Return sets as parameters, those slow that are not named: code for each is compiled."""
    return [
        pytest.param(each, marks=[] if name in quick else pytest.mark.slow, id=name)
        for name, each in sets.items()
    ]


@pytest.mark.parametrize("bandit", those_of(SETS, "fixed", "one arm", "boxes", "redrawn", "fresh"))
def test_it_plays_on_every_action_set_as_ours_does(bandit):
    same(bandit, T=40, runs=3, threads=1)


def test_it_runs_in_lockstep_and_with_certificates_as_ours_does():
    many = fastes.LinearBandit.random(4500, 10)
    assert runs_in_lockstep(OutsideThompson(), 4500, 10, 100)
    same(many, T=100, runs=4, threads=1)  # in lockstep
    assert not runs_in_lockstep(OutsideThompson(), 4500, 10, 400)
    same(many, T=400, runs=1, threads=1)  # with certificates


def test_diagnostics_are_those_of_ours():
    own, ours = same(BANDIT, T=30, runs=2, diagnostics=[0, 29], samples=256)
    for one, other in zip(own.diagnostics.per_run, ours.diagnostics.per_run, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_live_agent_is_saved_and_loaded(tmp_path):
    both = [agent.start(BANDIT, seed=3) for agent in (OutsideThompson(), TS)]
    for i in range(20):
        arms = [agent.act() for agent in both]
        assert arms[0] == arms[1]
        for agent in both:
            agent.observe(arms[0], 0.1 * i)
    both[0].save(tmp_path / "agent.npz")
    again = fastes.LiveAgent.load(tmp_path / "agent.npz")
    assert again.agent == OutsideThompson()
    assert [again.act() for _ in range(5)] == [both[1].act() for _ in range(5)]
    assert fastes.load(tmp_path / "agent.npz").acts == 20


@pytest.mark.parametrize(
    "arms", those_of({"offered": actions.Offered(3), "ball": actions.Ball(3)}, "offered")
)
def test_a_live_agent_takes_rows(arms):
    bandit, rows = fastes.LinearBandit(arms), [BANDIT.actions] * isinstance(arms, actions.Offered)
    played = []
    for agent in (OutsideThompson(), TS):
        live = agent.start(bandit, seed=3)
        live.observe([1.0, 0.0, 2.0], 0.5)
        played.append(live.act(*rows))
    np.testing.assert_array_equal(*played)


def test_a_checkpoint_goes_on_and_a_result_is_done_again(tmp_path):
    file, words = tmp_path / "run.ckpt", {"runs": 2, "seed": 4}
    fastes.simulate(BANDIT, OutsideThompson(), T=30, checkpoint=file, **words)
    resumed = fastes.resume(file, T=60)
    whole = fastes.simulate(BANDIT, OutsideThompson(), T=60, **words)
    np.testing.assert_array_equal(resumed.regret.per_run, whole.regret.per_run)
    whole.save(tmp_path / "result.npz")
    again = fastes.rerun(fastes.load(tmp_path / "result.npz"))
    np.testing.assert_array_equal(again.regret.per_run, whole.regret.per_run)
    assert again.label == whole.label == "OutsideThompson"


NAME = "bench.outside_thompson:OutsideThompson"
SIZES = ["--K", "5", "--d", "2", "--T", "20"]


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_command_line_takes_it(tmp_path):
    shown = run("simulate", "--agent", f"ts,{NAME}", *SIZES, "--runs", 3, "--json")
    assert shown.exit_code == 0, shown.output
    assert [each["agent"] for each in json.loads(shown.stdout)["agents"]] == ["ts", NAME]
    assert run("diagnose", "--agent", NAME, *SIZES, "--runs", 3).exit_code == 0
    compiled = run("compile", "--agent", NAME, *SIZES)
    assert compiled.exit_code == 0, compiled.output
    assert "OutsideThompson: " in compiled.output
    swept = run("sweep", "--agent", f"ts,{NAME}", *SIZES, "--runs", 3, "--out", tmp_path / "s.db")
    assert swept.exit_code == 0, swept.output
    (own, ours) = [result for _, result in fastes.load(tmp_path / "s.db").results()][::-1]
    np.testing.assert_array_equal(own.regret.per_run, ours.regret.per_run)


def test_an_agent_in_python_is_not_compiled_ahead(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("in_python.py").write_text("class Lazy:\n    def start(self, bandit, seed): ...\n")
    shown = run("compile", "--agent", "in_python:Lazy")
    assert shown.exit_code == 2
    assert "Lazy is a Python agent, which is not compiled" in shown.output


# A file imports nothing.

IN_PYTHON = "import sys; sys.path.insert(0, {root!r}); import fastes\n"
OPENED = {
    "agent.npz": "fastes.load({file!r})",
    "run.ckpt": "fastes.resume({file!r})",
    "result.npz": "fastes.rerun(fastes.load({file!r}))",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    OutsideThompson().start(BANDIT).save(folder / "agent.npz")
    result = fastes.simulate(BANDIT, OutsideThompson(), T=5, checkpoint=folder / "run.ckpt")
    result.save(folder / "result.npz")
    return folder


@pytest.mark.parametrize("name", OPENED)
def test_a_file_is_refused_unless_the_module_is_imported(name, files):
    words = {"root": str(ROOT), "file": str(files / name)}
    code = IN_PYTHON + OPENED[name] + "\n"
    assert (
        python(
            (code.replace("import fastes", "import fastes, bench.outside_thompson")).format(
                **words
            ),
            check=True,
        )
        == ""
    )
    tried = f"{IN_PYTHON}try:\n    {OPENED[name]}\nexcept (ValueError, RuntimeError) as error:\n"
    tried += "    print(error)\nassert 'bench' not in sys.modules\n"
    said = python(tried.format(**words), check=True)
    assert "is a custom agent, whose code" in said
    assert "import bench.outside_thompson" in said


@pytest.mark.parametrize(
    ("command", "name"), [("resume", "run.ckpt"), ("rerun", "result.npz"), ("show", "agent.npz")]
)
def test_commands_refuse_a_file_in_one_sentence(command, name, files):
    code = f"import sys; sys.argv = ['fastes', {command!r}, {str(files / name)!r}]\n"
    done = python(code + "from fastes.__main__ import run; run()")
    assert done.returncode in (1, 2)
    assert "is a custom agent, whose code" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_checkpoint_of_other_code_is_refused(files, monkeypatch):
    from fastes.simulation import checkpoint_file

    monkeypatch.setattr(checkpoint_file, "code_of", lambda agent: "another")
    with pytest.raises(OwnAgentError, match=r"the code of bench.outside_thompson:.* has changed"):
        fastes.resume(files / "run.ckpt")


# The example of the how-to, against its slow twin.


@pytest.mark.parametrize(("K", "d", "T"), [(1, 1, 1), (12, 3, 60), (65, 2, 30), (200, 4, 40)])
@pytest.mark.parametrize("threads", [1, 2])
def test_softmax_plays_what_its_slow_twin_plays(K, d, T, threads):
    bandit = fastes.LinearBandit.random(K, d, noise=0.5, prior_cov=2.0, seed=2)
    options = {"T": T, "runs": 3, "seed": 3, "threads": threads, "keep": ["actions", "rewards"]}
    result = fastes.simulate(bandit, Softmax(temperature=0.7), **options)
    for run_number in range(3):
        twin = twin_arms(bandit, 0.7, result, run_number)
        np.testing.assert_array_equal(result.actions[run_number], twin)


def test_softmax_tells_the_law_that_it_plays():
    agent, K = Softmax(0.5), 6
    bandit = fastes.LinearBandit.random(K, 2, prior_mean=1.0, seed=4)
    state = agent.initial_state(K, 2, source(0))
    law = agent.action_law(state, bandit.canonical.arms, source(0), 0).probabilities
    # The first choice of 4,000 runs, at the prior. 5.5 standard errors for each of 6 counts: wrong
    # for fewer than 1 seed in 1,000,000, and this one is fixed.
    counts = fastes.simulate(bandit, agent, T=1, runs=4000, seed=6).counts
    spread = np.sqrt(4000 * law * (1 - law))
    assert (np.abs(counts - 4000 * law) < 5.5 * spread + 1).all()
    assert law.max() - law.min() > 0.05


def test_softmax_at_temperature_zero_is_greedy():
    both = fastes.compare(BANDIT, [Softmax(0.0), fastes.Greedy()], T=50, runs=5, seed=1)
    np.testing.assert_array_equal(both[0].regret.per_run, both[1].regret.per_run)


@pytest.mark.parametrize(("K", "r"), [(1, 1), (10_000, 2), (1_000_000, 50)])
def test_softmax_is_searched_arm_by_arm(K, r):
    assert search_method(Softmax(), K, r) == "scan"
    assert not runs_in_lockstep(Softmax(), K, r, 10)


def test_softmax_has_no_best_arm_of_a_ball():
    ball = fastes.LinearBandit(actions.Ball(3))
    for call in (
        lambda: fastes.simulate(ball, Softmax(), T=3),
        lambda: Softmax().start(ball),
    ):
        with pytest.raises(ValueError, match="scores every arm in turn"):
            call()


@pytest.mark.parametrize("bandit", those_of(CHANGING, "fresh", "redrawn"))
def test_softmax_plays_where_arms_change(bandit):
    assert fastes.simulate(bandit, Softmax(), T=20, runs=2).regret.final.min() >= 0


def test_the_skeleton_plays_greedily_and_says_what_it_lacks():
    both = fastes.compare(BANDIT, [Mine(), fastes.Greedy()], T=50, runs=5, seed=1)
    np.testing.assert_array_equal(both[0].regret.per_run, both[1].regret.per_run)
    assert both[0].label == "Mine, scale=1"
    with pytest.raises(TypeError, match="has a body for prepare but no action_law"):
        fastes.simulate(BANDIT, Mine(), T=3, diagnostics=[0])


# What would be wrong is refused.


def outside(*bodies, scores="any", **changed):
    """Return an agent of a class made here, whose state has these (generic, body)."""

    class State(NamedTuple):
        belief: Belief
        z: np.ndarray

    for called, function in bodies:
        called.body(State)(function)

    def layout(self, K, belief, steps):
        return State(belief, mean_of(belief))

    words = {"scores": scores, "layout": layout, "__module__": __name__}
    return dataclass(frozen=True)(type("Mine", (Agent,), {**words, **changed}))()


def yes(agent):
    return True


def two(agent):
    return 2.0


def nothing(agent, source, t):
    pass


def zero(agent, K, source, t):
    return 0


def flat(agent, arms, tile, work):
    work.scores[0, :] = 0.0


class Bare(NamedTuple):
    z: np.ndarray


class Odd(NamedTuple):
    belief: Belief
    z: np.ndarray
    words: str


def state_of_ours():
    return fastes.Greedy().layout(1, gaussian.layout(1), 0)


def starting(state):
    return {"layout": lambda self, K, belief, steps: state}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: outside(scores="linear"), "'linear', but the bodies for State imply 'any'"),
        (lambda: outside((has_linear_scores, yes)), "'any', but the bodies .* imply 'linear'"),
        (lambda: outside(scores="quadratic"), "'quadratic', but .* imply 'any'"),
        (lambda: outside((optimism, two)), "'any', but .* imply 'quadratic'"),
        (lambda: outside(scores="none"), "'none', but .* imply 'any'"),
        (lambda: outside(scores="convex"), "scores must be one of linear, quadratic, any, none"),
        (
            lambda: outside((has_linear_scores, yes), (score, flat), scores="linear"),
            "has bodies for score and has_linear_scores",
        ),
        (lambda: outside(**starting(None)), "must return a named tuple, got None"),
        (lambda: outside(**starting(Bare(zeros(1)))), "field belief is the given one"),
        (lambda: outside(**starting(Odd(gaussian.layout(1), zeros(1), "a"))), "as its field words"),
        (
            lambda: outside(**starting(Odd(gaussian.layout(1), np.ones(1), 2.0))),
            "of zeros, full or identity, .* as field z",
        ),
        (
            lambda: outside(**starting(state_of_ours())),
            "a named tuple of its own class",
        ),
    ],
)
def test_what_would_go_wrong_is_refused_before_it_is_played(make, words):
    agent = make()
    with pytest.raises(TypeError, match=words):
        fastes.simulate(BANDIT, agent, T=3)
    with pytest.raises(TypeError, match=words):
        agent.start(BANDIT)


def test_a_class_that_is_no_dataclass_is_refused():
    class Loose(Agent):
        def layout(self, K, belief, steps):
            return None

    with pytest.raises(TypeError, match="Loose must be a dataclass with frozen=True"):
        fastes.simulate(BANDIT, Loose(), T=3)


@pytest.mark.parametrize("name", ["name", "title"])
def test_a_name_is_where_the_class_is(name):
    with pytest.raises(TypeError, match=rf"Mine.{name} must be left out: it is set to '.*Mine'"):
        outside(**{name: "ts"})
    assert outside().name == f"{__name__}:Mine"


def test_a_subclass_of_one_of_ours_has_a_name_of_its_own():
    @dataclass(frozen=True)
    class Renamed(fastes.ThompsonSampling):
        pass

    assert Renamed().description()["agent"] == f"{__name__}:Renamed"
    with pytest.raises(TypeError, match="a named tuple of its own class"):
        fastes.simulate(BANDIT, Renamed(), T=3)


@pytest.mark.parametrize("bodies", [[(prepare, nothing)], [(random_arm, zero)]])
def test_diagnostics_need_the_law_of_an_agent_that_draws(bodies):
    called = bodies[0][0].__name__
    with pytest.raises(TypeError, match=f"Mine has a body for {called} but no action_law"):
        fastes.simulate(BANDIT, outside(*bodies), T=3, diagnostics=[0])


def test_one_that_chooses_by_score_alone_has_the_default_law():
    agent = outside((has_linear_scores, yes), scores="linear")
    options = {"T": 20, "runs": 2, "diagnostics": [0, 10], "samples": 256}
    own, greedy = (fastes.simulate(BANDIT, each, **options) for each in (agent, fastes.Greedy()))
    for one, other in zip(own.diagnostics.per_run, greedy.diagnostics.per_run, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_that_always_draws_needs_no_scores():
    result = fastes.simulate(BANDIT, outside((random_arm, zero), scores="none"), T=9, runs=2)
    assert result.counts[0] == 18


# A study names agents, and its file imports none of them.

STUDY = """
import sys; sys.path.insert(0, {root!r})
import fastes
sweep = fastes.load({file!r})
print([result.label for _, result in sweep.results()], sweep.study.settings[-1].agent.name)
assert "bench" not in sys.modules
try:
    fastes.sweep(sweep.study, {file!r})
except fastes.OwnAgentError as error:
    print(error)
assert "bench" not in sys.modules
import bench.outside_thompson
fastes.sweep(fastes.load({file!r}).study, {file!r})
"""


def test_the_file_of_a_study_imports_nothing(tmp_path):
    study = fastes.Study(agent=["ts", NAME], K=5, d=2, T=20, runs=3)
    fastes.sweep(study, tmp_path / "study.db")
    words = {"root": str(ROOT), "file": str(tmp_path / "study.db")}
    labels, refusal = python(STUDY.format(**words), check=True).splitlines()
    assert labels == f"['TS', 'OutsideThompson'] {NAME}"
    assert refusal == (
        f"{NAME} is a custom agent, whose code is not in the file: "
        "import bench.outside_thompson in Python first"
    )


def test_two_agents_of_one_class_are_told_apart_in_a_study(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "from softmax import Softmax\ncold, hot = Softmax(0.1), Softmax(2.0)\n"
    (tmp_path / "two_temperatures.py").write_text(text)
    names = ["two_temperatures:cold", "two_temperatures:hot"]
    study = fastes.Study(agent=names, K=5, d=2, T=20, runs=3)
    assert [setting.axes["agent"] for setting in study.settings] == names
    sweep = fastes.sweep(study, tmp_path / "study.db")
    assert [*dict.fromkeys(sweep.to_dataframe()["agent"])] == names
    labels = [result.label for _, result in sweep.results()]
    assert labels == ["Softmax, temperature=0.1", "Softmax, temperature=2"]
