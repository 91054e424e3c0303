"""Will it fit? Asked before a large array is made, answered with a number of GiB."""

import os
from pathlib import Path


def available_bytes() -> int:
    """Return the memory that this process can still take, as far as the system says."""
    limits = [_meminfo_available(), _control_group_left()]
    known = [limit for limit in limits if limit is not None]
    if known:
        return min(known)
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
    """Return a size in GiB for people."""
    return f"{size / 2**30:,.2f} GiB"


def _meminfo_available() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError):
        pass
    return None


def _control_group_left() -> int | None:
    """Return what a container's memory limit leaves (control groups, version 2)."""
    folder = Path("/sys/fs/cgroup")
    try:
        limit = (folder / "memory.max").read_text().strip()
        used = int((folder / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return None if limit == "max" else max(0, int(limit) - used)
