"""Plotly's script, from its package, packed into a page.

Plotly draws SVG from plain JSON, which tests and browsers can inspect. It needs no network and
evaluates no text as code, so a page can forbid both. Size 4.8 MB, packed 2.0 MB.
"""

import base64
import functools
import gzip
import hashlib
from typing import NamedTuple

from fastes.checks.extras import installed


class Library(NamedTuple):
    """A script, and its hash for the page's Content-Security-Policy."""

    version: str
    packed: str  # gzip, base64
    hash: str  # for a Content-Security-Policy


@functools.cache
def charts_library() -> Library:
    """Return Plotly's script, or raise ImportError with the command that installs it."""
    with installed("a report", "plotly", "report"):
        import plotly
        from plotly.offline import get_plotlyjs
    script = get_plotlyjs().encode()
    packed = base64.b64encode(gzip.compress(script, 6, mtime=0)).decode()
    return Library(plotly.__version__, packed, script_hash(script))


def script_hash(script: bytes) -> str:
    """Return the hash of a script for a Content-Security-Policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
