"""What memory is available, by the limits of a process and of its control groups."""

import sys

import pytest
from programs import python

from fastes.checks import memory

GIB = 2**30
V1 = "9:name=systemd:/user\n4:memory:{path}\n1:cpu,cpuacct:/other\n"
V2 = "0::{path}\n"
NAMES = {
    V1: ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    V2: ("", "memory.max", "memory.current", "inactive_file"),
}
UNLIMITED = {V1: "9223372036854771712", V2: "max"}


def system(folder, monkeypatch, version, path, groups):
    """Pretend that control groups have (limit, used, cached) bytes, by their paths."""
    top, limit, used, cached = NAMES[version]
    for name, (most, taken, cache) in groups.items():
        group = folder / top / name
        group.mkdir(parents=True, exist_ok=True)
        (group / limit).write_text(f"{most}\n")
        (group / used).write_text(f"{taken}\n")
        (group / "memory.stat").write_text(f"anon 5\n{cached} {cache}\nfile 7\n")
    (folder / "cgroup").write_text(version.format(path=path))
    monkeypatch.setattr(memory, "_GROUPS", folder)
    monkeypatch.setattr(memory, "_PROCESS", folder)
    monkeypatch.setattr(memory, "_meminfo_available", lambda: iter([8 * GIB]))


@pytest.mark.parametrize("version", [V1, V2], ids=["version 1", "version 2"])
@pytest.mark.parametrize(
    ("path", "groups", "available"),
    [
        ("/", {".": (3 * GIB, GIB, 0)}, 2 * GIB),
        ("/job/step", {"job/step": (3 * GIB, GIB, 0)}, 2 * GIB),
        ("/job/step", {"job/step": (3 * GIB, GIB, 0), "job": (4 * GIB, 3 * GIB, 0)}, GIB),
        ("/job/step", {"job/step": (3 * GIB, GIB, 0), ".": (1 * GIB, 1, 0)}, GIB - 1),
        ("/job/step", {"job/step": (3 * GIB, 3 * GIB, GIB)}, GIB),  # a third is cached files
        ("/docker/1f", {".": (3 * GIB, GIB, 0)}, 2 * GIB),  # a container, seen from within
        ("/job", {"job": (GIB, 2 * GIB, 0)}, 0),
        ("/job", {"other": (GIB, 0, 0)}, 8 * GIB),
        ("/job", {"job": (None, GIB, 0)}, 8 * GIB),
        ("/job", {}, 8 * GIB),
    ],
)
def test_every_control_group_around_a_process_limits_it(
    version, path, groups, available, tmp_path, monkeypatch
):
    limited = {k: (UNLIMITED[version] if v[0] is None else v[0], *v[1:]) for k, v in groups.items()}
    system(tmp_path, monkeypatch, version, path, limited)
    assert memory.available_bytes() == available


def test_where_the_system_says_nothing_all_that_it_has_is_available(tmp_path, monkeypatch):
    system(tmp_path, monkeypatch, V2, "/", {})
    (tmp_path / "cgroup").unlink()
    monkeypatch.setattr(memory, "_meminfo_available", lambda: iter([]))
    assert memory.available_bytes() > 2**20


LIMITED = """
import resource, sys
from fastes.checks import memory
resource.setrlimit(resource.RLIMIT_{limit}, (2**31, 2**31))
pages = int(open("/proc/self/statm").read().split()[{field}])
for imported in (False, True):
    if imported:
        sys.modules["numba"] = None
    print(2**31 - pages * resource.getpagesize() - memory.available_bytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is used")
@pytest.mark.parametrize(("limit", "field"), [("AS", 0), ("DATA", 5)])
def test_limits_on_the_process_leave_room_for_compiled_code(limit, field):
    before, after = python(LIMITED.format(limit=limit, field=field), check=True).split()
    room = 2**24  # for what the program itself takes meanwhile
    assert int(before) == pytest.approx(memory._COMPILER + memory._LIBRARIES, abs=room)
    assert int(after) == pytest.approx(memory._COMPILER, abs=room)


COMMAND = """
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, (800_000 << 10, 800_000 << 10))
sys.argv = ["fastes", "simulate", "--K", "200000", "--d", "50", "--T", "10", "--quiet"]
runpy.run_module("fastes", run_name="__main__")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say what is used")
def test_a_problem_beyond_the_limit_on_the_process_is_refused_in_a_sentence():
    outcome = python(COMMAND)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith(
        "Error: a problem with K=200,000 and d=50 needs 0.26 GiB, but "
    )
    assert outcome.stderr.count("\n") == 1
