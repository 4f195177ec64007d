// Exact sums of xxᵀ by error-free slices.
//
// A column has a unit 2^u, and a number is cut into three whole numbers, which multiply and add without rounding:
//
//     x = 2^u (a + 2^-23 b + 2^-46 c)        |b|, |c| <= 2^22
//
// A row is the polynomial a z² + b z + c at z = 2^23; the product of two columns has degree four, and its values at five
// points give it: at ∞, 0, 1, -1 and 2 (Toom and Cook). So five products of a matrix by itself do the work of nine, and
// where every c is zero (float32), or every b too (integers), three and one. A block has at most 128 rows, and for each
// column and point the squares add up to less than 2^53: then, as (Σ|fg|)² <= Σf² Σg², all products do, in any order.
#pragma once
#include "common.hpp"
#include "math.hpp"
#include "numbers.hpp"

enum { PANEL = 4, BLOCK = 128, POINTS = 5, NEXT = 23, HELD = 128, LEAST_ROWS = 8, TRIES = 3, HALVES = PANEL / LANES };
enum { PANEL_SIZE = BLOCK * PANEL + 8 };  // eight more, or all panels would fall on the same lines of the first cache
static const double EXACT = 0x1p53, FINER = 0x1p23;
// A unit is chosen for a² that add up to less than 2^47 in 128 rows; it is kept while nothing is left or they are above this,
// and no sum reaches 2^53.
static const double COARSE = 0x1p41;

// held[4 x 4 WIDE] += the products of the four columns of panel a and those of WIDE panels from b, summed over the rows.
// Twelve sums, three loads and a number for all lanes fill the sixteen registers of AVX2; not inlined, lest constants take them.
template <int WIDE> static __attribute__((noinline)) void add_tile(const double* a, const double* b, i64 rows, i64* held) {
    Vector sums[PANEL][WIDE * HALVES];
    for (int i = 0; i < PANEL; i++)
        for (int w = 0; w < WIDE * HALVES; w++) sums[i][w] = (Vector){};
    i64 r = 0;
    do {
        Vector right[WIDE * HALVES];
        for (int w = 0; w < WIDE; w++)
            for (int h = 0; h < HALVES; h++) right[w * HALVES + h] = load(b + w * PANEL_SIZE + PANEL * r + h * LANES);
        for (int i = 0; i < PANEL; i++) {
            const Vector left = a[PANEL * r + i] - (Vector){};
            for (int w = 0; w < WIDE * HALVES; w++) sums[i][w] = add_product(sums[i][w], left, right[w]);
        }
    } while (++r < rows);
    // A sum below 2^53 as an integer: what is above 2^10 and the rest, each from the bits of a sum with a large number.
    const Vector big = 0x1.8p62 - (Vector){}, one = 0x1.8p52 - (Vector){};
    for (int w = 0; w < WIDE; w++)
        for (int i = 0; i < PANEL; i++)
            for (int h = 0; h < HALVES; h++) {
                const Vector sum = sums[i][w * HALVES + h], high = sum + big, low = (sum - (high - big)) + one;
                *(LooseIntegers*)(held + PANEL * (PANEL * w + i) + h * LANES) +=
                    (((Integers)high - (Integers)big) << 10) + ((Integers)low - (Integers)one);
            }
}

// The lower triangle of a matrix times itself, in blocks of 4 x 4: panel i by panel j is block i (i + 1) / 2 + j. Before each
// block `fetch` is called.
template <class F> INLINE void add_square(const double* values, i64 rows, i64 panels, i64* held, F fetch) {
    enum { WIDE = LANES == 4 ? 3 : 1 };
    for (i64 j = 0; j < panels; j += WIDE)
        for (i64 i = j; i < panels; i++) {
            const double *a = values + i * PANEL_SIZE, *b = values + j * PANEL_SIZE;
            i64* at = held + PANEL * PANEL * (i * (i + 1) / 2 + j);
            fetch();
            if (i - j + 1 >= WIDE) add_tile<WIDE>(a, b, rows, at);
            else if (i == j) add_tile<1>(a, b, rows, at);
            else add_tile<2>(a, b, rows, at);
        }
}

