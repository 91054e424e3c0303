"""Reports as files: HTML pages with a sealed JSON header."""

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from fastes.files.atomic import atomic_write
from fastes.files.guard import made_of
from fastes.files.kinds import REPORT_MARK, require_replaceable

_HEADER = re.compile(r'<script type="application/json" id="fastes-report">(.*?)</script>\n', re.S)
_PLACE = "<!--header-->\n"
_END = "</html>\n"


def write_report(
    path: str | os.PathLike[str], page: str, header: dict[str, Any], force: bool = False
) -> int:
    """Write a page with its header in place of `<!--header-->`; return its size in bytes.

    The write is atomic. A file that is not a report is replaced only with `force`.
    """
    require_replaceable(path, "report", force)
    before, place, after = page.partition(_PLACE)
    if not (place and REPORT_MARK in before[:400] and page.endswith(_END)):
        raise ValueError("the page must begin and end like a report and have a place for a header")
    sealed = {**header, "sha256": _digest(before, header, after)}
    script = f'<script type="application/json" id="fastes-report">{embedded(sealed)}</script>\n'
    content = (before + script + after).encode()
    with atomic_write(path) as temporary:
        temporary.write_bytes(content)
    return len(content)


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the header of a report, or raise FileFormatError if the page was changed."""
    with made_of(path, "report"):
        page = Path(path).read_bytes().decode()
        found = _HEADER.search(page)
        header: dict[str, Any] = json.loads(found[1]) if found else {}
        seal = header.pop("sha256", None)
        if not found or seal != _digest(page[: found.start()], header, page[found.end() :]):
            raise ValueError("it was modified or truncated")
        return header


def embedded(value: Any) -> str:
    """Return JSON that is safe in a script element: no text in it can end the element.

    >>> embedded("</script><!--")
    '"\\\\u003c/script\\\\u003e\\\\u003c!--"'
    """
    # ensure_ascii also escapes U+2028, which would end a line in JavaScript.
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _digest(before: str, header: dict[str, Any], after: str) -> str:
    return hashlib.sha256("\0".join([before, embedded(header), after]).encode()).hexdigest()
