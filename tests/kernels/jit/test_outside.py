"""Code from outside the kernels: its machine code is compiled anew when any of it changes."""

import sys
from types import ModuleType

import numpy as np
import pytest
from fastes.kernels.agents import interface
from fastes.kernels.agents.greedy import Greedy
from fastes.kernels.jit import outside
from fastes.kernels.jit.decorators import entry, kernel
from programs import python

# Two files and a half: a body, a helper that it calls, and a constant that it takes from a module.
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
OURS = SCORE.format(state="state = greedy(1)")


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


EDITS = {
    "a body": ("mine", MINE.replace("+ OFFSET", "- OFFSET"), "92.0"),
    "its constant": ("mine", MINE.replace("OFFSET = 10.0", "OFFSET = 20.0"), "122.0"),
    "a helper in a second file": ("helpers", HELPERS.replace("1.0 *", "3.0 *"), "116.0"),
    "a helper of the helper": ("deeper", DEEPER.replace("* x", "* x + 1.0"), "113.0"),
    "its default": ("deeper", DEEPER.replace("times=2.0", "times=4.0"), "114.0"),
    "a constant in a module": ("constants", "SHIFT = 200.0\n", "212.0"),
    "how the constant is made": ("constants", "import math\nSHIFT = math.sqrt(16)\n", "16.0"),
}


def test_unchanged_code_is_loaded_and_any_edit_is_compiled(folder):
    write, run = folder
    assert run(write()) == "112.0 compiled"
    assert run(write()) == "112.0 loaded"
    for file, text, score in EDITS.values():
        assert run(write(**{file: text})) == f"{score} compiled"
    assert run(write()) == "112.0 loaded"
    moved = {file: "# a line that no code is made of\n" + text for file, text in FILES.items()}
    assert run(write(**moved)) == "112.0 loaded"


def test_a_body_where_there_was_the_default_is_seen(folder):
    write, run = folder
    default = MINE.partition("@score")[0]
    assert run(write(mine=default)) == "1.0 compiled"
    assert run(write(mine=default)) == "1.0 loaded"
    assert run(write()) == "112.0 compiled"


def test_classes_of_one_name_in_two_folders_do_not_meet(folder):
    write, run = folder
    first, second = write("first"), write("second", constants="SHIFT = 300.0\n")
    assert run(first) == "112.0 compiled"
    assert run(second) == "312.0 compiled"
    assert run(first) == "112.0 loaded"
    assert run(second) == "312.0 loaded"


def test_what_is_ours_is_found_where_the_module_is_missing(folder, tmp_path):
    write, run = folder
    assert run(tmp_path, OURS) == "0.0 compiled"
    assert run(write()) == "112.0 compiled"
    assert run(tmp_path, OURS) == "0.0 loaded"  # and nobody asked for `mine`


def test_a_class_that_no_name_finds_is_compiled_every_time(folder, tmp_path):
    write, run = folder
    place = write()
    code = SCORE.format(state="exec(open({path!r}).read()); state = State(np.ones(1))")
    code = code.replace("{path!r}", repr(str(place / "mine.py")))
    assert run(place, code) == "112.0 compiled"
    assert run(place, code) == "112.0 compiled"
    assert not [*tmp_path.rglob("outside-*/**/*.nbc")]


WITHOUT = {
    # A cache that does not load and save as it does now; one that goes where it likes.
    "methods": "caching.Cache.save_overload = None",
    "folders": "caching.Cache.cache_path = property(lambda self: '/elsewhere')",
}


@pytest.mark.parametrize("missing", WITHOUT.values(), ids=list(WITHOUT))
def test_without_numba_s_internals_nothing_from_outside_is_kept(folder, missing):
    write, run = folder
    code = f"from numba.core import caching; {missing}\n{OUTSIDE}"
    place = write()
    assert run(place, code) == "112.0 compiled"
    assert run(place, code) == "112.0 compiled"
    if "cache_path" in missing:  # ours are
        assert run(place, code.replace(OUTSIDE, OURS)) == "0.0 compiled"
        assert run(place, code.replace(OUTSIDE, OURS)) == "0.0 loaded"


