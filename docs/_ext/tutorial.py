"""What every tutorial loads first: ``%load_ext tutorial`` in a cell that is not shown."""

import os
import subprocess
import tempfile
from typing import Any


def load_ipython_extension(ipython: Any) -> None:
    """Draw figures as SVG, work in an empty folder, and let %%bash print without colours."""
    ipython.run_line_magic("config", "InlineBackend.figure_formats = ['svg']")
    os.environ.pop("FORCE_COLOR", None)  # set by the kernel
    os.chdir(tempfile.mkdtemp())
    ipython.register_magic_function(_bash, "cell", "bash")


def _bash(line: str, cell: str) -> None:
    # IPython's own prints in pieces of some bytes each, which the page would show apart.
    done = subprocess.run(["bash", "-ec", cell], check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
