// What the cross-entropy solver needs: a sparse matrix by its columns times a few vectors, and the loss of logits.
#pragma once
#include "common.hpp"
#include "math.hpp"

// A sparse matrix by columns: the entries of column j are rows[starts[j] .. starts[j + 1]] with their values; no values are
// ones. Templates fix whether there are values and whether there is one vector, which is the common case.
struct ByColumn {
    const i64* starts;
    const i32* rows;
    const double* values;
};

template <bool PLAIN> INLINE double value_at(const ByColumn& X, i64 c) { return PLAIN ? 1.0 : X.values[c]; }

// total[k] = Σ_i x_ij G[i, k] for one column.
template <bool PLAIN> static void gather_column(const ByColumn& X, i64 j, const double* G, i64 width, double* total) {
    if (width == 1) {
        double sum = 0;
        for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) sum += PLAIN ? G[X.rows[c]] : X.values[c] * G[X.rows[c]];
        total[0] = sum;
        return;
    }
    for (i64 k = 0; k < width; k++) total[k] = 0;
    for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) {
        const double x = value_at<PLAIN>(X, c), *g = G + X.rows[c] * width;
        for (i64 k = 0; k < width; k++) total[k] += x * g[k];
    }
}

// out[i, k] += x_ij v[k] for one column.
template <bool PLAIN> static void scatter_column(const ByColumn& X, i64 j, const double* v, i64 width, double* out) {
    for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) {
        const double x = value_at<PLAIN>(X, c);
        double* o = out + X.rows[c] * width;
        for (i64 k = 0; k < width; k++) o[k] += x * v[k];
    }
}

template <bool PLAIN>
static void columns_of(i64 what, const ByColumn& X, i64 first, i64 last, const double* V, const double* squares, i64 width,
                       double* held, double* out) {
    for (i64 j = first; j < last; j++) {
        if (what == 0) {
            gather_column<PLAIN>(X, j, V, width, out + j * width);
        } else if (what == 1) {
            scatter_column<PLAIN>(X, j, V + j * width, width, out);
        } else if (what == 2) {
            gather_column<PLAIN>(X, j, V, width, held);
            if (squares)
                for (i64 k = 0; k < width; k++) held[k] *= squares[j * width + k];
            scatter_column<PLAIN>(X, j, held, width, out);
        } else {
            for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) {
                const double x = PLAIN ? 1.0 : X.values[c] * X.values[c];
                double* o = out + X.rows[c] * width;
                for (i64 k = 0; k < width; k++) o[k] += squares ? x * squares[j * width + k] : x;
            }
        }
    }
}

// what: 0 gathers Xᵀ V into out, 1 adds X V, 2 adds X S Xᵀ V, 3 adds X² S; S is squares, or ones where there are none.
API(void, sparse_columns)
(i64 what, const i64* starts, const i32* rows, const double* values, i64 plain, i64 first, i64 last, const double* V,
 const double* squares, i64 scaled, i64 width, double* held, double* out) {
    const ByColumn X = {starts, rows, values};
    const double* S = scaled ? squares : nullptr;
    if (plain) columns_of<true>(what, X, first, last, V, S, width, held, out);
    else columns_of<false>(what, X, first, last, V, S, width, held, out);
}

// Entries put in the order of their columns; within one they stay in theirs. places holds the start of each column, and is
// moved on; an entry of column -1 is left out.
API(void, sort_by_column)
(const i32* rows, const i32* columns, const double* values, i64 n, i64 plain, i64* places, i32* new_rows, double* new_values) {
    for (i64 c = 0; c < n; c++) {
        if (columns[c] < 0) continue;
        const i64 at = places[columns[c]]++;
        new_rows[at] = rows[c];
        if (!plain) new_values[at] = values[c];
    }
}

// Of one row: writes p (rows are not normalised yet), returns the log of their sum and, in share, 1 / that sum.
struct Softmax {
    double loss, share;
};
// powers[k] becomes exp(z_k - top); z_y is the logit of the true class.
INLINE Softmax soften(double* powers, i64 columns, i64 y) {
    double top = powers[0];
    for (i64 k = 1; k < columns; k++) top = powers[k] > top ? powers[k] : top;
    const double own = powers[y];
    for (i64 k = 0; k < columns; k++) powers[k] = exp_of(powers[k] - top);
    double total = 0;
    for (i64 k = 0; k < columns; k++) total += powers[k];
    return {log_of(total) + top - own, 1.0 / total};
}

enum { BATCH = 256 };  // rows of two classes whose exponentials are taken together

