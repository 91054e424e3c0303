"""What a command writes: files first, nothing foreign replaced, every shape of JSON described."""

import json
import shlex
import subprocess
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from crafted import crafted
from made_results import made_on
from processes import fastes_command

import fastes
from fastes.cli import main
from fastes.studies.execution import create_file, plan

QUICK = ["--K", "12", "--d", "3", "--T", "30", "--runs", "3"]
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "json-schema.json").read_text()
)


def run(*arguments, code=0):
    outcome = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert outcome.exit_code == code, outcome.output
    return outcome


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a result, a problem, a checkpoint and a study."""
    run("simulate", *QUICK, "--agent", "es,ts", "--out", tmp_path / "result.npz", "--quiet")
    run("simulate", *QUICK, "--checkpoint", tmp_path / "run.ckpt", "--quiet")
    words = ["--agent", "es,ts", "--M", "2,4", "--K", 12, "--d", 3, "--T", 30, "--runs", 3]
    run("sweep", *words, "--out", tmp_path / "study.db", "--quiet")
    fastes.LinearBandit.random(12, 3).save(tmp_path / "problem.npz")
    np.save(tmp_path / "arms.npy", np.eye(3))
    np.save(tmp_path / "theta.npy", np.ones(3))
    (tmp_path / "log.csv").write_text("arm,reward\n0,1\n2,0.5\n1,0\n")
    return tmp_path


COMMANDS = {
    "simulate": ["simulate", *QUICK],
    "diagnose": ["diagnose", *QUICK, "--probe-samples", "32", "--times", "0,5"],
    "resume": ["resume", "run.ckpt"],
    "bound": ["bound", "--K", "5", "--d", "2", "--T", "9", "--M", "2,4,8", "--samples", "64"],
    "report": ["report", "result.npz"],
    "replay": ["replay", "log.csv", "--propensity", "uniform"],
}
FILES = {
    "simulate": {"--out": "new.npz", "--csv": "new.csv", "--plot": "new.png"},
    "diagnose": {"--out": "new.npz", "--csv": "new.csv", "--plot": "new.svg"},
    "resume": {"--out": "new.npz", "--csv": "new.csv", "--plot": "new.pdf"},
    "bound": {"--plot": "new.png"},
    "report": {"--out": "new.html"},
    "replay": {"--out": "new.npz", "--csv": "new.csv"},
}


@pytest.mark.parametrize("name", COMMANDS)
def test_files_are_written_before_anything_is_printed(name, folder):
    words = [word for pair in FILES[name].items() for word in pair]
    command = fastes_command(*COMMANDS[name], *words)
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()  # nobody reads
    with process.stderr:
        errors = process.stderr.read()
    assert process.wait() == 0, errors
    assert errors == ""
    assert all((folder / file).stat().st_size > 0 for file in FILES[name].values())


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_stdout_loses_no_file_and_is_one_sentence(name, folder):
    words = [word for pair in FILES[name].items() for word in pair]
    with Path("/dev/full").open("w") as full:
        outcome = subprocess.run(
            fastes_command(*COMMANDS[name], *words),
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert outcome.returncode == 1
    assert outcome.stderr == "Error: the output cannot be written: no space left on device\n"
    assert all((folder / file).stat().st_size > 0 for file in FILES[name].values())


HOSTILE = "\x1b]0;a title\x07\x9b31m\u202e"


@pytest.mark.parametrize("words", [["show"], ["rerun"], ["plot", "--out", "x.png"]])
@pytest.mark.parametrize("name", ["agent", "date", "fastes", "kernels"])
def test_no_text_of_a_file_reaches_the_terminal_as_it_is(name, words, folder, monkeypatch):
    def change(meta, arrays):
        first = meta["results"][0]
        within = meta if name == "fastes" else first["versions"] if name == "kernels" else first
        within[name] += HOSTILE

    monkeypatch.chdir(folder)
    crafted(folder / "result.npz", change)
    done = CliRunner().invoke(main, [words[0], "result.npz", *words[1:]])
    assert not isinstance(done.exception, ValueError | TypeError), done.exception
    assert all(letter.isprintable() for letter in done.output.replace("\n", ""))
    if name == "agent":
        assert all(map(str.isprintable, map(repr, fastes.load(folder / "result.npz"))))


@pytest.mark.parametrize(
    ("option", "closed"),
    [("--quiet", ">&-"), ("--seed=1", "2>&- >/dev/null"), ("--json", "<&- >&- 2>&-")],
)
def test_streams_that_are_closed_keep_no_file_from_being_written(option, closed, tmp_path):
    command = shlex.join(fastes_command("simulate", *QUICK, option, "--out", "q.npz"))
    done = subprocess.run(["sh", "-c", f"{command} {closed}"], cwd=tmp_path, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert fastes.load(tmp_path / "q.npz").regret.per_run.shape[0] == 3


@pytest.mark.parametrize("words", [["--help"], ["simulate", "--help"], ["--version"]])
def test_help_that_nobody_reads_is_no_error(words):
    process = subprocess.Popen(
        fastes_command(*words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait() == 0


@pytest.mark.parametrize(
    "words",
    [
        ["simulate", "--arms", "arms.npy", "--out", "arms.npy"],
        ["simulate", "--arms", "arms.npy", "--csv", "./arms.npy"],
        ["simulate", "--prior-cov", "arms.npy", "--d", "3", "--plot", "arms.npy"],
        ["simulate", "--prior-mean", "theta.npy", "--out", "theta.npy"],
        ["simulate", "--theta", "theta.npy", "--checkpoint", "theta.npy"],
        ["simulate", "--problem", "problem.npz", "--out", "problem.npz"],
        ["diagnose", "--problem", "problem.npz", "--out", "linked.npz"],
        ["bound", "--arms", "arms.npy", "--plot", "arms.npy"],
        ["resume", "run.ckpt", "--out", "run.ckpt"],
        ["plot", "result.npz", "--out", "result.npz"],
        ["sweep", "--problem", "problem.npz", "--out", "problem.npz"],
        ["sweep", "--problem", "problem.npz", "--out", "new.db", "--report", "problem.npz"],
        ["report", "result.npz", "study.db", "--out", "study.db"],
    ],
    ids=" ".join,
)
def test_an_output_is_never_an_input(words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "linked.npz").symlink_to(folder / "problem.npz")
    before = {file: file.read_bytes() for file in folder.iterdir()}
    outcome = run(*words, *([] if words[0] in ("plot", "resume", "sweep") else ["--force"]), code=2)
    assert f"{words[-1].removeprefix('./')} is an input of this command" in outcome.stderr
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulate", "--out", "study.db"], "the name of a result must end in .npz"),
        (["simulate", "--out", "problem.npz"], "is a fastes problem: use --force"),
        (["simulate", "--csv", "result.npz"], "the name of a table must end in .csv"),
        (["simulate", "--plot", "x.jpg"], "the name of a figure must end in .png, .svg or .pdf"),
        (["diagnose", "--out", "problem.npz"], "is a fastes problem: use --force"),
        (["plot", "result.npz", "--out", "x.npz"], "the name of a figure must end in"),
        (["sweep", "--out", "new.npz"], "the name of a study must end in .db"),
        (["sweep", "--out", "new.db", "--report", "x.pdf"], "must end in .html or .htm"),
        (["report", "result.npz", "--out", "study.db"], "must end in .html or .htm"),
    ],
)
def test_what_is_of_another_kind_is_refused_before_the_work(words, message, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = {file: file.read_bytes() for file in folder.iterdir()}
    assert message in run(*words, code=2).stderr
    assert {file: file.read_bytes() for file in folder.iterdir()} == before


def test_force_replaces_a_file_of_another_kind(folder):
    run("simulate", *QUICK, "--out", folder / "problem.npz", "--force")
    assert isinstance(fastes.load(folder / "problem.npz"), fastes.Result)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sweep", *QUICK, "--out", "{}"], "{} is a fastes {}, not a study"),
        (["sweep", "{}"], "{} is not a TOML file: it is a fastes {}"),
    ],
)
def test_a_sweep_says_what_a_file_is_that_holds_no_study(words, message, folder):
    for file, kind in {"result.npz": "result", "run.ckpt": "checkpoint"}.items():
        path = folder / file
        outcome = CliRunner().invoke(main, [str(word).format(path) for word in words])
        assert outcome.exit_code in (1, 2)
        assert outcome.stderr == f"Error: {message.format(path, kind)}\n"


@pytest.mark.parametrize(
    ("file", "advice"),
    [("run.ckpt", "resume it or delete it"), ("study.db", "name a new file")],
)
def test_the_advice_fits_the_file(file, advice, folder):
    outcome = run("simulate", *QUICK, "--checkpoint", folder / file, code=1)
    assert outcome.stderr == f"Error: checkpoint {folder / file} already exists: {advice}\n"


JSON = {
    "simulate": ["simulate", *QUICK, "--agent", "es,ts", "--M", "2,4"],
    "simulate one run": ["simulate", *QUICK[:-1], "1"],
    "diagnose": COMMANDS["diagnose"],
    "resume": COMMANDS["resume"],
    "rerun": ["rerun", "result.npz"],
    "bound": COMMANDS["bound"],
    "sweep": ["sweep", "study.db"],
    "sweep --dry-run": ["sweep", "study.db", "--dry-run"],
    "compile": ["compile", "--agent", "greedy", "--K", "5", "--d", "2"],
    "plot": ["plot", "result.npz", "--out", "new.png"],
    "report": ["report", "result.npz", "study.db", "--out", "new.html"],
    "show": ["show", "result.npz"],
    "replay": ["replay", "log.csv", "--propensity", "uniform", "--methods", "rejection,ips,snips"],
    "show a problem": ["show", "problem.npz"],
    "show a checkpoint": ["show", "run.ckpt"],
    "show a study": ["show", "study.db"],
}


@pytest.mark.parametrize("name", JSON)
def test_every_json_has_the_shape_of_the_docs(name, folder, monkeypatch):
    monkeypatch.chdir(folder)
    printed = json.loads(run(*JSON[name], "--json").stdout)
    command = name if name in SCHEMA["$defs"] else name.split()[0]
    jsonschema.validate(printed, {**SCHEMA, "$ref": f"#/$defs/{command}"})


def test_show_names_what_is_on_offer_and_what_was_varied(tmp_path):
    ball, played, study = (tmp_path / name for name in ("ball.npz", "played.npz", "study.db"))
    bandit = fastes.LinearBandit(fastes.actions.Ball(2))
    bandit.save(ball)
    made_on(bandit).save(played)
    varied = {"agent": ["es", "ts"], "symmetric": [False, True], "truth_noise": [None, 0.5]}
    create_file(study, plan(fastes.Study(**varied, K=4, d=2, T=3, runs=2)))
    facts = {
        file: dict(line.split(maxsplit=1) for line in run("show", file).stdout.splitlines())
        for file in (ball, played, study)
    }
    assert facts[played]["problem"] == "d 2, rank 2, noise 1.0, arms the ball"
    assert facts[ball]["actions"] == "the ball"
    assert "K" not in facts[ball]
    assert json.loads(run("show", ball, "--json").stdout)["K"] is None
    assert facts[study]["varied"] == (
        "agent es and ts, symmetric no and yes, truth noise none and 0.5"
    )


def test_every_command_has_a_shape():
    assert set(main.list_commands(None)) <= set(SCHEMA["$defs"])


def test_one_agent_is_a_list_of_one():
    printed = json.loads(run("simulate", *QUICK, "--json").stdout)
    assert [agent["label"] for agent in printed["agents"]] == ["ES, M=30"]
    assert printed["differences"] == []


def test_of_one_run_no_quantiles_are_printed():
    words = ["simulate", *QUICK[:-1], "1"]
    assert json.loads(run(*words, "--json").stdout)["agents"][0]["regret"]["q05"] is None
    table = run(*words).stdout
    assert "90% of runs" not in table
    assert "+-" not in table


def test_differences_are_to_one_agent():
    words = ["simulate", *QUICK, "--agent", "es,ts,greedy", "--M", "2,4"]
    lines = run(*words, "--baseline", "ts").stdout.splitlines()
    told = [line.partition(",  run by run")[0] for line in lines if "minus" in line]
    assert [line.partition(", run by run")[0] for line in told] == [
        "ES, M=2 minus TS",
        "ES, M=4 minus TS",
        "Greedy minus TS",
    ]
    assert sum("minus Greedy" in line for line in run(*words).stdout.splitlines()) == 3
    refused = run(*words, "--baseline", "es", code=2).stderr
    assert "baseline must be one of 'ES, M=2', 'ES, M=4', 'TS', 'Greedy', got 'es'" in refused


@pytest.mark.parametrize("T", ["1e2", "100", "1_00"])
def test_integers_are_written_as_people_write_them(T):
    words = ["simulate", "--K", "5", "--d", "2", "--runs", "2", "--json", "--T", T]
    assert json.loads(run(*words).stdout)["T"] == 100


@pytest.mark.parametrize("T", ["1.5", "many", "", "1e", "0x10", "1__0", "2,3"])
def test_what_is_no_integer_is_refused(T):
    message = f"{T!r} is not an integer such as 2000, 1e6 or 1_000_000"
    assert message in run("simulate", "--T", T, code=2).stderr


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["--agent", "es,ts", "--agent", "greedy"], ["ES, M=30", "TS", "Greedy"]),
        (["--M", "2,4,...,16"], ["ES, M=2", "ES, M=4", "ES, M=8", "ES, M=16"]),
        (["--agent", "linucb", "--alpha", "0.5,1,2"], [f"LinUCB, alpha={a}" for a in (0.5, 1, 2)]),
        (["--agent", "ts,ts"], ["TS"]),
    ],
)
def test_lists_are_one_grammar(words, labels):
    printed = json.loads(run("simulate", *QUICK, *words, "--json").stdout)
    assert [agent["label"] for agent in printed["agents"]] == labels


def test_every_step_is_kept_on_request(tmp_path):
    file = tmp_path / "r.npz"
    run("simulate", *QUICK, "--keep", "actions,rewards", "--out", file)
    result = fastes.load(file)
    assert result.actions.shape == result.rewards.shape == (3, 30)
    assert "--keep needs --out" in run("simulate", "--keep", "actions", code=2).stderr
