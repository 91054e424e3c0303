"""What the documents promise is there."""

import re
from pathlib import Path

import pytest

import fastes
from fastes.cli import main

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))
TEXTS = {str(path.relative_to(ROOT)): path.read_text() for path in PAGES}


@pytest.mark.parametrize("command", main.list_commands(None))
def test_every_command_is_shown_in_the_readme_and_the_guide(command):
    for name in ("README.md", "docs/guide.md"):
        assert f"fastes {command} " in TEXTS[name]


@pytest.mark.parametrize("name", fastes.__all__)
def test_every_public_name_is_in_the_guide(name):
    assert re.search(rf"\b{name}\b", TEXTS["docs/guide.md"])


@pytest.mark.parametrize("name", TEXTS)
def test_links_and_named_files_exist(name):
    folder = (ROOT / name).parent
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXTS[name]):
        assert (folder / target).exists(), target
    for target in re.findall(r"`((?:fastes|kernels|tests|bench|docs)/[\w./]+\.\w+)`", TEXTS[name]):
        assert (ROOT / target).exists(), target


def test_the_two_commands_are_in_the_readme():
    setup = "python3 -m venv .venv && .venv/bin/pip install -e"
    assert f"{setup} . && .venv/bin/fastes simulate --M 10000" in TEXTS["README.md"]
    assert f"{setup} '.[test]' && .venv/bin/pytest" in TEXTS["README.md"]
    assert f"{setup} '.[test]' && .venv/bin/pytest" in (ROOT / ".ci/run").read_text()
