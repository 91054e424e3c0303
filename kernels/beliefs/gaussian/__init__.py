"""The normal belief about z: the exact posterior where rewards are normal."""

from . import questions, update, window  # noqa: F401, which register the bodies
