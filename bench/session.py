"""A session of benchmarks in a process of its own, and what came out of it."""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

Figure = dict[str, Any]

CODE: dict[str, dict[str, str]] = {
    "native": {},
    "avx2": {
        "NUMBA_CPU_NAME": "x86-64",
        "NUMBA_CPU_FEATURES": "+avx,+avx2,+fma,+sse4.2,+popcnt,+bmi,+bmi2",
        "OPENBLAS_CORETYPE": "Haswell",
    },
}
"""Variables of a session whose kernels, and BLAS, are for this or a lesser processor.
The C yardstick, written for long vectors, and NumPy's own loops remain those of this one."""


def run_session(
    marks: str,
    words: str = "",
    *,
    quick: bool = False,
    name: str | None = None,
    root: Path = ROOT,
    code: str = "native",
) -> list[Figure]:
    """Run the benchmarks that carry the marks and match the words; return their figures.

    Or the one of that name, module/test. In a new process: what one session finds in its caches
    the next does not. `root` is where the project lies, this one or another commit of it; `code` is
    a key of `CODE`.
    """
    module, _, test = (name or "").partition("/")
    where = root / "bench" if name is None else root / "bench" / f"test_{module}.py::test_{test}"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [
            *(sys.executable, "-m", "pytest", str(where), "--benchmark-enable", "-q", "-n0"),
            *("--rootdir", str(root), "-p", "no:cacheprovider", "-m", marks, "-k", words),
            *(f"--benchmark-json={out}", *(["--quick"] if quick else [])),
            *("-W", "ignore::pytest_benchmark.logger.PytestBenchmarkWarning"),
        ]
        # What another commit compiles goes when its folder goes.
        cache = {} if root == ROOT else {"NUMBA_CACHE_DIR": str(root / "cache")}
        environment = {**os.environ, **cache, **CODE[code]}
        done = subprocess.run(command, capture_output=True, text=True, cwd=root, env=environment)
        if done.returncode == 4:
            raise ValueError(f"{words!r} is no expression of names with and, or, not")
        if done.returncode == 5:
            raise ValueError(f"no benchmark matches {words!r} among those that are {marks}")
        if done.returncode != 0:
            raise RuntimeError(f"the benchmarks failed:\n{done.stdout}{done.stderr}")
        return [each["extra_info"] for each in json.loads(out.read_text())["benchmarks"]]


def check_out(commit: str, folder: Path) -> Path:
    """Lay a commit out in an empty folder, so that its benchmarks run with its own kernels."""
    parts = ("fastes", "kernels", "bench", "tests", "pyproject.toml")
    done = subprocess.run(["git", "-C", str(ROOT), "archive", commit, *parts], capture_output=True)
    if done.returncode != 0:
        raise ValueError(f"commit {commit} is not in this repository, or has no benchmarks")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    find_own_kernels(folder)
    return folder


def find_own_kernels(root: Path) -> None:
    """Let a copy of the project import its own kernels, whatever is installed."""
    (root / "fastes" / "kernels").symlink_to(root / "kernels")
