"""Products of vectors and matrices, each in a fixed order of operations."""

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..jit.decorators import inlined, kernel
from ..jit.options import kernel_options
from .floats import fma

_SUMS = 16
_INDEX = ir.IntType(64)


def dot(x: Any, y: Any) -> Any:
    """Return x'y, in their precision: by sixteen running sums, then by eight, four, two and one.

    Sum k takes in the numbers k, k + 16, k + 32, ... of the whole sixteens. Then sums k and k + 8
    become one, and if eight numbers or more are left, these eight sums take in one each; and so on
    with four, two and one.
    """
    n, sums = len(x), [x.dtype.type(0.0)] * _SUMS
    left = n - n % _SUMS
    for i in range(left):
        sums[i % _SUMS] = fma(x[i], y[i], sums[i % _SUMS])
    for width in (8, 4, 2, 1):
        sums = [sums[k] + sums[k + width] for k in range(width)]
        if n & width:
            sums = [fma(x[left + k], y[left + k], sums[k]) for k in range(width)]
            left += width
    return sums[0]


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


@overload(dot, jit_options={**kernel_options(), "forceinline": True})
def _dot_compiled(x, y):
    return lambda x, y: _dot(x, y)


@intrinsic
def _dot(typingctx, x, y):
    # A compiler leaves running sums that are written out as they are: it takes in numbers one by
    # one, at a quarter of the speed or less.
    assert x.layout == y.layout == "C"

    def codegen(context, builder, signature, args):
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        ]
        n = cgutils.unpack_tuple(builder, arrays[0].shape)[0]
        return _DotCode(builder, x.dtype.bitwidth, [array.data for array in arrays]).dot(n)

    return x.dtype(x, y), codegen


class _DotCode:
    """The code of `dot`: sums are vectors, and what is left over is a vector of fewer lanes."""

    def __init__(self, builder, bits, pointers):
        self.builder, self.bits, self.pointers = builder, bits, pointers
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.sums = {
            width: cgutils.alloca_once(builder, self._kind(width)) for width in (16, 8, 4, 2, 1)
        }
        self.left = cgutils.alloca_once(builder, _INDEX)

    def dot(self, n):
        builder, whole = self.builder, self.builder.and_(n, _INDEX(-_SUMS))
        builder.store(ir.Constant(self._kind(_SUMS), [0.0] * _SUMS), self.sums[_SUMS])
        with cgutils.for_range_slice(builder, _INDEX(0), whole, _INDEX(_SUMS)) as (i, _):
            self._take_in(i, _SUMS)
        builder.store(whole, self.left)
        for width in (8, 4, 2, 1):
            builder.store(self._halved(width), self.sums[width])
            digit = builder.and_(n, _INDEX(width))
            with builder.if_then(builder.icmp_unsigned("!=", digit, _INDEX(0))):
                i = builder.load(self.left, typ=_INDEX)
                self._take_in(i, width)
                builder.store(builder.add(i, _INDEX(width)), self.left)
        return builder.load(self.sums[1], typ=self.scalar)

    def _take_in(self, i, width):
        """Let sums take in numbers i, ..., i + width - 1."""
        builder, kind = self.builder, self._kind(width)
        numbers = []
        for pointer in self.pointers:
            # Every address and load names its type: a pointer may know none.
            place = builder.gep(pointer, [i], source_etype=self.scalar)
            place = builder.bitcast(place, kind.as_pointer())
            numbers.append(builder.load(place, align=self.bits // 8, typ=kind))
        name = f"llvm.fma.v{width}f{self.bits}" if width > 1 else f"llvm.fma.f{self.bits}"
        signature = ir.FunctionType(kind, [kind] * 3)
        function = cgutils.get_or_insert_function(builder.module, signature, name)
        before = builder.load(self.sums[width], typ=kind)
        builder.store(builder.call(function, [*numbers, before]), self.sums[width])

    def _halved(self, width):
        """Return the sums of sums `width` apart."""
        builder, lane = self.builder, ir.IntType(32)
        sums = builder.load(self.sums[2 * width], typ=self._kind(2 * width))
        if width == 1:
            return builder.fadd(*(builder.extract_element(sums, lane(i)) for i in (0, 1)))
        halves = []
        for first in (0, width):
            lanes = ir.Constant(ir.VectorType(lane, width), list(range(first, first + width)))
            halves.append(builder.shuffle_vector(sums, sums, lanes))
        return builder.fadd(*halves)

    def _kind(self, width):
        return ir.VectorType(self.scalar, width) if width > 1 else self.scalar
