"""`fastes sweep` and `fastes plot` of a study, and a sweep that is killed."""

import json
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner
from pages import data, tables
from sweeps import SMALL, assert_same, is_whole, rows, run, simulated

import fastes
from fastes.cli import main
from fastes.cli.agent_options import shown_default
from fastes.studies.axes import AXES, COMMON, axis_values

FLAGS = ["--agent", "es,ts", "--M", "2,5", "--K", "12,30", "--d", "3", "--T", "60", "--runs", "9"]


def invoke(*words):
    done = CliRunner().invoke(main, list(map(str, words)))
    assert done.exit_code == 0, done.stderr
    return done.stdout


def test_flags_and_files_are_the_same_study(tmp_path):
    path = tmp_path / "study.toml"
    lines = [f"{name} = {json.dumps(value)}" for name, value in SMALL.items()]
    path.write_text("\n".join(lines))
    of_file = json.loads(invoke("sweep", path, "--json"))
    of_flags = json.loads(invoke("sweep", *FLAGS, "--out", tmp_path / "other.db", "--json"))
    assert of_file["out"] == str(tmp_path / "study.db")
    assert of_file["study"] == of_flags["study"]
    for one, other in zip(of_file["settings"], of_flags["settings"], strict=True):
        assert {**one, "seconds": 0} == {**other, "seconds": 0}
    again = json.loads(invoke("sweep", tmp_path / "study.db", "--json"))
    assert again["settings"] == of_file["settings"]


def test_a_database_of_any_name_is_gone_on_with(tmp_path):
    invoke("sweep", *FLAGS, "--out", tmp_path / "results.db", "--quiet")
    (tmp_path / "results.db").rename(tmp_path / "results")
    before = (tmp_path / "results").read_bytes()
    assert "tasks done" in invoke("sweep", tmp_path / "results")
    assert (tmp_path / "results").read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["results"]


def test_the_defaults_that_help_shows_are_the_study_s():
    for name, axis in AXES.items():
        assert axis.usual in fastes.Study().axes[name]
        if axis.usual is not None:
            assert axis_values(name, shown_default(name, axis)) == (axis.usual,)
    perturbations = shown_default("perturbations", AXES["perturbations"], ["es", "es++"])
    assert perturbations == "normal for es, sphere for es++"
    for name, declared in COMMON.items():
        assert getattr(fastes.Study(), name) == declared.usual


def test_a_dry_run_tells_the_cost_and_does_nothing(tmp_path):
    out = tmp_path / "a.db"
    plan = json.loads(invoke("sweep", *FLAGS, "--out", out, "--dry-run", "--json"))
    assert not out.exists()
    assert plan["tasks"] == sum(setting["tasks"] for setting in plan["settings"])
    seconds = sum(9 * setting["seconds_per_run"] for setting in plan["settings"])
    assert plan["core_hours"] == pytest.approx(seconds / 3600)
    text = invoke("sweep", *FLAGS, "--out", out, "--dry-run")
    assert "6 settings of 9 runs" in text
    assert max(map(len, text.splitlines())) <= 80
    assert invoke("sweep", *FLAGS, "--out", out, "--dry-run", "--quiet") == ""
    invoke("sweep", *FLAGS, "--out", out, "--quiet")
    text = invoke("sweep", *FLAGS, "--out", out, "--dry-run")
    assert text.splitlines()[-1] == f"{out}: 6 of 6 tasks done"


def test_a_study_is_drawn(tmp_path):
    invoke("sweep", *FLAGS, "--out", tmp_path / "a.db", "--quiet")
    for x in ("M", "K", "agent"):
        told = invoke("plot", tmp_path / "a.db", "--x", x, "--out", tmp_path / f"{x}.svg")
        assert "ES, M=2; ES, M=5; TS" in told
        assert (tmp_path / f"{x}.svg").stat().st_size > 1000
    usual = tmp_path / "usual.svg"
    invoke("plot", tmp_path / "a.db", "--out", usual)
    assert without_date(usual) == without_date(tmp_path / "M.svg")


