"""Ctrl-C and SIGTERM end a command in order, whenever they come."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from checkpoints import partials
from click.testing import CliRunner
from processes import fastes_command, in_a_terminal
from signal_storm import IN_ORDER, storm, table

import fastes
from fastes.cli import main
from fastes.studies.execution import create_file, plan

SIGNALS = [signal.SIGINT, signal.SIGTERM]
SHORT = ["simulate", "--K", "20", "--d", "3", "--T", "50", "--runs", "4"]
ENDLESS = ["--K", "20", "--d", "3", "--T", "4000000000"]
FINALISED = "import atexit; atexit.register(print, 'finalised')\n"
RUN = "from fastes.__main__ import run; run()\n"


def run_program(code, *words, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def during_import(module, number):
    """Return a program whose command gets a signal while it imports a module."""
    return f"""
import signal, sys
class Finder:
    def find_spec(name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal({int(number)})
sys.meta_path.insert(0, Finder)
{RUN}"""


# Before click, before a command's own work, within it, when it prints, and drawn at the end.
@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize(
    "module",
    [
        "click",
        "fastes.cli.commands.simulate",
        "numba",
        "fastes.simulation.api",
        "fastes.results.tables",
    ],
)
def test_a_signal_during_an_import_is_one_sentence(module, number):
    done = run_program(during_import(module, number), *SHORT)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Error: stopped\n")


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("command", ["simulate", "sweep", "sweep of a file"])
def test_a_signal_while_kernels_are_compiled_ends_in_order(command, number, tmp_path):
    path = tmp_path / "a.db"
    words, hint = [*command.split()[:1], *ENDLESS], ""
    if command == "simulate":
        hint = " before the first run was completed; use --checkpoint to keep unfinished runs"
    if command != "simulate":
        words += ["--runs", "2", "--out", str(path)]
    if command == "sweep of a file":  # its tasks compile, in threads of a pool
        study = fastes.Study(K=20, d=3, T=4_000_000_000, runs=2)
        create_file(path, plan(study))
        hint = f"; to continue: fastes sweep {path}"
    code, seen, _ = in_a_terminal(
        [sys.executable, "-c", FINALISED + RUN, *words],
        keys=number,
        after=b"compiling for this machine",
        NUMBA_CACHE_DIR=str(tmp_path / "cache"),
    )
    assert code == 1, seen
    assert "".join(seen.splitlines()).endswith(f"Error: stopped{hint}")
    assert "Traceback" not in seen
    # To take the interpreter down beneath a compiler is what crashes, one time in thirty.
    assert "finalised" not in seen


@pytest.mark.parametrize("number", SIGNALS)
def test_a_second_signal_does_not_cut_short_the_last_checkpoint(number, tmp_path):
    path = tmp_path / "run.ckpt"
    code = f"""
import signal
from fastes.files.archive import save_arrays
import fastes.simulation.checkpoint_file as checkpoint_file
def save(path, kind, meta, arrays, **options):
    if any(partial["in_progress"] for partial in meta["partials"]):
        signal.raise_signal({int(number)})  # the first time, it stops the simulation
    save_arrays(path, kind, meta, arrays, **options)
checkpoint_file.save_arrays = save
{RUN}"""
    words = ["simulate", *ENDLESS, "--M", "3", "--checkpoint", str(path), "--every", "0.01s"]
    done = run_program(code, *words)
    assert done.returncode == 1
    assert done.stderr == f"Error: stopped; to continue: fastes resume {path}\n"
    assert any(partial.in_progress for partial in partials(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "lost",
    [
        "class Lost:\n    def __del__(self): signal.raise_signal(NUMBER)\nLost()",
        "try: signal.raise_signal(NUMBER)\nexcept KeyboardInterrupt: pass",
    ],
    ids=["where an exception is ignored", "where one is caught"],
)
@pytest.mark.parametrize("number", SIGNALS)
def test_an_interrupt_that_is_lost_is_raised_again(lost, number):
    code = f"""
import signal, fastes.cli.agent_options
NUMBER = {int(number)}
def bandit_from_options(options, bandit_from_options=fastes.cli.agent_options.bandit_from_options):
    exec({lost!r}, globals())
    return bandit_from_options(options)
fastes.cli.agent_options.bandit_from_options = bandit_from_options
{RUN}"""
    done = run_program(code, "simulate", *ENDLESS)
    assert (done.returncode, done.stdout) == (1, "")
    # It may be raised again before the simulation has begun, or after.
    begun = (
        "Error: stopped before the first run was completed; "
        "use --checkpoint to keep unfinished runs\n"
    )
    assert done.stderr in ("Error: stopped\n", begun)


def test_debug_changes_nothing_about_it():
    done = run_program(during_import("fastes.simulation.api", signal.SIGINT), *SHORT, "--debug")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Error: stopped\n")


def test_a_command_that_was_not_stopped_ends_as_python_does():
    for words, code in ((SHORT, 0), ([*SHORT, "--T", "0"], 2)):
        done = run_program(FINALISED + RUN, *words)
        assert done.returncode == code
        assert done.stdout.endswith("finalised\n")


def test_a_signal_after_the_work_is_too_late():
    code = f"import atexit, signal\natexit.register(signal.raise_signal, {int(SIGNALS[0])})\n{RUN}"
    done = run_program(code, *SHORT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "steps per second" in done.stdout


@pytest.fixture
def ctrl_c_as_in_a_terminal():
    """Let SIGINT be a KeyboardInterrupt, also where the tests were started in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_as_in_a_terminal")
def test_ctrl_c_in_python_is_a_keyboard_interrupt():
    before = [signal.getsignal(number) for number in SIGNALS]

    def interrupt(progress):
        signal.raise_signal(signal.SIGINT)

    bandit = fastes.LinearBandit.random(K=20, d=3)
    with pytest.raises(KeyboardInterrupt):
        fastes.simulate(bandit, fastes.Greedy(), T=4_000_000_000, progress=interrupt)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in SIGNALS], sys.unraisablehook
    assert CliRunner().invoke(main, SHORT).exit_code == 0
    assert ([signal.getsignal(number) for number in SIGNALS], sys.unraisablehook) == before


@pytest.mark.slow
def test_a_storm_of_signals():
    ends = storm(20, seed=1)
    assert all(end.outcome in IN_ORDER for end in ends), table(ends)


def test_the_installed_command_is_the_same_process():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"fastes": "fastes.__main__:run"}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_keeps_the_runs_that_are_done(number, tmp_path):
    out = tmp_path / "r.npz"
    words = ["--agent", "ts,greedy", "--K", "20", "--d", "3", "--T", "100", "--runs", "1e6"]
    code, seen, _ = in_a_terminal(
        fastes_command("simulate", *words, "--out", str(out)),
        keys=number,
        after=b"1%",  # when the first batch of runs is done, however slow the machine is
    )
    assert code == 1, seen
    result = fastes.load(out)
    done = f"{result.configuration.runs:,} of 1,000,000 runs of TS, 0 of 1,000,000 runs of Greedy"
    assert f"Error: stopped after {done}; use --checkpoint" in " ".join(seen.split())
    assert 1 <= result.configuration.runs < 1_000_000
    assert "Traceback" not in seen
