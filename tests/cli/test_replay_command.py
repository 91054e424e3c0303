"""fastes replay: what the library gives, in a table or as JSON, and errors of one line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import fastes
from fastes.cli import main


def run(*arguments, code=0):
    outcome = CliRunner().invoke(main, ["replay", *map(str, arguments)])
    assert outcome.exit_code == code, outcome.output
    return outcome


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the current folder, with a log."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    lines = [f"{rng.integers(3)},{rng.normal():.3f},0 1 2" for _ in range(200)]
    (tmp_path / "log.csv").write_text("arm,reward,offer\n" + "\n".join(lines))
    np.save(tmp_path / "arms.npy", np.ones((3, 2)) * [[1], [2], [3]])
    return tmp_path


def test_a_table_of_estimates_is_printed(folder):
    outcome = run("log.csv", "--propensity", "uniform", "--agent", "ts,uniform")
    assert outcome.stdout.startswith("log of 200 rows, K=3 arms, d=3, uniform logging, mean rew")
    for word in ("TS ", "Uniform ", "rejection", "snips", "+-", "mean weight"):
        assert word in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert outcome.stderr == ""
    assert run("log.csv", "--propensity", "uniform", "--quiet").output == ""


def test_the_command_gives_what_the_library_gives(folder):
    words = ["--propensity", "uniform", "--methods", "snips", "--agent", "ts", "--seed", 3]
    words += ["--draws", 2, "--prior-cov", 0.5, "--noise", 2, "--available", "offer"]
    for arms in (None, np.load("arms.npy")):
        more = [] if arms is None else ["--arms", "arms.npy"]
        printed = json.loads(run("log.csv", *words, *more, "--json").stdout)
        log = fastes.Log.from_csv("log.csv", arms, propensity="uniform", available="offer")
        bandit = fastes.LinearBandit(log.actions, prior_cov=0.5, noise=2.0)
        found = fastes.replay(log, fastes.ThompsonSampling(), bandit, "snips", draws=2, seed=3)
        assert printed == json.loads(json.dumps(found.to_dict()))
    bandit.save("problem.npz")
    again = run("log.csv", *words[:-6], "--draws", 2, "--problem", "problem.npz", "--json")
    whole = fastes.Log.from_csv("log.csv", arms, propensity="uniform")
    found = fastes.replay(whole, fastes.ThompsonSampling(), bandit, "snips", draws=2, seed=3)
    assert json.loads(again.stdout)["estimates"] == found.to_dict()["estimates"]


def test_files_are_written(folder):
    run("log.csv", "--propensity", "uniform", "--out", "new.npz", "--csv", "new.csv")
    assert len(fastes.load("new.npz")) == 2
    assert (folder / "new.csv").read_text().startswith("agent,method,value,se,rows,")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Missing option '--propensity'"),
        (["--propensity", "p"], "log.csv has no column 'p': its columns are arm, reward, offer"),
        (["--propensity", "uniform", "--methods", "dr"], "'dr' is not one of rejection, ips, sn"),
        (["--propensity", "uniform", "--rewards", "bernoulli"], "reward must be 0 or 1, got"),
        (
            ["--propensity", "uniform", "--rewards", "poisson", "--noise", 2],
            "--noise needs --rewards gaussian",
        ),
        (["--propensity", "uniform", "--M", 3, "--agent", "ts"], "--M needs --agent"),
        (["--propensity", "uniform", "--csv", "log.csv", "--force"], "log.csv is an input"),
        (["--propensity", "uniform", "--out", "new.csv"], "the name of a replay must end in .npz"),
        (["--propensity", "uniform", "--arms", "log.csv"], "is not a .npy file"),
    ],
)
def test_errors_are_one_line(folder, words, message):
    outcome = CliRunner().invoke(main, ["replay", "log.csv", *map(str, words)])
    assert outcome.exit_code in (1, 2)
    assert message in outcome.stderr
    assert "Traceback" not in outcome.stderr
