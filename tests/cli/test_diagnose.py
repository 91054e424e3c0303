"""fastes diagnose: its files, a fixed theta, a single run."""

import csv
import json

import numpy as np
from click.testing import CliRunner

import fastes
from fastes.cli import main

QUICK = ["--K", "20", "--d", "3", "--T", "50", "--runs", "4"]


def run(*arguments, code=0):
    outcome = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert outcome.exit_code == code, outcome.output
    return outcome


def test_diagnose_writes_its_files_before_it_prints(tmp_path, monkeypatch):
    files = {name: tmp_path / f"study.{name}" for name in ("npz", "csv", "svg")}
    words = [
        "diagnose",
        "--agent",
        "es",
        "--agent",
        "greedy",
        "--M",
        "3",
        *QUICK,
        "--probe-samples",
        1024,
    ]
    words += ["--out", files["npz"], "--csv", files["csv"], "--plot", files["svg"]]

    def closed(*_):
        assert all(file.exists() for file in files.values())
        raise BrokenPipeError

    monkeypatch.setattr("fastes.results.tables.print_parts", closed)
    CliRunner().invoke(main, [str(word) for word in words])
    assert "</svg>" in files["svg"].read_text()
    found = fastes.load(files["npz"]).results[0].diagnostics
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert [row["agent"] for row in rows] == ["ES, M=3"] * len(found.t) + ["Greedy"] * len(found.t)
    for i, row in enumerate(rows[: len(found.t)]):
        assert int(row["t"]) == found.t[i]
        for name in ("entropy", "kl_phat_p", "information_ratio", "ensemble_variance"):
            mean = found.mean(name)
            assert row[f"{name}_mean"] == str(mean.value[i])
            assert row[f"{name}_se"] == str(mean.se[i])
            assert row[f"{name}_unknown"] == "0"
        assert row["kl_p_phat_mean"] == "inf"
        assert row["kl_p_phat_se"] == ""
        assert row["kl_p_phat_infinite"] == "4"
        assert row["kl_phat_p_bounded"] == "0"
        assert float(row["bound_kl_phat_p"]) > 0
    assert rows[-1]["bound_kl_phat_p"] == rows[-1]["ensemble_variance_mean"] == ""
    assert float(rows[-1]["bound_approximation_error"]) > 0


def test_diagnose_takes_a_theta_and_says_that_there_are_no_bounds(tmp_path):
    theta = tmp_path / "theta.npy"
    np.save(theta, np.ones(3))
    words = ["diagnose", *QUICK, "--M", 3, "--probe-samples", 64, "--theta", theta]
    table = run(*words, "--csv", tmp_path / "a.csv").stdout
    assert "No bounds: they hold for means over the prior, not for a fixed theta." in table
    assert "bound_" not in (tmp_path / "a.csv").read_text()
    assert max(map(len, table.splitlines())) <= 80
    summary = json.loads(run(*words, "--json").stdout)
    assert summary["theta"].startswith("fixed")
    assert summary["agents"][0]["diagnostics"]["bounds"] is None
    refused = run(*words, "--plot", tmp_path / "a.png", code=2).stderr
    assert "--plot draws bounds, which need theta from the prior: leave out --theta" in refused


def test_diagnose_of_a_single_run_says_that_it_has_no_error():
    outcome = run("diagnose", *QUICK[:-2], "--runs", 1, "--M", 3, "--probe-samples", 64)
    assert "A single run has no standard error." in outcome.stdout


def test_moments_of_models_are_shown_where_they_are_measured():
    words = ["diagnose", "--agent", "es,es++", "--M", 3, *QUICK, "--probe-samples", 64]
    es, mixed = json.loads(run(*words, "--json").stdout)["agents"]
    assert es["diagnostics"]["ensemble"]["variance"]["unknown"][0] == 0
    assert mixed["diagnostics"]["ensemble"] is None
    shown = run(*words[:2], "es++", *words[3:]).stdout
    assert "cov error" not in shown


def test_clicks_have_diagnostics_and_no_bounds(tmp_path):
    clicks = ["--rewards", "bernoulli", "--K", "6", "--d", "2", "--T", "9", "--runs", "3"]
    asked = ["diagnose", "--agent", "es,greedy", "--M", "3", *clicks, "--probe-samples", "256"]
    shown = run(*asked, "--csv", tmp_path / "d.csv", "--quiet").output
    assert shown == ""
    rows = list(csv.DictReader((tmp_path / "d.csv").read_text().splitlines()))
    assert all(float(row["effective_samples_mean"]) > 100 for row in rows)
    assert not any(name.startswith("bound_") for name in rows[0])
    printed = run(*asked).output
    assert "No bounds: they hold for Gaussian rewards only." in printed
    assert "Theorem" not in printed.replace("of the proof of Theorem 2", "")
    refused = run(*asked, "--plot", tmp_path / "d.png", code=2)
    assert "--plot draws bounds, which are for --rewards gaussian" in refused.output
    assert not (tmp_path / "d.png").exists()
    bound = run("bound", *clicks[:-2], code=2)
    assert "the paper's bounds are for gaussian rewards, got LogisticBandit" in bound.output
