// Linear scores and distances of rows of numbers.
//
// Rows go in groups of eight, turned: number j of row r, less the centre, is turned[8 j + r]. Lanes are rows, and each row has
// its own sums, from left to right: a row has the same bits alone and among others.
#pragma once
#include "common.hpp"

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
}  // namespace scores
