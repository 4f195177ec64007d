// Matrices of counts, sparse and dense: sums per class, log likelihoods; and the cross-entropy solver's products.
#pragma once
#include "common.hpp"
#include "math.hpp"

template <class F> INLINE auto with_indices(i64 type, const void* p, F f) {
    return type == I32 ? f((const i32*)p) : f((const i64*)p);
}

// How many entries are below the lowest or not finite, have a fraction, and are above a limit.
struct Findings { i64 outside, fractions, beyond; };

template <class T> INLINE void inspect_entries(const T* x, i64 n, double lowest, double limit, Findings* found) {
    i64 outside = 0, fractions = 0, beyond = 0;
    for (i64 i = 0; i < n; i++) {
        const double value = (double)x[i];
        outside += !(value >= lowest) | !(value - value == 0.0);
        fractions += value != floor(value);
        beyond += value > limit;
    }
    found->outside += outside;
    found->fractions += fractions;
    found->beyond += beyond;
}

API(void, inspect_entries)(i64 type, const void* data, i64 n, double lowest, double limit, Findings* found) {
    with_numbers(type, data, [&](auto* x) { inspect_entries(x, n, lowest, limit, found); });
}

// Add columns first..last of each row, times its weight, to its class's row of the table. Rows that have not been inspected
// are, while they are at hand.
template <class T, class S>
INLINE void tally_dense(const T* X, i64 n, i64 d, i64 first, i64 last, const i64* labels, const S* weights, bool presence,
                        bool inspected, double lowest, S* table, Findings* found) {
    const i64 width = last - first;
    for (i64 i = 0; i < n; i++) {
        const T* row = X + i * d + first;
        if (!inspected) inspect_entries(row, width, lowest, HUGE_VAL, found);
        if (labels[i] < 0) continue;
        const S weight = weights[i];
        S* sums = table + labels[i] * width;
        if (presence)
            for (i64 j = 0; j < width; j++) sums[j] += row[j] != 0 ? weight : (S)0;
        else
            for (i64 j = 0; j < width; j++) sums[j] += weight * (S)row[j];
    }
}

API(void, tally_dense)(i64 type, const void* matrix, i64 n, i64 d, i64 first, i64 last, const i64* labels, i64 whole,
                       const void* weights, i64 presence, i64 inspected, double lowest, void* table, Findings* found) {
    with_numbers(type, matrix, [&](auto* X) {
        if (whole)
            tally_dense(X, n, d, first, last, labels, (const i64*)weights, presence, inspected, lowest, (i64*)table, found);
        else
            tally_dense(X, n, d, first, last, labels, (const double*)weights, presence, inspected, lowest, (double*)table, found);
    });
}

// Add the entries of these rows, times the row's weight, to table[class - first].
template <class T, class I, class S>
INLINE void tally_csr(const T* data, const I* columns, const I* starts, const i64* rows, i64 n, const i64* labels, i64 first,
                      const S* weights, bool presence, S* table, i64 width) {
    for (i64 r = 0; r < n; r++) {
        const i64 i = rows[r];
        const S weight = weights[i];
        S* sums = table + (labels[i] - first) * width;
        for (i64 p = starts[i]; p < starts[i + 1]; p++)
            sums[columns[p]] += presence ? (data[p] != 0 ? weight : (S)0) : weight * (S)data[p];
    }
}

API(void, tally_csr)(i64 type, const void* data, i64 index_type, const void* columns, const void* starts, const i64* rows, i64 n,
                     const i64* labels, i64 first, i64 whole, const void* weights, i64 presence, void* table, i64 width) {
    with_numbers(type, data, [&](auto* x) {
        with_indices(index_type, columns, [&](auto* at) {
            const auto* from = (decltype(at))starts;
            if (whole) tally_csr(x, at, from, rows, n, labels, first, (const i64*)weights, presence, (i64*)table, width);
            else tally_csr(x, at, from, rows, n, labels, first, (const double*)weights, presence, (double*)table, width);
        });
    });
}

