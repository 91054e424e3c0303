"""`fastes report`, and `fastes sweep --report`."""

import itertools
import json
import subprocess

import pytest
from click.testing import CliRunner
from made_results import made
from pages import page_of, read
from processes import fastes_command

import fastes
from fastes.cli import main
from fastes.reports import live
from fastes.reports.api import report as real_report
from fastes.results.files import save_results
from fastes.saved.contents import contents
from fastes.studies.sweep import SweepProgress

SWEEP = ["sweep", "--agent", "es,ts", "--M", "2,4", "--K", 12, "--d", 3, "--T", 30, "--runs", 3]


def run(*words, code=0):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def file(tmp_path):
    save_results(tmp_path / "two.npz", [made(), made("ts")])
    return tmp_path / "two.npz"


def test_it_says_what_it_wrote(file):
    out = file.with_name("report.html")
    assert run("report", file, "--out", out, "--quiet").output == ""
    said = run("report", file, "--out", out).stdout
    assert said == f"wrote {out}: 3 charts, 2 tables, 2.0 MB\n"
    printed = json.loads(run("report", file, "--out", out, "--json").stdout)
    assert printed["bytes"] == out.stat().st_size
    assert printed["sections"][0]["title"] == "Regret"


def test_options_reach_the_page(file):
    out = file.with_name("report.html")
    words = ["--title", "How many?", "--baseline", "es", "--no-bounds"]
    run("report", file, "--out", out, *words)
    page = out.read_text()
    assert "<h1>How many?</h1>" in page
    assert "regret minus that of ES, M=30" in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["two.npz"], "Missing option '--out'"),
        (["--out", "r.html"], "Missing argument 'FILE...'"),
        (["two.npz", "--out", "r.pdf"], "the name of a report must end in .html or .htm"),
        (["two.npz", "--out", "two.npz"], "two.npz is an input of this command"),
        (["two.npz", "--out", "no/r.html"], "the folder no does not exist"),
        (["two.npz", "--out", "r.html", "--baseline", "x"], "baseline must be one of"),
        (["none.npz", "--out", "r.html"], "'none.npz' does not exist"),
        (["two.npz", "--out", "mine.html"], "mine.html exists and is not a fastes file"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(words, message, file, monkeypatch):
    monkeypatch.chdir(file.parent)
    (file.parent / "mine.html").write_text("mine")
    said = run("report", *words, code=2).stderr
    assert message in said
    assert "Traceback" not in said
    assert not (file.parent / "r.html").exists()
    assert (file.parent / "mine.html").read_text() == "mine"


def test_what_is_no_result_is_a_failure(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    fastes.LinearBandit.random(5, 2).save("problem.npz")
    said = run("report", "problem.npz", "--out", "r.html", code=1).stderr
    assert said == ("Error: problem.npz is not a result or study: see fastes show problem.npz\n")


def test_without_plotly_a_sentence_names_the_command(file, monkeypatch):
    # In a process of its own, in which plotly cannot be imported.
    (file.parent / "plotly.py").write_text("raise ImportError('none here')\n")
    monkeypatch.setenv("PYTHONPATH", str(file.parent))
    for words in (
        ["report", file, "--out", file.parent / "r.html"],
        [*SWEEP, "--out", file.parent / "s.db", "--report", file.parent / "r.html"],
    ):
        command = fastes_command(*map(str, words))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        assert done.stderr == (
            "Error: a report needs plotly: install it with pip install 'fastes[report]'\n"
        )
    assert {path.name for path in file.parent.iterdir()} <= {"two.npz", "plotly.py", "__pycache__"}


def test_help_fits_a_terminal():
    shown = run("report", "--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    for word in ("--out", "--baseline", "--title", "--no-bounds", "--force", "fastes[report]"):
        assert word in shown
    assert "--report" in run("sweep", "--help").stdout


def test_a_sweep_leaves_a_finished_report(tmp_path):
    page = tmp_path / "study.html"
    words = [*SWEEP, "--out", tmp_path / "study.db", "--report", page]
    run(*words)
    text = page.read_text()
    assert "study.db: 3 of 3 tasks done." in text
    assert 'id="reload"' not in text
    before = contents(page)
    run(*words)  # it replaces its own
    assert contents(page)["sections"] == before["sections"]


def test_a_sweep_replaces_no_foreign_page(tmp_path):
    page = tmp_path / "study.html"
    page.write_text("mine")
    words = [*SWEEP, "--out", tmp_path / "study.db", "--report", page]
    assert "is not a fastes file" in run(*words, code=2).stderr
    assert page.read_text() == "mine"
    assert not (tmp_path / "study.db").exists()
    run(*words, "--force")
    assert contents(page)["kind"] == "report"


class Clock:
    """Time that passes only when a test, or a report that is written, says so."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Return a study's file, a clock, and a list of when reports were written, and how."""
    run(*SWEEP, "--out", tmp_path / "study.db", "--quiet")
    clock, calls = Clock(), []

    def report(path, out, *, force, bounds=True, reload=0):
        calls.append((clock.now, reload, bounds))
        clock.now += 1.0
        return real_report(path, out, force=force, bounds=bounds, reload=reload)

    monkeypatch.setattr(live, "time", clock)
    monkeypatch.setattr(live, "report", report)
    return tmp_path / "study.db", clock, calls


def test_a_page_is_written_when_it_is_due_and_once_more_at_the_end(written):
    study, clock, calls = written
    out = study.with_suffix(".html")
    with live.kept_current(study, out) as write:
        for done in range(60):
            write(SweepProgress(done, 0, 60, done, 60.0))
            write(SweepProgress(done, 0, 60, done, 60.0))  # no task has ended since
            if done == 0:
                assert 'id="reload"' in out.read_text()
            clock.now += 1.0
    times = [when for when, reload, bounds in calls if reload and not bounds]
    gaps = {b - a for a, b in itertools.pairwise(times)}
    assert gaps == {21.0}  # a second to write: a twentieth of the time
    assert [call[1:] for call in calls[len(times) :]] == [(0, False), (0, True)]
    assert 'id="reload"' not in out.read_text()


def test_a_page_that_cannot_be_written_stops_no_study(written, monkeypatch):
    study, _, calls = written

    def fails(path, out, *, force, bounds=True, reload=0):
        calls.append((0.0, reload, bounds))
        if reload:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(live, "report", fails)
    with live.kept_current(study, study.with_suffix(".html")) as write:
        write(SweepProgress(0, 0, 1, 0.0, 1.0))
    assert [call[1] for call in calls] == [live.RELOAD_SECONDS, 0, 0]


def test_a_study_that_is_stopped_leaves_a_page_that_does_not_reload(written):
    study, _, calls = written
    stopped = []
    manager = live.kept_current(
        study, study.with_suffix(".html"), on_stop=lambda: stopped.append(len(calls))
    )

    def interrupted():
        with manager as write:
            write(SweepProgress(0, 0, 1, 0.0, 1.0))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert stopped == [1]  # before the last page is written
    # No bounds, which may take long: a command that is stopped ends soon.
    assert [call[1:] for call in calls] == [(live.RELOAD_SECONDS, False), (0, False)]


def test_an_unfinished_page_says_how_it_reloads(written, tmp_path):
    page = read(page_of(str(written[0]), tmp_path, reload=10))
    (box,) = [its for _, its in page.elements if its.get("id") == "reload"]
    assert (box["type"], box["data-seconds"]) == ("checkbox", "10")
