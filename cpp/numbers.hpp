// Exact sums of x and x² per class and column, with and without weights, and Gaussians with a row left out.
//
// A sum is a row of 40-bit limbs at absolute binary positions: limb q of a cell counts 2^(40 (base + q)). It cannot depend
// on the order of the rows, on blocks or on threads.
#pragma once
#include "common.hpp"
#include "math.hpp"

enum { LIMB = 40 };

INLINE i64 floor_divide(i64 a, i64 b) { return a / b - (a % b < 0); }

// Add n 2^position to one cell's limbs; |n| < 2^56.
INLINE void pour(i64* limbs, i64 base, i64 n, i64 position) {
    const i64 level = floor_divide(position, LIMB), shift = position - LIMB * level, sign = n < 0 ? -1 : 1;
    const u64 size = n < 0 ? -(u64)n : (u64)n, low = (size & (((u64)1 << (LIMB - shift)) - 1)) << shift;
    const u64 rest = size >> (LIMB - shift);
    i64* at = limbs + (level - base);
    if (low) at[0] += sign * (i64)low;
    if (rest) {
        at[1] += sign * (i64)(rest & (((u64)1 << LIMB) - 1));
        if (rest >> LIMB) at[2] += sign * (i64)(rest >> LIMB);
    }
}

// Bring every limb of every cell into -2^39 .. 2^39 - 1, the last one excepted.
INLINE void carry(i64* limbs, i64 cells, i64 n_limbs) {
    const i64 half = (i64)1 << (LIMB - 1);
    for (i64 cell = 0; cell < cells; cell++, limbs += n_limbs)
        for (i64 q = 0; q + 1 < n_limbs; q++) {
            const i64 up = (limbs[q] + half) >> LIMB;
            limbs[q] -= up * ((i64)1 << LIMB);
            limbs[q + 1] += up;
        }
}

// Pour a finite double that is not zero into one cell.
INLINE void add_one(double x, i64* limbs, i64 base) {
    int e;
    const double f = frexp(x, &e);
    pour(limbs, base, (i64)(f * 0x1p53), e - 53);
}

// Rows first..last in the order of their class: class k has rows[ends[k - 1]..ends[k]]; ends has a cell more than classes.
template <class T>
INLINE void sort_by_class(const i32* labels, i64 first, i64 last, i64 n_classes, T* rows, i64* ends) {
    for (i64 k = 0; k <= n_classes; k++) ends[k] = 0;
    for (i64 i = first; i < last; i++) ends[labels[i] + 1]++;
    for (i64 k = 0; k < n_classes; k++) ends[k + 1] += ends[k];
    for (i64 i = first; i < last; i++) rows[ends[labels[i]]++] = (T)i;
}
