"""What surrounds the code agrees with it: .ci/run, workflow, issue forms, changelog, extras."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import fastes

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SCRIPT = (ROOT / ".ci/run").read_text()
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*-*.yml"))


def test_every_part_of_the_script_is_listed_explained_and_named_to_contributors():
    (listed,) = re.findall(r"^parts=\((.*)\)$", SCRIPT, flags=re.MULTILINE)
    written = re.findall(r"^part_(\w+)\(\) \{$", SCRIPT, flags=re.MULTILINE)
    assert listed.split() == written
    explained = re.findall(r"^# (\w+) {2,}\S", SCRIPT.split("set -euo")[0], flags=re.MULTILINE)
    assert explained == written
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert all(f"`{part}`" in contributing for part in written)


@pytest.mark.skipif(sys.platform == "win32", reason="bash may be that of another system there")
def test_an_unknown_part_is_refused_before_anything_is_done():
    call = ["bash", ".ci/run", "lint", "lnit"]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(".ci/run: 'lnit' is no part: choose from tests lint package")
    assert not done.stdout


def test_the_workflow_runs_every_part():
    called = set()
    for job in WORKFLOW["jobs"].values():
        for step in job["steps"]:
            for part in re.findall(r"^bash \.ci/run (.*)$", step.get("run", ""), re.MULTILINE):
                called |= set(
                    job["strategy"]["matrix"]["part"] if part == "${{ matrix.part }}" else [part]
                )
    assert called == set(re.findall(r"^part_(\w+)\(\)", SCRIPT, flags=re.MULTILINE))


def test_the_workflow_tests_the_oldest_python_that_is_supported_on_every_system():
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    assert PYPROJECT["requires-python"] == f">={matrix['python'][0]}"
    assert [name.split("-")[0] for name in matrix["system"]] == ["ubuntu", "macos", "windows"]


def test_there_are_forms_for_a_wrong_result_and_a_new_agent():
    assert [path.stem for path in FORMS] == ["new-agent", "wrong-result"]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issue_form_asks_each_question_once_and_names_commands_that_exist(path):
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= set(form)
    asked = [each for each in form["body"] if each["type"] != "markdown"]
    assert all(each["attributes"]["label"] for each in asked)
    assert len({each["id"] for each in asked}) == len(asked)
    from fastes.cli import main

    commands = {*main.list_commands(None), "--version"}
    assert set(re.findall(r"\bfastes (\w+|--\w+) (?=FILE|--)", path.read_text())) <= commands


@pytest.mark.parametrize("extra", PYPROJECT["optional-dependencies"])
def test_every_extra_is_in_the_readme(extra):
    table = (ROOT / "README.md").read_text().split("| extra | for |")[1]
    assert f"`{extra}`" in table.split("\n\n")[0]


def test_the_changelog_keeps_its_form():
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    versions = [line for line in lines if line.startswith("## ")]
    assert versions[0] == "## [Unreleased]"
    for line in versions[1:]:
        assert re.fullmatch(r"## \[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", line), line
    kinds = {line.removeprefix("### ") for line in lines if line.startswith("### ")}
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    released = [line for line in versions if line.startswith(f"## [{fastes.__version__}]")]
    dated = "date-released" in (ROOT / "CITATION.cff").read_text()
    assert len(released) == dated  # a version with a date is a release, and has its section