// What the cut of a block comes upon: the bits of all b and of all c; and of each column what is left, and the sums of the
// squares of its values at ∞, 1, -1 and 2.
struct Cut {
    Integers second, third, left;
    Vector first, plus, minus, twice;
};

// Cut LANES columns of the rows, and write their values at the five points; rest gets what is left of each row. Two loops:
// in one, a row is a chain of twenty operations, too long for the processor to work on enough rows at a time.
INLINE void cut_columns(const double* const* rows, i64 at, i64 n, Vector scale, double* values, i64 point, Integers* rest,
                        Cut* cut) {
    // Added and taken away again, these round to multiples of 1, 2^-23 and 2^-46.
    const Vector whole = 0x1.8p52 - (Vector){}, fine = 0x1.8p29 - (Vector){}, finest = 0x1.8p6 - (Vector){};
    Cut own = {cut->second, cut->third, {}, {}, {}, {}, {}};
    for (i64 i = 0; i < n; i++) {
        const Vector x = load(rows[i] + at), t = (Vector)((Integers)x & (x == x)) * scale, a = (t + whole) - whole;
        rest[i] |= (Integers)x & (t == 0.0);  // all of x is left where it is missing, or so small that t is zero
        store(values + PANEL * i, a);
        store(values + PANEL * i + 2 * point, t - a);
        own.first = add_product(own.first, a, a);
    }
    for (i64 i = 0; i < n; i++, values += PANEL) {
        const Vector a = load(values), r = load(values + 2 * point), b = (r + fine) - fine, s = r - b;
        const Vector c = (s + finest) - finest, h = b * FINER, l = c * (FINER * FINER), even = a + l;
        const Vector plus = even + h, minus = even - h, half = a + a + h, twice = half + half + l;
        rest[i] |= (Integers)(s - c);
        own.left |= (Integers)(s - c);
        store(values + point, l);
        store(values + 2 * point, plus);
        store(values + 3 * point, minus);
        store(values + 4 * point, twice);
        own.second |= (Integers)b;
        own.third |= (Integers)c;
        own.plus = add_product(own.plus, plus, plus);
        own.minus = add_product(own.minus, minus, minus);
        own.twice = add_product(own.twice, twice, twice);
    }
    *cut = own;
}

INLINE bool any_bit(Integers x) {
    i64 all = 0;
    for (int l = 0; l < LANES; l++) all |= x[l];
    return (u64)all << 1 != 0;  // -0.0 is nothing
}

// What add_products stops for, and what it keeps from call to call for each group of rows (a class, or all).
enum Stop { DONE, TOO_LARGE, TOO_SMALL, EMPTY_FIRST, MANY_DEEP };
struct Progress { i64 at, block, deep, chosen, n_points, n_blocks, rows; };

