// Exact sums of x and x² per class and column, with and without weights, and Gaussians with a row left out.
//
// A sum is a row of 40-bit limbs at absolute binary positions: limb q of a cell counts 2^(40 (base + q)). It cannot depend
// on the order of the rows, on blocks or on threads.
#pragma once
#include "common.hpp"
#include "math.hpp"
#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { LIMB = 40 };
static const u64 LOW = ((u64)1 << LIMB) - 1;
typedef unsigned __int128 u128;

INLINE i64 floor_divide(i64 a, i64 b) { return a / b - (a % b < 0); }

// Add n 2^position to one cell's limbs.
INLINE void pour(i64* limbs, i64 base, i64 n, i64 position) {
    const i64 level = floor_divide(position, LIMB), shift = position - LIMB * level, sign = n < 0 ? -1 : 1;
    const u64 size = n < 0 ? -(u64)n : (u64)n, low = size << shift & LOW, rest = size >> (LIMB - shift);
    i64* at = limbs + (level - base);
    if (low) at[0] += sign * (i64)low;
    if (rest) at[1] += sign * (i64)(rest & LOW);
    if (rest >> LIMB) at[2] += sign * (i64)(rest >> LIMB);
}

// Add sign (low + 2^128 high) 2^position to N limbs of a cell; position + the number's bits are within them.
template <int N> INLINE void pour_wide(i64* limbs, i64 base, i64 sign, u128 low, u128 high, i64 position) {
    const i64 level = floor_divide(position, LIMB), shift = position - LIMB * level;
    high = high << shift | low >> 64 >> (64 - shift);
    low <<= shift;
    const u64 cut[5] = {(u64)low & LOW, (u64)(low >> 40) & LOW, (u64)(low >> 80) & LOW, (u64)(low >> 120 | high << 8) & LOW,
                        (u64)(high >> 32)};
    for (int q = 0; q < N; q++) limbs[level - base + q] += sign * (i64)cut[q];
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

// |x| = m 2^(e - 53), 2^52 <= m < 2^53, of a finite double that is not zero.
struct Mantissa {
    u64 m;
    i64 e;
    explicit Mantissa(double x) : m(as_bits(x) << 12 >> 12 | (u64)1 << 52), e((i64)(as_bits(x) >> 52 & 2047) - 1022) {
        if (e > -1022) return;
        int exponent;  // x is subnormal
        m = (u64)(frexp(fabs(x), &exponent) * 0x1p53), e = exponent;
    }
};

// The n rows in the order of their class: class k has rows[ends[k - 1]..ends[k]]; ends has a cell more than classes. Rows
// below zero are left out.
INLINE void sort_by_class(const i32* labels, i64 n, i64 n_classes, i64* rows, i64* ends) {
    for (i64 k = 0; k <= n_classes; k++) ends[k] = 0;
    for (i64 i = 0; i < n; i++)
        if (labels[i] >= 0) ends[labels[i] + 1]++;
    for (i64 k = 0; k < n_classes; k++) ends[k + 1] += ends[k];
    for (i64 i = 0; i < n; i++)
        if (labels[i] >= 0) rows[ends[labels[i]]++] = i;
}
API(void, sort_by_class)(const i32* labels, i64 n, i64 n_classes, i64* rows, i64* ends) {
    sort_by_class(labels, n, n_classes, rows, ends);
}

// ab - p, which is a double where p is the rounded ab and neither leaves the normal numbers: Dekker's product.
template <class T> INLINE T dekker_rest(T a, T b, T p) {
    const T s = a * 134217729.0, t = b * 134217729.0;  // 2^27 + 1: Veltkamp's halves
    const T a1 = s - (s - a), a2 = a - a1, b1 = t - (t - b), b2 = b - b1;
    return ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2;
}
// The same, and s + ab where ab is exact, by the fused operations that AVX2 machines have.
#if defined(__AVX2__)
INLINE Vector product_rest(Vector a, Vector b, Vector p) { return (Vector)_mm256_fmsub_pd((__m256d)a, (__m256d)b, (__m256d)p); }
INLINE Vector add_product(Vector s, Vector a, Vector b) { return (Vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)s); }
#else
INLINE Vector product_rest(Vector a, Vector b, Vector p) { return dekker_rest(a, b, p); }
INLINE Vector add_product(Vector s, Vector a, Vector b) { return s + a * b; }
#endif