// Log likelihoods. out[k] += x terms[column, k] over the entries of a row in their order; an entry of zero says nothing, not
// even of what is impossible. Lanes are classes. The last vector may begin among those of the one before it: what both have
// is added up twice, to the same.
template <int WIDE, class T, class I>
INLINE void add_entries(const T* x, const I* columns, i64 n, bool presence, const double* terms, i64 K, i64 classes, double* out) {
    Vector sums[WIDE];
    i64 at[WIDE];
    for (int w = 0; w < WIDE; w++) {
        at[w] = smaller<i64>(w * LANES, classes - LANES);
        sums[w] = load(out + at[w]);
    }
    for (i64 p = 0; p < n; p++) {
        if (x[p] == 0) continue;
        const Vector value = every(presence ? 1.0 : (double)x[p]);
        for (int w = 0; w < WIDE; w++) sums[w] += value * load(terms + (i64)columns[p] * K + at[w]);
    }
    for (int w = 0; w < WIDE; w++) store(out + at[w], sums[w]);
}

template <class T, class I>
INLINE void add_row(const T* x, const I* columns, i64 n, bool presence, const double* terms, i64 K, double* out) {
    if (K < LANES) {
        for (i64 p = 0; p < n; p++)
            for (i64 k = 0; k < K && x[p] != 0; k++)
                out[k] += (presence ? 1.0 : (double)x[p]) * terms[(i64)columns[p] * K + k];
        return;
    }
    for (i64 k = 0; k < K;) {
        i64 classes = smaller<i64>(4 * LANES, K - k);
        const i64 left = K - k - classes;
        if (0 < left && left < LANES) classes -= LANES - left;  // each time a whole vector at least
        switch ((classes + LANES - 1) / LANES) {
            case 1: add_entries<1>(x, columns, n, presence, terms + k, K, classes, out + k); break;
            case 2: add_entries<2>(x, columns, n, presence, terms + k, K, classes, out + k); break;
            case 3: add_entries<3>(x, columns, n, presence, terms + k, K, classes, out + k); break;
            default: add_entries<4>(x, columns, n, presence, terms + k, K, classes, out + k);
        }
        k += classes;
    }
}

// Rows first..last of a CSR matrix. Of a table that is beyond the caches (far) a row's lines are asked for first.
API(void, add_csr)(i64 type, const void* data, i64 index_type, const void* columns, const void* starts, i64 first, i64 last,
                   i64 presence, const double* terms, i64 K, i64 far, double* out) {
    with_numbers(type, data, [&](auto* x) {
        with_indices(index_type, columns, [&](auto* at) {
            const auto* from = (decltype(at))starts;
            for (i64 i = first; i < last; i++) {
                for (i64 p = from[i]; far && p < from[i + 1]; p++)
                    for (i64 k = 0; k < K; k += 8) __builtin_prefetch(terms + (i64)at[p] * K + k);
                add_row(x + from[i], at + from[i], from[i + 1] - from[i], presence, terms, K, out + i * K);
            }
        });
    });
}

// Rows of a dense matrix: their entries that are not zero, as a CSR matrix would have them. There is room for a row of those.
API(void, add_dense)(i64 type, const void* matrix, i64 n, i64 d, i64 presence, const double* terms, i64 K, double* out,
                     double* values, i32* columns) {
    with_numbers(type, matrix, [&](auto* X) {
        for (i64 i = 0; i < n; i++) {
            i64 entries = 0;
            for (i64 j = 0; j < d; j++) {
                const double value = (double)X[i * d + j];
                values[entries] = value;
                columns[entries] = (i32)j;
                entries += value != 0.0;
            }
            add_row(values, columns, entries, presence, terms, K, out + i * K);
        }
    });
}

// Logarithms of counts. Tables of words are large and their counts small: the logarithms of small whole counts are looked up,
// and tables are turned (classes x columns to columns x classes) in tiles that stay in the cache.
enum { LOGS = 1 << 10, TILE = 1 << 6 };

// out[v, k] = log(counts[k, v] + pseudo[v]) - log_totals[k]. Where there are `whole` sums, the counts of the other classes are
// taken. Looked up are all small counts where one pseudo-count is shared, else each column's zero.
template <class T>
static void log_counts(const T* counts, i64 K, i64 V, const T* whole, const double* pseudo, bool shared, const double* log_totals,
                       i64 first, i64 last, double* out, i64 down, i64 across) {
    double logs[LOGS];
    for (i64 c = 0; c < LOGS && shared; c++) logs[c] = log_of((double)c + pseudo[0]);
    for (i64 start = first; start < last; start += TILE) {
        const i64 stop = smaller<i64>(start + TILE, last);
        for (i64 v = start; v < stop && !shared; v++) logs[v - start] = log_of(pseudo[v]);
        for (i64 k = 0; k < K; k++)
            for (i64 v = start; v < stop; v++) {
                const T own = counts[k * V + v], c = whole ? larger<T>(whole[v] - own, 0) : own;
                const bool known = shared ? c >= 0 && c < LOGS && c == (T)(i64)c : c == 0;
                const double log = known ? logs[shared ? (i64)c : v - start] : log_of((double)c + pseudo[shared ? 0 : v]);
                out[v * down + k * across] = log - log_totals[k];
            }
    }
}

