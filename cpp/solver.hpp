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

// The log loss of rows first..last, each at most so much, under joint + shifts + scores · weights, where scores is (rows, K, d);
// no shifts, or no scores, are none. Also, if asked for, the probabilities of their classes. work has 2 K doubles.
API(void, softmax_losses)
(const double* joint, i64 K, const double* scores, i64 d, const double* weights, const double* shifts, const i32* codes,
 i64 first, i64 last, double most, double* losses, double* shares, double* work) {
    double *s = work, *p = work + K;
    for (i64 i = first; i < last; i++) {
        const double* own = joint + i * K;
        for (i64 k = 0; k < K; k++) s[k] = shifts ? own[k] + shifts[k] : own[k];
        for (i64 k = 0; d == 1 && k < K; k++) s[k] += scores[i * K + k] * weights[0];
        for (i64 k = 0; d > 1 && k < K; k++)
            for (i64 j = 0; j < d; j++) s[k] += scores[(i * K + k) * d + j] * weights[j];
        double top = s[0], total = 0;
        for (i64 k = 1; k < K; k++) top = s[k] > top ? s[k] : top;
        for (i64 k = 0; k < K; k++) p[k] = exp_of(s[k] - top);
        for (i64 k = 0; k < K; k++) total += p[k];
        const double loss = log_of(total) + top - s[codes[i]], share = 1.0 / total;
        losses[i] = loss <= most ? loss : most;  // what is no number is impossible
        for (i64 k = 0; shares && k < K; k++) shares[i * K + k] = share * p[k];
    }
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

// Ridge softmax regression of a dense table, in single precision (near enough to its minimum to choose a penalty by) or double:
// Newton's method, with conjugate gradients for each step, from which the intercepts are eliminated. The table has a multiple of
// four rows and of eight features, with zeros in the rest; or it is sparse, by rows, X being the values at the features `at`. Weights are
// logits x features.
template <class T> struct Wide;
template <> struct Wide<float> {
    typedef float Own __attribute__((vector_size(32), aligned(4), may_alias));
    typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
};
template <> struct Wide<double> {
    typedef double Own __attribute__((vector_size(32), aligned(8), may_alias));
    typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
};

static double inner(const double* a, const double* b, i64 n) {
    double total = 0;
    for (i64 j = 0; j < n; j++) total += a[j] * b[j];
    return total;
}

template <class T> struct Ridge {
    typedef typename Wide<T>::Own Lanes;
    typedef typename Wide<T>::Four Four;
    enum { WIDTH = 32 / sizeof(T) };
    static Lanes& at(const T* p) { return *(Lanes*)p; }
    const T* X;
    const i64* starts;  // none where the table is dense
    const i32* at_;
    i64 n, f, K, stride;  // logits side by side in a sparse product: 1 or a multiple of four
    const i32* labels;
    const double* weights;
    double l2;
    T *V, *sums, *more, *few;      // K x f, or f x stride; stride
    double *P, *G;                 // n x K
    double *C, *slope, *shifts;    // K x K, K, K

    void read(const double* W) const {
        for (i64 k = 0; k < K; k++)
            for (i64 j = 0; j < f; j++) V[starts ? j * stride + k : k * f + j] = (T)W[k * f + j];
    }

    // The same of a sparse table: z = Σ x_j V_j over the features of a row, and into_j += x_j h.
    void sparse_times(i64 row, double* z) const {
        if (K == 1) {
            double sum = 0;
            for (i64 e = starts[row]; e < starts[row + 1]; e++) sum += X[e] * V[at_[e]];
            z[0] = sum;
            return;
        }
        for (i64 k = 0; k < stride; k += 4) {
            Four sum = {};
            for (i64 e = starts[row]; e < starts[row + 1]; e++) sum += X[e] * *(const Four*)(V + at_[e] * stride + k);
            for (i64 j = k; j < smaller(k + 4, K); j++) z[j] = sum[j - k];
        }
    }

    template <bool SQUARED> void sparse_gather(i64 row, const double* h, T* into) const {
        for (i64 k = 0; k < K; k++) few[k] = (T)h[k];
        for (i64 e = starts[row]; e < starts[row + 1]; e++) {
            const T x = SQUARED ? X[e] * X[e] : X[e];
            T* o = into + at_[e] * stride;
            if (K == 1) o[0] += x * few[0];
            for (i64 k = 0; K > 1 && k < stride; k += 4) *(Four*)(o + k) += x * *(const Four*)(few + k);
        }
    }

    // z[r, k] = x_r V_k for four rows.
    void times(i64 row, double* z) const {
        for (i64 r = 0; starts && r < 4; r++) sparse_times(row + r, z + r * K);
        const T* x = X + row * f;
        if (starts) return;
        for (i64 k = 0; k < K; k++) {
            Lanes a = {}, b = {}, c = {}, d = {};
            const T* v = V + k * f;
            for (i64 j = 0; j < f; j += WIDTH) {
                const Lanes own = at(v + j);
                a += at(x + j) * own;
                b += at(x + f + j) * own;
                c += at(x + 2 * f + j) * own;
                d += at(x + 3 * f + j) * own;
            }
            double total[4] = {};
            for (int lane = 0; lane < WIDTH; lane++) {
                total[0] += a[lane];
                total[1] += b[lane];
                total[2] += c[lane];
                total[3] += d[lane];
            }
            for (int r = 0; r < 4; r++) z[r * K + k] = total[r];
        }
    }

    // into[k] += h[r, k] x_r over four rows, or of squares.
    template <bool SQUARED> void gather(i64 row, const double* h, T* into) const {
        for (i64 r = 0; starts && r < 4; r++) sparse_gather<SQUARED>(row + r, h + r * K, into);
        const T* x = X + row * f;
        if (starts) return;
        for (i64 k = 0; k < K; k++) {
            const T a = (T)h[k], b = (T)h[K + k], c = (T)h[2 * K + k], d = (T)h[3 * K + k];
            T* o = into + k * f;
            for (i64 j = 0; j < f; j += WIDTH) {
                Lanes p = at(x + j), q = at(x + f + j), r = at(x + 2 * f + j), s = at(x + 3 * f + j);
                if (SQUARED) p *= p, q *= q, r *= r, s *= s;
                at(o + j) += ((a * p + b * q) + (c * r + d * s));
            }
        }
    }

    void flush(T* from, double* into) const {
        for (i64 k = 0; k < K; k++)
            for (i64 j = 0; j < f; j++) {
                T& own = from[starts ? j * stride + k : k * f + j];
                into[k * f + j] += own;
                own = 0;
            }
    }

    // h = H (z - c) for a row.
    void bend(i64 row, const double* z, const double* c, double* h) const {
        const double *p = P + row * K, w = weights[row];
        double mean = 0;
        if (K == 1) {
            h[0] = w * p[0] * (1.0 - p[0]) * (z[0] - c[0]);
            return;
        }
        for (i64 k = 0; k < K; k++) mean += p[k] * (z[k] - c[k]);
        for (i64 k = 0; k < K; k++) h[k] = w * p[k] * (z[k] - c[k] - mean);
    }

    // The loss at Z + t D; the probabilities are kept.
    double loss(const double* Z, const double* D, double t) const {
        double total = 0;
        for (i64 i = 0; i < n; i++) {
            const i64 y = labels[i];
            double *p = P + i * K, sum = 0, top = K == 1 ? 0 : -1e300, own = 0;
            for (i64 k = 0; k < K; k++) p[k] = Z[i * K + k] + t * D[i * K + k];
            for (i64 k = 0; k < K; k++) top = p[k] > top ? p[k] : top;
            own = K > 1 ? p[y] : y ? p[0] : 0.0;
            for (i64 k = 0; k < K; k++) p[k] = exp_of(p[k] - top);
            for (i64 k = 0; k < K; k++) sum += p[k];
            if (K == 1) sum += exp_of(-top);
            for (i64 k = 0; k < K; k++) p[k] /= sum;
            if (weights[i] > 0) total += weights[i] * (log_of(sum) + top - own);
        }
        return total;
    }

    // The slope of the loss in the intercepts, and the Cholesky factor of its curvature.
    void of_intercepts() const {
        for (i64 k = 0; k < K; k++) slope[k] = 0;
        for (i64 j = 0; j < K * K; j++) C[j] = 0;
        for (i64 i = 0; i < n; i++) {
            const double *p = P + i * K, w = weights[i];
            for (i64 k = 0; k < K; k++) slope[k] += w * (p[k] - (K == 1 ? labels[i] : labels[i] == k));
            for (i64 k = 0; k < K; k++)
                for (i64 j = 0; j <= k; j++) C[k * K + j] -= w * p[k] * p[j];
            for (i64 k = 0; k < K; k++) C[k * K + k] += w * p[k];
        }
        for (i64 k = 0; k < K; k++) {
            C[k * K + k] += 1e-3 * l2 + 1e-9;  // what all classes have in common says nothing
            for (i64 j = 0; j <= k; j++) {
                double rest = C[k * K + j] - inner(C + k * K, C + j * K, j);
                C[k * K + j] = j < k ? rest / C[j * K + j] : sqrt(larger(rest, 1e-12));
            }
        }
    }

    // v = curvature in the intercepts, inverted, times v.
    void solve(double* v) const {
        for (i64 k = 0; k < K; k++) v[k] = (v[k] - inner(C + k * K, v, k)) / C[k * K + k];
        for (i64 k = K - 1; k >= 0; k--) {
            for (i64 j = k + 1; j < K; j++) v[k] -= C[j * K + k] * v[j];
            v[k] /= C[k * K + k];
        }
    }

    // Σ H z, and then the curvature in the intercepts, inverted, times that.
    void common(const double* z) const {
        for (i64 k = 0; k < K; k++) shifts[k] = 0;
        memset(slope, 0, K * sizeof(double));
        for (i64 i = 0; i < n; i++) {
            bend(i, z + i * K, slope, G + i * K);
            for (i64 k = 0; k < K; k++) shifts[k] += G[i * K + k];
        }
        solve(shifts);
    }

    // Better intercepts for the weights: a step or two of Newton's.
    double settle(double* Z, double* b, double total) const {
        for (int step = 0; step < 3; step++) {
            of_intercepts();
            double length = 0;
            for (i64 k = 0; k < K; k++) shifts[k] = slope[k];
            solve(shifts);
            for (i64 k = 0; k < K; k++) length = larger(length, fabs(shifts[k]));
            if (length < 1e-4) return total;
            const double t = length > 2 ? 2 / length : 1.0;
            for (i64 i = 0; i < n; i++)
                for (i64 k = 0; k < K; k++) Z[i * K + k] -= t * shifts[k];
            for (i64 k = 0; k < K; k++) b[k] -= t * shifts[k];
            total = loss(Z, Z, 0);
        }
        of_intercepts();
        return total;
    }

    // The gradient of F and the diagonal of its curvature.
    void slopes(const double* W, double* g, double* diagonal, double* curves) const {
        for (i64 j = 0; j < K * f; j++) g[j] = l2 * W[j], diagonal[j] = l2;
        for (i64 i = 0; i < n; i++) {
            const double w = weights[i];
            for (i64 k = 0; k < K; k++) G[i * K + k] = w * (P[i * K + k] - (K == 1 ? labels[i] : labels[i] == k));
            for (i64 k = 0; k < K; k++) curves[i * K + k] = w * P[i * K + k] * (1.0 - P[i * K + k]);
        }
        for (i64 i = 0; i < n; i += 4) {
            gather<false>(i, G + i * K, sums);
            gather<true>(i, curves + i * K, more);
            if ((i & 1023) == 1020 || i + 4 == n) flush(sums, g), flush(more, diagonal);
        }
    }

    // out = (curvature of F) S, and the logits of S.
    void apply(const double* S, double* logits, double* out) const {
        read(S);
        for (i64 j = 0; j < K * f; j++) out[j] = l2 * S[j];
        for (i64 i = 0; i < n; i += 4) times(i, logits + i * K);
        common(logits);
        for (i64 i = 0; i < n; i += 4) {
            for (i64 r = i; r < i + 4; r++) bend(r, logits + r * K, shifts, G + r * K);
            gather<false>(i, G + i * K, sums);
            if ((i & 1023) == 1020 || i + 4 == n) flush(sums, out);
        }
    }
};

// From W and b to the minimum. It ends where the gradient, or what a step promised, says that F is within the tolerance of it, or after
// so many passes over the table, whose number is returned. `room` has (3 f + 1) (K + 3) of the table's type, `work` 6 K f + 6 n K + K (K + 2) doubles,
// of which the first n K are then the logits; `losses` has `steps` and one; found are the steps that were taken, the bound on how much
// F is above the least, and whether that is enough.
template <class T>
static i64 search(const T* X, const i64* starts, const i32* at, i64 n, i64 f, i64 K, const i32* labels, const double* weights, double l2, double tolerance, i64 most, i64 steps,
                  double* W, double* b, T* room, double* work, double* losses, double* found) {
    const i64 d = K * f, m = n * K;
    double *Z = work, *P = Z + m, *G = P + m, *curves = G + m, *D = curves + m, *own = D + m;
    double *g = own + m, *even = g + d, *S = even + d, *rest = S + d, *step = rest + d, *product = step + d, *small = product + d;
    const i64 stride = K == 1 ? 1 : (K + 3) / 4 * 4, size = f * stride;
    const Ridge<T> F = {X, starts, at, n, f, K, stride, labels, weights, l2, room, room + size, room + 2 * size, room + 3 * size,
                        P, G, small, small + K * K, small + K * K + K};
    memset(room, 0, (3 * size + stride) * sizeof(T));
    F.read(W);
    for (i64 i = 0; i < n; i += 4) F.times(i, Z + i * K);
    for (i64 i = 0; i < n; i++)
        for (i64 k = 0; k < K; k++) Z[i * K + k] += b[k];
    double loss = F.settle(Z, b, F.loss(Z, Z, 0)), total = loss + l2 / 2 * inner(W, W, d), ahead = HUGE_VAL;
    i64 passes = 1, taken = 0;
    for (;; taken++) {
        losses[taken] = total;
        F.slopes(W, g, even, curves);
        passes++;
        const double bound = l2 > 0 ? inner(g, g, d) / (2 * l2) : HUGE_VAL;
        found[0] = taken;
        found[1] = ahead <= 0.01 * tolerance * total ? smaller(bound, 2 * ahead) : bound;
        found[2] = found[1] <= tolerance * total;
        if (found[2] || passes >= most || taken >= steps || total <= 1e-9 * n) break;
        for (i64 j = 0; j < d; j++) S[j] = 0, rest[j] = -g[j], even[j] = 1.0 / larger(even[j], 1e-300), step[j] = even[j] * rest[j];
        memset(D, 0, m * sizeof(double));
        double left = inner(rest, step, d);
        const double first = left, near = bound / total, share = near > 0.09 ? 0.09 : larger(near, 0.0025);  // of squares
        for (i64 used = 0; used < 50 && passes < most && left > share * first; used++) {
            F.apply(step, own, product);
            passes++;
            const double curve = inner(step, product, d);
            if (!(curve > 0)) break;
            const double length = left / curve, before = left;
            for (i64 j = 0; j < d; j++) S[j] += length * step[j], rest[j] -= length * product[j];
            for (i64 j = 0; j < m; j++) D[j] += length * own[j];
            left = 0;
            for (i64 j = 0; j < d; j++) left += even[j] * rest[j] * rest[j];
            for (i64 j = 0; j < d; j++) step[j] = even[j] * rest[j] + left / before * step[j];
        }
        F.common(D);
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < K; k++) D[i * K + k] -= F.shifts[k];
        double t = 1, next = total;
        const double promised = -inner(g, S, d);
        for (int halvings = 0; halvings < 30; halvings++, t /= 2) {
            for (i64 j = 0; j < d; j++) product[j] = W[j] + t * S[j];
            loss = F.loss(Z, D, t);
            next = loss + l2 / 2 * inner(product, product, d);
            if (next <= total - 1e-4 * t * promised) break;
        }
        if (!(next < total)) {
            found[2] = promised <= 1e-9 * total;  // as near as rounding allows
            F.loss(Z, Z, 0);
            break;
        }
        for (i64 j = 0; j < d; j++) W[j] = product[j];
        for (i64 j = 0; j < m; j++) Z[j] += t * D[j];
        for (i64 k = 0; k < K; k++) b[k] -= t * F.shifts[k];
        total = F.settle(Z, b, loss) + l2 / 2 * inner(W, W, d);
        ahead = left <= share * first ? promised / 2 : HUGE_VAL;
    }
    return passes;
}

API(i64, ridge)
(i64 type, const void* X, const i64* starts, const i32* at, i64 n, i64 f, i64 K, const i32* labels, const double* weights, double l2, double tolerance, i64 most, i64 steps,
 double* W, double* b, void* room, double* work, double* losses, double* found) {
    if (type == F32)
        return search((const float*)X, starts, at, n, f, K, labels, weights, l2, tolerance, most, steps, W, b, (float*)room, work, losses, found);
    return search((const double*)X, starts, at, n, f, K, labels, weights, l2, tolerance, most, steps, W, b, (double*)room, work, losses, found);
}