namespace numbers {

// Exact sums without weights. Rows go in blocks of 512. A first look at a block takes of each column the largest magnitude
// (below 2^E), the least, and which bits of the mantissas are in use. Then every value is cut where it is added to a big
// number: S' = fl(S + x) with S near 1.5 * 2^52 grains has no finer bits, h = S' - S is what was added, and x - h the rest,
// both without rounding; S in the end less S in the beginning is the sum of 512 such h, below 2^51 grains. With
// p = fl(x²) and e = x² - p the grains are, for every |x| >= 2^(E-17),
//
//     x = h + r        h in 2^(E-42),    r in 2^(E-69)
//     p = h' + r'      h' in 2^(2E-42),  r' in 2^(2E-86)
//     e = h" + r"      h" in 2^(2E-96),  r" in 2^(2E-138)
//
// Smaller values (and all, where E is extreme) go one by one, as integers. Columns of integers or of float32 values need
// fewer pieces. From block to block the sums of a column go on as whole numbers of grains; they are poured into the limbs
// when E changes, and every 512 blocks.
enum { BLOCK = 512, HELD = 512, SUMS = 6, LIGHT = 0, SHORT = 1, DOUBLE = 2 };
// The binary position of one unit of each held sum is FACTOR * E + OFFSET.
static const i64 FACTOR[SUMS] = {1, 1, 2, 2, 2, 2}, OFFSET[SUMS] = {-44, -69, -44, -86, -96, -138};

typedef u32 Words __attribute__((vector_size(8 * LANES)));
INLINE Integers load_integers(const i64* p) { return *(const LooseIntegers*)p; }
INLINE void store_integers(i64* p, Integers v) { *(LooseIntegers*)p = v; }

static const i64 MAGNITUDE = 0x7fff'ffff'ffff'ffffLL;

// Of each column (there are at least LANES), in the upper 32 bits of its cell: those of the largest magnitude, those of the
// least that is not zero less 1 in its last bit; and all mantissas, or'ed. With MISSING, NaN is taken for zero. With ROUND,
// whether one of them ends with 43 zeros, as all whole numbers to 1,000 do.
template <bool MISSING, bool ROUND = false>
static void survey(const double* X, i64 d, i64 n, i64* most, i64* least, i64* bits, i64* round) {
    for (i64 j = 0; j < d; j++) most[j] = bits[j] = round[j] = 0, least[j] = -1;
    for (i64 i = 0; i < n; i += 4) {
        // In the last rows of a block a row is looked at twice, which changes nothing.
        const double* rows[4] = {X + i * d, X + smaller(i + 1, n - 1) * d, X + smaller(i + 2, n - 1) * d,
                                 X + smaller(i + 3, n - 1) * d};
        for (i64 tile = 0; tile < d; tile += LANES) {
            const i64 j = smaller(tile, d - LANES);
            Words top = (Words)load_integers(most + j), bottom = (Words)load_integers(least + j);
            Integers used = load_integers(bits + j), ended = load_integers(round + j);
            for (int r = 0; r < 4; r++) {
                const Vector x = load(rows[r] + j);
                Integers b = (Integers)x;
                if (MISSING) b &= x == x;
                if (ROUND) ended |= (b & (((i64)1 << 43) - 1)) == 0;
                used |= b;
                b &= MAGNITUDE;
                top = larger(top, (Words)b);
                bottom = smaller(bottom, (Words)(b - 1));  // 64-bit, so that only zero becomes the largest
            }
            store_integers(most + j, (Integers)top), store_integers(least + j, (Integers)bottom);
            store_integers(bits + j, used);
            if (ROUND) store_integers(round + j, ended);
        }
    }
}

// Whether a number is whole and not beyond REACH. 1.5 * 2^52 has no finer bits, so what is added to it is rounded to a whole.
enum { REACH = 1000 };
static const double WHOLE = 0x1.8p52;

INLINE bool is_whole(double x) { return ((x + WHOLE) - WHOLE == x) & (fabs(x) <= REACH); }

// Count the whole numbers within REACH of some columns: (columns, classes, 2 REACH + 2); the last are all other values. The
// places are found without branches, several at a time.
API(void, count_whole)(const double* X, i64 n, i64 d, const i64* columns, i64 n_columns, const i32* labels, i64 n_classes,
                       i32* counts) {
    enum { TILE = 64 };
    const i64 size = 2 * REACH + 2, step = n_classes * size;
    double x[TILE] = {};
    i32 at[TILE] = {};
    for (i64 i = 0; i < n; i++, X += d)
        for (i64 c = 0; c < n_columns; c += TILE) {
            const i64 some = smaller(n_columns - c, (i64)TILE);
            i32* own = counts + c * step + labels[i] * size;
            for (i64 j = 0; j < some; j++) x[j] = X[columns[c + j]];
            for (i64 j = 0; j < TILE; j++) at[j] = (i32)(is_whole(x[j]) ? x[j] + REACH : 2.0 * REACH + 1.0);
            for (i64 j = 0; j < some; j++) own[j * step + at[j]]++;
        }
}

// What a thread works with, w = max(d, LANES) columns wide; all zeros in the beginning.
struct Work {
    double *block, *cut, *scale, *sums;  // (BLOCK, LANES); least magnitude and cutting constants (4, w); (SUMS, w) each
    i64 *most, *least, *bits, *round, *E, *ways, *missing, *held, *ends, *rows;  // (w) each, (classes, SUMS, w), (classes + 1),
                                                                                 // (BLOCK)