API(void, log_counts)(i64 type, const void* counts, i64 K, i64 V, const void* whole, i64 others, const double* pseudo, i64 shared,
                      const double* log_totals, i64 first, i64 last, double* out, i64 down, i64 across) {
    if (!others) whole = nullptr;
    if (type == F64)
        log_counts((const double*)counts, K, V, (const double*)whole, pseudo, shared, log_totals, first, last, out, down, across);
    else log_counts((const i64*)counts, K, V, (const i64*)whole, pseudo, shared, log_totals, first, last, out, down, across);
}

// out[v, k] = log p - log(1 - p), p = (c + pseudo) / totals[k], for the tiles first..last; log(1 - p) is summed by tile.
// log1p keeps what log(total - c + pseudo) - log(total) would cancel: most p are near 0. There is room for rests K x TILE.
API(void, log_odds)(const i64* counts, i64 K, i64 V, double pseudo, const double* totals, i64 first, i64 last, double* out,
                    double* absent, double* rests) {
    double present[LOGS];
    for (i64 c = 0; c < LOGS; c++) present[c] = log_of((double)c + pseudo);
    for (i64 k = 0; k < K; k++)
        for (i64 c = 0; c < TILE; c++)
            rests[k * TILE + c] = log1p_of(-(smaller((double)c + pseudo, totals[k] - pseudo) / totals[k]));
    for (i64 tile = first; tile < last; tile++)
        for (i64 k = 0; k < K; k++) {
            const double log_total = log_of(totals[k]);
            double sum = 0.0;
            for (i64 v = tile * TILE; v < smaller<i64>((tile + 1) * TILE, V); v++) {
                const i64 c = counts[k * V + v];
                const double rest = c < TILE ? rests[k * TILE + c] : log1p_of(-(((double)c + pseudo) / totals[k]));
                out[v * K + k] = (c < LOGS ? present[c] : log_of((double)c + pseudo)) - log_total - rest;
                sum += rest;
            }
            absent[tile * K + k] = sum;
        }
}

// A sparse matrix by columns: entry c of column j is in row rows[c], for c from starts[j]; no values are ones.

// out[j] = Σ_i x_ij G[i], of columns first..last.
API(void, gather_columns)(const i64* starts, const i32* rows, const double* values, i64 plain, i64 first, i64 last, const double* G,
                          i64 width, double* out) {
    for (i64 j = first; j < last; j++) {
        double* sums = out + j * width;
        for (i64 k = 0; k < width; k++) sums[k] = 0.0;
        for (i64 c = starts[j]; c < starts[j + 1]; c++) {
            const double x = plain ? 1.0 : values[c], *from = G + rows[c] * width;
            for (i64 k = 0; k < width; k++) sums[k] += x * from[k];
        }
    }
}

// out[i] += Σ_j x_ij V[j], or with squared x_ij² V[j]; without V (ones) its rows are ones.
API(void, scatter_columns)(const i64* starts, const i32* rows, const double* values, i64 plain, i64 squared, i64 first, i64 last,
                           const double* V, i64 ones, i64 width, double* out) {
    for (i64 j = first; j < last; j++)
        for (i64 c = starts[j]; c < starts[j + 1]; c++) {
            const double value = plain ? 1.0 : values[c], x = squared ? value * value : value;
            double* sums = out + rows[c] * width;
            for (i64 k = 0; k < width; k++) sums[k] += ones ? x : x * V[j * width + k];
        }
}

