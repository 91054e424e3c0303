"""Products of vectors and matrices, each in a fixed order of operations."""

from ..jit.decorators import inlined, kernel
from .floats import fma


@inlined
def dot(x, y):
    """Return x'y, in their precision. Eight running sums, in the same order for any length."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = x.dtype.type(0.0)
    n = x.shape[0]
    whole = n - n % 8
    for i in range(0, whole, 8):
        s0 = fma(x[i], y[i], s0)
        s1 = fma(x[i + 1], y[i + 1], s1)
        s2 = fma(x[i + 2], y[i + 2], s2)
        s3 = fma(x[i + 3], y[i + 3], s3)
        s4 = fma(x[i + 4], y[i + 4], s4)
        s5 = fma(x[i + 5], y[i + 5], s5)
        s6 = fma(x[i + 6], y[i + 6], s6)
        s7 = fma(x[i + 7], y[i + 7], s7)
    for i in range(whole, n):
        s0 = fma(x[i], y[i], s0)
    return ((s0 + s4) + (s2 + s6)) + ((s1 + s5) + (s3 + s7))


@inlined
def axpy(a, x, y):
    """y += a x."""
    for i in range(y.shape[0]):
        y[i] = fma(a, x[i], y[i])


@kernel
def add_transposed(matrix, x, out):
    """out += matrix'x (n x r); cost O(n r), running along rows, four at a time."""
    n, r = x.shape[0], out.shape[0]
    whole = n - n % 4
    for i in range(0, whole, 4):
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        for j in range(r):
            s = fma(x0, matrix[i, j], out[j])
            s = fma(x1, matrix[i + 1, j], s)
            s = fma(x2, matrix[i + 2, j], s)
            out[j] = fma(x3, matrix[i + 3, j], s)
    for i in range(whole, n):
        axpy(x[i], matrix[i], out)


@kernel
def multiply_transposed(matrix, x, out):
    """out = matrix'x, which is matrix x for symmetric matrices."""
    for j in range(out.shape[0]):
        out[j] = 0.0
    add_transposed(matrix, x, out)
