"""The charts' library, from its own package, packed to go into a page.

Plotly or Bokeh: both are well kept, come whole in a package of PyPI, evaluate no text as code, so
that the page can forbid that and the network to its browser, and hide one of 80 curves of 200
points with bands in about 0.1 s. Plotly, because a chart is plain JSON, so that tests compare what
is in a page with a result; because curves, legends and hover labels are elements of the page (SVG),
which print sharply and can be inspected, not pixels of a canvas; and because its package needs two
others, Bokeh's nine. The price is its size: 4.8 MB, packed 2.0, where Bokeh has 1.3 and 0.5.
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
