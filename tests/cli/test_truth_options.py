"""Other truths and late rewards on the command line and in studies."""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner

import fastes
from fastes.cli import main

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "json-schema.json").read_text()
)
QUICK = ["--K", 6, "--d", 3, "--T", 30, "--runs", 4]
WORLD = ["--truth-noise", 2, "--noise-law", "laplace", "--delay", 3]


def run(*words, code=0):
    outcome = CliRunner().invoke(main, [str(word) for word in words])
    assert outcome.exit_code == code, outcome.output
    return outcome


def test_options_are_the_arguments_of_simulate(tmp_path):
    mean, cov = tmp_path / "mean.npy", tmp_path / "cov.npy"
    np.save(mean, [1.0, 2.0, 3.0])
    np.save(cov, np.diag([1.0, 2.0, 0.5]))
    words = ["--truth-prior-mean", mean, "--truth-prior-cov", cov, *WORLD]
    run("simulate", "--agent", "es,ts", *QUICK, *words, "--out", tmp_path / "a.npz")
    found = fastes.load(tmp_path / "a.npz")
    truth = fastes.Truth(np.load(mean), np.load(cov), 2.0, "laplace")
    bandit = fastes.LinearBandit.random(6, 3)
    agents = [fastes.EnsembleSampling(30), fastes.ThompsonSampling()]
    expected = fastes.compare(bandit, agents, 30, 4, truth=truth, delay=3)
    for ours, theirs in zip(found, expected, strict=True):
        assert (ours.regret.per_run == theirs.regret.per_run).all()
        assert ours.configuration.truth == truth.text


def test_tables_json_and_show_say_what_the_world_was(tmp_path):
    file = tmp_path / "a.npz"
    table = run("simulate", *QUICK, *WORLD, "--out", file).stdout
    assert "truth: noise 2.0, laplace noise\nrewards are delayed by 3 steps\n" in table
    assert max(map(len, table.splitlines())) <= 80
    printed = json.loads(run("simulate", *QUICK, *WORLD, "--json").stdout)
    jsonschema.validate(printed, {**SCHEMA, "$ref": "#/$defs/simulate"})
    assert (printed["truth"], printed["delay"]) == ("noise 2.0, laplace noise", 3)
    shown = json.loads(run("show", file, "--json").stdout)
    assert (shown["truth"], shown["delay"]) == ("noise 2.0, laplace noise", 3)
    plain = run("simulate", *QUICK).stdout
    assert "truth" not in plain


