"""The tree: which room may import which, what each holds, and the map of it."""

import ast
import importlib
import re
import sys

import numpy as np
import pytest
import tree
from fastes.kernels.agents.interface import has_linear_scores
from fastes.kernels.streams.philox import source

import fastes
from fastes.actions import ACTION_SETS
from fastes.agents import AGENTS
from fastes.checks.parameters import parameters_of

# Each may import those after it.
ROOMS = (
    *("cli", "reports", "saved", "studies", "logs", "simulation", "theory", "results", "agents"),
    *("problem", "drift", "actions", "files", "checks", "kernels"),
)


def imported(path):
    """Yield the modules that a file imports, wherever in it, as absolute names."""
    package = ["fastes", *path.relative_to(tree.ROOT).parent.parts]
    if package[1] == "fastes":
        del package[1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{name.name}" for name in node.names)


@pytest.mark.parametrize("path", tree.sources("fastes"), ids=lambda path: path.name)
def test_imports_point_one_way(path):
    parts = path.relative_to(tree.ROOT / "fastes").parts
    if len(parts) == 1:
        return  # the package itself and its entry point, which know all
    for module in imported(path):
        words = module.split(".")
        if words[0] == "fastes" and len(words) > 1 and words[1] in ROOMS:
            assert ROOMS.index(words[1]) >= ROOMS.index(parts[0]), f"{path} imports {module}"


@pytest.mark.parametrize("path", tree.sources("kernels"), ids=lambda path: path.name)
def test_kernels_know_numba_and_numpy_only(path):
    for module in imported(path):
        words = module.split(".")
        known = words[0] in sys.stdlib_module_names | {"numba", "numpy", "llvmlite"}
        assert known or words[:2] == ["fastes", "kernels"], f"{path} imports {module}"


def test_the_library_never_imports_the_command_line():
    for path in tree.sources("fastes"):
        if "cli" not in path.parts and path.name != "__main__.py":
            assert not any(module.split(".")[0] == "click" for module in imported(path)), path


def test_no_code_asks_which_action_set_it_has():
    sets = "|".join(kind.__name__ for kind in ACTION_SETS.values())
    asked = re.compile(rf"isinstance\([^)]*\b({sets}|ActionSet|[A-Z]\w*Actions)\b")
    found = {
        path.relative_to(tree.ROOT).as_posix(): asked.findall(path.read_text())
        for path in tree.sources("fastes")
        if "actions" not in path.parts
    }
    # What LinearBandit is given is a set, or an array of arms.
    assert {path: names for path, names in found.items() if names} == {
        "fastes/problem/bandit.py": ["ActionSet"]
    }


def test_every_file_is_in_a_room_and_says_what_it_is():
    for top in ("fastes", "kernels"):
        flat = [path.name for path in (tree.ROOT / top).glob("*.py")]
        assert set(flat) <= {"__init__.py", "__main__.py"}
        for path in tree.sources(top):
            assert tree.summary(path).endswith((".", ",", ":")), path


def test_the_map_of_the_files_is_as_they_are():
    assert tree.shown() == tree.tree(), "python tests/tree.py writes it anew"


def test_public_names_are_those_that_type_checkers_see():
    (block,) = [
        node
        for node in ast.parse((tree.ROOT / "fastes/__init__.py").read_text()).body
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    ]
    typed = {each.names[0].name: each.module.removeprefix("fastes.") for each in block.body}
    for room in ("actions", "drift", "theory"):
        assert typed.pop(room) == "fastes"
    assert typed == fastes._HOME


@pytest.mark.parametrize("kind", AGENTS.values(), ids=list(AGENTS))
def test_an_agent_states_what_its_kernel_does(kind):
    agent = kind(**{name: each.usual for name, each in parameters_of(kind).items()})
    state = agent.initial_state(5, 2, source(0))
    assert has_linear_scores(state) == (agent.scores == "linear")
    assert agent.label.startswith(kind.title)
    assert kind.__name__ in fastes.__all__


def test_an_agent_that_says_nothing_of_its_scores_is_scored_arm_by_arm():
    # A score of one's own with nothing else said must not be searched as if it were linear.
    interface = importlib.import_module("fastes.kernels.agents.interface")
    assert interface.has_linear_scores(np.zeros(1)) is False
