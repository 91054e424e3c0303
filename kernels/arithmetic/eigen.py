"""Eigenvalues and eigenvectors of a small symmetric matrix."""

import numpy as np

from ..jit.decorators import entry

_MOST_SWEEPS = 60


@entry
def diagonalise(matrix, vectors):
    """Diagonalise a symmetric matrix, with its eigenvectors in the rows of `vectors`.

    Jacobi's method: rotations set off-diagonal entries to zero until all are below rounding; cost
    O(n^3) per sweep, for a few sweeps. Not from LAPACK, since the bits must not depend on the
    installed BLAS.
    """
    n = matrix.shape[0]
    total = 0.0
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
            total += matrix[i, j] * matrix[i, j]
    for _ in range(_MOST_SWEEPS):
        beside = 0.0
        for i in range(n):
            for j in range(i):
                beside += matrix[i, j] * matrix[i, j]
        if not beside > 1e-34 * total:
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                if matrix[p, q] != 0.0:
                    _rotate(matrix, vectors, p, q)


@entry
def _rotate(matrix, vectors, p, q):
    """Set the entries (p, q) and (q, p) to zero by a rotation of two coordinates."""
    ratio = (matrix[q, q] - matrix[p, p]) / (2.0 * matrix[p, q])
    tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
    tangent = -tangent if ratio < 0.0 else tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    n = matrix.shape[0]
    for k in range(n):
        x, y = matrix[k, p], matrix[k, q]
        matrix[k, p], matrix[k, q] = cosine * x - sine * y, sine * x + cosine * y
    for k in range(n):
        x, y = matrix[p, k], matrix[q, k]
        matrix[p, k], matrix[q, k] = cosine * x - sine * y, sine * x + cosine * y
        u, v = vectors[p, k], vectors[q, k]
        vectors[p, k], vectors[q, k] = cosine * u - sine * v, sine * u + cosine * v
    matrix[p, q] = matrix[q, p] = 0.0
