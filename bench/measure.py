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


def ratio_of(subject: list[float], baseline: list[float]) -> Ratio:
    """Return the ratio of two lists of times, taken in turns, for a unit of work each."""
    ratios = sorted(b / s for s, b in zip(subject, baseline, strict=True))
    return Ratio(
        statistics.median(ratios),
        ratios[len(ratios) // 4],
        ratios[-1 - len(ratios) // 4],
        statistics.median(subject),
        statistics.median(baseline),
    )


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
