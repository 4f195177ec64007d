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
    if (width == 1) {  // the common case; columns are short
        double sum = 0;
        for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) sum += value_at<PLAIN>(X, c) * G[X.rows[c]];
        total[0] = sum;
        return;
    }
    for (i64 k = 0; k < width; k++) total[k] = 0;
    add_up<4>(X.starts[j], X.starts[j + 1], width, total, [&](i64 c) {
        return Term{value_at<PLAIN>(X, c), G + X.rows[c] * width};
    });
}

// out[i, k] += x_ij v[k] for one column, or x_ij² v[k].
template <bool PLAIN, bool SQUARED = false>
static void scatter_column(const ByColumn& X, i64 j, const double* v, i64 width, double* out) {
    for (i64 c = X.starts[j]; c < X.starts[j + 1]; c++) {
        const double once = value_at<PLAIN>(X, c), x = SQUARED ? once * once : once;
        double* o = out + X.rows[c] * width;
        for (i64 k = 0; k < width; k++) o[k] += x * v[k];
    }
}

enum { GATHER, TIMES, GRAM, SQUARES };
template <bool PLAIN>
static void columns_of(i64 what, const ByColumn& X, i64 first, i64 last, const double* V, const double* squares, i64 width,
                       double* held, double* out) {
    for (i64 k = 0; k < width; k++) held[k] = 1.0;
    for (i64 j = first; j < last; j++) {
        if (what == GATHER || what == GRAM) gather_column<PLAIN>(X, j, V, width, what == GRAM ? held : out + j * width);
        for (i64 k = 0; what == GRAM && squares && k < width; k++) held[k] *= squares[j * width + k];
        if (what == TIMES || what == GRAM) scatter_column<PLAIN>(X, j, what == GRAM ? held : V + j * width, width, out);
        if (what == SQUARES) scatter_column<PLAIN, true>(X, j, squares ? squares + j * width : held, width, out);
    }
}

// GATHER puts Xᵀ V into out, TIMES adds X V, GRAM X S Xᵀ V and SQUARES X² S; S is squares, or ones where there are none.
API(void, sparse_columns)
(i64 what, const i64* starts, const i32* rows, const double* values, i64 first, i64 last, const double* V,
 const double* squares, i64 width, double* held, double* out) {
    const ByColumn X = {starts, rows, values};
    (values ? columns_of<false> : columns_of<true>)(what, X, first, last, V, squares, width, held, out);
}

enum { BATCH = 256 };  // rows of two classes whose exponentials are taken together

