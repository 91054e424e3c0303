"""What the documents promise is there, and what there is is in the documents."""

import csv
import importlib
import inspect
import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import fastes
import fastes.theory
from bench.table import print_table
from fastes.agents.action_law import ActionLaw, Moments
from fastes.agents.live import Belief
from fastes.cli import main
from fastes.results.configuration import FACTS
from fastes.results.tables import Grid
from fastes.studies.axes import AXES

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *(p for p in sorted(DOCS.rglob("*.md")) if "_build" not in p.parts)]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
COMMANDS = main.list_commands(None)
REFERENCE = "".join(text for name, text in TEXTS.items() if name.startswith("docs/reference/"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example_and_is_shown_on_the_site(command):
    found = main.get_command(None, command)
    assert found.help
    assert f"fastes {command}" in found.help
    for option in found.params:
        assert isinstance(option, click.Argument) or option.help, option.name
    guides = (text for name, text in TEXTS.items() if "/how-to/" in name or "/tutorials/" in name)
    assert any(f"fastes {command} " in text for text in guides)


def test_the_command_line_reference_is_made_from_the_commands():
    page = TEXTS["docs/reference/command-line.md"]
    assert ".. click:: fastes.cli:main" in page
    assert ":nested: full" in page


@pytest.mark.parametrize("name", fastes.__all__)
def test_every_public_name_is_in_the_api_reference(name):
    assert re.search(rf"^\.\. auto\w+:: fastes\.{name}$", REFERENCE, re.M)


@pytest.mark.parametrize("name", fastes.theory.__all__)
def test_every_module_of_the_theory_is_in_the_api_reference(name):
    assert f".. automodule:: fastes.theory.{name}\n" in REFERENCE


@pytest.mark.parametrize("name", fastes.__all__)
def test_every_public_name_has_an_example_that_shows_something(name):
    shown = getattr(fastes, name)
    if name in ("Progress", "SimulationStopped"):  # a simulation makes these, not a user
        return
    assert ">>> " in inspect.getdoc(shown), name


def test_fields_of_named_tuples_in_the_api_reference_are_explained():
    found = [ActionLaw, Moments]
    for path in re.findall(r"^\.\. autoclass:: (.*)$", REFERENCE, re.M):
        module, _, name = path.rpartition(".")
        found.append(getattr(importlib.import_module(module), name))
    tuples = [kind for kind in found if hasattr(kind, "_fields")]
    assert Belief in tuples
    for kind in tuples:
        for field in kind._fields:
            assert not getattr(kind, field).__doc__.startswith("Alias for"), (kind, field)


def test_no_text_of_the_package_names_a_file_of_the_documents():
    """An installed package has none of them."""
    for source in sorted((ROOT / "fastes").rglob("*.py")):
        assert "docs/" not in source.read_text(), source


@pytest.mark.parametrize("name", TEXTS)
def test_links_and_named_files_exist(name):
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]+)?\)", TEXTS[name]):
        assert (folder / target).exists(), target
    for target in re.findall(r"`((?:fastes|kernels|tests|bench|docs)/[\w./]+\.\w+)`", TEXTS[name]):
        assert (ROOT / target).exists(), target


def test_the_two_commands_are_in_the_readme():
    setup = "python3 -m venv .venv && .venv/bin/pip install -e"
    assert f"{setup} . && .venv/bin/fastes simulate --M 10000" in TEXTS["README.md"]
    assert f"{setup} '.[test]' && .venv/bin/pytest" in TEXTS["README.md"]
    assert f"{setup} '.[test]' && .venv/bin/pytest" in (ROOT / ".ci/run").read_text()


# Columns: what is printed is captured, and looked up in the section of its command.


def explained(command):
    """Return the words that the glossary explains for a command: the first cells of its rows."""
    page = TEXTS["docs/reference/columns.md"]
    (section,) = (part for part in page.split("\n## ") if command in part.splitlines()[0])
    cells = re.findall(r"^\| (`.*?) +\|(?!\|)", section, re.M)
    return {word.replace("\\|", "|") for cell in cells for word in re.findall(r"`([^`]+)`", cell)}


@pytest.fixture
def grids(monkeypatch):
    """Give the tables that are printed, as they are printed."""
    seen = []
    draw = Grid.rich

    def record(grid):
        seen.append(grid)
        return draw(grid)

    monkeypatch.setattr(Grid, "rich", record)
    return seen


