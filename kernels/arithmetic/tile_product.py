"""The scores of a tile of arms, the innermost loop, written for vector registers.

In a loop over arms within a loop over coordinates, a compiler loads and stores each sum at every
coordinate. Here sums stay in registers until all coordinates are done, which makes a scan two to
four times as fast if the arms are in cache.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from .features import has_feature
from .floats import fma

TILE = 64
"""Arms in a tile."""

MODELS = 4
"""Models per product, if not one."""

# Such that the sums of all models, a coordinate of a model and the vectors of arms fit into the
# registers, of which there are 32 or 16.
_VECTOR_BYTES = 64 if has_feature("avx512f") else 32
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

    def codegen(context, builder, signature, args):
        arrays = arrays_of(context, builder, signature.args, args)
        r = cgutils.unpack_tuple(builder, arrays[2].shape)[-1]
        pointers = [array.data for array in arrays]
        _Code(builder, b.dtype.bitwidth, pointers, r).emit(models)
        return context.get_dummy_value()

    return types.none(b, o, z, out), codegen


def arrays_of(context, builder, kinds, values):
    """Return the arrays among the arguments of an intrinsic, their fields at hand."""
    return [
        context.make_array(kind)(context, builder, value)
        for kind, value in zip(kinds, values, strict=True)
    ]


class TileCode:
    """Code that loops over the rows of a tile and keeps the sums of its columns in registers.

    Subclasses, by type of number, define how sums start, how arms and models are loaded, how
    products are added, and what is done with complete sums.
    """

    def __init__(self, builder, lanes, rows):
        self.builder = builder
        self.lanes = lanes
        self.rows = rows

    def emit(self, models):
        """Emit the code for all columns, some of them at a time."""
        columns, at_once = range(0, TILE, self.lanes), _VECTORS_AT_ONCE[models]
        for i in range(0, len(columns), at_once):
            self._score(columns[i : i + at_once], models)

    def _score(self, columns, models):
        """Score the arms in some columns, a vector of them at each."""
        builder = self.builder
        sums = [[self.initial(model, column) for column in columns] for model in range(models)]
        start = builder.block
        loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
        builder.branch(loop)
        builder.position_at_end(loop)
        j = builder.phi(_INDEX)
        before = [[builder.phi(total.type) for total in row] for row in sums]
        arms = [self.load_arms(j, column) for column in columns]
        after = []
        for model in range(models):
            z = self.load_model(model, j)
            pairs = zip(arms, before[model], strict=True)
            after.append([self.add_product(b, z, total) for b, total in pairs])
        following = builder.add(j, _INDEX(1))
        builder.cbranch(builder.icmp_signed("<", following, self.rows), loop, done)
        j.add_incoming(_INDEX(0), start)
        j.add_incoming(following, loop)
        for model in range(models):
            for i in range(len(columns)):
                before[model][i].add_incoming(sums[model][i], start)
                before[model][i].add_incoming(after[model][i], loop)
        builder.position_at_end(done)
        for model in range(models):
            for column, total in zip(columns, after[model], strict=True):
                self.finish(model, column, total)

    # Addresses and loads name their types: pointers may be opaque.

    def load(self, array, index, kind, vector=None):
        """Return the number of a kind at an index, or the vector that begins there."""
        builder = self.builder
        place = builder.gep(array, [index], source_etype=kind)
        if vector is None:
            return builder.load(place, typ=kind)
        place = builder.bitcast(place, vector.as_pointer())
        return builder.load(place, align=_bytes_of(kind), typ=vector)

    def store(self, total, array, index, kind):
        """Store a vector at the index of a number."""
        builder = self.builder
        place = builder.gep(array, [index], source_etype=kind)
        place = builder.bitcast(place, total.type.as_pointer())
        builder.store(total, place, align=_bytes_of(kind))

    def spread(self, number, vector):
        """Return a number in all lanes of a vector."""
        builder, empty = self.builder, ir.Constant(vector, ir.Undefined)
        first = builder.insert_element(empty, number, ir.IntType(32)(0))
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        return builder.shuffle_vector(first, empty, lanes)

    def function(self, name, result, arguments):
        """Return a function of LLVM's by its name and types."""
        kind = ir.FunctionType(result, arguments)
        return cgutils.get_or_insert_function(self.builder.module, kind, name)


def _bytes_of(kind):
    if isinstance(kind, ir.IntType):
        return kind.width // 8
    return 4 if isinstance(kind, ir.FloatType) else 8


class _Code(TileCode):
    """The code of `score_tile`."""

    def __init__(self, builder, bits, pointers, r):
        super().__init__(builder, _VECTOR_BYTES * 8 // bits, r)
        self.b, self.o, self.z, self.out = pointers
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector = ir.VectorType(self.scalar, self.lanes)
        name = f"llvm.fma.v{self.lanes}f{bits}"
        self.fma = self.function(name, self.vector, [self.vector] * 3)

    def initial(self, model, column):
        return self.load(self.o, _INDEX(column), self.scalar, self.vector)

    def load_arms(self, j, column):
        index = self.builder.add(self.builder.mul(j, _INDEX(TILE)), _INDEX(column))
        return self.load(self.b, index, self.scalar, self.vector)

    def load_model(self, model, j):
        index = self.builder.add(self.builder.mul(self.rows, _INDEX(model)), j)
        return self.spread(self.load(self.z, index, self.scalar), self.vector)

    def add_product(self, b, z, total):
        return self.builder.call(self.fma, [z, b, total])

    def finish(self, model, column, total):
        self.store(total, self.out, _INDEX(model * TILE + column), self.scalar)
