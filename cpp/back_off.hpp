// Shares that back off: p(v | context) = (n + m p(v | shorter context)) / (N + m), with m by leave-one-out.
//
// The counts of a level are contexts x values; `wide` contexts of a level are one context of the level below.
#pragma once

// One row fewer of a cell, or of a context: what the others have.
INLINE double of_others(double n) { return n > 1.0 ? n - 1.0 : 0.0; }

// The shares of a level by those below it; `left` has the same of each cell for a row of that cell which is left out.
// Returns the m of the grid by which the rows, each left out, are most probable. `room` has 5 x contexts x values.
API(double, smooth_level)(
    const double* counts, i64 contexts, i64 values, i64 wide, const double* below, const double* left_below,
    const double* grid, i64 n_grid, double* shares, double* left, double* room
) {
    const i64 cells = contexts * values;
    double *n = room, *others = room + cells, *shorter = room + 2 * cells, *total = room + 3 * cells, *logs = room + 4 * cells;
    i64 seen = 0;
    for (i64 c = 0; c < contexts; c++) {
        double N = 0.0;
        for (i64 v = 0; v < values; v++) N += counts[c * values + v];
        for (i64 v = 0; v < values; v++) {
            const double here = counts[c * values + v];
            if (here <= 0.0) continue;
            n[seen] = here;
            others[seen] = of_others(here);
            shorter[seen] = left_below[c / wide * values + v];
            total[seen++] = of_others(N);
        }
    }
    double best = -HUGE_VAL, m = grid[0];
    for (i64 g = 0; g < n_grid; g++) {
        const double each = grid[g];
        for (i64 i = 0; i < seen; i++) logs[i] = log_of((others[i] + each * shorter[i]) / (total[i] + each));
        double sum = 0.0;
        for (i64 i = 0; i < seen; i++) sum += n[i] * logs[i];
        if (sum > best) best = sum, m = each;
    }
    for (i64 c = 0; c < contexts; c++) {
        double N = 0.0;
        for (i64 v = 0; v < values; v++) N += counts[c * values + v];
        const double *own = counts + c * values, *q = below + c / wide * values, *r = left_below + c / wide * values;
        for (i64 v = 0; v < values; v++) {
            shares[c * values + v] = (own[v] + m * q[v]) / (N + m);
            left[c * values + v] = (of_others(own[v]) + m * r[v]) / (of_others(N) + m);
        }
    }
    return m;
}

// The logs of a node's value in rows that were learned, each left out: out is levels x rows x classes. Codes of the
// parents are levels - 1 x rows; the counts of the levels, and their sums over values, stand one after the other.
API(void, left_out_levels)(
    i64 rows, i64 classes, i64 levels, i64 values, const i32* states, const i32* parents, const i64* sizes,
    const i32* labels, const double* own, const double* counts, const double* totals, const i64* starts,
    const double* column, double all, const double* m, double* out
) {
    for (i64 r = 0; r < rows; r++) {
        const i64 v = states[r];
        const double first = (column[v] - own[r] + 1.0) / (all - own[r] + (double)values);
        for (i64 c = 0; c < classes; c++) {
            const double less = labels[r] == c ? own[r] : 0.0;
            double q = first;
            i64 context = c;
            for (i64 j = 0; j < levels; j++) {
                if (j) context = context * sizes[j - 1] + parents[(j - 1) * rows + r];
                const i64 at = starts[j] + context;
                q = (larger(counts[at * values + v] - less, 0.0) + m[j] * q) / (larger(totals[at] - less, 0.0) + m[j]);
                out[(j * rows + r) * classes + c] = q;
            }
        }
    }
    for (i64 i = 0; i < levels * rows * classes; i++) out[i] = log_of(out[i]);
}

// What the counts of the other rows tell of each row's b by its a within its class; see networks/trees.py. `room` has the
// values of b; their number that occur is counted in `seen`.
static double information_of_others(
    const double* table, i64 classes, i64 A, i64 B, i64 step_a, i64 step_b, double* room, i64* seen
) {
    double sum = 0.0;
    *seen = 0;
    for (i64 b = 0; b < B; b++) {
        bool any = false;
        for (i64 c = 0; c < classes && !any; c++)
            for (i64 a = 0; a < A && !any; a++) any = table[c * A * B + a * step_a + b * step_b] > 0.0;
        *seen += any;
    }
    const double half = 0.5 * (double)*seen;
    for (i64 c = 0; c < classes; c++) {
        const double* own = table + c * A * B;
        double all = 0.0;
        for (i64 b = 0; b < B; b++) room[b] = 0.0;
        for (i64 a = 0; a < A; a++)
            for (i64 b = 0; b < B; b++) room[b] += own[a * step_a + b * step_b];
        for (i64 b = 0; b < B; b++) all += room[b];
        if (all <= 0.0) continue;
        for (i64 b = 0; b < B; b++) room[b] = (of_others(room[b]) + 0.5) / (of_others(all) + half);
        for (i64 a = 0; a < A; a++) {
            double N = 0.0;
            for (i64 b = 0; b < B; b++) N += own[a * step_a + b * step_b];
            N = of_others(N) + half;
            for (i64 b = 0; b < B; b++) {
                const double n = own[a * step_a + b * step_b];
                if (n > 0.0) sum += n * log_of((of_others(n) + half * room[b]) / (N * room[b]));
            }
        }
    }
    return sum;
}

// Of n tables (class x a x b) that stand one after the other, whichever way is less, per row; 0 where there is nothing to tell.
API(void, left_out_information)(const double* cells, i64 n, const i64* shapes, double* room, double* out) {
    for (i64 t = 0; t < n; t++) {
        const i64 K = shapes[3 * t], A = shapes[3 * t + 1], B = shapes[3 * t + 2];
        double total = 0.0;
        for (i64 i = 0; i < K * A * B; i++) total += cells[i];
        i64 as, bs;
        const double one = information_of_others(cells, K, A, B, B, 1, room, &bs);
        const double two = information_of_others(cells, K, B, A, 1, B, room, &as);
        out[t] = total > 0.0 && as > 1 && bs > 1 ? smaller(one, two) / total : 0.0;
        cells += K * A * B;
    }
}
