// Linear scores and distances of rows of numbers.
//
// Rows go in groups of eight, turned: number j of row r, less the centre, is turned[8 j + r]. Lanes are rows, and each row has
// its own sums, from left to right: a row has the same bits alone and among others.
#pragma once
#include "common.hpp"
#include "math.hpp"

namespace scores {
enum { GROUP = 8, PARTS = GROUP / LANES };

// Turn rows at..at + GROUP, and mark those with a missing value. Returns the place of an infinite value, or -1.
INLINE i64 turn_rows(const double* X, i64 at, i64 n, i64 d, const double* centre, double* turned, u8* missing) {
    for (i64 r = 0; r < GROUP; r++) {
        const double* row = X + smaller(at + r, n - 1) * d;  // beyond the last row it is turned again
        double odd = 0.0;
        for (i64 j = 0; j < d; j++) {
            turned[GROUP * j + r] = row[j] - centre[j];
            odd += row[j] - row[j];  // 0, or NaN where the number is missing or infinite
        }
        if (at + r >= n) continue;
        missing[at + r] = odd != odd;
        for (i64 j = 0; j < d && odd != odd; j++)
            if (fabs(row[j]) == HUGE_VAL) return (at + r) * d + j;
    }
    return -1;
}

// sums[w] += x_j weights[j * along + w * across], for j from left to right and w < wide <= 4.
static void add_terms(i64 wide, const double* turned, i64 d, const double* weights, i64 along, i64 across,
                      Vector (*sums)[PARTS]) {
    with_number<4>(wide, [&](auto count) {
        Vector own[count.value][PARTS];
        for (int w = 0; w < count.value; w++)
            for (int p = 0; p < PARTS; p++) own[w][p] = sums[w][p];
        for (i64 j = 0; j < d; j++)
            for (int w = 0; w < count.value; w++) {
                const Vector weight = every(weights[j * along + w * across]);
                for (int p = 0; p < PARTS; p++) own[w][p] += load(turned + GROUP * j + LANES * p) * weight;
            }
        for (int w = 0; w < count.value; w++)
            for (int p = 0; p < PARTS; p++) sums[w][p] = own[w][p];
    });
}

// out[i, k] += constants[k] + weights[k] (x - centre), for the rows without a missing value. Returns as turn_rows.
API(i64, add_lines)(const double* X, i64 n, i64 d, const double* centre, const double* weights, const double* constants, i64 K,
                    double* out, u8* missing, double* turned) {
    for (i64 at = 0; at < n; at += GROUP) {
        const i64 infinite = turn_rows(X, at, n, d, centre, turned, missing);
        if (infinite >= 0) return infinite;
        for (i64 k = 0; k < K; k += 4) {
            Vector sums[4][PARTS];
            const i64 wide = smaller<i64>(4, K - k);
            for (i64 w = 0; w < wide; w++)
                for (int p = 0; p < PARTS; p++) sums[w][p] = constants[k + w] - (Vector){};
            add_terms(wide, turned, d, weights + k * d, 1, d, sums);
            for (i64 r = 0; r < smaller<i64>(GROUP, n - at); r++)
                for (i64 w = 0; w < wide && !missing[at + r]; w++) out[(at + r) * K + k + w] += sums[w][r / LANES][r % LANES];
        }
    }
    return -1;
}

// out[i, k] += constants[k] - |(x - centre) A_k - placed[k]|² / 2, likewise. A is d x rank: one for all classes, or one each;
// its column c has zeros from row ends[c] on.
API(i64, add_distances)(const double* X, i64 n, i64 d, const double* centre, const double* roots, i64 n_roots, i64 rank,
                        const i64* ends, const double* placed, const double* constants, i64 K, double* out, u8* missing,
                        double* turned, double* distances) {
    for (i64 at = 0; at < n; at += GROUP) {
        const i64 infinite = turn_rows(X, at, n, d, centre, turned, missing);
        if (infinite >= 0) return infinite;
        for (i64 k = 0; k < K * GROUP; k++) distances[k] = 0.0;
        for (i64 root = 0; root < n_roots; root++)
            for (i64 c = 0; c < rank; c += 4) {
                Vector image[4][PARTS] = {};
                const i64 wide = smaller<i64>(4, rank - c), own = root * rank + c;
                i64 end = 0;
                for (i64 w = 0; w < wide; w++) end = larger(end, ends[own + w]);
                add_terms(wide, turned, end, roots + root * d * rank + c, rank, 1, image);
                for (i64 k = n_roots > 1 ? root : 0; k < (n_roots > 1 ? root + 1 : K); k++)
                    for (i64 p = 0; p < PARTS; p++) {
                        Vector sum = load(distances + GROUP * k + LANES * p);
                        for (i64 w = 0; w < wide; w++) {
                            const Vector apart = image[w][p] - placed[k * rank + c + w];
                            sum += apart * apart;
                        }
                        store(distances + GROUP * k + LANES * p, sum);
                    }
            }
        for (i64 r = 0; r < smaller<i64>(GROUP, n - at); r++)
            for (i64 k = 0; k < K && !missing[at + r]; k++)
                out[(at + r) * K + k] += constants[k] - 0.5 * distances[GROUP * k + r];
    }
    return -1;
}

// Rows that lack columns are answered from the columns they have: by the part of a covariance S that is of these.
//
// S = D L L' D with D the deviations, column by column, the columns that are combinations of those before them left out:
// z = L^-1 D^-1 (x - c) is white. Where S is singular, x - c is first put onto the range of S, which makes it the pseudo-inverse.
// Every sum is taken from left to right: page/linear.mjs has the same bits.
static const double SINGULAR = 1e-11;  // rounding leaves about 1e-14 of a column that is a combination of others
static const double LOG_2PI = 1.8378770664093453;

struct Part {
    i64 d;            // how many columns the row has,
    i64* at;          // and which
    double *L, *scale, *column, *across;  // across: n_across x d, orthonormal, what the range of S does not hold
    bool* free;       // the columns that say something of their own
    i64 n_free, n_across;
};

static double dot(const double* a, const double* b, i64 n) {
    double sum = 0.0;
    for (i64 j = 0; j < n; j++) sum += a[j] * b[j];
    return sum;
}

// The factor of the columns `at` of a covariance with `whole` columns.
static void factorise(const double* S, i64 whole, Part& p) {
    const i64 d = p.d;
    double* L = p.L;
    p.n_free = p.n_across = 0;
    for (i64 j = 0; j < d; j++) p.scale[j] = sqrt(S[p.at[j] * whole + p.at[j]]);
    for (i64 i = 0; i < d; i++) {
        const bool fixed = p.scale[i] == 0.0;
        if (fixed) p.scale[i] = 1.0;
        for (i64 j = 0; j < i; j++) L[i * d + j] = S[p.at[i] * whole + p.at[j]] / p.scale[i] / p.scale[j];
        L[i * d + i] = fixed ? 0.0 : 1.0;
    }
    for (i64 j = 0; j < d; j++) {
        const bool fixed = L[j * d + j] == 0.0 && S[p.at[j] * whole + p.at[j]] == 0.0;
        p.free[j] = L[j * d + j] > SINGULAR;
        p.n_free += p.free[j];
        const double pivot = sqrt(L[j * d + j]);
        for (i64 i = j; i < d; i++) L[i * d + j] = p.free[j] ? (i == j ? pivot : L[i * d + j] / pivot) : 0.0;
        if (p.free[j]) {
            for (i64 i = j + 1; i < d; i++) {
                const double own = p.column[i] = L[i * d + j];
                for (i64 l = j + 1; l <= i; l++) L[i * d + l] -= own * p.column[l];
            }
            continue;
        }
        if (fixed) continue;
        // x_j / scale_j is the sum of b_l x_l / scale_l: what is off that is across the range.
        double *q = p.across + p.n_across * d, most = 1.0 / p.scale[j];
        memset(q, 0, sizeof(double) * (size_t)d);
        for (i64 l = j - 1; l >= 0; l--) {
            if (!p.free[l]) continue;
            double b = L[j * d + l];
            for (i64 i = l + 1; i < j; i++) b -= L[i * d + l] * q[i];
            q[l] = b / L[l * d + l];
        }
        for (i64 l = 0; l < j; l++) q[l] = -q[l] / p.scale[l], most = larger(most, fabs(q[l]));
        q[j] = 1.0 / p.scale[j];
        for (i64 l = 0; l <= j; l++) q[l] /= most;
        for (i64 r = 0; r < p.n_across; r++) {
            const double along = dot(q, p.across + r * d, d);
            for (i64 l = 0; l < d; l++) q[l] -= along * p.across[r * d + l];
        }
        const double length = sqrt(dot(q, q, d));
        for (i64 l = 0; l < d; l++) q[l] /= length;
        p.n_across++;
    }
}

// x to z, in place.
static void whiten(const Part& p, double* x) {
    const i64 d = p.d;
    for (i64 r = 0; r < p.n_across; r++) {
        const double along = dot(x, p.across + r * d, d);
        for (i64 j = 0; j < d; j++) x[j] -= along * p.across[r * d + j];
    }
    for (i64 j = 0; j < d; j++) {
        double z = x[j] / p.scale[j];
        for (i64 l = 0; l < j; l++) z -= p.L[j * d + l] * x[l];
        x[j] = p.free[j] ? z / p.L[j * d + j] : 0.0;
    }
}

// What rows add from the columns that they have, z and z_k of row and class: the log density (0), -|z_k|^2/2 + z_k z (1), or
// the share of the class + z_k z (2). S is one for all classes, or one each. Rows that lack the same columns stand side by side.
enum { DENSITY, LINE, SHARE };
API(void, add_incomplete)(const double* X, i64 n, i64 whole, const double* centre, const double* placed, i64 K, const double* S,
                          i64 n_covariances, i64 what, const double* shares, double* out, double* room, i64* at) {
    double* scale = room + whole * whole;
    Part p = {0, at, room, scale, scale + whole, scale + 2 * whole, (bool*)(at + whole), 0, 0};
    double *own = p.across + whole * whole, *classes = own + whole, *constants = classes + K * whole;
    for (i64 c = 0; c < n_covariances; c++) {
        const i64 first = n_covariances > 1 ? c : 0, last = n_covariances > 1 ? c + 1 : K;
        for (i64 i = 0; i < n; i++) {
            const double* x = X + i * whole;
            bool same = i > 0;
            for (i64 j = 0; same && j < whole; j++) same = (x[j] == x[j]) == (x[j - whole] == x[j - whole]);
            if (!same) {
                p.d = 0;
                for (i64 j = 0; j < whole; j++)
                    if (x[j] == x[j]) at[p.d++] = j;
                factorise(S + c * whole * whole, whole, p);
                double log_determinant = 0.0;
                for (i64 j = 0; what == DENSITY && j < p.d; j++)
                    if (p.free[j]) log_determinant += log_of(p.L[j * p.d + j] * p.scale[j]);
                for (i64 k = first; k < last; k++) {
                    double* z = classes + k * whole;
                    for (i64 j = 0; j < p.d; j++) z[j] = placed[k * whole + at[j]];
                    whiten(p, z);
                    if (what == DENSITY) constants[k] = -0.5 * ((double)p.n_free * LOG_2PI + 2.0 * log_determinant);
                    else constants[k] = what == LINE ? -0.5 * dot(z, z, p.d) : shares[k];
                }
            }
            for (i64 j = 0; j < p.d; j++) own[j] = x[at[j]] - centre[at[j]];
            whiten(p, own);
            for (i64 k = first; k < last; k++) {
                const double* z = classes + k * whole;
                double sum = what == DENSITY ? 0.0 : constants[k];
                for (i64 j = 0; j < p.d; j++) {
                    const double apart = own[j] - z[j];
                    sum += what == DENSITY ? apart * apart : own[j] * z[j];
                }
                out[i * K + k] += what == DENSITY ? constants[k] - 0.5 * sum : sum;
            }
        }
    }
}

// Some columns of rows as heights of straight lines between knots, level beyond them: to columns of out. What is missing is 0.
API(void, interpolate)(const double* X, i64 n, i64 d, const i64* from, const i64* to, const i64* starts, i64 n_columns,
                       const double* all_knots, const double* all_heights, const double* all_slopes, double* out, i64 width) {
    for (i64 c = 0; c < n_columns; c++) {
        const i64 first = starts[c], m = starts[c + 1] - first;
        const double *knots = all_knots + first, *heights = all_heights + first, *slopes = all_slopes + first;
        for (i64 i = 0; i < n; i++) {
            const double x = X[i * d + from[c]];
            i64 at = 0;
            for (i64 rest = m; rest > 1;) {  // the last knot that is not above x, or the first
                const i64 half = rest / 2;
                at += knots[at + half] <= x ? half : 0;
                rest -= half;
            }
            const double inside = x < knots[0] ? knots[0] : x > knots[m - 1] ? knots[m - 1] : x;
            const double z = slopes[at] * (inside - knots[at]) + heights[at];
            out[i * width + to[c]] = z == z ? z : 0.0;
        }
    }
}
}  // namespace scores
