"""Break the program on purpose, one slip at a time, and see whether the tests notice.

    python tests/mutants.py                    all mutants
    python tests/mutants.py snapshot           those whose file or description has this word
    python tests/mutants.py --jobs 2 --list    what there is

A mutant is one plausible slip: a text that stands once in a file, what takes its place, and the
tests that must notice (mutant_table.py). The project is copied to a temporary folder. The tests
must pass there; then each mutant is put in, the tests are run, and it is taken out again. Most
tests run without the compiler, which would take longer than the tests themselves.

The exit code is 0 if every mutant was killed.
"""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from mutant_table import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parent.parent
_COPIED = ("fastes", "kernels", "tests", "bench", "docs/how-to", "pyproject.toml")
_SECONDS = 300  # tests that take longer with a mutant are stuck, or not the right ones for it


class Verdict(NamedTuple):
    """What came of a mutant: killed, survived, not applicable, or out of time."""

    outcome: str
    seconds: float = 0.0
    detail: str = ""


def occurrences(mutant: Mutant, root: Path = ROOT) -> int:
    """Return how often the text of a mutant stands in its file."""
    file = root / mutant.file
    return file.read_text().count(mutant.text) if file.is_file() else 0


def copied(root: Path, folder: Path) -> Path:
    """Copy the project into a folder, without compiled code."""
    for name in _COPIED:
        if (root / name).is_dir():
            ignore = shutil.ignore_patterns("__pycache__", "*.nbi", "*.nbc")
            shutil.copytree(root / name, folder / name, ignore=ignore)
        else:
            shutil.copy2(root / name, folder / name)
    return folder


def run_tests(
    copy: Path, tests: Iterable[str], compiled: bool, seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy, against that copy and no other, up to the first failure."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file changed twice in a second must be read twice
        "NUMBA_CACHE_DIR": str(copy / "compiled"),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
    }
    words = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    words += tests
    if not compiled:
        # Without the compiler, NumPy warns where kernels mean to overflow.
        words += ["-W", "ignore::RuntimeWarning"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", *words],
        cwd=copy,
        env=environment,
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def judge(copy: Path, mutant: Mutant) -> Verdict:
    """Put a mutant into a copy, run its tests, and take it out again."""
    n = occurrences(mutant, copy)
    if n != 1:
        return Verdict("not applicable", detail=f"its text stands {n} times in {mutant.file}")
    file = copy / mutant.file
    whole, start = file.read_text(), time.monotonic()
    file.write_text(whole.replace(mutant.text, mutant.replacement))
    try:
        done = run_tests(copy, mutant.tests, mutant.compiled, _SECONDS)
    except subprocess.TimeoutExpired:
        return Verdict("out of time", time.monotonic() - start, " ".join(mutant.tests))
    finally:
        file.write_text(whole)
        shutil.rmtree(copy / "compiled", ignore_errors=True)
    seconds = time.monotonic() - start
    if done.returncode == 0:
        return Verdict("survived", seconds, " ".join(mutant.tests))
    return Verdict("killed", seconds, _first_failure(done.stdout))


def _first_failure(output: str) -> str:
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.*?)(?: - |$)", output, re.MULTILINE)
    return f"by {found[1]}" if found else "the tests could not be run"


def refused_unbroken(copy: Path, mutants: Iterable[Mutant]) -> str:
    """Return what tests say that fail without any mutant, or nothing."""
    for compiled in (False, True):
        tests = {test: None for m in mutants if m.compiled == compiled for test in m.tests}
        if tests:
            done = run_tests(copy, tests, compiled)
            if done.returncode != 0:
                return done.stdout[-3000:] + done.stderr[-1000:]
    return ""


def verdicts(mutants: list[Mutant], jobs: int) -> Iterator[tuple[Mutant, Verdict]]:
    """Yield every mutant and what came of it, in their order; each job has a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="fastes-mutants-") as folder:
        copies: queue.Queue[Path] = queue.Queue()
        for job in range(jobs):
            copies.put(copied(ROOT, Path(folder, str(job))))

        def one(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                return judge(copy, mutant)
            finally:
                copies.put(copy)

        refusal = refused_unbroken(copied(ROOT, Path(folder, "unbroken")), mutants)
        if refusal:
            sys.exit(f"tests fail without any mutant:\n{refusal}")
        with ThreadPoolExecutor(jobs) as pool:
            yield from zip(mutants, pool.map(one, mutants), strict=True)


def main() -> int:
    """Run the mutants that were asked for. Return the exit code."""
    parser = argparse.ArgumentParser(description="Break the program; see whether tests notice.")
    parser.add_argument("word", nargs="?", default="", help="choose mutants by a word")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument("--list", action="store_true", help="list the mutants, and do nothing")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if options.word.lower() in f"{m.file} {m.slip}".lower()]
    if options.list or not chosen:
        print(*(f"{m.file}: {m.slip}" for m in chosen), sep="\n")
        return 0 if chosen else 2
    counts = {"killed": 0, "survived": 0, "not applicable": 0, "out of time": 0}
    for mutant, (outcome, seconds, detail) in verdicts(chosen, max(1, options.jobs)):
        counts[outcome] += 1
        print(
            f"{outcome:<14} {seconds:4.0f} s  {mutant.file}: {mutant.slip} ({detail})", flush=True
        )
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    return 0 if counts["killed"] == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
