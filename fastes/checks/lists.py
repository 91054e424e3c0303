"""Parsing of lists of values: 1,2,5 or 2,4,8,...,1024 or ar:0.9,abrupt:100,200."""

import re
from fractions import Fraction
from typing import Any

from fastes.checks.parameters import FLAGS

_MOST_VALUES, _MOST_BITS = 100_000, 200
_NUMBER = re.compile(r"[+-]?\d(_?\d){0,24}(\.\d{1,18})?(e[+-]?\d{1,2})?", re.IGNORECASE)


def progression(name: str, text: str) -> list[Any]:
    """Return the numbers in a text: "1,2,5", or a progression "2,4,8,...,1024".

    Examples
    --------
    >>> progression("M", "2,4,...,32"), progression("d", "5,10,15,...,25"), progression("K", "7")
    ([2, 4, 8, 16, 32], [5, 10, 15, 20, 25], [7])
    >>> progression("T", "1e3,1_000_000")
    [1000, 1000000]
    """
    items = [item.strip() for item in text.split(",")]
    try:
        if "..." not in items:
            return [_plain(_number(item)) for item in items]
        at = items.index("...")
        begun, (last,) = map(_number, items[:at]), map(_number, items[at + 1 :])
        return [_plain(value) for value in _continued(list(begun), last)]
    except (ValueError, ZeroDivisionError):
        raise ValueError(
            f"{name} must be numbers such as 10,100 or 2,4,8,...,64, got {text!r}"
        ) from None


def flags(name: str, text: str) -> list[bool]:
    """Return the flags in a text: "yes", "no" or "no,yes".

    Examples
    --------
    >>> flags("symmetric", "no,yes")
    [False, True]
    """
    known = {item: flag for flag, item in FLAGS.items()}
    try:
        return list(dict.fromkeys(known[item.strip()] for item in text.split(",")))
    except KeyError:
        raise ValueError(f"{name} must be yes, no or both, such as no,yes, got {text!r}") from None


def texts(text: str) -> list[str]:
    """Return the texts in a list; each begins with a letter, and may hold a list of numbers.

    Examples
    --------
    >>> texts("none,abrupt:100,200,...,900,ar:0.999")
    ['none', 'abrupt:100,200,...,900', 'ar:0.999']
    """
    return [item.strip() for item in re.split(r",(?=\s*[A-Za-z])", text)]


def _number(text: str) -> Fraction:
    if not _NUMBER.fullmatch(text):  # Fraction accepts more, such as a million digits
        raise ValueError
    return Fraction(text.replace("_", ""))


def _plain(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def _continued(begun: list[Fraction], last: Fraction) -> list[Fraction]:
    """Return the geometric, or else arithmetic, progression with this start and end."""
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
