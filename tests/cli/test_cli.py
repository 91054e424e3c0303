import json
import os
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner
from processes import fastes_command, in_a_terminal

import fastes
from fastes.cli import agent_options, main
from fastes.theory.bounds import theorem1
from fastes.theory.constants import constants

RUN_MAIN = "import signal; from fastes.cli import main; main()"
QUICK = ["--K", "20", "--d", "3", "--T", "50", "--runs", "4"]


def run(*arguments, code=0):
    outcome = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert outcome.exit_code == code, outcome.output
    return outcome


def as_json(*arguments):
    outcome = run(*arguments, "--json")
    assert outcome.stderr == ""
    return json.loads(outcome.stdout)


def test_simulate_prints_a_table_for_people():
    outcome = run("simulate", *QUICK, "--M", 10)
    assert outcome.stdout.startswith("K=20 arms, d=3, T=50 steps, 4 runs, noise 1, seed 0\n")
    for word in (
        "ES, M=10",
        "regret at T",
        "+- is one standard error",
        "90% of runs",
        "steps per second",
        "deferred engine",
    ):
        assert word in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert outcome.stderr == ""


def test_simulate_prints_one_json_object_for_programs():
    summary = as_json("simulate", *QUICK, "--M", 10, "--seed", 3)
    (agent,) = summary["agents"]
    assert (agent["agent"], agent["parameters"]["M"], summary["seed"]) == ("es", 10, 3)
    assert agent["curve"]["t"][-1] == 50
    assert agent["regret"]["q05"] <= agent["regret"]["median"] <= agent["regret"]["q95"]


def test_the_command_line_gives_what_the_library_gives():
    summary = as_json("simulate", *QUICK, "--M", 10, "--seed", 3)
    bandit = fastes.LinearBandit.random(20, 3, seed=3)
    result = fastes.simulate(bandit, fastes.EnsembleSampling(10), T=50, runs=4, seed=3)
    assert summary["agents"][0]["regret"]["mean"] == result.regret.mean[-1]


def test_the_engine_is_chosen_and_reported():
    choices = ([], ["--engine", "auto"], ["--engine", "eager"])
    found = [as_json("simulate", *QUICK, *words)["agents"] for words in choices]
    engines = [agent["engine"] for (agent,) in found]
    assert engines == ["deferred", "deferred", "eager"]
    assert (
        "--engine needs --agent es"
        in run("simulate", "--agent", "ts", "--engine", "eager", code=2).stderr
    )


def test_an_ensemble_of_a_billion_models():
    (agent,) = as_json("simulate", *QUICK, "--M", 10**9)["agents"]
    assert agent["parameters"]["M"] == 10**9


def test_several_agents_stand_side_by_side():
    agents = ["--agent", "es", "--agent", "ts", "--agent", "linucb", "--alpha", 0.5]
    outcome = run("simulate", *QUICK, *agents)
    rows = [line.split("  ")[0] for line in outcome.stdout.splitlines()]
    assert rows[2:5] == ["ES, M=30", "TS", "LinUCB, alpha=0.5"]
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    assert "ES, M=30 minus LinUCB, alpha=0.5, run by run: " in outcome.stdout
    both = as_json("simulate", *QUICK, *agents)
    assert [agent["agent"] for agent in both["agents"]] == ["es", "ts", "linucb"]
    assert len(both["differences"]) == 2
    first, _, last = both["agents"]
    gap = first["regret"]["mean"] - last["regret"]["mean"]
    assert both["differences"][0]["mean"] == pytest.approx(gap)


def test_quiet_prints_nothing(tmp_path):
    outcome = run("simulate", *QUICK, "--quiet", "--out", tmp_path / "a.npz")
    assert outcome.output == ""
    assert (tmp_path / "a.npz").exists()


