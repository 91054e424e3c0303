"""Code from outside the kernels: its machine code is compiled anew when any of it changes."""

import importlib
import itertools
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from fastes.kernels.actions import arms
from fastes.kernels.agents import interface
from fastes.kernels.agents.greedy import Greedy
from fastes.kernels.jit import outside
from fastes.kernels.jit.decorators import entry, kernel
from programs import python

# A body, a helper that it calls, a helper of the helper, and a constant.
MINE = """
from typing import NamedTuple
import numpy as np
import constants
from helpers import scaled
from fastes.kernels.agents.interface import score

OFFSET = 10.0

class State(NamedTuple):
    z: np.ndarray

@score.body(State)
def _score(agent, arms, tile, work):
    for i in range(work.scores.shape[1]):
        work.scores[0, i] = scaled(agent.z[0]) + OFFSET + constants.SHIFT
"""
HELPERS = """
import sys  # a module without a file
from deeper import doubled
from fastes.kernels.jit.decorators import kernel

@kernel
def scaled(x):
    return 1.0 * doubled(x)
"""
DEEPER = """
from fastes.kernels.jit.decorators import inlined

@inlined
def doubled(x, times=2.0):
    return times * x
"""
FILES = {"mine": MINE, "helpers": HELPERS, "deeper": DEEPER, "constants": "SHIFT = 100.0\n"}

# Calls an entry of ours, for a state from outside; prints a score, and whether it was compiled.
SCORE = """
import numpy as np
from fastes.kernels.actions import arms
from fastes.kernels.agents.greedy import greedy
from fastes.kernels.beliefs.gaussian.state import gaussian
from fastes.kernels.diagnostics.best_of_models import indices
from fastes.kernels.jit.events import compilation_timer
from fastes.kernels.search.scan import workspace
b = arms.empty_arms(1, 1)
arms.store_rows(b, 0, np.ones((1, 1)), np.zeros(1))
work, out = workspace(b), np.empty(1)
{state}
with compilation_timer() as seconds:
    indices(state, b, work, out)
print(out[0], "compiled" if seconds() > 0 else "loaded")
"""
OUTSIDE = SCORE.format(state="import mine; state = mine.State(np.ones(1))")
OURS = SCORE.format(state="state = greedy(gaussian.layout(1))")


@pytest.fixture
def folder(tmp_path):
    """Give a function that writes an agent from outside, and one that runs a program on it."""

    def write(name="first", **changed):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        for file, text in {**FILES, **changed}.items():
            (place / f"{file}.py").write_text(text)
        return place

    def run(place, code=OUTSIDE):
        words = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        path = [str(place), *(each for each in sys.path if each)]
        return python(f"import sys; sys.path[:] = {path!r}\n{code}", check=True, **words)

    return write, run


def test_unchanged_code_is_loaded_and_an_edit_is_compiled(folder):
    write, run = folder
    assert run(write()) == "112.0 compiled"
    assert run(write(other="# which nothing imports\n")) == "112.0 loaded"
    second = write("second", deeper=DEEPER.replace("* x", "* x + 1.0"))
    assert run(second) == "113.0 compiled"
    assert run(second) == "113.0 loaded"


def test_what_is_ours_is_found_where_the_module_is_missing(folder, tmp_path):
    write, run = folder
    assert run(tmp_path, OURS) == "0.0 compiled"
    assert run(write()) == "112.0 compiled"
    assert run(tmp_path, OURS) == "0.0 loaded"  # and nobody asked for `mine`


WITHOUT = {
    # A cache that does not load and save as it does now; one that goes where it likes.
    "methods": "caching.Cache.save_overload = None",
    "folders": "caching.Cache.cache_path = property(lambda self: '/elsewhere')",
}


@pytest.mark.parametrize("missing", WITHOUT.values(), ids=list(WITHOUT))
def test_without_numba_s_internals_nothing_is_kept(folder, missing, tmp_path):
    write, run = folder
    code = f"from numba.core import caching; {missing}\n{OUTSIDE}"
    place = write()
    assert run(place, code) == "112.0 compiled"
    assert not [*tmp_path.rglob("outside-*/**/*.nbc")]
    assert run(place, code) == "112.0 compiled"


# Which files are read, without compiling anything.

PACKAGE = {
    "pack/__init__.py": "",
    "pack/one.py": MINE.replace("helpers", "pack.deep.helpers").replace(
        "import constants", "from . import constants"
    ),
    "pack/deep/helpers.py": HELPERS.replace("deeper", "pack.deeper"),
    "pack/deeper.py": DEEPER,
    "pack/unused.py": "",
    "pack/constants.py": "SHIFT = 100.0\n",
}
MODULES = {f"{name}.py": text for name, text in FILES.items()}