// out[i] += Σ_j x_ij squares[j] Σ_l x_lj G[l]; there is room for the inner sums. One pass: what a column gathers it scatters.
API(void, gram_columns)(const i64* starts, const i32* rows, const double* values, i64 plain, const double* squares, i64 ones,
                        i64 first, i64 last, const double* G, i64 width, double* out, double* held) {
    for (i64 j = first; j < last; j++) {
        if (width == 1) {  // the sum stays in a register
            double sum = 0.0;
            for (i64 c = starts[j]; c < starts[j + 1]; c++) sum += plain ? G[rows[c]] : values[c] * G[rows[c]];
            sum = ones ? sum : sum * squares[j];
            for (i64 c = starts[j]; c < starts[j + 1]; c++) out[rows[c]] += plain ? sum : values[c] * sum;
            continue;
        }
        for (i64 k = 0; k < width; k++) held[k] = 0.0;
        for (i64 c = starts[j]; c < starts[j + 1]; c++) {
            const double x = plain ? 1.0 : values[c], *from = G + rows[c] * width;
            for (i64 k = 0; k < width; k++) held[k] += x * from[k];
        }
        for (i64 k = 0; k < width && !ones; k++) held[k] *= squares[j * width + k];
        for (i64 c = starts[j]; c < starts[j + 1]; c++) {
            const double x = plain ? 1.0 : values[c];
            double* sums = out + rows[c] * width;
            for (i64 k = 0; k < width; k++) sums[k] += x * held[k];
        }
    }
}

// Entries put in the order of their columns; within one they stay in theirs. An entry of column -1 is left out. starts, with
// two places more than columns, ends up as it is used: starts[j] where column j begins.
API(void, sort_by_column)(const i32* rows, const i32* columns, const double* values, i64 plain, i64 n, i64* starts, i64 n_columns,
                          i32* new_rows, double* new_values) {
    for (i64 c = 0; c < n; c++)
        if (columns[c] >= 0) starts[columns[c] + 2]++;
    for (i64 j = 2; j < n_columns + 2; j++) starts[j] += starts[j - 1];
    for (i64 c = 0; c < n; c++) {
        if (columns[c] < 0) continue;
        const i64 place = starts[columns[c] + 1]++;
        new_rows[place] = rows[c];
        if (!plain) new_values[place] = values[c];
    }
}

// Copy the columns that are kept.
API(void, pick_columns)(const i64* starts, const i32* rows, const double* values, i64 plain, const i64* kept, i64 n,
                        const i64* new_starts, i32* new_rows, double* new_values) {
    for (i64 j = 0; j < n; j++) {
        const i64 from = starts[kept[j]], to = new_starts[j], size = new_starts[j + 1] - to;
        if (size > 0) memcpy(new_rows + to, rows + from, size * sizeof(i32));
        if (size > 0 && !plain) memcpy(new_values + to, values + from, size * sizeof(double));
    }
}

// Cross-entropy. Two classes have one logit z, the log odds of the second; more have one each. Rows go a few at a time, so that
// exponentials and logarithms are taken of whole arrays.
enum { FEW_ROWS = 64 };

// Of one logit z: e = exp(-|z|), p the share of the second class, and the loss.
struct Binary { double e[FEW_ROWS], share[FEW_ROWS], loss[FEW_ROWS]; };
INLINE void binary_shares(const double* z, const i32* labels, i64 n, Binary* b) {
    for (i64 i = 0; i < n; i++) b->e[i] = exp_of(-fabs(z[i]));
    for (i64 i = 0; i < n; i++) b->loss[i] = log1p_of(b->e[i]);
    for (i64 i = 0; i < n; i++) {
        const double side = labels[i] == 0 ? z[i] : -z[i];
        b->share[i] = (z[i] >= 0 ? 1.0 : b->e[i]) / (1.0 + b->e[i]);
        b->loss[i] += side > 0.0 ? side : 0.0;
    }
}

// Exponentials of logits, less the row's largest, in their place; their sums, and the losses of the rows.
INLINE void exponentials(double* z, i64 K, const i32* labels, i64 n, double* totals, double* losses) {
    for (i64 i = 0; i < n; i++) {
        double *row = z + i * K, top = row[0];
        for (i64 k = 1; k < K; k++) top = row[k] > top ? row[k] : top;
        losses[i] = top - row[labels[i]];
        for (i64 k = 0; k < K; k++) row[k] -= top;
    }
    for (i64 i = 0; i < n * K; i++) z[i] = exp_of(z[i]);
    for (i64 i = 0; i < n; i++) {
        totals[i] = 0.0;
        for (i64 k = 0; k < K; k++) totals[i] += z[i * K + k];
    }
    for (i64 i = 0; i < n; i++) losses[i] += log_of(totals[i]);
}

