"""Signals at random times to real processes of ``fastes``: count how they end.

    python tests/signal_storm.py 200

Each process gets SIGINT or SIGTERM at a time drawn with a fixed seed, half of them a second
signal soon after. Some have an empty cache, so that they compile. Columns of the table:

finished    the command was done before the signal: exit code 0
stopped     one sentence and exit code 1
early       the signal came before the first line of ours: Python ends as Python does
crash       ended by a signal, such as SIGSEGV or SIGABRT
traceback   a traceback on stderr
hang        still there after a minute
left        a temporary file, or a checkpoint that cannot be read, was left behind
other       anything else
seconds     the longest time from the signal to the end

The exit code is 1 if a process ended in any of the last five ways.
"""

import argparse
import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

IN_ORDER = ("finished", "stopped", "early")
OUTCOMES = (*IN_ORDER, "crash", "traceback", "hang", "left", "other")
_HANG_SECONDS = 60.0
_SMALL = ["--K", "40", "--d", "4", "--seed", "2"]
_ENDLESS = ["--T", "4000000000"]
_GRID = ["--agent", "es,ts", "--M", "2,5", "--T", "3000000", "--runs", "20"]


class Command(NamedTuple):
    """A command, and how long it takes at most until all of its phases were reached."""

    words: list[str]
    warm_seconds: float
    cold_seconds: float


COMMANDS = {
    "simulate": Command(["simulate", *_SMALL, *_ENDLESS], 2.0, 12.0),
    "checkpoint": Command(
        ["simulate", *_SMALL, *_ENDLESS, "--checkpoint", "run.ckpt", "--every", "0.05s"], 2.0, 12.0
    ),
    "files": Command(
        ["simulate", *_SMALL, "--agent", "ts", "--T", "200", "--out", "a.npz", "--csv", "a.csv"],
        1.2,
        12.0,
    ),
    "eager": Command(
        ["simulate", *_ENDLESS, "--M", "50000", "--engine", "eager", "--runs", "1"], 2.5, 20.0
    ),
    "sweep": Command(
        ["sweep", *_SMALL, *_GRID, "--task", "0.05s", "--out", "a.db"],
        4.0,
        30.0,
    ),
}


class Ended(NamedTuple):
    """How a process ended."""

    command: str
    cold: bool
    outcome: str
    code: int | None
    seconds: float  # from the signal to the end
    stderr: str


def one_signal(command: str, cold: bool, rng: random.Random, warm_cache: Path) -> Ended:
    """Start a process, send it a signal or two, and return how it ended."""
    words, warm_seconds, cold_seconds = COMMANDS[command]
    delay = rng.uniform(0.0, cold_seconds if cold else warm_seconds)
    if rng.random() < 0.2:
        delay = rng.uniform(0.0, 0.5)  # while it starts
    number = rng.choice([signal.SIGINT, signal.SIGTERM])
    second = rng.uniform(0.0, 0.3) if rng.random() < 0.5 else None
    with tempfile.TemporaryDirectory(prefix="fastes-storm-") as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        environment = _environment(folder / "cache" if cold else warm_cache)
        process = subprocess.Popen(
            [sys.executable, "-m", "fastes", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            cwd=work,
        )
        time.sleep(delay)
        # One that has ended handles no signals either.
        handled = process.poll() is not None or _handles_signals(process.pid)
        process.send_signal(number)
        sent = time.monotonic()
        if second is not None:
            time.sleep(second)
            process.send_signal(number)
        try:
            _, said = process.communicate(timeout=_HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)
            _, said = process.communicate()
            return Ended(command, cold, "hang", None, _HANG_SECONDS, said)
        seconds = time.monotonic() - sent
        outcome = _outcome(process.returncode, said, handled)
        if outcome in ("finished", "stopped") and not _in_order(work):
            outcome = "left"
    return Ended(command, cold, outcome, process.returncode, seconds, said)


def _run_short(command: Command, cache: Path) -> None:
    """Run a command with a short horizon, so that all that it needs is in the cache."""
    words = [*command.words, "--T", "200", "--quiet"]
    with tempfile.TemporaryDirectory(prefix="fastes-storm-") as work:
        environment = _environment(cache)
        subprocess.run(
            [sys.executable, "-m", "fastes", *words], env=environment, cwd=work, check=True
        )


def _environment(cache: Path) -> dict[str, str]:
    # A crash, or the signal that ends a hang, prints where each thread is.
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache), "PYTHONFAULTHANDLER": "1"}
    environment.pop("NUMBA_CACHE_DIR", None)
    return environment


