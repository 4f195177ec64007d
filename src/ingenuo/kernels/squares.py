"""HᵀH of rows in three slices by five products in place of nine, in registers: for tables of few columns.

A row is h₁z² + h₂z + h₃ at z = 2^23, and its square a polynomial of degree four, which its values at five points give:
at ∞, 0, 1, -1 and 2 (the way of Toom and Cook). A value is a product of one matrix by itself, whose lower triangle is
enough. What is multiplied stays below 2^53 in nearly all blocks, and where it does not, the block says so. A tile of
4 × 12 sums is held in vector registers. 512 rows of 50 columns take 0.26 ms; nine products by BLAS take 0.34 ms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

from ingenuo.kernels.numbers import _pour
from ingenuo.kernels.slices import NEXT

ROWS = 128
POINTS = 5
HELD = 8  # blocks of 512 rows whose products are added before they are poured out: below 2^58, and 2^62 on the way
_HIGH, _WIDE, _LANES = 4, 12, 4  # a tile, and the doubles of a vector


def width(d: int) -> int:
    """Columns as they are padded: whole tiles."""
    return -(-d // _WIDE) * _WIDE


@intrinsic  # type: ignore[untyped-decorator]
def _tile(typing_context: Any, a: Any, b: Any, stride: Any, n: Any, out: Any, out_stride: Any) -> Any:
    """out[4 × 12] = Σ over n rows of a[0:4]ᵀ b[0:12], by addresses, with strides in bytes."""
    signature = types.void(*(types.int64,) * 6)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, stride, n, out, out_stride = arguments
        double, integer = ir.DoubleType(), ir.IntType(64)
        vector = ir.VectorType(double, _LANES)
        across = range(_WIDE // _LANES)
        contract = ("contract",)  # whole numbers: a fused multiply-add gives the same

        def constant(value: int) -> Any:
            return ir.Constant(integer, value)

        def at(address: Any, kind: Any) -> Any:
            return builder.inttoptr(address, kind.as_pointer())

        before = builder.block
        loop, done = builder.append_basic_block("rows"), builder.append_basic_block("summed")
        builder.branch(loop)
        builder.position_at_end(loop)
        row, left, right = (builder.phi(integer) for _ in range(3))
        sums = [builder.phi(vector) for _ in range(_HIGH * len(across))]
        for phi, first in ((row, constant(0)), (left, a), (right, b)):
            phi.add_incoming(first, before)
        for phi in sums:
            phi.add_incoming(ir.Constant(vector, [0.0] * _LANES), before)
        loaded = []
        for j in across:
            load = builder.load(at(builder.add(right, constant(8 * _LANES * j)), vector))
            load.align = 8
            loaded.append(load)
        more = []
        for i in range(_HIGH):
            nothing = ir.Constant(vector, ir.Undefined)
            one = builder.load(at(builder.add(left, constant(8 * i)), double))
            single = builder.insert_element(nothing, one, ir.Constant(ir.IntType(32), 0))
            everywhere = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
            spread = builder.shuffle_vector(single, nothing, everywhere)
            for j in across:
                product = builder.fmul(spread, loaded[j], flags=contract)
                more.append(builder.fadd(sums[i * len(across) + j], product, flags=contract))
        following = builder.add(row, constant(1))
        for phi, value in ((row, following), (left, builder.add(left, stride)), (right, builder.add(right, stride))):
            phi.add_incoming(value, loop)
        for phi, value in zip(sums, more):
            phi.add_incoming(value, loop)
        builder.cbranch(builder.icmp_signed("<", following, n), loop, done)
        builder.position_at_end(done)
        for i in range(_HIGH):
            for j in across:
                place = builder.add(builder.mul(out_stride, constant(i)), constant(8 * _LANES * j))
                builder.store(more[i * len(across) + j], at(builder.add(out, place), vector)).align = 8
        return context.get_dummy_value()

    return signature, generate


@njit(cache=True, nogil=True)
def _evaluate(H, lo, hi, d, E):  # type: ignore[no-untyped-def]
    """The rows lo..hi at the five points; what pads the columns of E stays zero."""
    for i in range(lo, hi):
        for j in range(d):
            E[0, i - lo, j] = H[i, j]
        for j in range(d):
            E[1, i - lo, j] = H[i, 2 * d + j]
        for j in range(d):
            E[2, i - lo, j] = (H[i, j] + H[i, 2 * d + j]) + H[i, d + j]
        for j in range(d):
            E[3, i - lo, j] = (H[i, j] + H[i, 2 * d + j]) - H[i, d + j]
        for j in range(d):
            E[4, i - lo, j] = (4.0 * H[i, j] + H[i, 2 * d + j]) + 2.0 * H[i, d + j]


@njit(cache=True, nogil=True)
def _square(H, d, E, M, held):  # type: ignore[no-untyped-def]
    """Add the products at the five points to what is held, 128 rows at a time.

    Returns the rows that are not added, for their products may be above 2^53, as bits: 1 for the first 128, 2 for the
    next. All partial sums of a cell are at most the largest on the diagonal, and that one cannot fall again.
    """
    left = 0
    for lo in range(0, H.shape[0], ROWS):
        hi = min(lo + ROWS, H.shape[0])
        _evaluate(H, lo, hi, d, E)
        safe = True
        for p in range(POINTS):
            source, target = E[p].ctypes.data, M[p].ctypes.data
            stride, out_stride = E.strides[1], M.strides[1]
            for i in range(0, d, _HIGH):
                for j in range(0, i + _HIGH, _WIDE):
                    _tile(source + 8 * i, source + 8 * j, stride, hi - lo, target + out_stride * i + 8 * j, out_stride)
            for j in range(d):
                safe = safe and M[p, j, j] < 2.0**53
        if not safe:
            left |= 1 << (lo // ROWS)
            continue
        for p in range(POINTS):
            for i in range(d):
                for j in range(i + 1):
                    held[p, i, j] += np.int64(M[p, i, j])
    return left


@njit(cache=True, nogil=True)
def _pour_squares(held, units, moved, limbs, base):  # type: ignore[no-untyped-def]
    """Empty what is held, of the columns that moved: the coefficients of the polynomials go into the limbs."""
    c = np.zeros(POINTS, np.int64)
    for i in range(len(units)):
        for j in range(i + 1):
            if not (moved[i] or moved[j]):
                continue
            c[4], c[0] = held[0, i, j], held[1, i, j]
            odd = (held[2, i, j] - held[3, i, j]) >> 1
            c[2] = ((held[2, i, j] + held[3, i, j]) >> 1) - c[4] - c[0]
            c[3] = (((held[4, i, j] - 16 * c[4] - 4 * c[2] - c[0]) >> 1) - odd) // 3
            c[1] = odd - c[3]
            held[:, i, j] = 0
            for power in range(POINTS):
                position = units[i] + units[j] - NEXT * (4 - power)
                cell = limbs[i * (i + 1) // 2 + j]
                _pour(cell, base, c[power] >> 31, position + 31)
                _pour(cell, base, c[power] & ((np.int64(1) << 31) - 1), position)
