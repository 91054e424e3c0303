"""What an anchor is: a published number, what reproduces it, and when the two agree."""

from collections.abc import Callable
from dataclasses import dataclass
from math import hypot, sqrt

WIDTH = 3.0
"""Combined standard errors within which two numbers agree: by chance one in 370 does not."""


@dataclass(frozen=True)
class Source:
    """Where numbers come from, and how they came to us."""

    key: str
    citation: str
    read: str


@dataclass(frozen=True)
class Measurement:
    """What fastes measured: a mean over runs, or their median, and its standard error."""

    mean: float
    se: float
    runs: int


@dataclass(frozen=True)
class Anchor:
    """A published number, and the measurement that stands beside it.

    Attributes
    ----------
    name : str
        By which it is called in the tests and in the file of measurements.
    source : Source
        Who published it.
    setting, agent : str
        In words, for the table.
    published : float
        The number.
    places : int
        Decimal places that it was published with; negative where tens were rounded.
    measure : callable
        Runs fastes and returns a `Measurement`.
    error : float or None
        Standard error of the published number, if that was published.
    trials : int or None
        How many runs it is the mean of, if only that is known. They are taken to have scattered
        as ours do.
    vague : float
        How far from the number a claim without numbers ("linear", "nearly free") still holds.
    standing : str
        Why the two differ, where that is known to be so.
    """

    name: str
    source: Source
    setting: str
    agent: str
    published: float
    places: int
    measure: Callable[[], Measurement]
    error: float | None = None
    trials: int | None = None
    vague: float = 0.0
    standing: str = ""

    def their_error(self, ours: Measurement) -> float:
        """Return the standard error of the published number; 0 where nothing is known of it."""
        if self.error is not None:
            return self.error
        return ours.se * sqrt(ours.runs / self.trials) if self.trials else 0.0

    def margin(self, ours: Measurement) -> float:
        """Return the largest difference that is agreement."""
        rounding = 0.5 * 10.0**-self.places
        return rounding + self.vague + WIDTH * hypot(ours.se, self.their_error(ours))

    def agrees(self, ours: Measurement) -> bool:
        """Return whether our number is the published one, as far as both can tell."""
        return abs(ours.mean - self.published) <= self.margin(ours)