// Add the rows at these places, from progress.at on, to a group: their slices to their class's totals (a, c and a + b + c),
// and their products to what is held. Rows that three slices do not hold, and those with a missing value, are put down in
// `deep`. Stops where columns (`moved`) need another unit, before the block that starts at progress.block or after it, where
// what is held must be poured out first, and where deep is full.
API(i64, add_products)(const double* X, i64 d, const i32* labels, const i64* places, i64 last, const double* scale,
                       double* totals, i64* held, double* values, u8* moved, i64* deep, i64 deep_room, Progress* progress) {
    const i64 panels = (d + PANEL - 1) / PANEL, width = panels * PANEL, point = panels * PANEL_SIZE;
    const i64 cells = PANEL * PANEL * (panels * (panels + 1) / 2);
    Progress& p = *progress;
    const double* rows[BLOCK];
    double tail[BLOCK][PANEL] = {};  // the last columns, filled up with zeros
    Integers rest[BLOCK];
    while (p.at < last) {
        const i64 n = smaller(p.rows, last - p.at);
        const i64* own = places + p.at;
        if (p.n_blocks == HELD) return EMPTY_FIRST;
        if (p.deep + n > deep_room) return MANY_DEEP;
        for (i64 i = 0; i < n; i++) {
            rows[i] = X + own[i] * d;
            rest[i] = (Integers){};
            for (i64 j = d / PANEL * PANEL; j < d; j++) tail[i][j % PANEL] = rows[i][j];
        }
        Cut cut = {};
        bool above = false, below = false;
        for (i64 j = 0; j < width; j += LANES) {
            const i64 start = j / PANEL * PANEL;
            const bool whole = start + PANEL <= d;
            if (!whole)
                for (i64 i = 0; i < n; i++) rows[i] = tail[i];
            double* to = values + start / PANEL * PANEL_SIZE + (j - start);
            cut_columns(rows, whole ? j : j - start, n, load(scale + j), to, point, rest, &cut);
            for (i64 l = 0; l < LANES && j + l < d; l++) {
                const double most = larger(larger(cut.first[l], cut.twice[l]), larger(cut.plus[l], cut.minus[l]));
                const bool large = !(most < EXACT);
                const bool small = n == BLOCK && cut.left[l] && cut.first[l] < COARSE;
                above |= large;
                below |= small;
                moved[j + l] = large | small << 1;
            }
        }
        p.block = p.at;
        if (above) {
            for (i64 j = 0; j < d; j++) moved[j] &= 1;
            if (p.chosen < TRIES) return TOO_LARGE;
            p.rows = larger<i64>(n / 2, LEAST_ROWS);  // of numbers that all round one way, fewer rows fit: eight of any
            continue;
        }
        const i64 n_points = any_bit(cut.third) ? 5 : any_bit(cut.second) ? 3 : 1;
        if (p.n_blocks > 0 && n_points > p.n_points) return EMPTY_FIRST;
        if (p.n_blocks == 0) p.n_points = n_points;
        i64 n_deep = 0;
        for (i64 i = 0; i < n; i++)
            if (any_bit(rest[i])) {
                n_deep++;
                deep[p.deep++] = own[i];
                for (i64 k = 0; k < POINTS; k++)
                    for (i64 j = 0; j < panels; j++)
                        memset(values + k * point + j * PANEL_SIZE + PANEL * i, 0, PANEL * sizeof(double));
            }
        for (i64 i = 0; i < n; i++) {
            double* sums = totals + labels[own[i]] * 3 * width;
            for (i64 j = 0; j < width; j += LANES) {
                const double* value = values + j / PANEL * PANEL_SIZE + PANEL * i + j % PANEL;
                for (i64 k = 0; k < 3; k++) store(sums + k * width + j, load(sums + k * width + j) + load(value + k * point));
            }
        }
        i64 ahead = p.at + n;
        const auto fetch = [&] {  // one of the rows that are read next
            if (ahead == smaller(p.at + 2 * n, last)) return;
            const char* row = (const char*)(X + places[ahead++] * d);
            for (i64 line = 0; line < 8 * d; line += 64) __builtin_prefetch(row + line);
        };
        for (i64 k = 0; k < POINTS; k++)
            if (k == 0 || (k == 2 || k == 3 ? p.n_points > 1 : p.n_points > 3))
                add_square(values + k * point, n, panels, held + k * cells, fetch);
        p.at += n;
        p.n_blocks++;
        p.chosen = 0;
        if (n == p.rows && p.rows < BLOCK && p.n_blocks % 32 == 0) p.rows *= 2;
        if (below && n_deep > BLOCK / 8) {  // another unit costs as much as so many deep rows
            for (i64 j = 0; j < d; j++) moved[j] >>= 1;
            return TOO_SMALL;
        }
    }
    return DONE;
}