def test_a_checkpoint_says_what_the_world_was(tmp_path):
    file = tmp_path / "a.ckpt"
    run("simulate", *QUICK, *WORLD, "--checkpoint", file)
    shown = json.loads(run("show", file, "--json").stdout)
    assert (shown["truth"], shown["delay"]) == ("noise 2.0, laplace noise", 3)
    words = run("resume", file).stdout.splitlines()[-1]
    assert re.fullmatch(r"This call took \d+\.\d\d seconds; the table has the total.", words)
    longer = json.loads(run("resume", file, "--T", 50, "--json").stdout)
    whole = json.loads(run("simulate", *QUICK, *WORLD, "--T", 50, "--json").stdout)
    assert longer["agents"][0]["curve"] == whole["agents"][0]["curve"]


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (["--truth-noise", 2], "p is that of the agent's belief, which is not the truth."),
        (["--truth-noise", 2], "No bounds: they hold only if the truth is as the agent believes"),
        (["--delay", 2], "No bounds: they hold for rewards without delay only."),
    ],
)
def test_diagnose_measures_and_says_that_there_are_no_bounds(world, words, tmp_path):
    command = ["diagnose", *QUICK, "--M", 3, "--probe-samples", 64, *world]
    table = run(*command, "--csv", tmp_path / "a.csv").stdout
    assert words in table
    assert max(map(len, table.splitlines())) <= 80
    assert "bound_" not in (tmp_path / "a.csv").read_text()
    printed = json.loads(run(*command, "--json").stdout)
    jsonschema.validate(printed, {**SCHEMA, "$ref": "#/$defs/diagnose"})
    assert printed["agents"][0]["diagnostics"]["bounds"] is None
    refused = run(*command, "--plot", tmp_path / "a.png", code=2).stderr
    assert "--plot draws bounds, which need a world as agents believe" in refused


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--noise-law", "cauchy"], "'cauchy' is not one of"),
        (["--truth-noise", -1], "truth's noise must be a finite number of at least 0"),
        (["--truth-prior-mean", "here"], "'here' is neither a number nor the name of a .npy file"),
        (["--delay", -1], "delay must be an integer from 0"),
        (["--truth-drift", "ar"], "truth_drift must be abrupt:STEPS, ar:RHO or rotating:ANGLE"),
        (["--truth-drift", "ar:nan"], "truth_drift must be abrupt:STEPS"),
        (["--truth-drift", "ar:2"], "rho must be a number from -1 to 1, got 2.0"),
        (["--truth-drift", "abrupt:"], "such as abrupt:150,300, got 'abrupt:'"),
        (["--truth-drift", "abrupt:9,5"], "drift's steps must increase, got 5 after 9"),
        (["--truth-drift", "abrupt:x"], "the steps of truth_drift must be numbers such as"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(words, sentence):
    assert sentence in run("simulate", *QUICK, *words, code=2).stderr


def test_a_file_of_a_truth_is_not_written_over(tmp_path):
    file = tmp_path / "mean.npz"
    file.write_bytes(b"")
    mean = tmp_path / "mean.npy"
    np.save(mean, [1.0, 2.0, 3.0])
    refused = run("simulate", *QUICK, "--truth-prior-mean", mean, "--out", mean, code=2).stderr
    assert "mean.npy" in refused


def test_settings_of_a_study_are_what_simulate_does(tmp_path):
    axes = {"truth_prior_mean": [0.0, 1.0], "noise_law": "signs", "delay": [0, 5]}
    study = fastes.Study(agent="ts", K=6, d=3, T=30, runs=4, **axes)
    sweep = fastes.sweep(study, tmp_path / "study.db")
    bandit = fastes.LinearBandit.random(6, 3)
    results = sweep.results()
    assert len(results) == 4
    for setting, result in results:
        truth = fastes.Truth(setting.axes["truth_prior_mean"], noise_law="signs")
        options = {"truth": truth, "delay": setting.axes["delay"], "points": 50}
        expected = fastes.simulate(bandit, fastes.ThompsonSampling(), 30, 4, **options)
        assert (result.regret.per_run == expected.regret.per_run).all()
        assert result.configuration.truth == truth.text == result.truth.text
        again = fastes.rerun(result)
        assert (again.regret.per_run == result.regret.per_run).all()
    assert fastes.load(tmp_path / "study.db").study == study


def test_the_truth_of_a_study_is_checked_when_it_is_made():
    with pytest.raises(ValueError, match="theta is fixed: leave out truth_prior_cov"):
        fastes.Study(agent="ts", K=6, d=3, theta=[0.0, 1.0, 2.0], truth_prior_cov=1.0)
    with pytest.raises(ValueError, match="truth_noise must be a finite number of at least 0"):
        fastes.Study(agent="ts", truth_noise=-1.0)
    with pytest.raises(ValueError, match="noise_law must be one of"):
        fastes.Study(agent="ts", noise_law="cauchy")


def test_a_drift_is_an_option_and_is_said(tmp_path):
    file = tmp_path / "a.npz"
    options = ["--agent", "greedy", *QUICK, "--truth-drift", "abrupt:5,10,...,20"]
    table = run("simulate", *options, "--out", file).stdout
    assert "truth: drift abrupt:5,10,20\n" in table  # a geometric progression
    printed = json.loads(run("simulate", *options, "--json").stdout)
    jsonschema.validate(printed, {**SCHEMA, "$ref": "#/$defs/simulate"})
    assert printed["truth"] == "drift abrupt:5,10,20"
    truth = fastes.Truth(drift=fastes.drift.Abrupt([5, 10, 20]))
    bandit = fastes.LinearBandit.random(6, 3)
    expected = fastes.simulate(bandit, fastes.Greedy(), 30, 4, truth=truth)
    assert (fastes.load(file).regret.per_run == expected.regret.per_run).all()
    assert "every bit is equal" in run("rerun", file).stdout
    plain = run("simulate", "--agent", "greedy", *QUICK, "--truth-drift", "none").stdout
    assert "truth" not in plain


def test_drifts_are_an_axis_of_a_study(tmp_path):
    given = "none,abrupt:5,20,ar:0.90,rotating:1e-1"
    words = ["--agent", "greedy", *QUICK, "--truth-drift", given, "--out", tmp_path / "a.db"]
    printed = json.loads(run("sweep", *words, "--json").stdout)
    jsonschema.validate(printed, {**SCHEMA, "$ref": "#/$defs/sweep"})
    named = [None, "abrupt:5,20", "ar:0.9", "rotating:0.1"]
    assert [setting["truth_drift"] for setting in printed["settings"]] == named
    sweep = fastes.load(tmp_path / "a.db")
    texts = [f"drift {each}" if each else "belief" for each in named]
    assert [result.configuration.truth for _, result in sweep.results()] == texts
    drifts = [
        None,
        *(fastes.drift.Abrupt([5, 20]), fastes.drift.AutoRegressive(0.9)),
        "rotating:0.1",
    ]
    same = fastes.Study(agent="greedy", K=6, d=3, T=30, runs=4, truth_drift=drifts)
    assert same == sweep.study
    assert fastes.Study.from_description(same.description(), same.arrays()) == same
    given = fastes.drift.Piecewise([3], [[1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match=r"truth_drift must be .* its thetas are no text"):
        fastes.Study(agent="greedy", truth_drift=given)
    with pytest.raises(ValueError, match="truth_drift must be abrupt"):
        fastes.Study(agent="greedy", truth_drift=0.9)


def test_a_checkpoint_and_a_report_say_how_theta_changes(tmp_path):
    file = tmp_path / "a.ckpt"
    words = ["--agent", "greedy", *QUICK, "--truth-drift", "ar:0.9"]
    run("simulate", *words, "--checkpoint", file)
    assert json.loads(run("show", file, "--json").stdout)["truth"] == "drift ar:0.9"
    longer = json.loads(run("resume", file, "--T", 50, "--json").stdout)
    whole = json.loads(run("simulate", *words, "--T", 50, "--json").stdout)
    assert longer["agents"][0]["curve"] == whole["agents"][0]["curve"]


def test_diagnose_draws_no_bounds_where_theta_changes(tmp_path):
    words = [
        "--M",
        3,
        "--probe-samples",
        64,
        "--truth-drift",
        "ar:0.9",
        "--plot",
        tmp_path / "a.png",
    ]
    assert "--plot draws bounds, which need" in run("diagnose", *QUICK, *words, code=2).stderr