// The loss of rows first..last at logits + Σ_m lengths[m] directions[m], where directions is (size, rows, columns); no weights
// are ones. Without directions its gradient in the logits is written to out; else its gradient and curvature (below the
// diagonal) in the lengths are added to slope and bend. work has (size + 1) (columns + 1) doubles.
API(double, cross_entropy)
(const double* logits, i64 n_rows, i64 columns, const double* directions, const double* lengths, i64 size, const i32* labels,
 const double* weights, i64 first, i64 last, double* slope, double* bend, double* work, double* out) {
    double *mean = work + columns, *products = mean + size, loss = 0, moved[BATCH], e[BATCH], l[BATCH], held[BATCH];
    for (i64 lo = first; columns == 1 && lo < last; lo += BATCH) {
        const i64 n = smaller<i64>(BATCH, last - lo);
        const double* z = size ? moved : logits + lo;
        for (i64 i = 0; size && i < n; i++) moved[i] = logits[lo + i];
        for (i64 m = 0; m < size; m++)
            for (i64 i = 0; i < n; i++) moved[i] += lengths[m] * directions[m * n_rows + lo + i];
        for (i64 i = 0; i < n; i++) e[i] = exp_of(-fabs(z[i]));
        for (i64 i = 0; i < n; i++) l[i] = log1p_of(e[i]);
        double* residuals = size ? held : out + lo;
        for (i64 i = 0; i < n; i++) {
            const double w = weights ? weights[lo + i] : 1.0, y = labels[lo + i];
            const double p = (z[i] >= 0 ? 1.0 : e[i]) / (1.0 + e[i]), wrong = y == 0 ? z[i] : -z[i];
            l[i] = w * (l[i] + (wrong > 0 ? wrong : 0.0));
            residuals[i] = w * (p - y);
        }
        for (i64 i = 0; i < n; i++) loss += l[i];
        for (i64 i = 0; size && i < n; i++) {
            const double w = weights ? weights[lo + i] : 1.0, curve = w * e[i] / ((1.0 + e[i]) * (1.0 + e[i]));
            for (i64 m = 0; m < size; m++) {
                const double d = directions[m * n_rows + lo + i];
                slope[m] += residuals[i] * d;
                for (i64 j = 0; j <= m; j++) bend[m * size + j] += curve * d * directions[j * n_rows + lo + i];
            }
        }
    }
    for (i64 i = first; columns > 1 && i < last; i++) {
        const double w = weights ? weights[i] : 1.0;
        const i64 y = labels[i];
        double *powers = size ? work : out + i * columns, total = 0;
        for (i64 k = 0; k < columns; k++) powers[k] = logits[i * columns + k];
        for (i64 m = 0; m < size; m++)
            for (i64 k = 0; k < columns; k++) powers[k] += lengths[m] * directions[(m * n_rows + i) * columns + k];
        double top = powers[0];
        for (i64 k = 1; k < columns; k++) top = powers[k] > top ? powers[k] : top;
        const double own = powers[y];
        for (i64 k = 0; k < columns; k++) powers[k] = exp_of(powers[k] - top);
        for (i64 k = 0; k < columns; k++) total += powers[k];
        loss += w * (log_of(total) + top - own);
        const double share = w * (1.0 / total);
        for (i64 k = 0; size == 0 && k < columns; k++) powers[k] *= share;
        if (size == 0) powers[y] -= w;
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

// The curvature of the loss in the logits, row by row: H = w (diag p - p pT) = root (I - q qT) root with q = sqrt(p), root = sqrt(w p); a
// single logit has q = 0 and root = sqrt(w p (1 - p)). Probabilities below `least` count as that; no weights are ones.
API(void, curvature)
(const double* logits, i64 first, i64 last, i64 columns, const double* weights, double least, double* q, double* root) {
    for (i64 i = first; columns == 1 && i < last; i++) {
        const double e = exp_of(-fabs(logits[i])), p = larger(e / (1.0 + e), least), w = weights ? weights[i] : 1.0;
        q[i] = 0;
        root[i] = sqrt(w * p * (1.0 - p));
    }
    for (i64 i = first; columns > 1 && i < last; i++) {
        const double *z = logits + i * columns, w = weights ? sqrt(weights[i]) : 1.0;
        double *own = q + i * columns, top = z[0], total = 0, sum = 0;
        for (i64 k = 1; k < columns; k++) top = z[k] > top ? z[k] : top;
        for (i64 k = 0; k < columns; k++) own[k] = exp_of(z[k] - top);
        for (i64 k = 0; k < columns; k++) total += own[k];
        for (i64 k = 0; k < columns; k++) own[k] = larger(own[k] / total, least);
        for (i64 k = 0; k < columns; k++) sum += own[k];
        for (i64 k = 0; k < columns; k++) own[k] = sqrt(own[k] / sum);
        for (i64 k = 0; k < columns; k++) root[i * columns + k] = own[k] * w;
    }
}

// out = H (v - shift); its sum over the rows is added to total.
API(void, bend)
(const double* root, const double* q, i64 first, i64 last, i64 columns, const double* v, const double* shift, double* out,
 double* total) {
    for (i64 i = first; columns == 1 && i < last; i++) total[0] += out[i] = root[i] * root[i] * (v[i] - shift[0]);
    for (i64 i = first; columns > 1 && i < last; i++) {
        const double *r = root + i * columns, *own = q + i * columns;
        double *o = out + i * columns, common = 0;
        for (i64 k = 0; k < columns; k++) o[k] = r[k] * (v[i * columns + k] - shift[k]);
        for (i64 k = 0; k < columns; k++) common += own[k] * o[k];
        for (i64 k = 0; k < columns; k++) o[k] = r[k] * (o[k] - common * own[k]);
        for (i64 k = 0; k < columns; k++) total[k] += o[k];
    }
}

// out += the products A[i, left] A[i, right] times their weights (terms x columns), one row after the other; a factor at -1 is 1.
API(void, add_pairs)
(const double* A, i64 first, i64 last, i64 features, const i32* left, const i32* right, i64 terms, const double* W, i64 columns,
 double* out) {
    for (i64 i = first; i < last; i++) {
        const double* a = A + i * features;
        double *o = out + i * columns, sum = 0;
        for (i64 t = 0; columns == 1 && t < terms; t++) sum += W[t] * (a[left[t]] * (right[t] < 0 ? 1.0 : a[right[t]]));
        if (columns == 1) o[0] += sum;
        for (i64 t = 0; columns > 1 && t < terms; t++) {
            const double x = a[left[t]] * (right[t] < 0 ? 1.0 : a[right[t]]);
            if (x != 0)
                for (i64 k = 0; k < columns; k++) o[k] += x * W[t * columns + k];
        }
    }
}
