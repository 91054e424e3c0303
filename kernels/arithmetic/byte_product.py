"""The best score of a tile of arms in 8-bit integers: four products and their sum in each lane.

Rows of arms and models are integers, four per word. Rows are stored as unsigned bytes with 128
added, since the instructions multiply unsigned by signed bytes; 128 times the sum of the model is
subtracted again. Integer sums are exact.
"""

import os
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from . import tile_product
from .features import has_feature
from .floats import fma
from .tile_product import MODELS, TILE, TileCode, arrays_of

WORD = 4
"""Coordinates in a word."""

ZERO = 128
"""The byte that stands for zero in a row."""

_INDEX = ir.IntType(64)
_BYTE, _SHORT, _INT, _FLOAT = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.FloatType()


class DotProducts(NamedTuple):
    """One instruction for four products and their sum (`vpdpbusd`, of AVX-512 and AVX VNNI)."""

    levels: int  # the largest integer of a model


class PairProducts(NamedTuple):
    """Pairs of products in 16 bits, which 2 * 255 * 64 fits, then pairs of those (AVX2)."""

    levels: int


def instruction() -> DotProducts | PairProducts | None:
    """Return the screening instruction of this processor, or None for single precision.

    The environment variable FASTES_SCREENING (vnni, avx2, single) chooses another; choices of arms
    do not depend on it.
    """
    vnni = has_feature("avxvnni") or (has_feature("avx512vnni") and has_feature("avx512vl"))
    possible: dict[str, DotProducts | PairProducts | None] = {"single": None}
    if has_feature("avx2"):
        possible = {"avx2": PairProducts(64), **possible}
    if vnni:
        possible = {"vnni": DotProducts(127), **possible}
    wanted = os.environ.get("FASTES_SCREENING") or next(iter(possible))
    if wanted not in possible:
        here = ", ".join(possible)
        raise ValueError(f"FASTES_SCREENING must be one of {here} on this machine, got {wanted!r}")
    return possible[wanted]


def largest_of_bytes(instruction, codes, o, p, shift, scale, out):
    """out[m] = the largest of o + scale[m] (q'p[m]) of a tile; cost O(TILE r / 4) a model.

    codes (words x WORD TILE) are the rows, q + ZERO, as uint8: byte i of word k of column c is at
    [k, WORD c + i]. p (WORD words) int8 is one model, or there are `MODELS` of them, one a row;
    shift[m] is -ZERO times the sum of p[m], and scale[m] what the products are multiples of. q'p is
    exact, what follows is in single precision.
    """
    words = codes.shape[0]
    q = codes.reshape(words, TILE, WORD).transpose(0, 2, 1).reshape(-1, TILE).astype(np.int64)
    for m, model in enumerate(p.reshape(-1, p.shape[-1])):
        sums = model.astype(np.int64) @ q + shift[m]
        scores = [fma(np.float32(total), scale[m], o[i]) for i, total in enumerate(sums)]
        out[m] = max(scores)


@overload(largest_of_bytes)
def _largest_of_bytes_compiled(instruction, codes, o, p, shift, scale, out):
    return lambda instruction, codes, o, p, shift, scale, out: _largest_of_bytes(
        instruction, codes, o, p, shift, scale, out
    )


@intrinsic
def _largest_of_bytes(typingctx, instruction, codes, o, p, shift, scale, out):
    code = {DotProducts: _DotCode, PairProducts: _PairCode}[instruction.instance_class]
    models = 1 if p.ndim == 1 else MODELS

    def codegen(context, builder, signature, args):
        arrays = arrays_of(context, builder, signature.args[1:], args[1:])
        words = cgutils.unpack_tuple(builder, arrays[0].shape)[0]
        code(builder, [array.data for array in arrays], words).emit(models)
        return context.get_dummy_value()

    return types.none(instruction, codes, o, p, shift, scale, out), codegen


class _Code(TileCode):
    """The code of `largest_of_bytes`."""

    wide: str  # the feature that vectors of 64 bytes need

    def __init__(self, builder, pointers, words):
        wide = tile_product._VECTOR_BYTES == 64 and has_feature(self.wide)
        super().__init__(builder, 16 if wide else 8, words)
        self.codes, self.o, self.p, self.shift, self.scale, self.out = pointers
        self.sums = ir.VectorType(_INT, self.lanes)
        self.floats = ir.VectorType(_FLOAT, self.lanes)
        name = f"llvm.fma.v{self.lanes}f32"
        self.fma = self.function(name, self.floats, [self.floats] * 3)
        self.largest = {}

    def emit(self, models):
        super().emit(models)
        for model in range(models):
            self._store_largest(model)

    def initial(self, model, column):
        return self.spread(self.load(self.shift, _INDEX(model), _INT), self.sums)

    def load_arms(self, j, column):
        index = self.builder.add(self.builder.mul(j, _INDEX(TILE)), _INDEX(column))
        return self.load(self.codes, index, _INT, self.sums)

    def load_model(self, model, j):
        index = self.builder.add(self.builder.mul(self.rows, _INDEX(model)), j)
        return self.spread(self.load(self.p, index, _INT), self.sums)

    def finish(self, model, column, total):
        scale = self.spread(self.load(self.scale, _INDEX(model), _FLOAT), self.floats)
        o = self.load(self.o, _INDEX(column), _FLOAT, self.floats)
        scores = self.builder.call(self.fma, [self.builder.sitofp(total, self.floats), scale, o])
        self.largest[model] = self._larger(scores, self.largest.get(model, scores))

    def _larger(self, x, y):
        return self.builder.select(self.builder.fcmp_ordered(">", x, y), x, y)

    def _store_largest(self, model):
        """Store the largest lane: halves against halves until one is left."""
        builder, scores, n = self.builder, self.largest[model], self.lanes
        while n > 1:
            n //= 2
            lanes = ir.VectorType(ir.IntType(32), n)
            low, high = (
                ir.Constant(lanes, list(range(n))),
                ir.Constant(lanes, list(range(n, 2 * n))),
            )
            halves = [builder.shuffle_vector(scores, scores, half) for half in (low, high)]
            scores = self._larger(*halves)
        number = builder.extract_element(scores, ir.IntType(32)(0))
        builder.store(number, builder.gep(self.out, [_INDEX(model)], source_etype=_FLOAT))


class _DotCode(_Code):
    wide = "avx512vnni"

    def add_product(self, b, z, total):
        name = f"llvm.x86.avx512.vpdpbusd.{32 * self.lanes}"
        dot = self.function(name, self.sums, [self.sums] * 3)
        return self.builder.call(dot, [total, b, z])


class _PairCode(_Code):
    wide = "avx512bw"

    def add_product(self, b, z, total):
        lanes, wide = self.lanes, self.lanes == 16
        small, pairs = ir.VectorType(_BYTE, 4 * lanes), ir.VectorType(_SHORT, 2 * lanes)
        first = "llvm.x86.avx512.pmaddubs.w.512" if wide else "llvm.x86.avx2.pmadd.ub.sw"
        second = "llvm.x86.avx512.pmaddw.d.512" if wide else "llvm.x86.avx2.pmadd.wd"
        in_pairs = self.function(first, pairs, [small] * 2)
        in_fours = self.function(second, self.sums, [pairs] * 2)
        bytes_of = [self.builder.bitcast(part, small) for part in (b, z)]
        ones = ir.Constant(pairs, [1] * (2 * lanes))
        products = self.builder.call(in_fours, [self.builder.call(in_pairs, bytes_of), ones])
        return self.builder.add(total, products)