@pytest.fixture
def state(tmp_path, monkeypatch):
    """Give a function that writes modules and returns the class State of one of them."""
    monkeypatch.setattr(outside, "_BEGIN", np.inf)
    before, folders = set(sys.modules), itertools.count()

    def forget():
        for name in set(sys.modules) - before:
            del sys.modules[name]

    def written(files, module="mine"):
        folder = tmp_path / str(next(folders))
        for file, text in files.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text)
        forget()
        monkeypatch.syspath_prepend(folder)
        return importlib.import_module(module).State

    yield written
    forget()


@pytest.mark.parametrize(
    ("files", "module", "edited"),
    [
        *((MODULES, "mine", file) for file in MODULES),
        *((PACKAGE, "pack.one", file) for file in PACKAGE),
    ],
)
def test_an_edit_is_seen(files, module, edited, state):
    first, same = (outside.source_hash(state(files, module)) for _ in range(2))
    other = outside.source_hash(state({**files, edited: files[edited] + "# edited\n"}, module))
    assert first == same != other
    assert None not in (first, other)


def test_modules_beside_that_are_not_imported_are_not_read(state):
    more = {"run.py": "import mine\n", "pack/__init__.py": "", "notes/run.txt": ""}
    assert outside.source_hash(state(MODULES)) == outside.source_hash(state({**MODULES, **more}))


def test_the_source_is_read_once(state):
    kind = state(MODULES)
    first = outside.source_hash(kind)
    Path(sys.modules["helpers"].__file__).write_text("# edited")
    assert outside.source_hash(kind) == first is not None


def test_a_file_that_was_edited_in_this_process_gives_no_hash(state, monkeypatch):
    monkeypatch.undo()  # the files are newer than the process
    assert outside.source_hash(state(MODULES)) is None


NOWHERE = {
    "no file": lambda kind: setattr(kind, "__module__", "nowhere"),
    "a module made by exec": lambda kind: delattr(sys.modules["mine"], "__file__"),
    "an archive": lambda kind: setattr(sys.modules["mine"], "__file__", "mine.zip/mine.py"),
    "a closure": lambda kind: interface.prepare.body(kind)(lambda agent, source, t: kind),
}


@pytest.mark.parametrize("change", NOWHERE.values(), ids=list(NOWHERE))
def test_code_without_a_file_that_holds_it_gives_no_hash(change, state):
    kind = state(MODULES)
    change(kind)
    assert outside.source_hash(kind) is None


def test_a_class_that_no_other_process_can_import_is_not_kept(state, monkeypatch):
    kind = state(MODULES)
    types = [numba.typeof(kind(np.ones(1)))]
    assert outside.outside_code(arms.empty_arms, types)
    monkeypatch.delattr(sys.modules["mine"], "State")
    assert outside.outside_code(arms.empty_arms, types) is None
    monkeypatch.setattr(kind, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "State", kind, raising=False)
    assert outside.outside_code(arms.empty_arms, types) is None


PLUGIN = """
from pack.one import State
from fastes.kernels.agents.interface import prepare
@prepare.body(State)
def body(agent, source, t):
    pass
"""


def test_a_body_of_another_module_counts(state):
    found = set()
    for imported in (False, True):
        kind = state({**PACKAGE, "pack/plugin.py": PLUGIN}, "pack.one")
        if imported:
            importlib.import_module("pack.plugin")
        found.add(outside.source_hash(kind))
    for end in ("", "# edited"):
        kind = state({**PACKAGE, "plugin.py": PLUGIN + end}, "pack.one")
        importlib.import_module("plugin")
        found.add(outside.source_hash(kind))
    assert len(found) == 4
    assert None not in found


# Which bodies are taken.


def fresh():
    """Return a class of named tuples without a body."""

    class State(NamedTuple):
        z: np.ndarray

    return State


def body(agent, source, t):
    """A body that does nothing."""


@pytest.mark.parametrize(
    ("kind", "function", "words"),
    [
        (Greedy, body, "the bodies for Greedy are in fastes.kernels.agents.greedy"),
        (np.ndarray, body, "takes a class of named tuples, got <class 'numpy.ndarray'>"),
        (tuple, body, "takes a class of named tuples"),
        (Greedy(None, None), body, "takes a class of named tuples"),
        (None, kernel(body), "takes a function as it is written, not compiled"),
    ],
)
def test_a_body_that_is_none_is_refused(kind, function, words):
    with pytest.raises(TypeError, match=words):
        interface.prepare.body(kind or fresh())(function)


def test_a_body_is_registered_once():
    kind = fresh()
    interface.prepare.body(kind)(body)
    assert kind in interface.prepare.bodies
    assert kind not in interface.learn.bodies
    with pytest.raises(TypeError, match=r"prepare.body\(State\) is there already"):
        interface.prepare.body(kind)(body)


@entry
def first_of(state):
    """Return a number of a state."""
    return state.z[0]


def test_a_body_that_comes_after_the_code_is_refused():
    kind = fresh()
    assert first_of(kind(np.ones(1))) == 1.0
    with pytest.raises(TypeError, match=r"comes too late: code for State is compiled already"):
        interface.prepare.body(kind)(body)
