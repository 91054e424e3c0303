"""Products of vectors and matrices, each in a fixed order of operations."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ..jit.decorators import inlined
from ..jit.options import kernel_options
from .floats import fma

_SUMS = 16  # of `dot`
_COLUMNS = 64  # of a product kept in registers: enough to hide the latency of an addition
_ROWS = 32  # of a matrix per block: few enough to be close in memory
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


def add_transposed(matrix: Any, x: Any, out: Any) -> None:
    """out += matrix'x (n x r), row after row; cost O(n r)."""
    for i in range(len(x)):
        axpy(x[i], matrix[i], out)


def multiply_transposed(matrix: Any, x: Any, out: Any) -> None:
    """out = matrix'x, which is matrix x for symmetric matrices."""
    out[:] = 0.0
    add_transposed(matrix, x, out)


@overload(dot, jit_options={**kernel_options(), "forceinline": True})
def _dot_compiled(x, y):
    return lambda x, y: _dot(x, y)


@overload(add_transposed, jit_options=kernel_options())
def _add_transposed_compiled(matrix, x, out):
    def compiled(matrix, x, out):
        for i in range(0, x.shape[0], _ROWS):
            _product(matrix[i : i + _ROWS], x[i : i + _ROWS], out, True)

    return compiled


@overload(multiply_transposed, jit_options=kernel_options())
def _multiply_transposed_compiled(matrix, x, out):
    def compiled(matrix, x, out):
        _product(matrix[:_ROWS], x[:_ROWS], out, False)
        for i in range(_ROWS, x.shape[0], _ROWS):
            _product(matrix[i : i + _ROWS], x[i : i + _ROWS], out, True)

    return compiled


@intrinsic
def _dot(typingctx, x, y):
    # A compiler does not vectorise explicit running sums: they take four times as long or more.
    def codegen(context, builder, signature, args):
        x, y = _arrays(context, builder, signature, args)
        return _Dot(builder, signature.return_type.bitwidth, x, y).code()

    return x.dtype(x, y), codegen


@intrinsic(prefer_literal=True)
def _product(typingctx, matrix, x, out, adds):
    # A compiler runs along each row, and loads and stores every number of `out` each time. Here
    # some columns of `out` stay in registers until all rows are through.
    def codegen(context, builder, signature, args):
        arrays = _arrays(context, builder, signature, args)
        _Product(builder, out.dtype.bitwidth, adds.literal_value, *arrays).code()
        return context.get_dummy_value()

    return types.none(matrix, x, out, adds), codegen


def _arrays(context, builder, signature, args):
    given = zip(signature.args, args, strict=True)
    given = [(kind, value) for kind, value in given if isinstance(kind, types.Array)]
    assert all(kind.layout == "C" for kind, _ in given)
    return [context.make_array(kind)(context, builder, value) for kind, value in given]


