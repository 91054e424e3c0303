"""`fastes compile`: what it compiles, no later process compiles again."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from fastes.kernels.jit import cache
from programs import python

import fastes
from fastes.cli import main
from fastes.simulation.precompile import compilations

# Does what a user of these sizes would do, and prints whether anything had to be compiled.
USED = """
import tempfile
import fastes
from fastes.kernels.jit.events import announce_compilation

compiled = []
with announce_compilation(lambda: compiled.append(1)):
    agent, bandit = fastes.UniformRandom(), fastes.LinearBandit.random(30, 3)
    fastes.simulate(bandit, agent, T=50, runs=3, diagnostics=[0, 9], samples=64)
    fastes.simulate(bandit, agent, T=50, runs=700, theta=[0.1, 0.2, 0.3])
    with tempfile.TemporaryDirectory() as folder:
        fastes.simulate(bandit, agent, T=50, checkpoint=f"{folder}/run.ckpt")
        fastes.resume(f"{folder}/run.ckpt", T=90)
    world = fastes.Truth(1.0, 2.0, 0.5, "laplace")
    fastes.simulate(bandit, agent, T=50, runs=3, truth=world, delay=2)
    live = agent.start(bandit)
    live.observe(live.act(), 0.5)
    live.observe([1, 2, 3], [0.1, 0.2, 0.3])
    with tempfile.TemporaryDirectory() as folder:
        live.save(f"{folder}/live.npz")
        fastes.LiveAgent.load(f"{folder}/live.npz").act()
print(compiled)
"""


def test_what_was_compiled_ahead_is_not_compiled_again(tmp_path):
    words = ["compile", "--agent", "uniform", "--K", "30", "--d", "3", "--json"]
    code = f"from fastes.cli import main; main({words!r})"
    told = json.loads(python(code, check=True, XDG_CACHE_HOME=str(tmp_path)))
    assert told["folder"].startswith(str(tmp_path))
    assert {row["part"] for row in told["compiled"]} == {
        *("alone", "sequence", "diagnostics", "live"),
    }
    assert python(USED, check=True, XDG_CACHE_HOME=str(tmp_path)) == "[]"


# Options, and what a user does afterwards on such a problem (`bandit` and `fastes` are known).
OTHER_SETS = {
    "--offered": """
rows = [[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]]
bandit = fastes.LinearBandit(fastes.actions.Offered(3))
live = agent.start(bandit)
live.observe(rows[live.act(rows)], 0.5)
live.observe(rows, [0.1, 0.2])
live.save(folder / "live.npz")
fastes.LiveAgent.load(folder / "live.npz").act(rows)
""",
    "--arms ball": """
bandit = fastes.LinearBandit(fastes.actions.Ball(3))
fastes.simulate(bandit, agent, T=50, runs=3)
live = agent.start(bandit)
live.observe(live.act(), 0.5)
""",
    "--available 4 --rewards bernoulli": """
bandit = fastes.LogisticBandit(fastes.actions.Subset(arms, 4), prior_cov=2 * np.eye(3))
fastes.simulate(bandit, agent, T=50, runs=3)
live = agent.start(fastes.LogisticBandit(arms))
live.observe(live.act(), 1)
live.observe(live.act(available=[3, 1, 4]), 0)
""",
    "--discount 0.9": """
fastes.simulate(fastes.LinearBandit(arms), fastes.Greedy(discount=0.99), T=50, runs=3)
live = fastes.Greedy(discount=0.99).start(fastes.LinearBandit(arms))
live.observe(live.act(), 0.5)
""",
    "--agent-noise learned": """
fastes.simulate(fastes.LinearBandit(arms), fastes.Greedy(noise="learned"), T=50, runs=3)
""",
    "--redraw step --arms gaussian": """
bandit = fastes.LinearBandit(fastes.actions.Fresh(30, 3, "gaussian"))
fastes.simulate(bandit, agent, T=50, runs=3, delay=2)
""",
}
BEGIN = """
import sys, tempfile
from pathlib import Path
import numpy as np
import fastes
from fastes.kernels.jit.events import announce_compilation

agent, arms, folder = fastes.Greedy(), np.eye(30, 3), Path(tempfile.mkdtemp())
for options, use in USES.items():
    compiled = []
    with announce_compilation(lambda: compiled.append(1)):
        exec(use)
    print(options, compiled)