@pytest.mark.parametrize("command", ["simulate", "compile"])
def test_choices_are_listed_with_the_agents_that_take_them(command):
    text = " ".join(run(command, "--help").output.split())
    assert "(es, es++): normal, signs, bootstrap for es; normal, sphere, signs for es++." in text
    assert "How models are updated (es): auto, deferred, eager." in text


def test_the_bounds_of_a_figure_are_not_only_the_paper_s():
    text = " ".join(run("plot", "--help").output.split())
    assert "bounds regret, Theorem 1 and the best bound, against time or --x M" in text


def test_several_ensemble_sizes_are_several_agents():
    summary = as_json("simulate", *QUICK, "--agent", "es", "--agent", "ts", "--M", "3,10,3")
    assert [agent["parameters"].get("M") for agent in summary["agents"]] == [3, 10, None]
    assert len(summary["differences"]) == 2


def test_diagnose_prints_what_was_measured_beside_its_bounds(tmp_path):
    out = tmp_path / "study.npz"
    words = ["diagnose", "--agent", "es", "--agent", "greedy", "--M", "3,10", *QUICK]
    brief = run(*words, "--probe-samples", 256).stdout
    assert len(brief.splitlines()) < 20
    for word in ("ES, M=3", "ES, M=10", "Greedy", "inequalities hold. The tightest:", "--full: "):
        assert word in brief
    assert max(map(len, brief.splitlines())) <= 80
    outcome = run(*words, "--probe-samples", 256, "--out", out, "--full")
    for word in ("ES, M=3", "ES, M=10", "Greedy", "Hellinger^2", "step regret", "given theta"):
        assert word in outcome.stdout
    for word in (
        "its bound",
        " inf in 4 ",
        "inf in 3: infinite in 3 runs, and so is the mean.",
        "cov error",
        "Theorem 1: ",
        'The documentation explains each, under "Diagnostics".',
    ):
        assert word in outcome.stdout
    assert "Sum of G_t + D_t, interpolated between these times" in outcome.stdout
    assert max(map(len, outcome.stdout.splitlines())) <= 80
    for figure in ("regret", "bounds", "divergence", "size"):
        target = tmp_path / f"{figure}.svg"
        run("plot", out, "--figure", figure, "--out", target)
        assert "</svg>" in target.read_text()
    assert run(*words, "--quiet").output == ""


def test_diagnose_as_json_has_the_fields_that_are_promised():
    summary = as_json("diagnose", *QUICK, "--M", 5, "--times", "0,20,49", "--probe-samples", 1024)
    (agent,) = summary["agents"]
    table = agent["diagnostics"]
    assert table["t"] == [0, 20, 49]
    for name in ("hellinger_squared_of_phat", "entropy", "step_regret", "information_ratio"):
        assert len(table[name]["mean"]) == len(table[name]["se"]) == 3
        assert table[name]["infinite"] == table[name]["unknown"] == [0, 0, 0]
    assert table["kl_p_phat"]["mean"] == [None, None, None]
    assert table["kl_p_phat"]["infinite"] == [4, 4, 4]
    assert table["kl_phat_p"]["bounded"] == [0, 0, 0]
    assert table["totals"]["theorem2_of_phat"] < table["totals"]["theorem1"]
    assert table["bounds"]["hellinger_squared_of_pbar"][0] == 0
    assert not table["totals"]["every_step"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--times", "0,50"], "a step in diagnostics must be an integer from 0 to 49, got 50"),
        (["--times", "soon"], "'soon' is not a list of integers"),
        (["--probe-samples", "1"], "samples must be an integer from 2"),
        (["--T", "0"], "T must be an integer from 1"),
        (["--T", "1" + 21 * "0"], "T must be an integer from 1"),
    ],
)
def test_diagnose_refuses_bad_words(words, message):
    assert message in run("diagnose", *QUICK, *words, code=2).stderr