class _Pieces:
    """Code for pieces of vectors: many of one width, and what is left over in ever smaller ones."""

    def __init__(self, builder, bits):
        self.builder, self.bits = builder, bits
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.left = cgutils.alloca_once(builder, _INDEX)

    def whole(self, n, width, body):
        """Do body(i, width) for the whole pieces of 0, ..., n - 1."""
        builder, end = self.builder, self.builder.and_(n, _INDEX(-width))
        with cgutils.for_range_slice(builder, _INDEX(0), end, _INDEX(width)) as (i, _):
            body(i, width)
        builder.store(end, self.left)

    def next_left(self, n, width, body):
        """Do body(i, width) if n has the binary digit `width`, so that `width` are left over."""
        builder = self.builder
        digit = builder.and_(n, _INDEX(width))
        with builder.if_then(builder.icmp_unsigned("!=", digit, _INDEX(0))):
            i = builder.load(self.left, typ=_INDEX)
            body(i, width)
            builder.store(builder.add(i, _INDEX(width)), self.left)

    # Addresses and loads name their types: pointers may be opaque.

    def kind(self, width):
        return ir.VectorType(self.scalar, width) if width > 1 else self.scalar

    def place(self, array, i, width):
        start = self.builder.gep(array.data, [i], source_etype=self.scalar)
        return self.builder.bitcast(start, self.kind(width).as_pointer())

    def load(self, array, i, width):
        """Return array[i : i + width]."""
        place = self.place(array, i, width)
        return self.builder.load(place, align=self.bits // 8, typ=self.kind(width))

    def fma(self, x, y, z, width):
        kind = self.kind(width)
        name = f"llvm.fma.v{width}f{self.bits}" if width > 1 else f"llvm.fma.f{self.bits}"
        signature = ir.FunctionType(kind, [kind] * 3)
        function = cgutils.get_or_insert_function(self.builder.module, signature, name)
        return self.builder.call(function, [x, y, z])


class _Dot(_Pieces):
    """The code of `dot`."""

    def __init__(self, builder, bits, x, y):
        super().__init__(builder, bits)
        self.x, self.y = x, y
        widths = (16, 8, 4, 2, 1)
        self.sums = {width: cgutils.alloca_once(builder, self.kind(width)) for width in widths}

    def code(self):
        builder, n = self.builder, cgutils.unpack_tuple(self.builder, self.x.shape)[0]
        builder.store(ir.Constant(self.kind(_SUMS), [0.0] * _SUMS), self.sums[_SUMS])
        self.whole(n, _SUMS, self._take_in)
        for width in (8, 4, 2, 1):
            builder.store(self._halved(width), self.sums[width])
            self.next_left(n, width, self._take_in)
        return builder.load(self.sums[1], typ=self.scalar)

    def _take_in(self, i, width):
        """Let sums take in the numbers i, ..., i + width - 1."""
        before = self.builder.load(self.sums[width], typ=self.kind(width))
        pair = self.load(self.x, i, width), self.load(self.y, i, width)
        self.builder.store(self.fma(*pair, before, width), self.sums[width])

    def _halved(self, width):
        """Return the sums of sums `width` apart."""
        builder, lane = self.builder, ir.IntType(32)
        sums = builder.load(self.sums[2 * width], typ=self.kind(2 * width))
        if width == 1:
            return builder.fadd(*(builder.extract_element(sums, lane(i)) for i in (0, 1)))
        halves = []
        for first in (0, width):
            lanes = ir.Constant(ir.VectorType(lane, width), list(range(first, first + width)))
            halves.append(builder.shuffle_vector(sums, sums, lanes))
        return builder.fadd(*halves)


class _Product(_Pieces):
    """The code of `add_transposed`, or of `multiply_transposed`, which begins with zeros."""

    def __init__(self, builder, bits, adds, matrix, x, out):
        super().__init__(builder, bits)
        self.adds = adds
        self.matrix, self.x, self.out = matrix, x, out
        self.n = cgutils.unpack_tuple(builder, x.shape)[0]
        self.r = cgutils.unpack_tuple(builder, out.shape)[0]

    def code(self):
        self.whole(self.r, _COLUMNS, self._columns)
        for width in (32, 16, 8, 4, 2, 1):
            self.next_left(self.r, width, self._columns)

    def _columns(self, j, width):
        """Add x'matrix to out for the columns j, ..., j + width - 1."""
        builder, kind = self.builder, self.kind(width)
        total = cgutils.alloca_once(builder, kind)
        zeros = ir.Constant(kind, [0.0] * width if width > 1 else 0.0)
        builder.store(self.load(self.out, j, width) if self.adds else zeros, total)
        with cgutils.for_range(builder, self.n) as loop:
            row = builder.add(builder.mul(loop.index, self.r), j)
            factor = self._spread(self.load(self.x, loop.index, 1), width)
            before = builder.load(total, typ=kind)
            after = self.fma(factor, self.load(self.matrix, row, width), before, width)
            builder.store(after, total)
        place = self.place(self.out, j, width)
        builder.store(builder.load(total, typ=kind), place, align=self.bits // 8)

    def _spread(self, number, width):
        """Return a number in all lanes."""
        if width == 1:
            return number
        builder, empty = self.builder, ir.Constant(self.kind(width), ir.Undefined)
        first = builder.insert_element(empty, number, ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)
        return builder.shuffle_vector(first, empty, lanes)
