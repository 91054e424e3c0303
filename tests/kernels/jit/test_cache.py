"""Where compiled code is kept: never stale, never another machine's, safe for many processes."""

import itertools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import fastes.kernels
import pytest
from programs import PROBE, python

KERNELS = Path(fastes.kernels.__file__).parent
FOLDER = "from fastes.kernels.jit.cache import cache_folder, fingerprint; print(cache_folder())"


@pytest.fixture
def copy(tmp_path):
    """Make a package of our own with a copy of the kernels, to be changed at will."""
    package = tmp_path / "fastes"
    shutil.copytree(KERNELS, package / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    return tmp_path


def test_a_changed_callee_in_another_file_is_seen(copy, tmp_path):
    def probe():
        cache = str(tmp_path / "cache")
        return python(PROBE, check=True, PYTHONPATH=str(copy), XDG_CACHE_HOME=cache)

    assert probe() == "[2.0, 6.0] 0"
    assert probe() == "[2.0, 6.0] 1"
    callee = copy / "fastes/kernels/arithmetic/tile_product.py"
    text = callee.read_text()
    assert "self.builder.call(self.fma, [z, b, total])" in text
    callee.write_text(text.replace("self.builder.call(self.fma, [z, b, total])", "total"))
    assert probe() == "[0.0, 0.0] 0"


def test_an_edit_in_any_folder_changes_the_fingerprint(copy):
    code = """
import pathlib
from fastes.kernels.jit import cache
kernels = pathlib.Path(cache.__file__).parents[1]
found = [cache.fingerprint()]
folders = [kernels, *(folder for folder in kernels.rglob("*") if any(folder.glob("*.py")))]
(kernels / "jit" / "deeper").mkdir()
for file in [*(max(folder.glob("*.py")) for folder in folders), kernels / "jit/deeper/new.py"]:
    with file.open("a") as text:
        text.write("# an edit\\n")
    found.append(cache.fingerprint.__wrapped__())
print(len(folders), len(found), len(set(found)))
"""
    folders, found, distinct = map(int, python(code, check=True, PYTHONPATH=str(copy)).split())
    assert folders > 5
    assert found == distinct == folders + 2


def test_machines_of_two_kinds_share_a_home_but_no_code(tmp_path):
    # The same fingerprint, for checkpoints; a folder for each kind of processor.
    code = """
import json, llvmlite.binding
from fastes.kernels.jit import cache
found = []
def note():
    cache.cache_folder.cache_clear()
    cache.fingerprint.cache_clear()
    found.append((str(cache.cache_folder()), cache.fingerprint()))
note()
features = llvmlite.binding.get_host_cpu_features()
name, llvmlite.binding.get_host_cpu_name = llvmlite.binding.get_host_cpu_name, lambda: "other"
note()
llvmlite.binding.get_host_cpu_name = name
features["a feature that no processor has"] = True
llvmlite.binding.get_host_cpu_features = lambda: features
note()
print(json.dumps(found))
"""
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    found = json.loads(python(code, check=True, **home))
    for chosen in ({"NUMBA_CPU_NAME": "generic"}, {"NUMBA_CPU_FEATURES": "+sse2"}):
        code = FOLDER + "; print(fingerprint())"
        found.append(python(code, check=True, **home, **chosen).split())
    folders, fingerprints = zip(*found, strict=True)
    assert len(set(folders)) == 5
    assert len(set(fingerprints)) == 1
    assert python(FOLDER, check=True, **home) == folders[0]


def probe(cache, code=PROBE):
    """Return what the probe prints, and its warnings, with this cache."""
    done = python(code, XDG_CACHE_HOME=str(cache))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.count("Warning: compiled code is not kept")


def test_where_the_cache_cannot_be_written_kernels_compile_and_one_warning_says_so(tmp_path):
    blocked = tmp_path / "cache"
    blocked.write_text("a file where a folder should be")
    assert probe(blocked) == ("[2.0, 6.0] 0", 1)
    assert probe(blocked, "import fastes.simulation.api") == ("", 0)  # nothing was compiled


# No file can grow beyond its first byte: as on a full disk, empty ones can be made.
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""


def test_on_a_full_disk_kernels_compile_and_one_warning_says_so(tmp_path):
    assert probe(tmp_path, FULL + PROBE) == ("[2.0, 6.0] 0", 1)
    assert all(file.stat().st_size == 0 for file in tmp_path.rglob("*.*"))
    assert probe(tmp_path) == ("[2.0, 6.0] 0", 0)
    assert probe(tmp_path) == ("[2.0, 6.0] 1", 0)


def test_what_is_cut_is_compiled_again_and_written_over(tmp_path):
    assert probe(tmp_path) == ("[2.0, 6.0] 0", 0)
    for suffix, size in itertools.product(("nbi", "nbc"), (0, 100)):
        for file in tmp_path.rglob(f"*.{suffix}"):
            file.write_bytes(file.read_bytes()[:size])
        assert probe(tmp_path) == ("[2.0, 6.0] 0", 0), (suffix, size)
        assert probe(tmp_path) == ("[2.0, 6.0] 1", 0), (suffix, size)


def test_other_packages_keep_their_cache_folder():
    code = "import numba; before = numba.config.CACHE_DIR; import fastes.simulation.api; "
    code += "print(numba.config.CACHE_DIR == before)"
    assert python(code, check=True) == "True"


def test_numba_s_own_variable_moves_the_cache(tmp_path):
    assert python(FOLDER, check=True, NUMBA_CACHE_DIR=str(tmp_path)).startswith(str(tmp_path))


# Each process compiles one function for a signature that all have and one for a signature of its
# own. They take turns at the worst moments: all have read an empty index before one writes it,
# and their code is written in the order opposite to that of their indices.
AT_ONCE = """
import os, sys, time
from pathlib import Path
import numpy as np
from fastes.kernels.jit.decorators import entry, kernel

@kernel
def ends(x):
    return x[0] + x[-1]

@entry
def common(x):
    return ends(x)

@entry
def own(x):
    return ends(x)

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "float32", "float64"]
rank, room = int(sys.argv[1]), Path(sys.argv[2])
replace, written = os.replace, []

def wait(*events):
    while not all((room / event).exists() for event in events):
        time.sleep(0.005)

def in_turn(source, target):
    first = not written
    if Path(target).name.startswith(f"{Path(__file__).stem}.own-"):
        written.append(target)
        (room / f"arrived-{first}-{rank}").touch()
        wait(*(f"arrived-{first}-{other}" for other in range(8)))
        before = rank - 1 if first else rank + 1
        if before in range(8):
            wait(f"done-{first}-{before}")
        replace(source, target)
        (room / f"done-{first}-{rank}").touch()
    else:
        replace(source, target)

if rank in range(8):
    os.replace = in_turn
    types = [TYPES[rank]]
else:
    types = TYPES
assert common(np.array([40.0, 0.0, 2.0])) == 42
for name in types:
    found = own(np.array([40, 0, 2], name))
    assert found == 42, (name, found)
print(common.stats.cache_hits.total(), own.stats.cache_hits.total())
"""


def test_eight_processes_start_cold_at_once(tmp_path):
    program, room, cache = tmp_path / "program.py", tmp_path / "room", tmp_path / "cache"
    program.write_text(AT_ONCE)
    room.mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}

    def start(rank):
        words = [sys.executable, str(program), str(rank), str(room)]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(words, text=True, env=environment, **streams)

    def printed(process):
        out, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        return [int(word) for word in out.split()]

    eight = [start(rank) for rank in range(8)]
    try:
        assert [printed(process)[1] for process in eight] == [0] * 8
    finally:
        for process in eight:
            process.kill()
    assert not [*cache.rglob("*.tmp.*")]
    common, own = printed(start(8))
    assert common == 1
    assert own >= 1  # what the last index says
    assert printed(start(9)) == [1, 8]  # and the ninth added the rest