def without_date(path):
    """Return what an SVG draws: the date, and names made up for each file, are left out."""
    return [line for line in path.read_text().splitlines() if line.lstrip().startswith("L ")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", "DB", "--M", "3"], "a.db already describes the study: leave out --M"),
        (["sweep", "--M", "3", "--out", "DB"], "a.db holds another study: it differs in agent, M"),
        (["plot", "DB", "--x", "Q", "--out", "x.png"], "x must be one of agent, M"),
        (["plot", "DB", "--x", "alpha", "--out", "x.png"], "no agent of the study has alpha"),
        (
            ["plot", "DB", "DB", "--x", "M", "--out", "x.png"],
            "a study must be the only file, got 2 files",
        ),
        (["sweep", "--task", "soon"], "'soon' is not a duration such as 30s, 5m or 2h"),
        (["sweep", "--threads", "0", *FLAGS], "threads must be an integer from 1 to 65536, got 0"),
        (["sweep", "--dask", "nonsense", *FLAGS], "dask must be a scheduler's address such as"),
        (["sweep", "--dask", "ftp://x:1", *FLAGS], "dask must be a scheduler's address such as"),
        (
            ["plot", "DB", "--x", "M", "--figure", "size", "--out", "x.png"],
            "--x draws final regret: leave out --figure size",
        ),
    ],
)
def test_bad_words_are_refused(words, message, tmp_path):
    path = tmp_path / "a.db"
    run(path)
    done = CliRunner().invoke(main, [str(path) if word == "DB" else word for word in words])
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_study_is_read_from_a_pipe(tmp_path):
    words = ["sweep", "/dev/stdin", "--out", str(tmp_path / "a.db"), "--dry-run", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "fastes", *words],
        input="runs = 7\nM = [2, 4]\nT = 10\n",
        capture_output=True,
        text=True,
        check=True,
    )
    plan = json.loads(done.stdout)["study"]
    assert (plan["runs"], plan["M"]) == (7, [2, 4])


# Processes


@pytest.mark.parametrize("kills", [2, pytest.param(30, marks=pytest.mark.slow)])
def test_a_sweep_that_is_killed_again_and_again_ends_as_if_it_never_was(kills, tmp_path):
    words = {**SMALL, "T": 40_000 * kills, "runs": 40}
    while (command := killed_again_and_again(kills, words, tmp_path)) is None:
        words["T"] *= 4
    subprocess.run(command, check=True)
    path = command[-1]
    is_whole(path, words)
    for setting, result in fastes.load(path).results():
        assert_same(result, simulated(words, setting))


def killed_again_and_again(kills, words, folder):
    """Kill a sweep in the middle of its work, many times. Return the command that goes on.

    None if it was done before the last time: the machine was fast, or this process slow.
    """
    path, rng = folder / f"{words['T']}.db", random.Random(kills)
    flags = [w for k, v in words.items() for w in (f"--{k}", ",".join(map(str, np.ravel(v))))]
    command = [sys.executable, "-m", "fastes", "sweep", *flags, "--task", "0.02s", "--quiet"]
    command += ["--out", str(path)]
    before = 0
    for _ in range(kills):
        process = subprocess.Popen(command)
        while process.poll() is None and not (path.exists() and len(rows(path)[1]) > before):
            time.sleep(0.01)
        time.sleep(rng.uniform(0.0, 0.3))
        process.kill()
        if process.wait() == 0:
            return None
        assert process.returncode == -signal.SIGKILL
        before = len(rows(path)[1])
    return command


def test_flags_are_words_in_tables_and_figures(tmp_path):
    file, page = tmp_path / "flags.db", tmp_path / "flags.html"
    words = ["--symmetric", "no,yes", "--M", "2,3", "--K", "5", "--d", "2", "--T", "20"]
    lines = invoke("sweep", *words, "--runs", "3", "--out", file).splitlines()
    assert [line.split()[:2] for line in lines[1:3]] == [["2", "no"], ["2", "yes"]]
    invoke("plot", file, "--x", "symmetric", "--out", tmp_path / "flags.svg")
    invoke("report", file, "--out", page)
    by_flag = [chart for chart in data(page.read_text()) if chart["ticks"] == ["no", "yes"]]
    assert [trace["x"] for trace in by_flag[0]["traces"]][:2] == [["no", "yes"]] * 2
    (table,) = [t for t in tables(page.read_text()) if "symmetric" in t["header"]]
    assert [row[:2] for row in table["rows"][:2]] == [["2", "no"], ["2", "yes"]]


@pytest.mark.parametrize(("command", "suffix"), [("simulate", "npz"), ("sweep", "db")])
def test_a_choice_of_another_agent_is_refused_by_name(command, suffix, tmp_path):
    words = [command, "--agent", "es,es++", "--perturbations", "sphere"]
    refused = CliRunner().invoke(main, [*words, "--out", str(tmp_path / f"out.{suffix}")])
    assert refused.exit_code == 2
    wrong = "perturbations of es must be one of normal, signs, bootstrap, got 'sphere'"
    assert wrong in refused.stderr