SMALL = ["--K", "6", "--d", "2", "--T", "20"]


def run(*words):
    outcome = CliRunner().invoke(main, [str(word) for word in words])
    assert outcome.exit_code == 0, outcome.output
    return outcome


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fastes simulate", ["simulate", "--agent", "es,ts,greedy", "--runs", "3", *SMALL]),
        ("fastes simulate", ["simulate", "--runs", "1", *SMALL]),
        ("fastes bound", ["bound", "--samples", "64", *SMALL]),
        ("fastes diagnose", ["diagnose", "--agent", "es,ts", "--runs", "3", *SMALL]),
        ("fastes sweep", ["sweep", "--agent", "es,ts", "--runs", "3", *SMALL]),
        ("fastes sweep", ["sweep", "--agent", "es,ts", "--dry-run", *SMALL]),
        ("fastes replay", ["replay", "log.csv", "--propensity", "uniform"]),
    ],
)
def test_every_printed_column_is_in_the_glossary(command, words, grids, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("arm,reward\n0,1\n")
    run(*words)
    printed = {column for grid in grids for column in grid.header if column}
    assert printed
    assert printed <= explained(command)


def test_every_axis_of_a_study_is_in_the_glossary():
    assert {*AXES} <= explained("fastes sweep")


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_of_a_simulation_is_in_the_reference(name):
    fields = re.findall(r"^\| (`.*?) +\|", TEXTS["docs/reference/json.md"], re.M)
    assert name in {word for cell in fields for word in re.findall(r"`([^`]+)`", cell)}
    if FACTS[name].line is not None:  # show has a row of it where it is not usual
        assert name in explained("fastes show")


@pytest.mark.parametrize("command", ["simulate", "diagnose", "replay"])
def test_every_column_of_a_csv_file_is_in_the_glossary(command, tmp_path):
    file, log = tmp_path / "written.csv", tmp_path / "log.csv"
    log.write_text("arm,reward\n0,1\n")
    own = [log, "--propensity", "uniform"] if command == "replay" else ["--runs", "3", *SMALL]
    run(command, "--agent", "es,ts", "--csv", file, *own)
    with file.open() as lines:
        columns = next(csv.reader(lines))
    words = explained(f"fastes {command}")
    assert {re.sub("_(mean|se|infinite|unknown|bounded)$", "", each) for each in columns} <= words


def test_every_column_of_a_data_frame_is_in_the_glossary(tmp_path):
    study = fastes.Study(agent="es", M=2, K=4, d=2, T=5, runs=2)
    sweep = fastes.sweep(study, tmp_path / "study.db")
    assert {*sweep.to_dataframe(curves=True).columns} <= explained("fastes sweep")


def test_every_fact_about_a_file_is_in_the_glossary(grids, tmp_path):
    bandit = fastes.LinearBandit.random(K=4, d=2)
    agent = fastes.EnsembleSampling(M=2)
    bandit.save(tmp_path / "problem.npz")
    agent.start(bandit).save(tmp_path / "agent.npz")
    result = fastes.simulate(
        bandit, agent, T=5, checkpoint=tmp_path / "run.ckpt", diagnostics=[0], keep=["actions"]
    )
    result.save(tmp_path / "result.npz")
    fastes.sweep(fastes.Study(agent="ts", K=4, d=2, T=5, runs=2), tmp_path / "study.db")
    fastes.replay(fastes.Log(2, [0], [1.0], 0.5), agent).save(tmp_path / "replay.npz")
    for file in sorted(tmp_path.iterdir()):
        run("show", file)
    assert len(grids) == 6
    assert {row[0] for grid in grids for row in grid.rows if row[0]} <= explained("fastes show")


@pytest.mark.parametrize("title", ["name", "design"])
def test_every_column_of_the_benchmarks_is_in_the_glossary(title, capsys):
    figure = {
        "name": "a",
        "design": "b",
        "share_of_limit": 0.5,
        "subject_seconds": 1.0,
        "median": 2.0,
        "fastest": 2.0,
        "target": "ratio >= 3",
        "reached": False,
    }
    print_table([figure], {"a": 2.0}, title=title, markdown=True)
    columns = {cell.strip() for cell in capsys.readouterr().out.splitlines()[0].split("|")}
    assert columns - {""} <= explained("python -m bench")
