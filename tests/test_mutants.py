"""The tool that breaks the program on purpose: what it says of a slip, and whether slips apply."""

import re

import pytest
from mutant_table import MUTANTS, Mutant
from mutants import ROOT, Copy, occurrences

PROGRAM = "def value():\n    return 1\n"
TESTS = """
from program import value
def test_value():
    assert value() == 1
"""
CONFTEST = """
from hypothesis import settings
settings.register_profile("unshrunk", deadline=None)
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name, text in (("program", PROGRAM), ("test_program", TESTS), ("conftest", CONFTEST)):
        (folder / f"{name}.py").write_text(text)
    return Copy(folder)


def mutant(replacement, test="test_value", text="return 1"):
    return Mutant("program.py", "a slip", text, replacement, (f"test_program.py::{test}",))


@pytest.mark.parametrize(
    ("slip", "want"),
    [
        (mutant("return 2"), "killed: by test_program.py::test_value"),
        (mutant("return 1.0"), "survived: test_program.py::test_value"),
        (mutant("return ("), "error: pytest ended with 4: ERROR .*test_program"),
        (mutant("import os; os.abort()"), "error: pytest ended with -?[0-9]+: "),
        (mutant("return 2", "test_valeu"), "error: without the mutant: error .*test_valeu"),
        (mutant("return 2", text="return 3"), r"error: its text occurs 0 times in program\.py"),
    ],
    ids=["fails", "passes", "no import", "crash", "no such test", "no such text"],
)
def test_a_slip_is_killed_by_a_test_that_fails_and_by_nothing_else(slip, want, project):
    outcome, _, detail = project.judge(slip)
    assert re.match(want, f"{outcome}: {detail}"), detail
    assert (project.folder / "program.py").read_text() == PROGRAM


def test_tests_have_a_time_limit_without_the_mutant_too(project):
    outcome, _, detail = Copy(project.folder, seconds=0.01).judge(mutant("return 2"))
    assert outcome == "error"
    assert detail.startswith("without the mutant: out of time")


def test_the_slips_of_the_table_name_texts_and_tests_that_are_there():
    for slip in MUTANTS:
        assert occurrences(slip) == 1, slip
        assert slip.replacement != slip.text
        for test in slip.tests:
            path, _, name = test.partition("::")
            assert f"def {name.partition('[')[0]}" in (ROOT / path).read_text(), slip
