"""How much memory is available; checked before large arrays are allocated."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]

_PROCESS, _GROUPS = Path("/proc/self"), Path("/sys/fs/cgroup")

_NO_LIMIT = 2**60  # version 1 of control groups writes a number at least this large

_COMPILER, _LIBRARIES = 256 << 20, 320 << 20
"""Address space taken by compilation, and by importing numba (measured).

Reserved: a compiler that runs out of memory ends the process.
"""


def available_bytes() -> int:
    """Return how much more memory this process may use, as far as the system reports it."""
    known = [*_meminfo_available(), *_left_by_process_limits(), *_left_by_control_groups()]
    if known:
        return max(0, min(known))
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**62


def require(what: str, needed: int) -> None:
    """Raise MemoryError unless `needed` bytes are available."""
    available = available_bytes()
    if needed > available:
        raise MemoryError(f"{what} needs {gib(needed)}, but only {gib(available)} is available")


def gib(size: float) -> str:
    """Return a size as text, in GiB."""
    return f"{size / 2**30:,.2f} GiB"


def _meminfo_available() -> Iterator[int]:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _left_by_process_limits() -> Iterator[int]:
    """Yield what is left within `ulimit -v` (address space) and `ulimit -d` (private memory)."""
    kept = _COMPILER + (0 if "numba" in sys.modules else _LIBRARIES)
    for line in _lines(_PROCESS / "statm"):
        pages = [int(number) for number in line.split()]
        for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
            most = resource.getrlimit(limit)[0]
            if most != resource.RLIM_INFINITY:
                yield most - used * resource.getpagesize() - kept


def _left_by_control_groups() -> Iterator[int]:
    """Yield what is left within the memory limit of each control group of this process.

    A group's own limit may be larger than its parent's. Version 1 has a separate tree for memory,
    version 2 one for everything. In a container the group may have the name it has outside, and
    be the root of the tree there.
    """
    for line in _lines(_PROCESS / "cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            top, names = _GROUPS, ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            top = _GROUPS / "memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        group = top / path.strip("/")
        for folder in (group, *group.parents):
            yield from _left_in(folder, *names)
            if folder == top:
                break


def _left_in(group: Path, limit: str, used: str, cache: str) -> Iterator[int]:
    """Yield what is left within the limit of one control group, if it has one."""
    for most in _lines(group / limit):
        if most == "max" or int(most) >= _NO_LIMIT:
            continue
        fields = [line.split() for line in _lines(group / "memory.stat")]
        # The cache of files is freed when memory is needed.
        cached = sum(int(size) for name, size in fields if name == cache)
        for taken in _lines(group / used):
            yield int(most) - int(taken) + cached


def _lines(file: Path) -> list[str]:
    """Return the lines of a system file; none if it does not exist."""
    try:
        return file.read_text().splitlines()
    except (OSError, UnicodeError):
        return []
