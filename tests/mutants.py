"""Break the program on purpose, one slip at a time, and see whether the tests notice.

    python tests/mutants.py                    all mutants
    python tests/mutants.py snapshot           those whose file or description has this word
    python tests/mutants.py --jobs 2 --list    what there is

A mutant is one plausible slip: a text that occurs once in a file, what takes its place, and the
tests that must notice (mutant_table.py). The project is copied to a temporary folder. The tests of
a mutant must pass there; then the mutant is put in, they are run again, and it is taken out. Most
tests run without the compiler, which would take longer than the tests themselves.

killed       a test failed
out of time  the tests did not end, as with a loop without end: counts as killed
survived     the tests passed
error        nothing is known: the text does not occur once in the file, the tests fail or take too
             long without the mutant, or pytest could not run them (no such test, an import that
             fails, a crash)

The exit code is 0 if every mutant was killed or ran out of time.
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
_COPIED = ("fastes", "kernels", "tests", "bench", "docs/how-to", "docs/studies", "pyproject.toml")
_SECONDS = 300
_OUTCOMES = ("killed", "out of time", "survived", "error")


class Verdict(NamedTuple):
    """What came of a mutant: one of the outcomes, how long its tests took, and why."""

    outcome: str
    seconds: float = 0.0
    detail: str = ""


def occurrences(mutant: Mutant, root: Path = ROOT) -> int:
    """Return how often the text of a mutant occurs in its file."""
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
    copy: Path, tests: Iterable[str], compiled: bool, cache: str, seconds: float
) -> Verdict:
    """Run tests of a copy, against that copy and no other, up to the first failure.

    The verdict is on a program that these tests ought to find broken.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "PYTHONDONTWRITEBYTECODE": "1",  # a file changed twice in a second must be read twice
        "NUMBA_CACHE_DIR": str(copy / cache),
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
    }
    words = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    words += tests
    if not compiled:
        # Without the compiler, NumPy warns where kernels mean to overflow.
        words += ["-W", "ignore::RuntimeWarning"]
    start = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-n0", *words],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Verdict("out of time", time.monotonic() - start, " ".join(tests))
    taken = time.monotonic() - start
    if done.returncode == _PASSED:
        return Verdict("survived", taken, " ".join(tests))
    if done.returncode == _FAILED:
        return Verdict("killed", taken, f"by {_first_failure(done.stdout)}")
    lines = (done.stdout + done.stderr).strip().splitlines() or [""]
    said = next((line for line in lines if line.startswith("ERROR")), lines[-1])
    return Verdict("error", taken, f"pytest ended with {done.returncode}: {said}")


_PASSED, _FAILED = 0, 1  # pytest's exit codes; all others say that tests did not run


def _first_failure(output: str) -> str:
    found = re.search(r"^(?:FAILED|ERROR) (?:tests/)?(.*?)(?: - |$)", output, re.MULTILINE)
    return found[1] if found else "a test"


class Copy:
    """A copy of the project, to break and to mend. One thread at a time may use it."""

    def __init__(self, folder: Path, seconds: float = _SECONDS) -> None:
        self.folder, self.seconds = folder, seconds
        self._unbroken: dict[tuple[tuple[str, ...], bool], Verdict] = {}

    def judge(self, mutant: Mutant) -> Verdict:
        """Put a mutant in, run its tests, and take it out again."""
        n = occurrences(mutant, self.folder)
        if n != 1:
            return Verdict("error", detail=f"its text occurs {n} times in {mutant.file}")
        unbroken = self._judge_unbroken(mutant)
        if unbroken.outcome != "survived":
            why = f"without the mutant: {unbroken.outcome} ({unbroken.detail})"
            return Verdict("error", unbroken.seconds, why)
        file = self.folder / mutant.file
        whole = file.read_text()
        file.write_text(whole.replace(mutant.text, mutant.replacement))
        try:
            # Code compiled of kernels that are whole is used again, other code is not kept.
            cache = "broken" if mutant.file.startswith("kernels/") else "compiled"
            return run_tests(self.folder, mutant.tests, mutant.compiled, cache, self.seconds)
        finally:
            file.write_text(whole)
            shutil.rmtree(self.folder / "broken", ignore_errors=True)

    def _judge_unbroken(self, mutant: Mutant) -> Verdict:
        tests = mutant.tests, mutant.compiled
        if tests not in self._unbroken:
            self._unbroken[tests] = run_tests(self.folder, *tests, "compiled", self.seconds)
        return self._unbroken[tests]


def verdicts(mutants: list[Mutant], jobs: int, seconds: float) -> Iterator[tuple[Mutant, Verdict]]:
    """Yield every mutant and what came of it, in their order; each job has a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="fastes-mutants-") as folder:
        copies: queue.Queue[Copy] = queue.Queue()
        for job in range(jobs):
            copies.put(Copy(copied(ROOT, Path(folder, str(job))), seconds))

        def one(mutant: Mutant) -> Verdict:
            copy = copies.get()
            try:
                return copy.judge(mutant)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as pool:
            yield from zip(mutants, pool.map(one, mutants), strict=True)


def main() -> int:
    """Run the mutants that were asked for. Return the exit code."""
    parser = argparse.ArgumentParser(description="Break the program; see whether tests notice.")
    parser.add_argument("word", nargs="?", default="", help="choose mutants by a word")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time (default: 1)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=_SECONDS,
        help=f"for the tests of a mutant (default: {_SECONDS})",
    )
    parser.add_argument("--list", action="store_true", help="list the mutants, and do nothing")
    options = parser.parse_args()
    chosen = [m for m in MUTANTS if options.word.lower() in f"{m.file} {m.slip}".lower()]
    if options.list or not chosen:
        print(*(f"{m.file}: {m.slip}" for m in chosen), sep="\n")
        return 0 if chosen else 2
    counts = dict.fromkeys(_OUTCOMES, 0)
    found = verdicts(chosen, max(1, options.jobs), options.seconds)
    for mutant, (outcome, seconds, detail) in found:
        counts[outcome] += 1
        print(
            f"{outcome:<11} {seconds:4.0f} s  {mutant.file}: {mutant.slip} ({detail})", flush=True
        )
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    return 0 if counts["survived"] == counts["error"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