"""


@pytest.mark.parametrize(
    "named",
    [["--offered"], pytest.param(list(OTHER_SETS)[1:], marks=pytest.mark.slow)],
    ids=["offered", "others"],
)
def test_what_the_options_name_is_compiled(named, tmp_path):
    code = "from fastes.cli import main\n"
    for options in named:
        sizes = ["--d", "3"] + ([] if options in ("--offered", "--arms ball") else ["--K", "30"])
        told = ["compile", "--agent", "greedy", *options.split(), *sizes, "--quiet"]
        code += f"main({told!r}, standalone_mode=False)\n"
    python(code, check=True, XDG_CACHE_HOME=str(tmp_path))
    uses = {options: OTHER_SETS[options] for options in named}
    used = python(f"USES = {uses!r}\n{BEGIN}", check=True, XDG_CACHE_HOME=str(tmp_path))
    assert used.splitlines() == [f"{options} []" for options in named]


def test_diagnostics_are_compiled_where_an_agent_can_be_measured():
    arms = fastes.actions.Fixed(np.eye(30, 3))
    for agent, measured in (
        (fastes.Greedy(), True),
        (fastes.Greedy(discount=0.9), False),
        (fastes.ThompsonSampling(window=5), False),
        (fastes.Greedy(noise="learned"), False),
    ):
        found = {what for what, _ in compilations(agent, arms, 50)}
        assert found == {"alone", "sequence", "live"} | ({"diagnostics"} if measured else set())


def test_every_action_set_can_be_compiled_for():
    from fastes import actions

    drawn = actions.Redrawn(30, 5), actions.Fresh(30, 5)
    rows = np.ones((30, 5))
    kept = actions.Fixed(rows), actions.Subset(rows, 4), actions.Given(rows[None])
    sets = (*drawn, *kept, actions.Ball(5), actions.Offered(5))
    assert {type(given) for given in sets} == set(actions.ACTION_SETS.values())
    for given in sets:
        assert type(given.small()) is type(given)
        assert given.small().d == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--offered --K 5", "the caller offers the arms: leave out --K"),
        ("--offered --arms ball", "the caller offers the arms: leave out --arms"),
        ("--arms ball --K 5", "a ball has infinitely many arms: leave out --K"),
        ("--arms given.npy --d 2", "given.npy has all arms: leave out --d"),
        ("--arms given.npy --available 2", "--available needs fixed arms: leave it out"),
        ("--redraw run --available 2", "leave out either redraw or available"),
        ("--available 101", "available must be at most K=100, got 101"),
    ],
)
def test_options_that_contradict_each_other_are_refused(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("given.npy", np.ones((2, 3, 2)))
    outcome = CliRunner().invoke(main, ["compile", "--agent", "greedy", *options.split()])
    assert outcome.exit_code != 0
    assert message in outcome.output


def test_sizes_and_sets_decide_what_is_compiled(tmp_path):
    from fastes import EnsembleSampling, LinUCB, actions
    from fastes.actions.families import random_arms
    from fastes.simulation.precompile import compilations

    def parts(agent, *sizes, kind=actions.Fixed):
        given = kind(random_arms("sphere", *sizes, 0)) if kind is actions.Fixed else kind(*sizes)
        return [name for name, _ in compilations(agent, given, 2000)]

    assert parts(EnsembleSampling(30), 100, 10) == ["alone", "sequence", "diagnostics", "live"]
    assert parts(EnsembleSampling(30), 2000, 50) == ["alone", "lockstep", "diagnostics", "live"]
    assert parts(EnsembleSampling(30), 10**5, 10) == ["alone", "diagnostics", "live"]
    assert parts(EnsembleSampling(30, "eager"), 100, 10) == [
        *("alone", "shared update", "diagnostics", "live"),
    ]
    assert parts(LinUCB(), 2000, 50) == ["alone", "diagnostics", "live"]
    assert parts(LinUCB(), 10, kind=actions.Offered) == ["live"]
    assert parts(LinUCB(), 10, kind=actions.Ball) == ["alone", "live"]
    assert parts(LinUCB(), 100, 10, kind=actions.Fresh) == ["alone"]
    pool = random_arms("sphere", 100, 10, 0)
    assert parts(LinUCB(), pool, 5, kind=actions.Subset) == ["alone", "live"]
    np.save(tmp_path / "given.npy", np.ones((2, 3, 2)))
    assert parts(LinUCB(), np.load(tmp_path / "given.npy"), kind=actions.Given) == ["alone"]


def test_a_cache_that_cannot_be_written_is_an_error(monkeypatch):
    monkeypatch.setattr(cache, "cache_is_kept", lambda: False)
    outcome = CliRunner().invoke(main, ["compile"])
    assert outcome.exit_code == 1
    assert "compiled code cannot be cached: the cache folder is not writable" in outcome.output


@pytest.mark.parametrize(("option", "value"), [("--K", "0"), ("--d", "-1"), ("--T", "0")])
def test_sizes_are_checked(option, value):
    outcome = CliRunner().invoke(main, ["compile", option, value])
    assert outcome.exit_code == 2
    assert f"{option[2:]} must be an integer from 1 to" in outcome.output


def test_only_options_that_change_the_code_are_offered():
    text = CliRunner().invoke(main, ["compile", "--help"]).output
    assert "--engine" in text
    assert "--M " not in text
    assert "--alpha" not in text
