"""The commands in a report do what they say: the same bits again."""

import shlex

import numpy as np
import pytest
from click.testing import CliRunner
from made_results import made

import fastes
from fastes.cli import main
from fastes.reports.commands import result_commands, result_python, study_command
from fastes.results.comparison import Comparison

ES, TS = fastes.EnsembleSampling, fastes.ThompsonSampling


def runs_of(saved):
    return saved.results if isinstance(saved, Comparison) else (saved,)


def shell(lines, monkeypatch):
    """Do lines of a shell in this process."""
    for line in lines:
        words = shlex.split(line.replace("\\\n", " "))
        if words[0] == "python":
            assert words[1] == "-c"
            exec(words[2], {})
            continue
        done = CliRunner().invoke(main, [*words[1:], "--quiet"])
        assert done.exit_code == 0, done.output


CASES = {
    "one": ([ES(4)], {}, {}),
    "lists": ([ES(2), ES(8), TS(), fastes.LinUCB(0.1), fastes.LinUCB(1 / 3)], {}, {}),
    "eager": ([ES(2, engine="eager"), TS()], {}, {}),
    "no product": ([ES(8), TS(), ES(2)], {}, {}),
    "belief": ([TS()], {"prior_mean": 0.25, "prior_cov": 1 / 3, "noise": 0.1}, {}),
    "family": ([TS()], {"arms": "gaussian"}, {"points": 7, "keep": ["actions"]}),
    "theta": ([TS()], {}, {"theta": [0.1, 0.2, 0.3]}),
    "own arms": ([ES(3), TS()], None, {}),
    "other seed": ([ES(3)], {"seed": 5}, {}),
    "variances": ([ES(3)], {"prior_cov": [1.0, 1.0, 1.0]}, {}),
    "world": ([ES(3)], {}, {"truth": fastes.Truth(1 / 3, 2.0, 0.1, "laplace"), "delay": 3}),
    "late": ([TS()], {}, {"delay": 2, "diagnostics": [0, 3], "samples": 32}),
    "diagnosed": ([ES(3), TS()], {}, {"diagnostics": [0, 3, 9], "samples": 32}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_command_line_gives_the_same_bits(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    agents, problem, options = CASES[name]
    if problem is None:
        bandit = fastes.LinearBandit(np.random.default_rng(0).normal(size=(12, 3)))
    else:
        bandit = fastes.LinearBandit.random(12, 3, **{"seed": 3, **problem})
    made_by = fastes.compare(bandit, agents, T=20, runs=4, seed=3, **options)
    made_by.save("a file's name.npz")
    loaded = runs_of(fastes.load("a file's name.npz"))
    lines = result_commands(loaded, "a file's name.npz")
    assert (
        max(len(part) for line in lines for part in line.split("\n")) <= 100 or "python" in lines[0]
    )
    commands = [line for line in lines if line.startswith("fastes")]
    assert len(commands) == (3 if name == "no product" else 1)
    again = []
    for line in lines:
        shell([line.replace("again.npz", f"again{len(again)}.npz")], monkeypatch)
        if line.startswith("fastes"):
            again += runs_of(fastes.load(f"again{len(again)}.npz"))
    for old, new in zip(loaded, again, strict=True):
        assert old.label == new.label
        assert (old.regret.per_run == new.regret.per_run).all()
        assert (old.t == new.t).all()
        assert (old.counts == new.counts).all()
        if old.diagnostics is not None:
            assert (old.diagnostics.per_run.entropy == new.diagnostics.per_run.entropy).all()


@pytest.mark.parametrize("name", ["one", "lists", "belief", "family", "world"])
def test_python_gives_the_same_bits(name):
    agents, problem, options = CASES[name]
    bandit = fastes.LinearBandit.random(12, 3, **{"seed": 3, **problem})
    old = fastes.compare(bandit, agents, T=20, runs=4, seed=3, **options)
    done = {}
    exec(result_python(old.results, None), done)
    for x, y in zip(old, done["new"], strict=True):
        assert (x.regret.per_run == y.regret.per_run).all()


def test_python_of_a_file_gives_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old = fastes.simulate(fastes.LinearBandit.random(12, 3), TS(), T=20, runs=4)
    old.save("a.npz")
    done = {}
    exec(result_python([old], "a.npz"), done)
    assert (old.regret.per_run == done["new"].regret.per_run).all()


def test_a_study_is_made_again_by_its_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    world = {"truth_noise": 1 / 3, "noise_law": ["signs", "normal"], "delay": [0, 2]}
    study = fastes.Study(
        agent=["es", "linucb"], M=[2, 5], alpha=1 / 3, K=5, d=2, **world, T=9, runs=3
    )
    shell(study_command(study, "x.db"), monkeypatch)
    assert fastes.load("again.db").study == study


def test_a_study_of_its_own_problem_is_named_by_its_file():
    study = fastes.Study(agent="ts", problem=fastes.LinearBandit(np.eye(3)), T=9, runs=3)
    assert study_command(study, "my study.db") == ["fastes rerun 'my study.db'"]


def test_of_what_no_command_can_say_there_is_none():
    assert result_commands([made("somebody's own")], "a.npz") == []
    arrays = fastes.Truth(prior_mean=[1.0, 2.0, 3.0])
    drawn = fastes.simulate(fastes.LinearBandit.random(12, 3), TS(), T=9, truth=arrays)
    assert result_commands([drawn], "a.npz") == []
    assert "fastes.rerun(old)" in result_python([drawn], None)
    own = fastes.simulate(fastes.LinearBandit(np.eye(3)), TS(), T=9)
    assert result_commands([own], None) == []
    assert "fastes.rerun(old)" in result_python([own], None)
