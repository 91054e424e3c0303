"""Studies of a problem of one's own, and of a fixed theta."""

import json

import numpy as np
import pytest
from bandits import BANDITS
from click.testing import CliRunner

import fastes
from fastes.cli import main

AGENTS = {"agent": ["es", "ts"], "M": [2, 5]}


@pytest.mark.parametrize("name", ["full", "gaussian process", "fewer arms, full", "duplicate arms"])
def test_a_study_of_a_problem_has_the_bits_of_simulations(name, tmp_path):
    bandit = BANDITS[name]
    study = fastes.Study(problem=bandit, **AGENTS, T=[20, 30], runs=7, seed=4)
    sweep = fastes.sweep(study, tmp_path / "a.db", task_seconds=1e-4)
    assert len(sweep.results()) == 6
    for setting, result in sweep.results():
        alone = fastes.simulate(bandit, setting.agent, setting.T, 7, seed=4, points=50)
        assert np.array_equal(alone.regret.per_run, result.regret.per_run)
        assert result.bandit.fingerprint == bandit.fingerprint
        assert setting.axes["K"] == bandit.K
        assert setting.axes["arms"] == "given"
    frame = sweep.to_dataframe()
    assert frame.groupby(["agent", "M"], dropna=False)["regret"].mean().shape == (3,)
    assert str(frame.dtypes["M"]) == "Int64"
    assert str(frame.dtypes["alpha"]) == "Float64"
    again = fastes.Sweep.read(tmp_path / "a.db").study
    assert again == study
    fastes.sweep(study, tmp_path / "a.db")  # nothing is left to do


@pytest.mark.parametrize("rows", [1, 6])
def test_theta_is_fixed(rows, tmp_path):
    theta = np.arange(3.0 * rows).reshape(rows, 3)[0 if rows == 1 else slice(None)]
    study = fastes.Study(agent="ts", K=[5, 9], d=3, theta=theta, T=20, runs=6)
    for setting, result in fastes.sweep(study, tmp_path / "a.db").results():
        bandit = fastes.LinearBandit.random(setting.axes["K"], 3)
        alone = fastes.simulate(bandit, setting.agent, 20, 6, theta=theta, points=50)
        assert np.array_equal(alone.regret.per_run, result.regret.per_run)
        assert result.configuration.theta == alone.configuration.theta


def test_two_problems_are_two_studies(tmp_path):
    one = fastes.Study(problem=BANDITS["full"], agent="ts", T=5, runs=2)
    other = fastes.Study(problem=BANDITS["isotropic"], agent="ts", T=5, runs=2)
    assert one != other
    fastes.sweep(one, tmp_path / "a.db")
    with pytest.raises(ValueError, match="holds another study: it differs in problem"):
        fastes.sweep(other, tmp_path / "a.db")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"problem": BANDITS["full"], "K": 5}, "problem already sets K: leave them out"),
        ({"problem": "none.npz"}, "none.npz"),
        ({"theta": [1.0, 2.0]}, r"theta must have shape \(10,\) or \(100, 10\), got shape \(2,\)"),
        ({"theta": np.ones(3), "d": [3, 4]}, r"theta needs a single dimension d, got \[3, 4\]"),
    ],
)
def test_what_does_not_fit_is_refused(words, message):
    with pytest.raises((ValueError, OSError), match=message):
        fastes.Study(**words)


@pytest.mark.parametrize(
    "M", [[2, 4, 8], (2, 4, 8), range(2, 9, 2), np.array([2, 4, 8]), iter([2, 4, 8]), "2,4,8"]
)
def test_lists_ranges_and_arrays_are_lists(M):
    values = (2, 4, 6, 8) if isinstance(M, range) else (2, 4, 8)
    assert fastes.Study(M=M).axes["M"] == values
    assert fastes.Study(M=np.int64(3), T=np.array(5)).axes["T"] == (5,)


def test_the_command_line_takes_problem_and_theta(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    BANDITS["full"].save("problem.npz")
    np.save("theta.npy", np.ones(6))
    (tmp_path / "study.toml").write_text(
        'problem = "problem.npz"\ntheta = "theta.npy"\nagent = "ts"\nT = 20\nruns = 3\n'
    )
    words = ["--problem", "problem.npz", "--theta", "theta.npy", "--agent", "ts", "--T", "20"]
    printed = []
    for given in (["study.toml"], [*words, "--runs", "3", "--out", "b.db"]):
        outcome = CliRunner().invoke(main, ["sweep", *given, "--json"])
        assert outcome.exit_code == 0, outcome.output
        (setting,) = json.loads(outcome.stdout)["settings"]
        printed.append(setting["regret"])
    assert printed[0] == printed[1]
