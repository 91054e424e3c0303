"""Timing that noise hits evenly: subject and baseline take turns in short rounds."""

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple


class Ratio(NamedTuple):
    """The baseline's time over the subject's, for a unit of work each."""

    median: float
    low: float  # quartiles over rounds
    high: float
    subject_seconds: float  # medians over rounds, for a unit of work
    baseline_seconds: float
    figure: str = ""


def interleave(
    subject: Callable[[], object],
    baseline: Callable[[], object],
    work: float,
    baseline_work: float,
    rounds: int,
) -> Ratio:
    """Time both in turns. `work` is how many units each call does."""
    subject()
    baseline()
    ours = []
    theirs = []
    for _ in range(rounds):
        ours.append(_seconds(subject) / work)
        theirs.append(_seconds(baseline) / baseline_work)
    ratios = sorted(b / s for s, b in zip(ours, theirs, strict=True))
    return Ratio(
        statistics.median(ratios),
        ratios[len(ratios) // 4],
        ratios[-1 - len(ratios) // 4],
        statistics.median(ours),
        statistics.median(theirs),
    )


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