def _handles_signals(pid: int) -> bool:
    """Return whether a process handles SIGTERM, where the system can be asked; else True.

    Python itself leaves SIGTERM to the system: a handler is one of ours.
    """
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        masks = {name: int(re.findall(rf"{name}:\t(\w+)", status)[0], 16) for name in _MASKS}
        return any(mask >> (signal.SIGTERM - 1) & 1 for mask in masks.values())
    return True


_MASKS = ("SigCgt", "SigIgn")


def _outcome(code: int, said: str, handled: bool) -> str:
    if code == 0 and "Traceback" not in said:
        return "finished"
    if code == 1 and re.fullmatch(r"(.*\n)*Error: stopped.*\n", said):
        return "traceback" if "Traceback" in said else "stopped"
    if not handled:
        return "early"
    if code < 0:
        return "crash"
    return "traceback" if "Traceback" in said else "other"


def _in_order(work: Path) -> bool:
    """Check that there is no temporary file, and that a checkpoint is whole."""
    from fastes.simulation.checkpoint_file import read_checkpoint

    if list(work.glob(".*")):
        return False
    if (work / "run.ckpt").exists():
        read_checkpoint(work / "run.ckpt")
    return True


def storm(n: int, seed: int = 0, cold_share: float = 0.4) -> list[Ended]:
    """Send a signal, at a random time, to each of n processes. Return how they ended."""
    rng = random.Random(seed)
    ends = []
    # A shell has its background processes ignore SIGINT, and theirs would from their start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="fastes-storm-") as cache:
        for each in COMMANDS.values():
            _run_short(each, Path(cache))
        for i in range(n):
            command = list(COMMANDS)[i % len(COMMANDS)]
            ends.append(one_signal(command, rng.random() < cold_share, rng, Path(cache)))
            if ends[-1].outcome not in IN_ORDER:
                print(f"{i}: {ends[-1]}", flush=True)
    return ends


def table(ends: list[Ended]) -> str:
    """Return the counts of outcomes by command and cache."""
    lines = [" ".join([f"{'':18}", *(f"{name:>9}" for name in (*OUTCOMES, "seconds"))])]
    groups = [(name, cold) for name in COMMANDS for cold in (False, True)]
    for command, cold in groups:
        group = [end for end in ends if (end.command, end.cold) == (command, cold)]
        lines.append(_row(f"{command}, {'cold' if cold else 'warm'}", group))
    return "\n".join([*lines, _row("all", ends)])


def _row(name: str, ends: list[Ended]) -> str:
    counts = Counter(end.outcome for end in ends)
    cells = [f"{name:18}", *(f"{counts[outcome]:9}" for outcome in OUTCOMES)]
    return " ".join([*cells, f"{max((end.seconds for end in ends), default=0.0):9.2f}"])


def main() -> None:
    """Send the signals, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("signals", type=int, help="number of processes to send a signal to")
    parser.add_argument("--seed", type=int, default=0, help="of the times (default 0)")
    parser.add_argument("--cold", type=float, default=0.4, help="share of empty caches")
    words = parser.parse_args()
    ends = storm(words.signals, words.seed, words.cold)
    print(table(ends))
    sys.exit(any(end.outcome not in IN_ORDER for end in ends))


if __name__ == "__main__":
    main()
