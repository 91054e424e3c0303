"""A session of benchmarks in a process of its own, and what came out of it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent

Figure = dict[str, Any]


def run_session(
    marks: str, words: str = "", *, quick: bool = False, name: str | None = None
) -> list[Figure]:
    """Run the benchmarks that carry the marks and match the words; return their figures.

    Or the one of that name, module/test. In a new process: what one session finds in its caches
    the next does not.
    """
    module, _, test = (name or "").partition("/")
    where = ROOT / "bench" if name is None else ROOT / "bench" / f"test_{module}.py::test_{test}"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.json"
        command = [
            *(sys.executable, "-m", "pytest", str(where), "--benchmark-enable", "-q"),
            *("--rootdir", str(ROOT), "-p", "no:cacheprovider", "-m", marks, "-k", words),
            *(f"--benchmark-json={out}", *(["--quick"] if quick else [])),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        if done.returncode == 5:
            raise ValueError(f"no benchmark matches {words!r} among those that are {marks}")
        if done.returncode != 0:
            raise RuntimeError(f"the benchmarks failed:\n{done.stdout}{done.stderr}")
        return [each["extra_info"] for each in json.loads(out.read_text())["benchmarks"]]
