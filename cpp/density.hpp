// Log densities of numbers (Gaussians, tabulated curves), posteriors, histograms, mixtures, and the bootstrap.
//
// The log joint of a row is the prior, then one term for each column, from left to right, added to what is there: the order
// in which a plain loop would add. Lanes run over rows or over classes, never over columns.
#pragma once
#include "common.hpp"
#include "math.hpp"
#include "numbers.hpp"

namespace density {
using numbers::FARTHEST;
using numbers::HALF_LOG_2PI;
using numbers::load_integers;
using numbers::MAGNITUDE;
using numbers::store_integers;

// Rows of numbers are turned into columns of so many rows, which are so many vectors. What may be among them:
enum { VECTORS = 4, TOGETHER = VECTORS * LANES, PANEL = 64, MISSING = 1, FAR = 2 };

// Turn LANES rows of as many numbers into columns.
INLINE void turn_square(Vector* rows) {
#if defined(__AVX2__)
    const __m256d p = (__m256d)rows[0], q = (__m256d)rows[1], r = (__m256d)rows[2], s = (__m256d)rows[3];
    const __m256d a = _mm256_unpacklo_pd(p, q), b = _mm256_unpackhi_pd(p, q);
    const __m256d c = _mm256_unpacklo_pd(r, s), d = _mm256_unpackhi_pd(r, s);
    rows[0] = (Vector)_mm256_permute2f128_pd(a, c, 0x20), rows[1] = (Vector)_mm256_permute2f128_pd(b, d, 0x20);
    rows[2] = (Vector)_mm256_permute2f128_pd(a, c, 0x31), rows[3] = (Vector)_mm256_permute2f128_pd(b, d, 0x31);
#else
    const Vector a = rows[0], b = rows[1];
    rows[0] = (Vector){a[0], b[0]}, rows[1] = (Vector){a[1], b[1]};
#endif
}

// m columns of n <= TOGETHER rows of X to panel (columns, TOGETHER). Returns whether some are MISSING, or FAR: beyond most.
static int turn(const double* X, i64 n, i64 d, i64 m, double most, double* panel) {
    Integers far = {}, missing = {};
    i64 r = 0;
    const i64 squares = m / LANES * LANES;
    for (; r + LANES <= n; r += LANES)
        for (i64 j = 0; j < squares; j += LANES) {
            Vector rows[LANES];
            for (int q = 0; q < LANES; q++) {
                rows[q] = load(X + (r + q) * d + j);
                far |= (Vector)((Integers)rows[q] & MAGNITUDE) > every(most);
                missing |= rows[q] != rows[q];
            }
            turn_square(rows);
            for (int q = 0; q < LANES; q++) store(panel + (j + q) * TOGETHER + r, rows[q]);
        }
    for (i64 i = 0; i < n; i++)
        for (i64 j = i < r ? squares : 0; j < m; j++) {
            const double x = X[i * d + j];
            panel[j * TOGETHER + i] = x;
            far[0] |= fabs(x) > most;
            missing[0] |= x != x;
        }
    int all = 0;
    for (int q = 0; q < LANES; q++) all |= (missing[q] ? MISSING : 0) | (far[q] ? FAR : 0);
    return all;
}

// Add the terms of the panel's columns to the joints of TOGETHER rows under one class; those whose mask is zero are missing.
template <int AMONG>
static void add_panel(const double* panel, const i64* masks, i64 columns, const double* means, const double* inverse,
                      const double* constants, double* joints) {
    Vector sums[VECTORS];
    for (int v = 0; v < VECTORS; v++) sums[v] = load(joints + v * LANES);
    const Vector farthest = every(FARTHEST);
    for (i64 j = 0; j < columns; j++, panel += TOGETHER, masks += TOGETHER) {
        const Vector mean = every(means[j]), over = every(inverse[j]), constant = every(constants[j]);
        for (int v = 0; v < VECTORS; v++) {
            const Vector z = (load(panel + v * LANES) - mean) * over, square = z * z;
            const Vector term = add_product(constant, AMONG & FAR ? smaller(square, farthest) : square, every(-0.5));
            const Integers mask = load_integers(masks + v * LANES);
            // To add -0 is to add nothing.
            sums[v] += AMONG & MISSING ? (Vector)(((Integers)term & mask) | (~mask & ~MAGNITUDE)) : term;
        }
    }
    for (int v = 0; v < VECTORS; v++) store(joints + v * LANES, sums[v]);
}

static const double LARGEST = 1.7976931348623157e308;

// out[i, k] += constants[k, j] - z²/2 for each column j that is not missing, z = (x - mean) inverse, z² at most FARTHEST.
// Returns the place (row d + column) of an infinite value, where it stops; else -1.
API(i64, add_gaussian)(const double* X, i64 n, i64 d, i64 n_classes, const double* means, const double* inverse,
                       const double* constants, double* out) {
    double panel[PANEL * TOGETHER] = {}, joints[TOGETHER] = {};
    i64 masks[PANEL * TOGETHER] = {};
    double most = LARGEST;  // up to here no difference is infinite, and no square beyond 1e298
    for (i64 cell = 0; cell < n_classes * d; cell++)
        most = smaller(most, smaller(1e149 / inverse[cell], LARGEST) - fabs(means[cell]));
    for (i64 i = 0; i < n; i += TOGETHER) {
        const i64 rows = smaller(n - i, (i64)TOGETHER);
        const double* block = X + i * d;
        double* own = out + i * n_classes;
        for (i64 first = 0; first < d; first += PANEL) {
            const i64 columns = smaller(d - first, (i64)PANEL);
            const int among = turn(block + first, rows, d, columns, most, panel);
            for (i64 place = 0; among & FAR && place < rows * d; place++)
                if (fabs(block[place]) == HUGE_VAL) return i * d + place;
            for (i64 t = 0; among && t < columns * TOGETHER; t++) masks[t] = panel[t] == panel[t] ? -1 : 0;
            const auto add = among & FAR ? add_panel<MISSING | FAR> : among ? add_panel<MISSING> : add_panel<0>;
            for (i64 k = 0; k < n_classes; k++) {
                const i64 at = k * d + first;
                for (i64 r = 0; r < rows; r++) joints[r] = own[r * n_classes + k];
                add(panel, masks, columns, means + at, inverse + at, constants + at, joints);
                for (i64 r = 0; r < rows; r++) own[r * n_classes + k] = joints[r];
            }
        }
    }
    return -1;
}

// The first class of those with the largest joint.
INLINE i64 best_class(const double* joint, i64 n_classes) {
    i64 best = 0;
    for (i64 k = 1; k < n_classes; k++) best = joint[k] > joint[best] ? k : best;
    return best;
}

// Turn log joints into posteriors (or their logs) in place: exp(j - top) / sum, the sum in the order of the classes.
// Rows without a finite maximum are left as they are, and marked odd. Given `best`, find only the class with the largest joint.
API(void, posterior)(double* joint, i64 n, i64 n_classes, i64 log, i64* best, u8* odd) {
    for (i64 i = 0; best && i < n; i++) {
        best[i] = best_class(joint + i * n_classes, n_classes);
        odd[i] = !(fabs(joint[i * n_classes + best[i]]) < HUGE_VAL);
    }
    if (best) return;
    enum { ROOM_FOR = 1024 };
    double exponentials[ROOM_FOR], tops[ROOM_FOR], totals[ROOM_FOR];
    const i64 K = n_classes, step = larger((i64)1, ROOM_FOR / larger(K, (i64)1));
    for (i64 i = 0; i < n; i += step, joint += step * K, odd += step) {
        const i64 rows = smaller(step, n - i);
        for (i64 r = 0; r < rows; r++) {
            tops[r] = joint[r * K + best_class(joint + r * K, K)];
            odd[r] = !(fabs(tops[r]) < HUGE_VAL);
            totals[r] = 0.0;
        }
        for (i64 first = 0; first < K; first += ROOM_FOR) {  // more than once only where there are more classes than room
            const i64 m = smaller(K - first, (i64)ROOM_FOR);
            for (i64 r = 0; r < rows; r++)
                for (i64 k = 0; k < m; k++) exponentials[r * m + k] = joint[r * K + first + k] - tops[r];
            for (i64 t = 0; t < rows * m; t++) exponentials[t] = exp_of(exponentials[t]);
            for (i64 r = 0; r < rows; r++)
                for (i64 k = 0; k < m; k++) totals[r] += exponentials[r * m + k];
            for (i64 r = 0; !log && r < rows; r++)
                for (i64 k = 0; !odd[r] && k < m; k++) joint[r * K + first + k] = exponentials[r * m + k];
        }
        if (log)
            for (i64 r = 0; r < rows; r++) totals[r] = log_of(totals[r]);
        for (i64 r = 0; r < rows; r++) {
            if (odd[r]) continue;
            double* own = joint + r * K;
            for (i64 k = 0; k < K; k++) own[k] = log ? (own[k] - tops[r]) - totals[r] : own[k] / totals[r];
        }
    }
}

// Curves as tables of points, straight (or level) from one to the next; the values of the classes at a point lie side by
// side, filled up to `width`, so that the place is looked up once for them all.
struct Curves {
    const i64* ways;
    const double *points, *means, *over, *constants;  // (points, width); of Gaussians, (columns, width)
};
enum { GAUSSIAN = 0 };
static const double NEVER = -1e299;  // less than this is log 0: in a table -1e300 stands for it, for 0 * -inf is no number

typedef double Two __attribute__((vector_size(16)));
typedef double Four __attribute__((vector_size(32)));
template <class V> INLINE V loaded(const double* p) { V v; memcpy(&v, p, sizeof v); return v; }

// Add the terms of one row to classes k.. of its joints, in N vectors V. at: where in the points each column's value is, or
// -1; the values of those that are outside their tables are `given`.
template <class V, int N>
static void add_row(const Curves& curves, const double* x, i64 d, i64 width, i64 k, const i64* at, const double* rest,
                    const double* given, double* joints) {
    enum { L = sizeof(V) / 8 };
    const V farthest = (V){} + FARTHEST, never = (V){} + NEVER, impossible = (V){} - HUGE_VAL;
    V sums[N];
    for (int v = 0; v < N; v++) sums[v] = loaded<V>(joints + v * L);
    for (i64 j = 0; j < d; j++) {
        if (at[j] >= 0) {
            const double* here = curves.points + at[j] + k;
            for (int v = 0; v < N; v++, here += L) {
                const V value = loaded<V>(here) + rest[j] * (loaded<V>(here + width) - loaded<V>(here));
                sums[v] += value > never ? value : impossible;
            }
        } else if (x[j] != x[j]) {
            continue;
        } else if (curves.ways[j] == GAUSSIAN) {
            for (int v = 0; v < N; v++) {
                const i64 cell = j * width + k + v * L;
                const V z = (x[j] - loaded<V>(curves.means + cell)) * loaded<V>(curves.over + cell), square = z * z;
                sums[v] += loaded<V>(curves.constants + cell) - 0.5 * (square < farthest ? square : farthest);
            }
        } else {
            for (int v = 0; v < N; v++) {
                const V value = loaded<V>(given + k + v * L);
                sums[v] += value > never ? value : impossible;
            }
            given += width;
        }
    }
    for (int v = 0; v < N; v++) memcpy(joints + v * L, &sums[v], sizeof(V));
}

// Add the log densities of rows of X to out. A row with a value outside its table is left as it is, put down in `left`, and
// its columns of that sort are marked in `outside`; it is added when it comes `again`, with their values, in order, given.
// The place of x is (x scale more - origin) inverse; a column's points begin at `first`, the place of the last one is `last`,
// and lines is 0 where they are level. Returns the place of an infinite value, where it stops; else -1.
API(i64, add_curves)(const double* X, i64 n, i64 d, i64 n_classes, i64 width, const i64* ways, const double* scales,
                     const double* more, const double* origins, const double* inverses, const i64* first,
                     const double* last, const double* lines, const double* points, const double* means,
                     const double* over, const double* constants, const double* given, double* out, i64* left,
                     i64* n_left, u8* outside, i64* at, double* rest) {
    const Curves curves = {ways, points, means, over, constants};
    const bool again = given;
    i64 others = 0;
    for (i64 i = 0; i < n; i++) {
        const i64 row = again ? left[i] : i;
        const double* x = X + row * d;
        i64 inside = 0;
        for (i64 j = 0; j < d; j++) {  // no branches, so that several are done at a time
            const double u = (x[j] * scales[j] * more[j] - origins[j]) * inverses[j];
            const bool in = u >= 0.0 && u < last[j];
            const double place = in ? u : 0.0;
            inside += in;
            at[j] = in ? first[j] + (i32)place * (i32)width : -1;
            rest[j] = (place - (i32)place) * lines[j];
        }
        i64 n_given = 0;
        if (inside < d) {
            for (i64 j = 0; j < d; j++) {
                const bool own = at[j] < 0 && x[j] == x[j] && ways[j] != GAUSSIAN;
                if (fabs(x[j]) == HUGE_VAL) return row * d + j;
                if (!again) outside[others * d + j] = own;
                n_given += own;
            }
            if (n_given && !again) {
                left[others++] = row;
                continue;
            }
        }
        double* own = out + row * n_classes;
        for (i64 k = 0; k < n_classes; k += 8) {
            const i64 classes = smaller(n_classes - k, (i64)8);
            double joints[8] = {};
            for (i64 q = 0; q < classes; q++) joints[q] = own[k + q];
            if (width == 2) add_row<Two, 1>(curves, x, d, width, k, at, rest, given, joints);
            else if (classes <= 4) add_row<Four, 1>(curves, x, d, width, k, at, rest, given, joints);
            else add_row<Four, 2>(curves, x, d, width, k, at, rest, given, joints);
            for (i64 q = 0; q < classes; q++) own[k + q] = joints[q];
        }
        if (again) given += n_given * width;
    }
    if (!again) *n_left = others;
    return -1;
}

// Columns that have states: of the whole numbers from `low` on the points, of any other number the log density of a Gaussian.
// Which of the two comes next cannot be foreseen, so both are found, and one is taken: there are no branches.
struct States {
    const double *points, *means, *over, *constants;  // (points, width); (columns, width)
};

// Add the terms of one row to classes k.. of its joints, in N vectors V with masks I. at: where the points of each column's
// state begin, or -1; -2 where the value is missing.
template <class V, class I, int N>
static void add_state_row(const States& states, const double* x, i64 d, i64 width, i64 k, const i32* at, double* joints) {
    enum { L = sizeof(V) / 8 };
    const V farthest = (V){} + FARTHEST;
    V sums[N];
    for (int v = 0; v < N; v++) sums[v] = loaded<V>(joints + v * L);
    for (i64 j = 0; j < d; j++) {
        const I state = (I){} + ~((i64)at[j] >> 63), there = (I){} + (((i64)at[j] + 1) >> 63 ^ -1);
        const double* here = states.points + (at[j] & ~(at[j] >> 31)) + k;
        for (int v = 0; v < N; v++) {
            const i64 cell = j * width + k + v * L;
            const V z = (x[j] - loaded<V>(states.means + cell)) * loaded<V>(states.over + cell), square = z * z;
            const V other = loaded<V>(states.constants + cell) - 0.5 * (square < farthest ? square : farthest);
            const V value = state ? loaded<V>(here + v * L) : other;
            sums[v] = there ? sums[v] + value : sums[v];
        }
    }
    for (int v = 0; v < N; v++) memcpy(joints + v * L, &sums[v], sizeof(V));
}

// Add the log probabilities of rows of X to out. The whole numbers of a column begin at low, their points at first; at: room
// for d. Returns the place of an infinite value, where it stops; else -1.
API(i64, add_states)(const double* X, i64 n, i64 d, i64 n_classes, i64 width, const double* low, const double* size,
                     const double* first, const double* points, const double* means, const double* over,
                     const double* constants, double* out, i32* at) {
    typedef i64 TwoMasks __attribute__((vector_size(16)));
    typedef i64 FourMasks __attribute__((vector_size(32)));
    const States states = {points, means, over, constants};
    const double step = (double)width;
    for (i64 i = 0; i < n; i++) {
        const double* x = X + i * d;
        double infinite = 0.0;
        for (i64 j = 0; j < d; j++) {
            const double u = x[j] - low[j], near = u < size[j] ? u : -1.0, place = near >= 0.0 ? near : 0.0;
            const double whole = (place + WHOLE) - WHOLE, start = first[j] + whole * step;
            const double known = place == whole ? start : -1.0;
            infinite = fabs(x[j]) == HUGE_VAL ? 1.0 : infinite;
            at[j] = (i32)(x[j] != x[j] ? -2.0 : place + low[j] == x[j] ? known : -1.0);
        }
        for (i64 j = 0; infinite != 0.0; j++)
            if (fabs(x[j]) == HUGE_VAL) return i * d + j;
        double* own = out + i * n_classes;
        for (i64 k = 0; k < n_classes; k += 8) {
            const i64 classes = smaller(n_classes - k, (i64)8);
            double joints[8] = {};
            for (i64 q = 0; q < classes; q++) joints[q] = own[k + q];
            if (width == 2) add_state_row<Two, TwoMasks, 1>(states, x, d, width, k, at, joints);
            else if (classes <= 4) add_state_row<Four, FourMasks, 1>(states, x, d, width, k, at, joints);
            else add_state_row<Four, FourMasks, 2>(states, x, d, width, k, at, joints);
            for (i64 q = 0; q < classes; q++) own[k + q] = joints[q];
        }
    }
    return -1;
}

// Histograms: bin k of a column covers [k 2^e, (k+1) 2^e), and lies in a ring at k mod BINS.
enum { BINS = 2048, GROUP = 8, LEAST_EXPONENT = -1074 };

// 2^-e as two factors, for 2^1074 is no double.
struct Scale {
    double scale, more;
    explicit Scale(i64 e) {
        const int up = (int)smaller<i64>(-e, 1000);
        scale = ldexp(1.0, up), more = ldexp(1.0, (int)-e - up);
    }
};

// floor(x scale more), right also where a tiny negative number underflows to zero; it is below 2^50. In vectors V of doubles
// and I of integers, which are the masks that comparisons give.
template <class V, class I> INLINE V bins_of(V x, V scale, V more) {
    const V t = x * scale * more, whole = (t + WHOLE) - WHOLE;
    const I above = (I)(whole > t) | ((I)(t == 0.0) & (I)(x < 0.0));
    return whole - (V)(above & (I)((V){} + 1.0));
}
INLINE double bin_of(double x, double scale, double more) {
    typedef i64 Mask __attribute__((vector_size(16)));
    return bins_of<Two, Mask>(Two{x, x}, Two{scale, scale}, Two{more, more})[0];
}

// The smallest exponent for which the bins from low to high are at most BINS, and their numbers below 2^50.
static i64 finest_exponent(double low, double high) {
    const double top = larger(fabs(low), fabs(high));
    i64 e = LEAST_EXPONENT;
    if (top > 0.0) {
        int exponent;
        frexp(top, &exponent);
        e = larger(e, (i64)exponent - 50);
    }
    const Scale by(e);
    i64 a = (i64)bin_of(low, by.scale, by.more), b = (i64)bin_of(high, by.scale, by.more);
    for (; b - a >= BINS; e++) a >>= 1, b >>= 1;
    return e;
}

// Add neighbouring bins of one column's rings, whose bins in use are a..b, so many times over.
static void coarsen(i32* rings, i64 n_classes, i64 a, i64 b, i64 steps) {
    i32 sums[BINS];
    for (i64 k = 0; k < n_classes; k++, rings += BINS) {
        memset(sums, 0, sizeof sums);
        for (i64 i = a; i <= b; i++) sums[(i >> steps) & (BINS - 1)] += rings[i & (BINS - 1)];
        memcpy(rings, sums, sizeof sums);
    }
}

// Count eight columns, or one, whose values begin at X, in their rings (columns, classes, BINS).
template <int COUNT, bool MISSING>
static void count_columns(const double* X, i64 d, i64 n, const i32* labels, i64 n_classes, const double* scales,
                          const double* more, i32* rings) {
    for (i64 i = 0; i < n; i++, X += d) {
        i64 places[COUNT];
        i32* own = rings + (i64)labels[i] * BINS;
        if (COUNT == 1) places[0] = (i64)as_bits(bin_of(*X, *scales, *more) + WHOLE) & (BINS - 1);
        for (int j = 0; COUNT > 1 && j < COUNT; j += LANES) {
            const Vector bins = bins_of<Vector, Integers>(load(X + j), load(scales + j), load(more + j)) + WHOLE;
            store_integers(places + j, (Integers)bins & (BINS - 1));
        }
        for (int j = 0; j < COUNT; j++)
            if (!MISSING || X[j] == X[j]) own[j * n_classes * BINS + places[j]]++;
    }
}

// Count columns c0..c1 of n rows of X in their rings (columns, classes, BINS), on grids that coarsen as the ranges grow.
// ranges: (7, columns) numbers to work with, the first two the least and the largest values so far.
// Returns the place of an infinite value, where it stops; else -1.
API(i64, count_bins)(const double* X, const i32* labels, i64 n, i64 d, i64 c0, i64 c1, i64 n_classes, i32* rings,
                     i64* exponents, double* ranges) {
    enum { ROWS = 512 };
    const i64 m = c1 - c0;
    double *lows = ranges, *highs = lows + m, *scales = highs + m, *more = scales + m, *low = more + m, *high = low + m;
    double* odd = high + m;
    for (i64 j = 0; j < m; j++) {
        const Scale by(exponents[j]);
        scales[j] = by.scale, more[j] = by.more;
    }
    for (i64 lo = 0; lo < n; lo += ROWS) {
        const i64 rows = smaller(n - lo, (i64)ROWS);
        const double* block = X + lo * d + c0;
        for (i64 j = 0; j < m; j++) low[j] = HUGE_VAL, high[j] = -HUGE_VAL, odd[j] = 0.0;
        for (i64 i = 0; i < rows; i++)
            for (i64 j = 0; j < m; j++) {
                const double x = block[i * d + j];
                low[j] = x < low[j] ? x : low[j];  // NaN fails each comparison
                high[j] = x > high[j] ? x : high[j];
                odd[j] += x - x;
            }
        for (i64 j = 0; j < m; j++) {
            for (i64 i = 0; odd[j] != 0.0 && i < rows; i++)
                if (fabs(block[i * d + j]) == HUGE_VAL) return (lo + i) * d + c0 + j;
            if (!(low[j] < lows[j] || high[j] > highs[j])) continue;
            const double least = smaller(low[j], lows[j]), most = larger(high[j], highs[j]);
            const i64 e = finest_exponent(least, most);
            if (lows[j] > highs[j]) {
                exponents[j] = e;
            } else if (e > exponents[j]) {
                const i64 a = (i64)bin_of(lows[j], scales[j], more[j]), b = (i64)bin_of(highs[j], scales[j], more[j]);
                coarsen(rings + j * n_classes * BINS, n_classes, a, b, smaller(e - exponents[j], (i64)62));
                exponents[j] = e;
            }
            const Scale by(exponents[j]);
            lows[j] = least, highs[j] = most, scales[j] = by.scale, more[j] = by.more;
        }
        // Eight columns at a time, so that their rings stay near while the rows are counted.
        i64 j = 0;
        for (; j + GROUP <= m; j += GROUP) {
            bool missing = false;
            for (i64 q = j; q < j + GROUP; q++) missing |= odd[q] != 0.0;
            const auto count = missing ? count_columns<GROUP, true> : count_columns<GROUP, false>;
            count(block + j, d, rows, labels + lo, n_classes, scales + j, more + j, rings + j * n_classes * BINS);
        }
        for (; j < m; j++)
            count_columns<1, true>(block + j, d, rows, labels + lo, n_classes, scales + j, more + j,
                                   rings + j * n_classes * BINS);
    }
    return -1;
}

// Expectation and maximisation for a mixture of m Gaussians on n weighted points: shares, means and variances, none below
// `least`, are improved in place until a round gains less than the tolerance for each weight.
// work: (n + 1) m + 3 n numbers. Returns the log likelihood before the last round.
API(double, maximise)(const double* points, const double* weights, i64 n, i64 m, double* shares, double* means,
                      double* variances, double least, i64 rounds, double tolerance, double* work) {
    double *parts = work, *constants = parts + n * m, *tops = constants + m, *totals = tops + n, *likelihoods = totals + n;
    double total = 0.0, before = -HUGE_VAL, likelihood = before;
    for (i64 i = 0; i < n; i++) total += weights[i];
    for (i64 round = 0; round < rounds; round++) {
        for (i64 c = 0; c < m; c++)
            constants[c] = shares[c] > 0 ? log_of(shares[c]) - 0.5 * log_of(variances[c]) - HALF_LOG_2PI : -HUGE_VAL;
        for (i64 i = 0; i < n; i++) tops[i] = -HUGE_VAL, totals[i] = 0.0;
        // Component by component, so that the points are done several at a time.
        for (i64 c = 0; c < m; c++)
            for (i64 i = 0; i < n; i++) {
                const double z = points[i] - means[c], r = constants[c] - 0.5 * z * z / variances[c];
                parts[c * n + i] = r;
                tops[i] = r > tops[i] ? r : tops[i];
            }
        for (i64 c = 0; c < m; c++)
            for (i64 i = 0; i < n; i++) {
                const double r = exp_of(parts[c * n + i] - tops[i]);
                parts[c * n + i] = r;
                totals[i] += r;
            }
        likelihood = 0.0;
        for (i64 i = 0; i < n; i++) likelihoods[i] = weights[i] * (tops[i] + log_of(totals[i]));
        for (i64 i = 0; i < n; i++) likelihood += likelihoods[i];
        for (i64 c = 0; c < m; c++) {
            double* part = parts + c * n;
            for (i64 i = 0; i < n; i++) part[i] = weights[i] * part[i] / totals[i];
            double mass = 0.0, first = 0.0, second = 0.0;
            for (i64 i = 0; i < n; i++) {
                const double z = points[i] - means[c];  // from the old mean: no cancellation
                mass += part[i], first += part[i] * z, second += part[i] * z * z;
            }
            shares[c] = mass / total;
            if (!(mass > 0)) continue;
            const double shift = first / mass;
            means[c] += shift;
            variances[c] = larger(second / mass - shift * shift, least);
        }
        if (likelihood - before < tolerance * total) break;
        before = likelihood;
    }
    return likelihood;
}

// SplitMix64's output for a state, and its step (Steele, Lea and Flood, 2014).
static const u64 GOLDEN = 0x9E37'79B9'7F4A'7C15ULL;
INLINE u64 mix(u64 z) {
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return z ^ (z >> 31);
}

// How often each row is drawn in n draws with replacement.
static void draw(u64 seed, i64 replicate, i64 n, i32* drawn) {
    u64 state = mix(seed + (u64)replicate * GOLDEN);
    memset(drawn, 0, (u64)n * 4);
    // The upper 32 bits, scaled to 0..n-1: of 2^32 values, n differ by one in how often they come.
    for (i64 i = 0; i < n; i++) drawn[(mix(state += GOLDEN) >> 32) * (u64)n >> 32]++;
}

// Replicates of the bootstrap are measured eight together, one in each lane.
enum { REPLICATES = 8, PARTS = REPLICATES / LANES, LAST_OF_SCORE = 1, OF_CLASS = 2 };
typedef i32 Counts __attribute__((vector_size(4 * LANES)));
struct Lanes {
    Vector part[PARTS];
};
// f(part) of each part.
template <class F> INLINE Lanes lanes(F f) {
    Lanes result;
    for (int q = 0; q < PARTS; q++) result.part[q] = f(q);
    return result;
}
INLINE Lanes load_lanes(const double* p) { return lanes([=](int q) { return load(p + q * LANES); }); }
INLINE void add(double* p, const Lanes& a) {
    for (int q = 0; q < PARTS; q++) store(p + q * LANES, load(p + q * LANES) + a.part[q]);
}
// How often a row was drawn, times its weight.
INLINE Lanes weigh(const i32* drawn, double weight) {
    return lanes([=](int q) {
        Counts counts;
        memcpy(&counts, drawn + q * LANES, sizeof counts);
        return __builtin_convertvector(counts, Vector) * weight;
    });
}

// The areas under the ROC curve and the average precisions of a score, whose rows are in `order`: (2, REPLICATES).
static void measure_areas(const i32* drawn, const double* weights, const i32* order, const u8* marks, i64 n,
                          const double* of_class, const double* total, double* areas) {
    const Vector none = {};
    const Lanes P = load_lanes(of_class), N = lanes([&](int q) { return load(total + q * LANES) - P.part[q]; });
    Lanes above = {}, below = {}, won = {}, precise = {};  // rows of the class, and others, of lower scores
    Lanes pos = {}, neg = {};                              // those of this score
    bool any = false;
    for (i64 j = 0; j < n; j++) {
        const i64 i = order[j];
        const Lanes w = weigh(drawn + i * REPLICATES, weights ? weights[i] : 1.0);
        const bool own = marks[j] & OF_CLASS;
        const Integers mask = (Integers){} - (i64)own;
        any |= own;
        for (int q = 0; q < PARTS; q++) {
            pos.part[q] += (Vector)((Integers)w.part[q] & mask);
            neg.part[q] += (Vector)((Integers)w.part[q] & ~mask);
        }
        if (!(marks[j] & LAST_OF_SCORE)) continue;
        for (int q = 0; any && q < PARTS; q++) {
            const Vector tp = P.part[q] - above.part[q], others = N.part[q] - below.part[q], p = pos.part[q];
            const Vector precision = p * tp / (tp + (others > none ? others : none));
            won.part[q] += p * (below.part[q] + neg.part[q] / 2.0);
            precise.part[q] += p > none ? precision : none;
        }
        for (int q = 0; q < PARTS; q++) {
            above.part[q] += pos.part[q], below.part[q] += neg.part[q];
            pos.part[q] = neg.part[q] = none;
        }
        any = false;
    }
    for (int q = 0; q < PARTS; q++) {
        const Vector nan = none - as_double(0x7ff8'0000'0000'0000ULL), p = P.part[q], o = N.part[q];
        store(areas + q * LANES, ((p > none) & (o > none)) ? won.part[q] / (p * o) : nan);
        store(areas + REPLICATES + q * LANES, p > none ? precise.part[q] / p : nan);
    }
}

// Draw replicates first..last of n rows, and sum up what each has drawn: numbers, gaps by bins, and by class the rows that
// were answered rightly, that it is true of and that it was answered for; and measure the areas of each score.
// drawn: (2, n, REPLICATES); work: (n_numbers + n_bins + 3 classes + 3, REPLICATES).
API(void, bootstrap)(i64 seed, i64 first, i64 last, i64 n_replicates, i64 n, const double* numbers, i64 n_numbers,
                     const double* gaps, const i8* bins, i64 n_bins, const i32* codes, const i32* predicted,
                     i64 n_classes, const double* weights, const i32* orders, const u8* marks, i64 n_scores,
                     const i32* positives, double* sums, double* binned, double* classes, double* roc, double* pr,
                     i32* drawn, double* work) {
    enum { R = REPLICATES };
    const i64 K = n_classes;
    double *in_bins = work + n_numbers * R, *right = in_bins + n_bins * R, *of_class = right + K * R;
    double *answered = of_class + K * R, *total = answered + K * R, *areas = total + R;
    i32 *one = drawn + n * R, *counts = drawn;
    for (i64 r = first; r < last; r += R) {
        const i64 m = smaller(last - r, (i64)R);
        memset(one, 0, (u64)(n * R) * 4);
        for (i64 q = 0; q < m; q++) draw((u64)seed, r + q, n, one + q * n);
        for (i64 i = 0; i < n; i++)
            for (i64 q = 0; q < R; q++) counts[i * R + q] = one[q * n + i];
        memset(work, 0, (u64)((areas - work) * 8));
        for (i64 i = 0; i < n; i++) {
            const Lanes w = weigh(counts + i * R, weights ? weights[i] : 1.0), there = weigh(counts + i * R, 1.0);
            // Not 0 times a number that may be infinite.
            const auto times = [&](double x) {
                return lanes([&](int q) { return there.part[q] > Vector{} ? w.part[q] * x : Vector{}; });
            };
            for (i64 c = 0; c < n_numbers; c++) add(work + c * R, times(numbers[i * n_numbers + c]));
            if (gaps) add(in_bins + bins[i] * R, times(gaps[i]));
            add(of_class + codes[i] * R, w);
            add(answered + predicted[i] * R, w);
            if (predicted[i] == codes[i]) add(right + codes[i] * R, w);
        }
        for (i64 k = 0; k < K; k++) add(total, load_lanes(of_class + k * R));
        for (i64 q = 0; q < m; q++) {
            for (i64 c = 0; c < n_numbers; c++) sums[(r + q) * n_numbers + c] = work[c * R + q];
            for (i64 b = 0; b < n_bins; b++) binned[(r + q) * n_bins + b] = in_bins[b * R + q];
            for (i64 side = 0; side < 3; side++)
                for (i64 k = 0; k < K; k++)
                    classes[(side * n_replicates + r + q) * K + k] = right[(side * K + k) * R + q];
        }
        for (i64 s = 0; s < n_scores; s++) {
            measure_areas(counts, weights, orders + s * n, marks + s * n, n, of_class + positives[s] * R, total, areas);
            for (i64 q = 0; q < m; q++) roc[(r + q) * n_scores + s] = areas[q], pr[(r + q) * n_scores + s] = areas[R + q];
        }
    }
}
}  // namespace density
