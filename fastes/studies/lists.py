"""Lists of values as people write them: 1,2,5 or 2,4,8,...,1024."""

import re
from fractions import Fraction
from typing import Any

from fastes.checks.parameters import FLAGS

_MOST_VALUES, _MOST_BITS = 100_000, 200
_NUMBER = re.compile(r"[+-]?\d(_?\d){0,24}(\.\d{1,18})?(e[+-]?\d{1,2})?", re.IGNORECASE)


def progression(name: str, text: str) -> list[Any]:
    """Return the numbers that a text lists: "1,2,5", or "2,4,8,...,1024", a progression.

    Examples
    --------
    >>> progression("M", "2,4,...,32"), progression("d", "5,10,15,...,25"), progression("K", "7")
    ([2, 4, 8, 16, 32], [5, 10, 15, 20, 25], [7])
    >>> progression("T", "1e3,1_000_000")
    [1000, 1000000]
    """
    words = [word.strip() for word in text.split(",")]
    try:
        if "..." not in words:
            return [_plain(_number(word)) for word in words]
        at = words.index("...")
        begun, (last,) = map(_number, words[:at]), map(_number, words[at + 1 :])
        return [_plain(value) for value in _continued(list(begun), last)]
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{name} must be numbers such as 10,100 or 2,4,8,...,64, got {text!r}"
        ) from None


def flags(name: str, text: str) -> list[bool]:
    """Return the flags that a text lists: "yes", "no" or "no,yes".

    Examples
    --------
    >>> flags("symmetric", "no,yes")
    [False, True]
    """
    known = {word: flag for flag, word in FLAGS.items()}
    try:
        return list(dict.fromkeys(known[word.strip()] for word in text.split(",")))
    except KeyError:
        raise ValueError(f"{name} must be yes, no or both, such as no,yes, got {text!r}") from None


def _number(word: str) -> Fraction:
    if not _NUMBER.fullmatch(word):  # Fraction reads more, such as a number of a million digits
        raise ValueError
    return Fraction(word.replace("_", ""))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _continued(begun: list[Fraction], last: Fraction) -> list[Fraction]:
    """Return a progression that begins and ends so, by equal ratios or else by equal steps."""
    if len(begun) < 2 or begun[0] == begun[1]:
        raise ValueError
    first, second = begun[:2]
    for ratio, step in ((second / first, Fraction(0)), (Fraction(1), second - first)):
        values = [first]
        while len(values) < _MOST_VALUES and values[-1] != last:
            values.append(values[-1] * ratio + step)
            beyond = (values[-1] > last) == (second > first) and values[-1] != last
            if beyond or values[-1].denominator.bit_length() > _MOST_BITS:
                break
        if values[-1] == last and values[: len(begun)] == begun:
            return values
    raise ValueError
