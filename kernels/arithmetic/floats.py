"""Floating-point operations whose bits do not depend on vectorisation."""

from fractions import Fraction
from math import isfinite
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

MAX = Fraction(float(np.finfo(np.float64).max))


def fma(x: Any, y: Any, z: Any) -> Any:
    """Return x*y + z, rounded once; in single precision if all three are.

    Compiled, it is the processor's fused multiply-add. A compiler may fuse operations in one copy
    of a loop and not in another; an explicit fma is always the same. Interpreted, single precision
    is nearly always rounded once.
    """
    if all(isinstance(number, np.float32) for number in (x, y, z)):
        return np.float32(float(x) * float(y) + float(z))
    if isfinite(x) and isfinite(y) and isfinite(z):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        if exact and abs(exact) <= MAX:
            return float(exact)
    # Zero keeps its sign, overflow gives inf, and nan spreads, as in ordinary arithmetic.
    return x * y + z


def float_bits(x: float) -> np.int64:
    """Return the bit pattern of a float64 as an int64."""
    return np.float64(x).view(np.int64)


def bits_float(bits: np.int64) -> np.float64:
    """Return the float64 with the bit pattern of an int64."""
    return np.int64(bits).view(np.float64)


@intrinsic
def _fma(typingctx, x, y, z):
    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return types.float64(types.float64, types.float64, types.float64), codegen


@intrinsic
def _fma32(typingctx, x, y, z):
    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    return types.float32(types.float32, types.float32, types.float32), codegen


@intrinsic
def _float_bits(typingctx, x):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _bits_float(typingctx, bits):
    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@overload(fma)
def _fma_compiled(x, y, z):
    if x == y == z == types.float32:
        return lambda x, y, z: _fma32(x, y, z)
    return lambda x, y, z: _fma(x, y, z)


@overload(float_bits)
def _float_bits_compiled(x):
    return lambda x: _float_bits(x)


@overload(bits_float)
def _bits_float_compiled(bits):
    return lambda bits: _bits_float(bits)
