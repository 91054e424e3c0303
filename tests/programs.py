"""Programs for processes of their own, which have their own cache or another numba."""

import os
import subprocess
import sys

PROBE = """
import numpy as np
from fastes.kernels.actions import arms
b = arms.empty_arms(2, 1)
arms.store_rows(b, 0, np.array([[1.0], [3.0]]), np.zeros(2))
out = np.empty(2)
arms.arm_values(b, np.array([2.0]), np.empty(64), out)
print(out.tolist(), arms.arm_values.stats.cache_hits.total())
"""
"""Call two kernels; print what they give and how many of them came from the cache."""


def python(code, *, check=False, **environment):
    """Run a program; with `check`, return what it printed if it ended well."""
    outcome = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if not check:
        return outcome
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout.strip()
