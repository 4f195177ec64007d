// Matrices of counts, sparse and dense: sums per class, log likelihoods, logarithms of shares; and rows times a few weights.
#pragma once
#include "common.hpp"
#include "math.hpp"

// Entries of a matrix, typed. Python has made all other types into these.
template <class F> INLINE void with_entries(i64 type, const void* data, F f) {
    switch (type) {
        case U8: return f((const u8*)data);
        case I32: return f((const i32*)data);
        case I64: return f((const i64*)data);
        case F32: return f((const float*)data);
        default: return f((const double*)data);
    }
}
// Sparse matrices by rows: f(entries, columns, ends).
struct Csr {
    const void *data, *indices, *indptr;
    i64 type, wide;
};
template <class F> INLINE void with_csr(const Csr& m, F f) {
    with_entries(m.type, m.data, [&](auto* entries) {
        if (m.wide) f(entries, (const i64*)m.indices, (const i64*)m.indptr);
        else f(entries, (const i32*)m.indices, (const i32*)m.indptr);
    });
}

static const double LARGEST = 1.7976931348623157e308;

// How many entries lie outside lowest..largest double (or are NaN), have a fraction, pass the limit: added to found.
template <class T> INLINE void inspect_row(const T* row, i64 n, double lowest, double limit, i64* found) {
    i64 outside = 0, fractions = 0, beyond = 0;
    for (i64 j = 0; j < n; j++) {
        const double x = row[j];
        outside += !(x >= lowest && x <= LARGEST);
        fractions += !(x == floor(x));
        beyond += x > limit;
    }
    found[0] += outside;
    found[1] += fractions;
    found[2] += beyond;
}
API(void, inspect_entries)(i64 type, const void* data, i64 n, double lowest, double limit, i64* found) {
    with_entries(type, data, [=](auto* entries) { inspect_row(entries, n, lowest, limit, found); });
}

// Add each row, times its weight, to its class's row of the table. Doubles are inspected on the way, while they are at hand.
template <class T>
static void add_dense_rows(const T* block, i64 n, i64 m, const i64* labels, const T* weights, bool presence, double lowest,
                           T* table, i64* found) {
    const bool whole = (T)0.5 == 0;
    for (i64 i = 0; i < n; i++) {
        const T* row = block + i * m;
        if (!whole) inspect_row(row, m, lowest, LARGEST, found);
        if (labels[i] < 0) continue;
        const T weight = weights[i];
        T* sums = table + labels[i] * m;
        if (presence) {
            for (i64 j = 0; j < m; j++) sums[j] += row[j] != 0 ? weight : (T)0;
        } else {
            for (i64 j = 0; j < m; j++) sums[j] += weight * row[j];
        }
    }
}
API(void, tally_dense)
(i64 whole, const void* block, i64 n, i64 m, const i64* labels, const void* weights, i64 presence, double lowest, void* table,
 i64* found) {
    with_sums(!whole, table, [=](auto* sums) {
        typedef decltype(sums) T;
        add_dense_rows((T)block, n, m, labels, (T)weights, presence, lowest, sums, found);
    });
}

// Add the entries of these rows of a CSR matrix, times the row's weight, to table[class - first].
template <class T, class I, class N>
static void add_sparse_rows(const T* data, const I* indices, const I* indptr, const i64* rows, i64 n, const i64* labels,
                            i64 first, const N* weights, bool presence, N* table, i64 n_columns) {
    for (i64 r = 0; r < n; r++) {
        const i64 i = rows[r];
        const N weight = weights[i];
        N* row = table + (labels[i] - first) * n_columns;
        if (presence) {
            for (I p = indptr[i]; p < indptr[i + 1]; p++) row[indices[p]] += data[p] != 0 ? weight : (N)0;
        } else {
            for (I p = indptr[i]; p < indptr[i + 1]; p++) row[indices[p]] += weight * (N)data[p];
        }
    }
}
API(void, tally_csr)
(const Csr* matrix, i64 whole, const i64* rows, i64 n, const i64* labels, i64 first, const void* weights, i64 presence,
 void* table, i64 n_columns) {
    with_csr(*matrix, [&](auto* entries, auto* at, auto* ends) {
        with_sums(!whole, table, [&](auto* sums) {
            add_sparse_rows(entries, at, ends, rows, n, labels, first, (decltype(sums))weights, presence, sums, n_columns);
        });
    });
}

