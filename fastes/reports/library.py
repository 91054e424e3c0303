"""Plotly's script, from its own package, packed to go into a page.

Plotly draws elements of the page (SVG) from plain JSON, which tests and browsers can inspect, needs
no network and evaluates no text as code, so that a page can forbid both. It is 4.8 MB, packed 2.0.
"""

import base64
import functools
import gzip
import hashlib
from typing import NamedTuple


class Library(NamedTuple):
    """A script, and the hash by which a page allows its browser to run it."""

    version: str
    packed: str  # gzip, base64
    hash: str  # as a Content-Security-Policy has it


@functools.cache
def charts_library() -> Library:
    """Return Plotly's script, or raise ImportError with the command that installs it."""
    try:
        import plotly
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError(
            "a report needs plotly: install it with pip install 'fastes[report]'"
        ) from error
    script = get_plotlyjs().encode()
    packed = base64.b64encode(gzip.compress(script, 6, mtime=0)).decode()
    return Library(plotly.__version__, packed, script_hash(script))


def script_hash(script: bytes) -> str:
    """Return the hash of a script, as a Content-Security-Policy has it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode()}'"
