"""Compiled kernels: functions on arrays and named tuples, which need only numba and numpy.

Kernels know no files, options or user coordinates. They work on a canonical problem: prior
N(0, I) on z in R^r, unit noise, arms b (K x r) with offsets o (K), so that arm a pays
``o_a + b_a'z + N(0, 1)``.
"""

if __name__ != "fastes.kernels":
    # A second copy under another name would use the same cache.
    raise ImportError(f"these kernels are the package fastes.kernels, not {__name__!r}")
