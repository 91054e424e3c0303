"""`fastes compile`: what it compiles, no later process compiles again."""

import json

import pytest
from click.testing import CliRunner
from fastes.kernels.jit import cache
from programs import python

from fastes.cli import main

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


def test_the_help_promises_fixed_arms_only():
    text = " ".join(CliRunner().invoke(main, ["compile", "--help"]).output.split())
    assert "live agents of these sizes, on fixed arms, then start at once" in text
    assert "Other action sets, and act(available=...), compile when first used." in text


def test_sizes_decide_what_is_compiled():
    from fastes import EnsembleSampling, LinUCB
    from fastes.simulation.precompile import compilations

    def parts(agent, K, d):
        return [name for name, _ in compilations(agent, K, d, 2000)]

    assert parts(EnsembleSampling(30), 100, 10) == ["alone", "sequence", "diagnostics", "live"]
    assert parts(EnsembleSampling(30), 2000, 50) == ["alone", "lockstep", "diagnostics", "live"]
    assert parts(EnsembleSampling(30), 10**5, 10) == ["alone", "diagnostics", "live"]
    assert parts(EnsembleSampling(30, "eager"), 100, 10) == [
        *("alone", "shared update", "diagnostics", "live"),
    ]
    assert parts(LinUCB(), 2000, 50) == ["alone", "diagnostics", "live"]


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
