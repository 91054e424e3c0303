"""The scores of a tile of arms, the innermost loop of all: written for the vector registers.

A loop over arms within a loop over coordinates has a compiler load and store each sum at every
coordinate. Here the sums stay in registers until all coordinates are done, which makes a scan
two to four times as fast where its arms are in cache.
"""

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from .floats import fma

TILE = 64
"""Arms in a tile."""

MODELS = 4
"""Models that a product takes at once, or one."""

# Vectors so long, and as many at once, that the sums of all models fit the registers, which are
# 32 or 16, with one for a coordinate of a model and one for each vector of arms.
_VECTOR_BYTES = 64 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 32
_VECTORS_AT_ONCE = {1: 4, MODELS: 4 if _VECTOR_BYTES == 64 else 3}
_INDEX = ir.IntType(64)


def score_tile(b, o, z, out):
    """out[:] = o + z b for the arms of one tile, b (r x TILE); cost O(TILE r).

    Of single or double precision. z is one model (r) or `MODELS` of them, one a row, and out
    has a row for each. Each score is one chain of fused multiply-adds over j = 0, 1, ...,
    whatever the arm's column, so that equal arms have equal scores to the bit.
    """
    for model, scores in zip(z.reshape(-1, z.shape[-1]), out.reshape(-1, TILE), strict=True):
        for i in range(TILE):
            score = o[i]
            for j in range(len(model)):
                score = fma(model[j], b[j, i], score)
            scores[i] = score


@overload(score_tile)
def _score_tile_compiled(b, o, z, out):
    return lambda b, o, z, out: _score_tile(b, o, z, out)


@intrinsic
def _score_tile(typingctx, b, o, z, out):
    models = 1 if z.ndim == 1 else MODELS
    vectors = _VECTORS_AT_ONCE[models]

    def codegen(context, builder, signature, args):
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, args, strict=True)
        ]
        r = cgutils.unpack_tuple(builder, arrays[2].shape)[-1]
        code = _Code(builder, b.dtype.bitwidth, [array.data for array in arrays], r)
        columns = range(0, TILE, code.lanes)
        for i in range(0, len(columns), vectors):
            code.score(columns[i : i + vectors], models)
        return context.get_dummy_value()

    return types.none(b, o, z, out), codegen


class _Code:
    """The code of `score_tile`, for some arms of the tile at a time."""

    def __init__(self, builder, bits, pointers, r):
        self.builder = builder
        self.b, self.o, self.z, self.out = pointers
        self.r = r
        self.lanes = _VECTOR_BYTES * 8 // bits
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.align = bits // 8
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.fma = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(self.vector, [self.vector] * 3),
            f"llvm.fma.v{self.lanes}f{bits}",
        )

    def score(self, columns, models):
        """Score the arms in some columns, a vector of them at each."""
        builder = self.builder
        start = builder.block
        sums = [self._load(self.o, _INDEX(column)) for column in columns]
        loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        j = builder.phi(_INDEX)
        before = [[builder.phi(self.vector) for _ in columns] for _ in range(models)]
        row = builder.mul(j, _INDEX(TILE))
        arms = [self._load(self.b, builder.add(row, _INDEX(column))) for column in columns]
        after = []
        for model in range(models):
            z = self._spread(builder.add(builder.mul(self.r, _INDEX(model)), j))
            after.append(
                [
                    builder.call(self.fma, [z, *pair])
                    for pair in zip(arms, before[model], strict=True)
                ]
            )
        following = builder.add(j, _INDEX(1))
        builder.cbranch(builder.icmp_signed("<", following, self.r), loop, done)
        j.add_incoming(_INDEX(0), start)
        j.add_incoming(following, loop)
        for model in range(models):
            for i in range(len(columns)):
                before[model][i].add_incoming(sums[i], start)
                before[model][i].add_incoming(after[model][i], loop)
        builder.position_at_end(done)
        for model in range(models):
            for column, total in zip(columns, after[model], strict=True):
                target = self._vector_at(self.out, _INDEX(model * TILE + column))
                builder.store(total, target, align=self.align)

    # Every address and load names its type: a pointer may know none.

    def _at(self, array, index):
        return self.builder.gep(array, [index], source_etype=self.scalar)

    def _vector_at(self, array, index):
        return self.builder.bitcast(self._at(array, index), self.vector.as_pointer())

    def _load(self, array, index):
        place = self._vector_at(array, index)
        return self.builder.load(place, align=self.align, typ=self.vector)

    def _spread(self, index):
        """Return a coordinate of z in all lanes."""
        builder, empty = self.builder, ir.Constant(self.vector, ir.Undefined)
        number = builder.load(self._at(self.z, index), typ=self.scalar)
        first = builder.insert_element(empty, number, ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return builder.shuffle_vector(first, empty, lanes)