// Write the gradient of rows first..last in their logits; return their loss. No weights are ones.
API(double, residuals)(const double* logits, i64 K, const i32* labels, const double* weights, i64 weighted, i64 first, i64 last,
                       double* out) {
    Binary binary;
    double loss = 0.0;
    for (i64 start = first; start < last; start += FEW_ROWS) {
        const i64 n = smaller<i64>(FEW_ROWS, last - start);
        const double* z = logits + start * K;
        const i32* own = labels + start;
        double* gradient = out + start * K;
        if (K == 1) {
            binary_shares(z, own, n, &binary);
            for (i64 i = 0; i < n; i++) {
                const double weight = weighted ? weights[start + i] : 1.0;
                loss += weight * binary.loss[i];
                gradient[i] = weight * (binary.share[i] - own[i]);
            }
            continue;
        }
        memcpy(gradient, z, n * K * sizeof(double));
        exponentials(gradient, K, own, n, binary.share, binary.loss);
        for (i64 i = 0; i < n; i++) {
            const double weight = weighted ? weights[start + i] : 1.0, share = weight / binary.share[i];
            loss += weight * binary.loss[i];
            for (i64 k = 0; k < K; k++) gradient[i * K + k] *= share;
            gradient[i * K + own[i]] -= weight;
        }
    }
    return loss;
}

// Σ a b in four sums, the same ones on every machine.
INLINE double dot(const double* a, const double* b, i64 n) {
    double sums[4] = {};
    i64 i = 0;
    for (; i + 4 <= n; i += 4)
        for (int q = 0; q < 4; q++) sums[q] += a[i + q] * b[i + q];
    for (; i < n; i++) sums[i % 4] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// The loss at logits + Σ_m lengths[m] directions[m]; its gradient and curvature in the lengths are added to slope and to the
// lower triangle of bend. Directions are size x rows x K. There is room for (FEW_ROWS + 1) K + size numbers.
API(double, loss_within)(const double* logits, i64 n_rows, i64 K, const double* directions, const double* lengths, i64 size,
                         const i32* labels, const double* weights, i64 weighted, i64 first, i64 last, double* slope, double* bend,
                         double* work) {
    Binary binary;
    double loss = 0.0, *powers = work, *scaled = work + FEW_ROWS * K, *means = scaled + K;
    for (i64 start = first; start < last; start += FEW_ROWS) {
        const i64 n = smaller<i64>(FEW_ROWS, last - start), at = start * K, step = n_rows * K;
        const i32* own = labels + start;
        for (i64 i = 0; i < n * K; i++) powers[i] = logits[at + i];
        for (i64 m = 0; m < size; m++)
            for (i64 i = 0; i < n * K; i++) powers[i] += lengths[m] * directions[m * step + at + i];
        if (K == 1) {
            double pull[FEW_ROWS], curve[FEW_ROWS], curved[FEW_ROWS];
            binary_shares(powers, own, n, &binary);
            for (i64 i = 0; i < n; i++) {
                const double weight = weighted ? weights[start + i] : 1.0, e = binary.e[i];
                loss += weight * binary.loss[i];
                pull[i] = weight * (binary.share[i] - own[i]);
                curve[i] = weight * e / ((1.0 + e) * (1.0 + e));
            }
            for (i64 m = 0; m < size; m++) {
                const double* direction = directions + m * step + at;
                slope[m] += dot(pull, direction, n);
                for (i64 i = 0; i < n; i++) curved[i] = curve[i] * direction[i];
                for (i64 j = 0; j <= m; j++) bend[m * size + j] += dot(curved, directions + j * step + at, n);
            }
            continue;
        }
        exponentials(powers, K, own, n, binary.share, binary.loss);
        for (i64 i = 0; i < n; i++) {
            const double weight = weighted ? weights[start + i] : 1.0, share = weight / binary.share[i];
            const i64 row = at + i * K;
            loss += weight * binary.loss[i];
            for (i64 k = 0; k < K; k++) powers[i * K + k] *= share;
            for (i64 m = 0; m < size; m++) {
                const double* direction = directions + m * step + row;
                for (i64 k = 0; k < K; k++) scaled[k] = powers[i * K + k] * direction[k];
                means[m] = dot(powers + i * K, direction, K);
                slope[m] += means[m] - weight * direction[own[i]];
                for (i64 j = 0; j <= m; j++) {
                    const double all = dot(scaled, directions + j * step + row, K);
                    bend[m * size + j] += weight > 0 ? all - means[m] * means[j] / weight : all;
                }
            }
        }
    }
    return loss;
}