// out[i, k] += x table[column, k] over the entries of a row, in their order.
API(void, add_csr)
(const Csr* matrix, i64 first, i64 last, i64 presence, const double* table, i64 classes, double* out) {
    with_csr(*matrix, [&](auto* entries, auto* at, auto* ends) {
        const i64 all = ends[last];
        for (i64 i = first; i < last; i++) {
            const i64 begin = ends[i], end = ends[i + 1];
            // The lines of the table that the next row needs are on their way while this one is added.
            const i64 ahead = smaller<i64>(end + (end - begin), all);
            for (i64 p = end; p < ahead; p++)
                for (i64 k = 0; k < classes; k += 8) __builtin_prefetch(table + (i64)at[p] * classes + k);
            double* row = out + i * classes;
            add_up<8>(begin, end, classes, row, [&](i64 p) {  // 0 · log 0 is 0
                return Term{presence ? 1.0 : (double)entries[p], table + (i64)at[p] * classes, entries[p] != 0};
            });
        }
    });
}

// out[i] += rows times weights (columns × padded, whole vectors): R rows and V vectors of weights at a time stay in
// registers, and each sum is taken column by column from left to right, beginning with what is in out.
template <int R, int V>
INLINE void multiply_tile(const double* X, i64 d, const double* weights, i64 padded, double* out, i64 width, i64 left) {
    Vector sums[R][V];
    double held[V * LANES];
    for (int r = 0; r < R; r++) {
        for (i64 k = 0; k < V * LANES; k++) held[k] = k < left ? out[r * width + k] : 0.0;
        for (int v = 0; v < V; v++) sums[r][v] = load(held + v * LANES);
    }
    for (i64 j = 0; j < d; j++) {
        Vector w[V];
        for (int v = 0; v < V; v++) w[v] = load(weights + j * padded + v * LANES);
        for (int r = 0; r < R; r++) {
            const Vector x = every(X[r * d + j]);
            for (int v = 0; v < V; v++) sums[r][v] += x * w[v];
        }
    }
    for (int r = 0; r < R; r++) {
        for (int v = 0; v < V; v++) store(held + v * LANES, sums[r][v]);
        for (i64 k = 0; k < smaller<i64>(left, V * LANES); k++) out[r * width + k] = held[k];
    }
}
template <int R> static void multiply_rows(const double* X, i64 d, const double* weights, i64 padded, double* out, i64 width) {
    i64 k = 0;
    for (; k + 3 * LANES <= padded; k += 3 * LANES) multiply_tile<R, 3>(X, d, weights + k, padded, out + k, width, width - k);
    for (; k < padded; k += LANES) multiply_tile<R, 1>(X, d, weights + k, padded, out + k, width, width - k);
}
API(void, add_dense)(const double* X, i64 n, i64 d, const double* weights, i64 padded, double* out, i64 width) {
    i64 i = 0;
    for (; i + 4 <= n; i += 4) multiply_rows<4>(X + i * d, d, weights, padded, out + i * width, width);
    for (; i < n; i++) multiply_rows<1>(X + i * d, d, weights, padded, out + i * width, width);
}

// out[v, k] = log(c + pseudo) - log_totals[k], c the count of column v in class k, or (given the whole columns) in all others.
// Most counts are small, so logarithms are looked up: logs has those of the first `known` whole counts where one
// pseudo-count is shared; else a column's zero is looked up. In tiles that stay in the cache.
enum { TILE = 64 };
template <class T>
static void log_shares(const T* counts, i64 classes, i64 n, const T* whole, const double* pseudo, const double* logs, i64 known,
                       const double* log_totals, i64 first, i64 last, double* out) {
    double zero[TILE];
    for (i64 start = first; start < last; start += TILE) {
        const i64 stop = smaller<i64>(start + TILE, last);
        if (!logs)
            for (i64 v = start; v < stop; v++) zero[v - start] = log_of(pseudo[v]);
        for (i64 k = 0; k < classes; k++) {
            const T* row = counts + k * n;
            for (i64 v = start; v < stop; v++) {
                T c = row[v];
                if (whole) c = whole[v] > c ? whole[v] - c : (T)0;
                double log;
                if (logs) log = c >= 0 && c < known && c == (T)(i64)c ? logs[(i64)c] : log_of((double)c + pseudo[0]);
                else log = c == 0 ? zero[v - start] : log_of((double)c + pseudo[v]);
                out[v * classes + k] = log - log_totals[k];
            }
        }
    }
}
API(void, log_shares)
(i64 integers, const void* counts, i64 classes, i64 n, const void* whole, const double* pseudo, const double* logs, i64 known,
 const double* log_totals, i64 first, i64 last, double* out) {
    with_sums(!integers, counts, [=](auto* cells) {
        log_shares(cells, classes, n, (decltype(cells))whole, pseudo, logs, known, log_totals, first, last, out);
    });
}