// Empty what is held of a group's columns that moved: the coefficients of the polynomials go into the limbs of the products,
// and the totals of its classes first..last (sums of a, of c and of a + b + c) into those of the sums.
API(void, pour_products)(i64* held, i64 n_points, double* totals, i64 first, i64 last, i64 d, const i64* units, const u8* moved,
                         i64* limbs, i64 base, i64 n_limbs, i64* sums, i64 sums_base, i64 n_sums) {
    const i64 panels = (d + PANEL - 1) / PANEL, cells = PANEL * PANEL * (panels * (panels + 1) / 2), width = panels * PANEL;
    for (i64 i = 0; i < d; i++)
        for (i64 j = 0; j <= i; j++) {
            if (!moved[i] && !moved[j]) continue;
            const i64 panel = i / PANEL, block = panel * (panel + 1) / 2 + j / PANEL;
            i64* at = held + PANEL * (PANEL * block + i % PANEL) + j % PANEL;
            u64 v[POINTS], c[POINTS];  // modulo 2^64, for 16 times a coefficient may be more
            for (i64 k = 0; k < POINTS; k++) v[k] = (u64)at[k * cells], at[k * cells] = 0;
            const u64 odd = (u64)((i64)(v[2] - v[3]) >> 1), even = (u64)((i64)(v[2] + v[3]) >> 1);
            c[4] = v[0], c[0] = v[1], c[1] = c[2] = c[3] = 0;
            if (n_points > 1) c[2] = even - c[4] - c[0], c[3] = odd;
            if (n_points > 3) {
                const u64 four = (u64)((i64)(v[4] - 16 * c[4] - 4 * c[2] - c[0]) >> 1);  // c1 + 4 c3
                c[3] = (four - odd) * 0xaaaa'aaaa'aaaa'aaabULL;                           // divided by 3
                c[1] = odd - c[3];
            }
            i64* cell = limbs + (i * (i + 1) / 2 + j) * n_limbs;
            for (i64 k = 0; k < POINTS; k++) pour(cell, base, (i64)c[k], units[i] + units[j] - NEXT * (4 - k));
            carry(cell, 1, n_limbs);
        }
    for (i64 k = first; k < last; k++)
        for (i64 j = 0; j < d; j++) {
            if (!moved[j]) continue;
            double* at = totals + k * 3 * width + j;
            const i64 a = (i64)at[0], c = (i64)at[width], all = (i64)at[2 * width], slices[3] = {a, all - a - c, c};
            at[0] = at[width] = at[2 * width] = 0.0;
            i64* cell = sums + (k * d + j) * n_sums;
            for (i64 q = 0; q < 3; q++) pour(cell, sums_base, slices[q], units[j] - NEXT * q);
            carry(cell, 1, n_sums);
        }
}

// Any other numbers, as products w x, which have 106 bits, are cut into digits of 22 bits at fixed positions.
enum { DIGIT = 22, FIRST_PLACE = -110, PLACES = 220 };

// The digits of x, or of w x where there are weights: first their places (width 0), which are marked in each column's index,
// then themselves, n x width, at the places that the index has.
API(void, cut_digits)(const double* X, i64 n, i64 d, const double* weights, i64* index, double* digits, i64 width) {
    for (i64 i = 0; i < n; i++) {
        if (weights && weights[i] == 0.0) continue;
        const Mantissa w(weights ? weights[i] : 1.0);
        for (i64 j = 0; j < d; j++) {
            const double x = X[i * d + j];
            if (x == 0.0) continue;
            const Mantissa a(x);
            const i64 position = weights ? w.e + a.e - 106 : a.e - 53, first = floor_divide(position, DIGIT);
            const double sign = (weights && weights[i] < 0) != (x < 0) ? -1.0 : 1.0;
            i64* place = index + j * PLACES + first - FIRST_PLACE;
            u128 left = (weights ? (u128)w.m * a.m : a.m) << (position - DIGIT * first);
            for (; left; place++, left >>= DIGIT) {
                const u64 digit = (u64)left & (((u64)1 << DIGIT) - 1);
                if (digit && width) digits[i * width + *place] += sign * (double)digit;
                else if (digit) *place = 1;
            }
        }
    }
}

// Pour a tile of products of digits: of columns left[a] at position left_at[a] by right[b] at right_at[b].
// Kind -1: w x by x, of which the pairs of columns i >= j are kept. Else x by x, each two digits once: as they lie to either
// side of the diagonal (0), or on it (1).
API(void, pour_tile)(const double* products, i64 n_left, i64 n_right, const i64* left, const i64* left_at, const i64* right,
                     const i64* right_at, i64 kind, i64* limbs, i64 d, i64 base, i64 n_limbs) {
    for (i64 a = 0; a < n_left; a++)
        for (i64 b = 0; b < (kind == 1 ? a + 1 : n_right); b++) {
            const i64 i = left[a], j = right[b], n = (i64)products[a * n_right + b];
            if (n == 0 || (kind < 0 && i < j)) continue;
            const i64 twice = kind >= 0 && i == j && !(kind == 1 && a == b), high = larger(i, j), low = smaller(i, j);
            pour(limbs + (high * (high + 1) / 2 + low) * n_limbs, base, n, left_at[a] + right_at[b] + twice);
        }
    carry(limbs, d * (d + 1) / 2, n_limbs);
}