    Work(double* numbers, i64* integers, i64 w, i64 n_classes)
        : block(numbers), cut(block + BLOCK * LANES), scale(cut + 4 * w), sums(scale + SUMS * w), most(integers),
          least(most + w), bits(least + w), round(bits + w), E(round + w), ways(E + w), missing(ways + w), held(missing + w),
          ends(held + n_classes * SUMS * w), rows(ends + n_classes + 1) {
        for (i64 j = 0; j < w; j++) cut[j] = HUGE_VAL, E[j] = -(1 << 20);
    }
};

// The sums of LANES columns from j over n rows stay in registers. MASKED: not all values are to be added.
template <int WAY, bool MASKED>
static void add_tile(const double* X, i64 w, const i64* rows, i64 n, i64 j, const Work& work) {
    const double* cut = work.cut + j;
    const Vector g = load(cut), c1 = load(cut + w), c2 = load(cut + 2 * w), c3 = load(cut + 3 * w);
    Vector s0 = WAY == DOUBLE ? c1 : Vector{}, s1 = {}, s2 = WAY == LIGHT ? Vector{} : c2, s3 = {}, s4 = c3, s5 = {};
    Integers missing = {};
    for (i64 i = 0; i < n; i++) {
        const double* at = X + rows[i] * w + j;
        // The next block comes nearer meanwhile; where there is little to compute, it is faster not to ask for it.
        if (WAY == DOUBLE) __builtin_prefetch((const void*)((uintptr_t)at + BLOCK * 8 * (u64)w), 0, 2);
        Vector x = load(at);
        if (MASKED) {
            missing += x != x;
            x = (Vector)((Integers)x & ((Vector)((Integers)x & MAGNITUDE) >= g));  // NaN fails the comparison
        }
        const Vector p = x * x;
        if (WAY == DOUBLE) {
            const Vector s = s0 + x, t = s2 + p, e = product_rest(x, x, p), u = s4 + e;
            s1 += x - (s - s0), s3 += p - (t - s2), s5 += e - (u - s4);
            s0 = s, s2 = t, s4 = u;
        } else if (WAY == SHORT) {
            const Vector t = s2 + p;
            s0 += x, s3 += p - (t - s2);
            s2 = t;
        } else {
            s0 += x, s2 += p;
        }
    }
    double* sums = work.sums + j;
    store(sums, WAY == DOUBLE ? s0 - c1 : s0), store(sums + w, s1), store(sums + 2 * w, WAY == LIGHT ? s2 : s2 - c2);
    store(sums + 3 * w, s3), store(sums + 4 * w, s4 - c3), store(sums + 5 * w, s5);
    if (MASKED) store_integers(work.missing + j, -missing);
}

template <bool MASKED>
static void add_class(const double* X, i64 w, const i64* rows, i64 n, const Work& work) {
    for (i64 tile = 0; tile < w; tile += LANES) {
        const i64 j = smaller(tile, w - LANES);
        i64 way = LIGHT;
        for (int lane = 0; lane < LANES; lane++) way = larger(way, work.ways[j + lane]);
        if (way == LIGHT) add_tile<LIGHT, MASKED>(X, w, rows, n, j, work);
        else if (way == SHORT) add_tile<SHORT, MASKED>(X, w, rows, n, j, work);
        else add_tile<DOUBLE, MASKED>(X, w, rows, n, j, work);
    }
}

// The limbs of all cells: (classes, d, limbs) of x, then of x²; window: the first limb and the one after the last, of each.
struct Limbs {
    i64 *sums, *squares;
    i64 window[4];
    i64* sum(i64 cell) const { return sums + cell * (window[1] - window[0]); }
    i64* square(i64 cell) const { return squares + cell * (window[3] - window[2]); }
};

// One value and its square, as integers: right for every finite double.
static void add_with_square(double x, const Limbs& limbs, i64 cell) {
    const Mantissa a(x);
    pour(limbs.sum(cell), limbs.window[0], x < 0 ? -(i64)a.m : (i64)a.m, a.e - 53);
    pour_wide<4>(limbs.square(cell), limbs.window[2], 1, (u128)a.m * a.m, 0, 2 * a.e - 106);
}

static void pour_column(i64* held, i64 n_classes, i64 d, i64 w, i64 j, i64 E, const Limbs& limbs) {
    for (i64 k = 0; k < n_classes; k++)
        for (int s = 0; s < SUMS; s++) {
            i64& n = held[(k * SUMS + s) * w + j];
            if (n == 0) continue;
            i64* at = s < 2 ? limbs.sum(k * d + j) : limbs.square(k * d + j);
            pour(at, limbs.window[s < 2 ? 0 : 2], n, FACTOR[s] * E + OFFSET[s]);
            n = 0;
        }
}

// The exponents e of |x| < 2^e, from what `survey` has put down.
INLINE i64 top_exponent(u32 most) { return (i64)larger(most >> 20, 1u) - 1022; }
INLINE i64 least_exponent(u32 least, i64 bits) {
    least += (u32)bits == 0;  // where the lower words are zeros, 1 less in the last bit is 1 less in the upper word
    return least < 0x0010'0000 ? -1073 : (i64)(least >> 20) - 1022;
}

// Choose how the block is added. A column keeps its E while the block is below 2^E and not by more than 2^3.
// Returns whether there are values that are added one by one.
static bool plan(i64 d, i64 w, i64 n_classes, const Work& work, const Limbs& limbs) {
    bool small = false;
    for (i64 j = 0; j < d; j++) {
        const u32 most = (u32)((u64)work.most[j] >> 32), least = (u32)((u64)work.least[j] >> 32);
        work.ways[j] = LIGHT;
        if (least == ~0u) continue;  // zeros
        const i64 top = top_exponent(most);
        double* cut = work.cut + j;
        if (top > work.E[j] || top < work.E[j] - 3) {
            pour_column(work.held, n_classes, d, w, j, work.E[j], limbs);
            work.E[j] = top;
            const bool extreme = top < -400 || top > 450;
            cut[0] = extreme ? HUGE_VAL : ldexp(1.0, (int)(top - 17));
            cut[w] = extreme ? 0.0 : ldexp(1.5, (int)(52 + top - 42));
            cut[2 * w] = extreme ? 0.0 : ldexp(1.5, (int)(52 + 2 * top - 42));
            cut[3 * w] = extreme ? 0.0 : ldexp(1.5, (int)(52 + 2 * top - 96));
            for (int s = 0; s < SUMS; s++)
                work.scale[s * w + j] = extreme ? 0.0 : ldexp(1.0, (int)(-FACTOR[s] * top - OFFSET[s]));
        }
        small |= least < as_bits(cut[0]) >> 32;
        const i64 mantissa = work.bits[j] & 0xf'ffff'ffff'ffffLL;
        const i64 used = mantissa ? 53 - __builtin_ctzll((u64)mantissa) : 1;
        const i64 low = least_exponent(least, work.bits[j]) - used;  // every value is a multiple of 2^low
        work.ways[j] = used > 26 ? DOUBLE : work.E[j] - low > 22 ? SHORT : LIGHT;
    }
    return small;
}

// Widen the window to hold the block. Returns whether it was wide enough.
static bool holds(i64 d, const Work& work, i64* window) {
    bool held = true;
    for (i64 j = 0; j < d; j++) {
        if (work.least[j] >> 32 == -1) continue;
        const i64 top = top_exponent((u32)((u64)work.most[j] >> 32));
        const i64 least = least_exponent((u32)((u64)work.least[j] >> 32), work.bits[j]);
        const i64 wanted[4] = {floor_divide(smaller(top - 70, least - 53), LIMB), floor_divide(top - 44, LIMB) + 3,
                               floor_divide(smaller(2 * top - 140, 2 * least - 106), LIMB),
                               floor_divide(2 * top - 44, LIMB) + 3};
        for (int side = 0; side < 4; side++)
            if (side & 1 ? wanted[side] > window[side] : wanted[side] < window[side]) window[side] = wanted[side], held = false;
    }
    return held;
}

INLINE bool all_finite(i64 d, const i64* most) {
    bool finite = true;
    for (i64 j = 0; j < d; j++) finite &= most[j] < 0x7ff0'0000'0000'0000LL;
    return finite;
}

// Tally rows first..last. Returns the row reached: less than last where the window is too narrow, which is then made as
// wide as it must be, or where a value is infinite, whose place (row d + column) is then put down. `whole` may be null.
API(i64, moments)(const double* X, const i32* labels, i64 first, i64 last, i64 d, i64 n_classes, i64* sums, i64* squares,
                  i64* missing, i64* window, i64* place, double* numbers, i64* integers, u8* whole) {
    const i64 w = larger(d, (i64)LANES);
    const Limbs limbs = {sums, squares, {window[0], window[1], window[2], window[3]}};
    const Work work(numbers, integers, w, n_classes);
    const auto empty = [&] {
        for (i64 j = 0; j < d; j++) pour_column(work.held, n_classes, d, w, j, work.E[j], limbs);
        carry(sums, n_classes * d, limbs.window[1] - limbs.window[0]);
        carry(squares, n_classes * d, limbs.window[3] - limbs.window[2]);
    };
    i64 lo = first, blocks = 0;
    for (; lo < last; lo += BLOCK) {
        const i64 n = smaller(last - lo, (i64)BLOCK);
        const double* block = X + lo * d;
        if (d < w) {  // a copy with as many columns as there are lanes
            for (i64 i = 0; i < n; i++)
                for (i64 j = 0; j < d; j++) work.block[i * w + j] = block[i * d + j];
            block = work.block;
        }
        (whole ? survey<false, true> : survey<false>)(block, w, n, work.most, work.least, work.bits, work.round);
        for (i64 j = 0; whole && j < d; j++)
            for (i64 i = 0; i < n && work.round[j] && !whole[j]; i++) whole[j] = is_whole(block[i * w + j]);
        bool masked = !all_finite(d, work.most);
        if (masked) {
            survey<true>(block, w, n, work.most, work.least, work.bits, work.round);
            for (i64 j = 0; j < d; j++)
                for (i64 i = 0; i < n && !all_finite(1, work.most + j); i++)
                    if (fabs(block[i * w + j]) == HUGE_VAL) return *place = (lo + i) * d + j, lo;
        }
        if (!holds(d, work, window)) break;
        const bool small = plan(d, w, n_classes, work, limbs);
        sort_by_class(labels + lo, n, n_classes, work.rows, work.ends);
        for (i64 k = 0, start = 0; k < n_classes; start = work.ends[k++]) {
            const i64* rows = work.rows + start;
            const i64 count = work.ends[k] - start;
            if (count == 0) continue;
            if (masked || small) add_class<true>(block, w, rows, count, work);
            else add_class<false>(block, w, rows, count, work);
            i64* held = work.held + k * SUMS * w;
            for (i64 t = 0; t < SUMS * w; t++) held[t] += (i64)(work.sums[t] * work.scale[t]);
            for (i64 j = 0; masked && j < d; j++) missing[k * d + j] += work.missing[j];
        }
        for (i64 j = 0; small && j < d; j++) {
            const double g = work.cut[j];
            if ((u64)work.least[j] >> 32 >= as_bits(g) >> 32) continue;
            for (i64 i = 0; i < n; i++) {
                const double x = block[i * w + j];
                if (x != 0.0 && fabs(x) < g) add_with_square(x, limbs, labels[lo + i] * d + j);
            }
        }
        // So many blocks bring a limb at most 2 * 2^9 * 2^9 additions of 2^40: far from 2^63, as the held sums are.
        if (++blocks % HELD == 0) empty();
    }
    empty();
    return smaller(lo, last);
}

// Limbs take so many 40-bit additions before carries must be passed on.
enum { ROOM = 1 << 22 };

// The same with a weight per row: adds w, wx and wx², each exactly, as the integers that their mantissas' products are.
// sizes: the limbs of a cell of each of the three sums; bases: their positions. Returns the place of an infinite value, or -1.
API(i64, weighted_moments)(const double* X, const i32* labels, const double* weights, i64 n, i64 d, i64 n_classes,
                           i64* counts, i64* sums, i64* squares, const i64* sizes, const i64* bases) {
    i64 added = 0;
    for (i64 i = 0; i < n; i++) {
        if (weights[i] == 0.0) continue;
        const Mantissa w(weights[i]);
        const i64 side = weights[i] < 0 ? -1 : 1;
        for (i64 j = 0; j < d; j++) {
            const double x = X[i * d + j];
            const i64 cell = labels[i] * d + j;
            if (x != x) continue;
            if (fabs(x) == HUGE_VAL) return i * d + j;
            pour_wide<3>(counts + cell * sizes[0], bases[0], side, w.m, 0, w.e - 53);
            if (x == 0.0) continue;
            const Mantissa a(x);
            const u128 once = (u128)w.m * a.m, below = (u128)(u64)once * a.m;
            const u128 twice = (u128)(u64)(once >> 64) * a.m + (below >> 64);
            pour_wide<4>(sums + cell * sizes[1], bases[1], x < 0 ? -side : side, once, 0, w.e + a.e - 106);
            pour_wide<5>(squares + cell * sizes[2], bases[2], side, twice << 64 | (u64)below, twice >> 64,
                         w.e + 2 * a.e - 159);
        }
        if ((added += 4) < ROOM) continue;
        carry(counts, n_classes * d, sizes[0]), carry(sums, n_classes * d, sizes[1]);
        carry(squares, n_classes * d, sizes[2]);
        added = 0;
    }
    return -1;
}

// Add values[i] to the cell cells[i], to none where that is negative.
API(void, add_to_cells)(const double* values, const i64* cells, i64 n, i64* limbs, i64 n_cells, i64 n_limbs, i64 base) {
    i64 added = 0;
    for (i64 i = 0; i < n; i++) {
        if (cells[i] < 0 || values[i] == 0.0) continue;
        const Mantissa a(values[i]);
        pour(limbs + cells[i] * n_limbs, base, values[i] < 0 ? -(i64)a.m : (i64)a.m, a.e - 53);
        if (++added % ROOM == 0) carry(limbs, n_cells, n_limbs);
    }
}

// A number as a pair of doubles, hi + lo with about 32 digits: Dekker's and Knuth's sums and products.
struct Pair {
    double hi, lo;
};
INLINE Pair two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}
INLINE Pair fast_sum(double a, double b) {
    const double s = a + b;
    return {s, b - (s - a)};
}
INLINE Pair two_product(double a, double b) {
    return {a * b, dekker_rest(a, b, a * b)};
}
INLINE Pair operator+(Pair a, Pair b) {
    const Pair s = two_sum(a.hi, b.hi), t = two_sum(a.lo, b.lo), u = fast_sum(s.hi, s.lo + t.hi);
    return fast_sum(u.hi, u.lo + t.lo);
}
INLINE Pair operator-(Pair a) { return {-a.hi, -a.lo}; }
INLINE Pair operator*(Pair a, Pair b) {
    const Pair p = two_product(a.hi, b.hi);
    return fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
INLINE Pair operator/(Pair a, double b) {
    const double q = a.hi / b;
    const Pair p = two_product(q, b);
    return fast_sum(q, ((a.hi - p.hi) - p.lo + a.lo) / b);
}

static const double FARTHEST = 1e300;                    // no row is farther away than this, so that joints stay finite
static const double HALF_LOG_2PI = 0.91893853320467267;  // log(2 pi) / 2
// Where less than this share of a sum of squares is left, the pairs of doubles may have lost too much of it.
static const double LEAST_SHARE = 1e-13;

// Of a class, or of all rows together, in each column: the centre c, the weight n, and the sums of w(x - c) and w(x - c)²
// as pairs. Without one of the values the sums are
//
//     S' = S - w a,   Q' = Q - w a²,   a = x - c;        mean' = c + S'/n',   n' variance' = Q' - S'²/n'
struct Centred {
    const double *centres, *counts, *first, *second;
    Centred from(i64 cell) const { return {centres + cell, counts + cell, first + 2 * cell, second + 2 * cell}; }
};
struct Left {
    double mean, variance;
    bool sure;  // whether they can be trusted
};

// Mean and variance (over n' - fewer) of column j without x. No branches, so that a loop over columns does several at a time.
template <bool ONE> INLINE Left without(double x, double w, const Centred& all, i64 j, double fewer) {
    const double rest = all.counts[j] - w, whole = all.second[2 * j];
    const Pair away = two_sum(x, -all.centres[j]), weighted = ONE ? away : away * Pair{w, 0.0};
    const Pair sum = Pair{all.first[2 * j], all.first[2 * j + 1]} + -weighted;
    const Pair square = Pair{whole, all.second[2 * j + 1]} + -(weighted * away), shift = sum / rest;
    const double mean = (Pair{all.centres[j], 0.0} + shift).hi, spread = (square + -(sum * shift)).hi;
    const double below = rest - fewer, variance = below > 0 ? spread / below : 0.0;
    const bool some = whole > 0, enough = (some & (spread >= LEAST_SHARE * whole)) | (!some & (spread == 0));
    const bool there = rest > 0, sure = there & enough & (fabs(spread) < HUGE_VAL) & (fabs(mean) < HUGE_VAL);
    return {there ? mean : 0.0, there ? variance : 0.0, sure};
}

// How a class's variance comes about: from its own values, from these and the column's (its imaginary rows, its floor), or
// from the column's alone.
enum { OWN, SHARED, COLUMN, NOTHING };

// The log density of x under a Gaussian.
INLINE double log_normal(double x, double mean, double variance) {
    const double z = (x - mean) / sqrt(variance);
    return -0.5 * log_of(variance) - HALF_LOG_2PI - 0.5 * smaller(z * z, FARTHEST);
}

// For columns 0..n of a row, its class's means and variances without it, and the log densities by these.
template <bool ONE>
static void own_densities(const double* x, i64 n, double w, const Centred& all, double fewer, double* __restrict__ means,
                          double* __restrict__ variances, double* __restrict__ densities, i64* __restrict__ sure) {
    for (i64 j = 0; j < n; j++) {
        const Left own = without<ONE>(x[j], w, all, j, fewer);
        means[j] = own.mean, variances[j] = own.variance, sure[j] = own.sure;
    }
    for (i64 j = 0; j < n; j++) densities[j] = log_normal(x[j], means[j], variances[j]);
}

// Add the log densities of rows start.. to out (1 or columns x rows x classes), each under Gaussians that have not learned
// it; mark cells (rows x columns) that cannot be trusted. The sums and variances have a row more, of the whole columns.
API(void, left_out)(const double* X, i64 n, i64 d, i64 start, i64 n_rows, i64 n_classes, const i32* codes,
                    const double* weights, const double* centres, const double* counts, const double* first,
                    const double* second, const double* means, const double* inverse, const double* constants,
                    const double* variances, const i64* state, double floor, double imagined, i64 unbiased, i64 apart,
                    double* out, u8* doubtful) {
    enum { COLUMNS = 64 };
    double own_means[COLUMNS], own_variances[COLUMNS], densities[COLUMNS];
    i64 own_sure[COLUMNS];
    const Centred sums = {centres, counts, first, second};
    for (i64 row = start; row < start + n; row++, X += d) {
        const i64 y = codes[row];
        const double w = weights ? weights[row] : 1.0;
        for (i64 j = 0; j < d; j++) {
            const double x = X[j];
            const i64 at = j % COLUMNS, whole = n_classes * d + j;
            if (at == 0)
                (w == 1.0 ? own_densities<true> : own_densities<false>)(X + j, smaller(d - j, (i64)COLUMNS), w,
                    sums.from(y * d + j), unbiased ? 1.0 : 0.0, own_means, own_variances, densities, own_sure);
            if (x != x) continue;
            double* joint = out + ((apart ? j * n_rows : 0) + row) * n_classes;
            Left column = {};
            bool sure = true, known = false;
            for (i64 k = 0; k < n_classes; k++) {
                const i64 c = k * d + j;
                double mean = means[c], variance = variances[c], rest = counts[c];
                i64 how = state[c];
                if (k != y && how == OWN) {
                    const double z = (x - mean) * inverse[c];
                    joint[k] += constants[c] - 0.5 * smaller(z * z, FARTHEST);
                    continue;
                }
                if (k == y) {
                    rest -= w;
                    how = NOTHING;
                    if (rest > 0) {
                        mean = own_means[at], variance = own_variances[at], sure &= own_sure[at] != 0;
                        if (variance == 0.0 && rest <= 1.0) how = COLUMN;
                        else if (imagined > 0 || variance < 2 * floor * variances[whole] || variance == 0.0) how = SHARED;
                        else how = OWN;
                    }
                    if (how == OWN) {
                        if (variance > 0) joint[k] += densities[at];
                        continue;
                    }
                }
                if (!known) {
                    column = w == 1.0 ? without<true>(x, w, sums, whole, 0.0) : without<false>(x, w, sums, whole, 0.0);
                    sure &= column.sure && counts[whole] > w;
                    known = true;
                }
                if (how == NOTHING) mean = column.mean;
                if (how == SHARED && imagined > 0)
                    variance = (rest * variance + imagined * column.variance) / (rest + imagined);
                variance = how == SHARED ? larger(variance, floor * column.variance) : column.variance;
                sure &= variance > 0;
                if (variance > 0) joint[k] += log_normal(x, mean, variance);
            }
            if (!sure) doubtful[row * d + j] = 1;
        }
    }
}

}  // namespace numbers