# What is read, without compiling anything.

HEAD = """
import ctypes, enum, math
from typing import NamedTuple
import numpy as np
from numba.extending import register_jitable
from fastes.kernels.arithmetic.floats import fma
from fastes.kernels.jit.decorators import generic, inlined, kernel
from fastes.kernels.agents.interface import learn, prepare
class State(NamedTuple):
    z: np.ndarray
class Inner(NamedTuple):
    x: np.ndarray
"""


def read(text, head=HEAD):
    """Return the hash of the class State of a module."""
    module = ModuleType("written")
    exec(head + text, vars(module))
    return outside.class_code(module.State)


BODY = "@prepare.body(State)\ndef body(agent, source, t):\n    "
PAIRS = {
    "a number": (f"X = 1\n{BODY}agent.z[0] = X\n", f"X = 2\n{BODY}agent.z[0] = X\n"),
    "its type": (f"X = 1\n{BODY}agent.z[0] = X\n", f"X = 1.0\n{BODY}agent.z[0] = X\n"),
    "a NumPy number": (f"X = np.int8(1)\n{BODY}X\n", f"X = np.int16(1)\n{BODY}X\n"),
    "an array": (f"X = np.arange(3)\n{BODY}X\n", f"X = np.array([0, 1, 3])\n{BODY}X\n"),
    "its shape": (f"X = np.ones((2, 3))\n{BODY}X\n", f"X = np.ones((3, 2))\n{BODY}X\n"),
    "a tuple": (f"X = (1, (2, 3))\n{BODY}X\n", f"X = (1, (2, 4))\n{BODY}X\n"),
    "tuples": (f"X = ((1, 2), 3)\n{BODY}X\n", f"X = ((1,), 2, 3)\n{BODY}X\n"),
    "an enumeration": (
        f"class E(enum.IntEnum):\n    A = 1\n    B = 3\n{BODY}E.A\n",
        f"class E(enum.IntEnum):\n    A = 2\n    B = 3\n{BODY}E.A\n",
    ),
    "an operator": (f"{BODY}agent.z[0] + t\n", f"{BODY}agent.z[0] - t\n"),
    "a constant": (f"{BODY}agent.z[0] = 1.5\n", f"{BODY}agent.z[0] = 2.5\n"),
    "a field": (f"{BODY}agent.z\n", f"{BODY}agent.y\n"),
    "a function inside": (
        f"{BODY}f = lambda x: x + 1\n    f(t)\n",
        f"{BODY}f = lambda x: x + 2\n    f(t)\n",
    ),
    "a closure": (
        f"def make(x):\n    return kernel(lambda: x)\nf = make(1)\n{BODY}f()\n",
        f"def make(x):\n    return kernel(lambda: x)\nf = make(2)\n{BODY}f()\n",
    ),
    "which of two closures": (
        f"def make(x):\n    return kernel(lambda: x)\nf, g = make(1), make(2)\n{BODY}f(g(f()))\n",
        f"def make(x):\n    return kernel(lambda: x)\nf, g = make(2), make(1)\n{BODY}f(g(f()))\n",
    ),
    "how a helper is compiled": (
        f"@kernel\ndef f():\n    return 1\n{BODY}f()\n",
        f"@inlined\ndef f():\n    return 1\n{BODY}f()\n",
    ),
    "a body for a class inside": (
        f"{BODY}learn(Inner(agent.z), 0, 0, 0.0, source, t)\n",
        f"@learn.body(Inner)\ndef f(agent, row, key, reward, source, t):\n    pass\n"
        f"{BODY}learn(Inner(agent.z), 0, 0, 0.0, source, t)\n",
    ),
    "the body of a generic of one's own": (
        f"@generic\ndef f(x):\n    return 1\n{BODY}f(agent)\n",
        "@generic\ndef f(x):\n    return 1\n@f.body(State)\ndef g(x):\n    return 2\n"
        f"{BODY}f(agent)\n",
    ),
    "the default of a generic of one's own": (
        f"@generic\ndef f(x):\n    return 1\n{BODY}f(agent)\n",
        f"@generic\ndef f(x):\n    return 2\n{BODY}f(agent)\n",
    ),
    "which function of numpy": (f"f = np.sqrt\n{BODY}f(t)\n", f"f = np.exp\n{BODY}f(t)\n"),
    "which function of ours": (
        f"f = learn\n{BODY}f(agent, 0, 0, 0.0, source, t)\n",
        f"f = prepare\n{BODY}f(agent, 0, 0, 0.0, source, t)\n",
    ),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=list(PAIRS))
