"""fastes diagnose: its files, a fixed theta, a single run."""

import csv
import json

import numpy as np
from click.testing import CliRunner

import fastes
from fastes.cli import main
from fastes.theory.history_laws import history_laws_table

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
    assert "The bounds are on means over the prior: none for a fixed theta." in table
    assert "bound_" not in (tmp_path / "a.csv").read_text()
    assert max(map(len, table.splitlines())) <= 80
    summary = json.loads(run(*words, "--json").stdout)
    assert summary["theta"].startswith("fixed")
    assert summary["agents"][0]["diagnostics"]["bounds"] is None
    refused = run(*words, "--plot", tmp_path / "a.png", code=2).stderr
    assert "--plot draws bounds, which are on means over the prior: leave out --theta" in refused


def test_diagnose_of_a_single_run_says_that_it_has_no_error():
    outcome = run("diagnose", *QUICK[:-2], "--runs", 1, "--M", 3, "--probe-samples", 64)
    assert "A single run has no standard error." in outcome.stdout


def test_pbar_is_estimated_beside_its_bounds(tmp_path):
    words = ["diagnose", "--pbar", "--agent", "es,ts", "--K", 4, "--d", 2, "--M", 3, "--T", 5]
    words += ["--runs", 6, "--probe-samples", 64, "--particles", 64, "--times", "0,1,4"]
    files = {name: tmp_path / f"pbar.{name}" for name in ("npz", "csv", "svg")}
    for option, name in (("--out", "npz"), ("--csv", "csv"), ("--plot", "svg")):
        words += [option, files[name]]
    shown = run(*words).stdout
    assert "Hel^2(pbar,p)" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "</svg>" in files["svg"].read_text()
    ensemble, other = json.loads(run(*words, "--json").stdout)["agents"]
    table = ensemble["diagnostics"]["pbar"]
    assert other["diagnostics"]["pbar"] is None
    assert table["particles"] == table["effective"]["median"][0] == 64
    assert len(table["kl_pbar_p"]["mean"]) == 3
    rows = list(csv.DictReader(files["csv"].read_text().splitlines()))
    assert rows[1]["kl_pbar_p_mean"] == str(table["kl_pbar_p"]["mean"][1])
    assert float(rows[0]["effective_particles_least"]) == 64
    assert rows[-1]["kl_pbar_p_mean"] == ""
    result = fastes.load(files["npz"]).results[0]
    assert history_laws_table(result, 64) == table
    refused = run("diagnose", "--pbar", "--particles", 5, code=2).stderr
    assert "particles must be an integer from 16" in refused
    # What takes too long is refused, after what was simulated is safe.
    words = ["diagnose", "--pbar", "--K", 100, "--T", 10_000, "--M", 10_000, "--runs", 2]
    refused = run(*words, "--probe-samples", 64, "--out", tmp_path / "kept.npz", code=2)
    assert "choose fewer runs, earlier times or fewer particles" in refused.stderr
    assert fastes.load(tmp_path / "kept.npz").actions.shape == (2, 10_000)


def test_pbar_is_asked_of_an_ensemble_of_the_paper():
    for words in (["--agent", "ts"], ["--agent", "es++"], ["--symmetric", "yes"]):
        refused = run("diagnose", "--pbar", *words, *QUICK, code=2).stderr
        assert "--pbar is estimated for ensemble sampling as in the paper" in refused


def test_moments_of_models_are_shown_where_they_are_measured():
    words = ["diagnose", "--agent", "es,es++", "--M", 3, *QUICK, "--probe-samples", 64]
    es, mixed = json.loads(run(*words, "--json").stdout)["agents"]
    assert es["diagnostics"]["ensemble"]["variance"]["unknown"][0] == 0
    assert mixed["diagnostics"]["ensemble"] is None
    shown = run(*words[:2], "es++", *words[3:]).stdout
    assert "cov error" not in shown