def test_figures_say_what_they_need(tmp_path):
    plain, other = tmp_path / "plain.npz", tmp_path / "ts.npz"
    run("simulate", *QUICK, "--out", plain)
    run("simulate", *QUICK, "--agent", "ts", "--out", other)
    outcome = run("plot", plain, "--figure", "divergence", "--out", tmp_path / "a.png", code=2)
    assert "holds no diagnostics" in outcome.stderr
    outcome = run("plot", other, "--figure", "size", "--out", tmp_path / "a.png", code=2)
    assert "needs results of ensemble sampling" in outcome.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--noise", "1e-7", "--prior-cov", "1e-14"],
        ["--noise", "1e5", "--prior-cov", "1e10"],
        ["--prior-mean", "1e5", "--M", "10000"],
        ["--K", "2", "--agent", "ts"],
    ],
)
def test_the_tables_of_diagnose_fit_eighty_columns(words, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for full in ([], ["--full"]):
        shown = run("diagnose", *QUICK, "--probe-samples", 64, *words, *full).stdout
        assert max(map(len, shown.splitlines())) <= 80
        assert "\N{HORIZONTAL ELLIPSIS}" not in shown


def test_results_are_written_and_plotted(tmp_path):
    out, curves, figure = tmp_path / "a.npz", tmp_path / "a.csv", tmp_path / "a.png"
    agents = ["--agent", "es", "--agent", "ts"]
    files = ["--out", out, "--csv", curves, "--plot", figure]
    run("simulate", *QUICK, *agents, *files)
    assert isinstance(fastes.load(out), fastes.Comparison)
    assert curves.read_text().startswith("agent,t,runs,mean")
    assert figure.read_bytes().startswith(b"\x89PNG")
    for suffix, magic in (("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")):
        target = tmp_path / f"b.{suffix}"
        assert f"wrote {target}" in run("plot", out, out, "--out", target).stdout
        assert target.read_bytes().startswith(magic)
    assert as_json("plot", out, out, "--out", figure)["agents"] == ["ES, M=30", "TS"]


@pytest.mark.parametrize("family", ["sphere", "gaussian", "uniform"])
def test_families_of_arms(family):
    assert as_json("simulate", *QUICK, "--arms", family)["K"] == 20


@pytest.mark.parametrize(("T", "runs"), [(60, 50), (50_000, 20), (600_000, 1)])
def test_a_long_horizon_has_fewer_runs_unless_they_are_asked_for(T, runs):
    assert as_json("simulate", "--K", 2, "--d", 1, "--T", T)["runs"] == runs


def test_bounds_as_data_a_table_and_a_figure(tmp_path):
    table = as_json("bound", "--K", 30, "--d", 5, "--T", 250, "--M", "10,1000000")
    assert list(table) == [
        *("iota", "eta", "eta0", "delta", "entropy", "K", "contenders", "d", "T", "term_a"),
        *("trivial", "M_for_KT_over_d", "rows"),
    ]
    assert set(table["eta"]) == set(table["eta0"]) == {"value", "se", "closed_form"}
    assert [row["M"] for row in table["rows"]] == [10, 1_000_000]
    for row in table["rows"]:
        assert row["theorem1"] == pytest.approx(table["term_a"] + row["term_b"])
        assert list(row) == [
            *("M", "term_b", "theorem1", "information", "fresh", "first_order", "reuse", "best")
        ]
        assert (row["reuse"] is None) == (row["M"] <= 250)
        assert row["best"] <= min(v for k, v in row.items() if k not in ("M", "term_b") and v)
    known = constants(fastes.LinearBandit.random(30, 5))
    assert table["rows"][0]["theorem1"] == theorem1(known, 250, 10)
    figure = tmp_path / "bounds.png"
    shown = run("bound", "--K", 30, "--d", 5, "--M", "10,1000000", "--plot", figure).stdout
    assert "!: above random play" in shown
    best = {words[0]: words[-1] for words in map(str.split, shown.splitlines()) if len(words) == 7}
    assert best["10"].endswith("!")  # and none at a million models
    assert not best["1,000,000"].endswith("!")
    assert all(line.count("*") == 1 for line in shown.splitlines() if line.endswith(best["10"]))
    assert max(map(len, shown.splitlines())) <= 80
    assert figure.read_bytes().startswith(b"\x89PNG")
    for code, words, message in [
        (2, ["--M", "1,x"], "not a list of integers such as 10,100"),
        (2, ["--M", "0"], "M must be an integer from 1"),
        (2, ["--T", "0"], "T must be an integer from 1"),
        (2, ["--samples", "3"], "samples must be an integer from 32"),
        (2, ["--plot", "bounds.txt"], "the name of a figure must end in .png, .svg or .pdf"),
    ]:
        assert message in run("bound", *words, code=code).stderr


def test_basis_arms_need_one_size_only():
    summary = as_json("simulate", "--arms", "basis", "--K", 7, "--T", 20, "--runs", 2)
    assert (summary["K"], summary["d"]) == (7, 7)
    summary = as_json("simulate", "--arms", "basis", "--d", 6, "--T", 20, "--runs", 2)
    assert (summary["K"], summary["d"]) == (6, 6)


def test_arms_prior_and_theta_come_from_files(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "arms.npy", rng.normal(size=(6, 3)))
    np.save(tmp_path / "mean.npy", rng.normal(size=3))
    np.save(tmp_path / "cov.npy", np.diag([1.0, 2.0, 3.0]))
    np.save(tmp_path / "theta.npy", np.ones(3))
    files = ["--arms", tmp_path / "arms.npy", "--prior-mean", tmp_path / "mean.npy"]
    files += ["--prior-cov", tmp_path / "cov.npy", "--theta", tmp_path / "theta.npy"]
    summary = as_json("simulate", *files, "--noise", 0.5, "--T", 30, "--runs", 2)
    assert (summary["K"], summary["d"], summary["theta"][:5]) == (6, 3, "fixed")
    wrong = run("simulate", *files, "--K", 7, code=2)
    assert "--K is 7, but" in wrong.stderr
    assert "has K=6" in wrong.stderr


def test_a_saved_problem_is_played(tmp_path):
    bandit = fastes.LinearBandit.random(9, 4, prior_cov=2.0, noise=0.3)
    bandit.save(tmp_path / "problem.npz")
    summary = as_json("simulate", "--problem", tmp_path / "problem.npz", "--T", 20, "--runs", 2)
    assert (summary["K"], summary["d"], summary["noise"]) == (9, 4, 0.3)
    assert summary["problem"] == bandit.fingerprint
    wrong = run("simulate", "--problem", tmp_path / "problem.npz", "--K", 9, code=2)
    assert "--problem already describes the problem: leave out --K" in wrong.stderr


BAD_USAGE = [
    (["--T", "0"], "T must be an integer from 1 to 4294967295, got 0"),
    (["--runs", "0"], "runs must be an integer from 1 to 4294967295, got 0"),
    (["--M", "0"], "M must be an integer from 1 to 4294967295, got 0"),
    (["--K", "0"], "K must be an integer from 1 to 4294967295, got 0"),
    (["--d", "-1"], "d must be an integer from 1 to 4294967295, got -1"),
    (["--seed", "-1"], "seed must be an integer from 0"),
    (["--points", "0"], "points must be an integer from 1"),
    (["--threads", "0"], "threads must be an integer from 1"),
    (["--noise", "0"], "noise must be a finite number above 0, got 0"),
    (["--noise", "nan"], "noise must be a finite number above 0, got nan"),
    (["--prior-cov", "-2"], "prior_cov must be a finite number of at least 0, got -2"),
    (["--prior-cov", "big"], "'big' is neither a number nor the name of a .npy file"),
    (["--prior-mean", "inf"], "prior_mean must be finite, got inf"),
    (["--noise", "1e-9"], "within 1e+06 noise standard deviations, got"),
    (["--out", "same", "--csv", "same"], "--out, --csv must be different files"),
    (["--arms", "cube"], "'cube' is neither one of sphere, gaussian, uniform, basis, ball nor"),
    (["--arms", "basis", "--K", "3", "--d", "4"], "K must equal d, got 3 and 4"),
    (["--agent", "ts", "--M", "5"], "--M needs --agent es, es++ or lin-es"),
    (["--alpha", "1"], "--alpha needs --agent linucb or d-linucb"),
    (["--agent", "linucb", "--alpha", "-1"], "alpha must be a finite number of at least 0"),
    (["--plot", "figure.gif"], "must end in .png, .svg or .pdf, got 'figure.gif'"),
    (["--out", "/no/such/folder/a.npz"], "the folder /no/such/folder does not exist"),
    (["--problem", "/no/such/file.npz"], "does not exist"),
    (["--M", "many"], "'many' is not a list of integers"),
    (["--verbose"], "No such option"),
]


@pytest.mark.parametrize(("words", "sentence"), BAD_USAGE, ids=[" ".join(w) for w, _ in BAD_USAGE])
def test_bad_usage_exits_with_2_and_one_sentence(words, sentence):
    outcome = run("simulate", *words, code=2)
    assert sentence in outcome.stderr
    assert outcome.stdout == ""
    assert "Traceback" not in outcome.output


def test_other_failures_exit_with_1_and_one_sentence(tmp_path):
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(b"PK\x03\x04 and no more")
    for words in (["simulate", "--problem", damaged], ["plot", damaged, "--out", "a.png"]):
        outcome = run(*words, code=1)
        assert "or it is damaged or incomplete" in outcome.stderr
        assert len(outcome.stderr.splitlines()) == 1
    truncated = tmp_path / "arms.npy"
    np.save(truncated, np.ones((50, 3)))
    truncated.write_bytes(truncated.read_bytes()[:200])
    outcome = run("simulate", "--arms", truncated, code=1)
    assert "is not a .npy file of numbers, or it is incomplete" in outcome.stderr
    outcome = run("simulate", "--arms", tmp_path / "missing.npy", code=1)
    assert outcome.stderr.endswith("missing.npy: no such file or directory\n")
    words = ["--M", 4_000_000_000, "--d", 1000, "--K", 1000, "--engine", "eager"]
    outcome = run("simulate", *words, code=1)
    assert re.search(r"needs [\d,.]+ GiB, but only [\d,.]+ GiB is available", outcome.stderr)


def test_a_file_that_cannot_be_written_does_not_lose_the_result(tmp_path):
    # The file size limit is met only when the file is written, after the run.
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)); {RUN_MAIN}"
    target = tmp_path / "a.npz"
    outcome = subprocess.run(
        [sys.executable, "-c", limited, "simulate", *QUICK, "--out", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 1
    assert "steps per second" in outcome.stdout
    assert outcome.stderr == f"Error: {target}: file too large\n"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_the_run():
    outcome = run("simulate", "--T", 4 * 10**9, "--out", "/proc/a.npz", code=2)
    assert "/proc/a.npz cannot be written" in outcome.stderr


def test_a_closed_pipe_is_no_error_message():
    code = f"{RUN_MAIN}"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "simulate", *QUICK, "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert b"Error" not in process.stderr.read()
    process.wait()
    process.stderr.close()


def test_a_cache_that_cannot_be_written_is_one_warning():
    words = ["simulate", "--agent", "uniform", *QUICK, "--json"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": "/dev/null"}
    done = subprocess.run(fastes_command(*words), capture_output=True, text=True, env=environment)
    assert done.returncode == 0
    assert json.loads(done.stdout)["agents"]
    (line,) = done.stderr.splitlines()
    assert line.startswith("Warning: compiled code is not kept ([Errno 20] Not a directory")


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_is_without_warnings(quiet, monkeypatch):
    monkeypatch.setattr(
        agent_options,
        "bandit_from_options",
        lambda options: warnings.warn("a", stacklevel=1) or {}["x"],
    )
    lines = run("simulate", *(["--quiet"] if quiet else []), code=1).stderr.splitlines()
    assert lines == [
        *([] if quiet else ["Warning: a"]),
        "Error: KeyError: 'x' (--debug shows where)",
    ]


def test_debug_lets_the_error_through():
    outcome = CliRunner().invoke(main, ["simulate", "--T", "0", "--debug"])
    assert isinstance(outcome.exception, ValueError)


def test_an_unforeseen_error_is_one_sentence_too(monkeypatch):
    monkeypatch.setattr(
        "fastes.cli.agent_options.bandit_from_options", lambda options: 1 / 0 or {}["x"]
    )
    assert "division by zero" in run("simulate", code=1).stderr
    monkeypatch.setattr(agent_options, "bandit_from_options", lambda options: {}["x"])
    assert "KeyError: 'x' (--debug shows where)" in run("simulate", code=1).stderr


@pytest.mark.parametrize("command", [[], *([name] for name in main.list_commands(None))])
def test_every_command_has_help_and_an_example(command):
    text = run(*command, "--help").stdout
    assert re.search(r"^  fastes \w+", text, re.MULTILINE)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("command", ["simulate", "diagnose", "sweep", "bound"])
def test_long_help_has_headings_and_begins_with_the_common_options(command):
    text = run(command, "--help").stdout
    sections = re.split(r"^(\w.*):\n", text, flags=re.MULTILINE)[1:]
    options = [re.findall(r"^  (?:-\w, )?--([\w-]+)", lines, re.M) for lines in sections[1::2]]
    found = dict(zip(sections[::2], options, strict=True))
    assert sections[0] == "Common options"
    assert {"M", "K", "d", "T", "seed"} < {*found["Common options"]}
    assert {"arms", "noise", "problem"} < {*found["Problem"]}
    assert (
        {"json", "quiet", "debug", "help"}
        <= {*found["Output"]}
        <= {*("json", "quiet", "debug", "help", "samples", "force")}
    )
    options_of = {
        option.opts[-1].lstrip("-")
        for option in main.get_command(None, command).params
        if option.opts[0].startswith("-")
    }
    assert options_of | {"help"} == set().union(*options)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["simulat"], "simulate"),
        (["plots"], "plot"),
        (["simulate", "--agent", "mine.Agent"], "mine:Agent"),
        (["simulate", "--agent", "ts,linuct"], "linucb"),
        (["simulate", "--engine", "egaer"], "eager"),
        (["sweep", "--agent", "mine.Agent"], "mine:Agent"),
        (["sweep", "--arms", "spher"], "sphere"),
    ],
)
def test_a_word_that_is_near_another_is_answered_by_it(words, meant):
    assert run(*words, code=2).stderr.rstrip().endswith(f"; did you mean '{meant}'?")


def test_a_word_that_is_near_none_is_answered_by_the_choices():
    refused = run("simulate", "--agent", "nonsense", code=2).stderr
    assert "did you mean" not in refused + run("nonsense", code=2).stderr


def test_a_table_is_drawn_on_a_terminal():
    code, seen, _ = in_a_terminal(fastes_command("simulate", "--agent", "ts", "--T", "1000"))
    assert code == 0
    assert "steps per second" in seen


def test_progress_is_drawn_and_ctrl_c_stops_within_a_second_and_says_so():
    words = fastes_command("simulate", "--agent", "ts", "--T", "100000000000")
    code, seen, seconds = in_a_terminal(words, keys=signal.SIGINT, after=b"steps/s, regret")
    assert code == 1
    assert "Error: stopped before the first run was completed" in seen
    assert "Traceback" not in seen
    assert seconds is None or seconds < 2.0  # of two threads