// The gradient of rows first..last in their logits, and their loss; no weights are ones.
API(double, residuals)
(const double* logits, i64 columns, const i32* labels, const double* weights, i64 weighted, i64 first, i64 last, double* out) {
    double loss = 0;
    if (columns == 1) {
        double e[BATCH], l[BATCH];
        for (i64 lo = first; lo < last; lo += BATCH) {
            const i64 n = smaller<i64>(BATCH, last - lo);
            for (i64 i = 0; i < n; i++) e[i] = exp_of(-fabs(logits[lo + i]));
            for (i64 i = 0; i < n; i++) l[i] = log1p_of(e[i]);
            for (i64 i = 0; i < n; i++) {
                const double z = logits[lo + i], w = weighted ? weights[lo + i] : 1.0, y = labels[lo + i];
                const double p = (z >= 0 ? 1.0 : e[i]) / (1.0 + e[i]), wrong = y == 0 ? z : -z;
                loss += w * (l[i] + (wrong > 0 ? wrong : 0.0));
                out[lo + i] = w * (p - y);
            }
        }
        return loss;
    }
    for (i64 i = first; i < last; i++) {
        const double w = weighted ? weights[i] : 1.0;
        double* o = out + i * columns;
        for (i64 k = 0; k < columns; k++) o[k] = logits[i * columns + k];
        const Softmax s = soften(o, columns, labels[i]);
        loss += w * s.loss;
        const double share = w * s.share;
        for (i64 k = 0; k < columns; k++) o[k] *= share;
        o[labels[i]] -= w;
    }
    return loss;
}

// The loss at logits + Σ_m lengths[m] directions[m]; its gradient and curvature (below the diagonal) in the lengths are
// added. directions is (size, rows, columns); work has (size + 1) (columns + 1) doubles.
API(double, loss_along)
(const double* logits, i64 n_rows, i64 columns, const double* directions, const double* lengths, i64 size, const i32* labels,
 const double* weights, i64 weighted, i64 first, i64 last, double* slope, double* bend, double* work) {
    double *powers = work, *mean = work + columns, *products = mean + size, loss = 0;
    if (columns == 1) {
        double z[BATCH], e[BATCH], l[BATCH];
        for (i64 lo = first; lo < last; lo += BATCH) {
            const i64 n = smaller<i64>(BATCH, last - lo);
            for (i64 i = 0; i < n; i++) z[i] = logits[lo + i];
            for (i64 m = 0; m < size; m++)
                for (i64 i = 0; i < n; i++) z[i] += lengths[m] * directions[m * n_rows + lo + i];
            for (i64 i = 0; i < n; i++) e[i] = exp_of(-fabs(z[i]));
            for (i64 i = 0; i < n; i++) l[i] = log1p_of(e[i]);
            for (i64 i = 0; i < n; i++) {
                const double w = weighted ? weights[lo + i] : 1.0, y = labels[lo + i];
                const double p = (z[i] >= 0 ? 1.0 : e[i]) / (1.0 + e[i]), wrong = y == 0 ? z[i] : -z[i];
                loss += w * (l[i] + (wrong > 0 ? wrong : 0.0));
                const double residual = w * (p - y), curve = w * e[i] / ((1.0 + e[i]) * (1.0 + e[i]));
                for (i64 m = 0; m < size; m++) {
                    const double d = directions[m * n_rows + lo + i];
                    slope[m] += residual * d;
                    for (i64 j = 0; j <= m; j++) bend[m * size + j] += curve * d * directions[j * n_rows + lo + i];
                }
            }
        }
        return loss;
    }
    for (i64 i = first; i < last; i++) {
        const double w = weighted ? weights[i] : 1.0;
        const i64 y = labels[i];
        for (i64 k = 0; k < columns; k++) powers[k] = logits[i * columns + k];
        for (i64 m = 0; m < size; m++)
            for (i64 k = 0; k < columns; k++) powers[k] += lengths[m] * directions[(m * n_rows + i) * columns + k];
        const Softmax s = soften(powers, columns, y);
        loss += w * s.loss;
        const double share = w * s.share;
        for (i64 m = 0; m < size; m++) {
            const double* d = directions + (m * n_rows + i) * columns;
            double whole = 0;
            for (i64 k = 0; k < columns; k++) products[k] = share * powers[k] * d[k];
            for (i64 k = 0; k < columns; k++) whole += products[k];
            mean[m] = whole;
            slope[m] += whole - w * d[y];
            for (i64 j = 0; j <= m; j++) {
                const double* other = directions + (j * n_rows + i) * columns;
                double product = 0;
                for (i64 k = 0; k < columns; k++) product += products[k] * other[k];
                bend[m * size + j] += product - (w > 0 ? whole * mean[j] / w : 0.0);
            }
        }
    }
    return loss;
}