def test_what_compiled_code_is_made_of_is_read(pair):
    first, second = map(read, pair)
    assert first == read(pair[0])
    assert "unknown" not in (first, second)
    assert first != second


def test_the_fields_of_a_class_are_read():
    assert read("", HEAD) != read("", HEAD.replace("    z: np", "    y: np"))


UNREADABLE = {
    "an address": f"X = ctypes.CFUNCTYPE(None)(lambda: None)\n{BODY}X()\n",
    "an object": f"X = object()\n{BODY}X\n",
    "a list of objects": f"X = np.array([object()])\n{BODY}X\n",
    "a function that other code compiles": f"@register_jitable\ndef f():\n    pass\n{BODY}f()\n",
    "a class of objects": f"class C:\n    pass\n{BODY}C\n",
    "inside a helper": f"X = object()\n@kernel\ndef f():\n    return X\n{BODY}f()\n",
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=list(UNREADABLE))
def test_what_cannot_be_read_has_no_hash(text):
    assert read(text) == "unknown"


def test_a_name_with_another_value_than_at_first_is_not_relied_on():
    module = ModuleType("written")
    exec(HEAD + f"X = 1\n{BODY}agent.z[0] = X\n", vars(module))
    assert outside.class_code(module.State) != "unknown"
    module.X = 2
    assert outside.class_code(module.State) == "unknown"
    module.X = 1
    assert outside.class_code(module.State) != "unknown"


def test_two_classes_of_the_same_code_have_the_same_hash():
    text = f"f = kernel(lambda x: fma(x, x, math.pi))\n{BODY}agent.z[0] = f(agent.z[0])\n"
    assert read(text) == read(text) != "unknown"


# Which bodies are taken.


def state():
    module = ModuleType("written")
    exec(HEAD, vars(module))
    return module.State


def body(agent, source, t):
    """A body that does nothing."""


@pytest.mark.parametrize(
    ("kind", "function", "words"),
    [
        (Greedy, body, "what Greedy does is said in fastes.kernels.agents.greedy"),
        (np.ndarray, body, "takes a class of named tuples, got <class 'numpy.ndarray'>"),
        (tuple, body, "takes a class of named tuples"),
        (Greedy(None, None), body, "takes a class of named tuples"),
        (None, kernel(body), "takes a function as it is written, not compiled"),
    ],
)
def test_a_body_that_is_none_is_refused(kind, function, words):
    with pytest.raises(TypeError, match=words):
        interface.prepare.body(kind or state())(function)


def test_a_body_is_registered_once():
    kind = state()
    interface.prepare.body(kind)(body)
    assert outside.has_body(interface.prepare, kind)
    assert not outside.has_body(interface.learn, kind)
    with pytest.raises(TypeError, match=r"prepare.body\(State\) is there already"):
        interface.prepare.body(kind)(body)


@entry
def first_of(state):
    """Return a number of a state."""
    return state.z[0]


def test_a_body_that_comes_after_the_code_is_refused():
    kind = state()
    assert first_of(kind(np.ones(1))) == 1.0
    with pytest.raises(TypeError, match=r"comes too late: code for State is compiled already"):
        interface.prepare.body(kind)(body)
