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
    fastest: float  # the ratio of the fastest rounds: what other programs disturb least


class Target(NamedTuple):
    """A figure to reach: the smallest ratio, or the most seconds."""

    least_ratio: float | None = None
    most_seconds: float | None = None
    most_extra_seconds: float | None = None  # above the baseline's

    def __str__(self) -> str:
        words = []
        if self.least_ratio is not None:
            words.append(f">= {self.least_ratio:.3g}")
        if self.most_seconds is not None:
            words.append(f"<= {in_units(self.most_seconds)}")
        if self.most_extra_seconds is not None:
            words.append(f"<= {in_units(self.most_extra_seconds)} more")
        return " or ".join(words)

    def reached(self, ratio: Ratio) -> bool:
        """Check whether one of the figures that are set is reached."""
        extra = ratio.subject_seconds - ratio.baseline_seconds
        more = self.most_extra_seconds
        return self.share(ratio) >= 1.0 or (more is not None and extra <= more)

    def share(self, ratio: Ratio) -> float:
        """Return how much of the ratio to reach is reached, or of the speed; the larger of both."""
        shares = [0.0]
        if self.least_ratio is not None:
            shares.append(ratio.median / self.least_ratio)
        if self.most_seconds is not None:
            shares.append(self.most_seconds / ratio.subject_seconds)
        return max(shares)


def ratio_of(subject: list[float], baseline: list[float]) -> Ratio:
    """Return the ratio of two lists of times, taken in turns, for a unit of work each."""
    ratios = sorted(b / s for s, b in zip(subject, baseline, strict=True))
    return Ratio(
        statistics.median(ratios),
        ratios[len(ratios) // 4],
        ratios[-1 - len(ratios) // 4],
        statistics.median(subject),
        statistics.median(baseline),
        min(baseline) / min(subject),
    )


def seconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def in_units(duration: float) -> str:
    """Return a time for people."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if duration >= 0.9995 * size:
            return f"{duration / size:.3g} {unit}"
    return f"{duration / 1e-9:.3g} ns"
