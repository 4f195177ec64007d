// Boosted decision trees on codes: the gradients of the rows, a tree grown from histograms of them, what trees add.
//
// Codes lie column by column; 0 is missing, and 65535 is what was never seen, at which the way through a tree ends. A tree is a full one of some depth, its nodes in
// the order of their levels: the children of node x are 2x + 1, where its test holds, and 2x + 2. A split is
// column << 17 | kind << 16 | code: the test is code <= that one (kind 0) or code == that one (kind 1); -1 ends a branch.
#pragma once
#include "common.hpp"
#include "math.hpp"

struct Growth {
    const i64* cards;          // of each column, how many codes it has
    const u8* categories;      // whether a column's codes have no order
    i64 n_columns, depth, seed;
};

// Any 64 bits from 64 bits, and a number below 1 from several.
INLINE u64 mix(u64 x) {
    x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27, x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}
INLINE double chance(u64 seed, u64 round, u64 kind, u64 place) {
    return (double)(mix(mix(seed * 0x9e3779b97f4a7c15u + round) ^ mix(kind << 40 | place)) >> 11) * 0x1p-53;
}

enum { UNSEEN = 65535 };
INLINE bool holds(i32 split, u16 code) { return split >> 16 & 1 ? code == (u16)split : code <= (u16)split; }

// The node below x for row i; -1 where the way ends.
INLINE i64 descend(const i32* split, i64 x, const u16* codes, i64 n_rows, i64 i) {
    if (split[x] < 0) return -1;
    const u16 code = codes[(i64)(split[x] >> 17) * n_rows + i];
    return code == UNSEEN ? -1 : 2 * x + 2 - holds(split[x], code);
}
INLINE i64 leaf_of(const i32* split, const u16* codes, i64 n_rows, i64 i) {
    i64 x = 0;
    for (i64 below; (below = descend(split, x, codes, n_rows, i)) >= 0;) x = below;
    return x;
}

// The first and the second derivative of a row's log loss by the score of each class (of two, that of the second).
static void differentiate(const double* scores, i64 label, double weight, i64 width, double* out) {
    const double least = 1e-6;
    if (width == 1) {
        const double p = 1 / (1 + exp_of(-scores[0]));
        out[0] = weight * (p - (double)(label == 1)), out[1] = weight * larger(p * (1 - p), least);
        return;
    }
    double top = scores[0], sum = 0;
    for (i64 k = 1; k < width; k++) top = larger(top, scores[k]);
    for (i64 k = 0; k < width; k++) sum += out[k] = exp_of(scores[k] - top);
    const double more = (double)width / (double)(width - 1);  // the scores have a common term to spare
    for (i64 k = 0; k < width; k++) {
        const double p = out[k] / sum;
        out[width + k] = weight * larger(p * (1 - p), least) * more, out[k] = weight * (p - (double)(label == k));
    }
}

static double gain(const double* sums, i64 width, double l2) {
    double found = 0;
    for (i64 k = 0; k < width; k++) found += sums[k] * sums[k] / (sums[width + k] + l2);
    return found;
}

// What a split of `all` into `part` and the rest gains; -1 where one side is too light.
static double gain_of_both(const double* part, const double* all, i64 width, double l2, double least) {
    const double own = part[2 * width];
    if (own < least || all[2 * width] - own < least) return -1;
    double found = 0;
    for (i64 k = 0; k < width; k++) {
        const double rest = all[k] - part[k], curve = all[width + k] - part[width + k];
        found += part[k] * part[k] / (part[width + k] + l2) + rest * rest / (curve + l2);
    }
    return found;
}

struct Best {
    double gain;
    i32 split;
};

// The best split of some rows by one column; sums are gradients, curvatures and the weight.
static void try_column(
    const u16* codes, const i32* rows, i64 n, const double* each, i64 width, i64 card, bool category, i32 column,
    const double* all, double l2, double least, double* cells, double* below, Best& best
) {
    const i64 size = 2 * width + 1;
    memset(cells, 0, sizeof(double) * (size_t)(card * size));
    for (i64 i = 0; i < n; i++) {
        double* cell = cells + codes[rows[i]] * size;
        const double* own = each + (i64)rows[i] * size;
        for (i64 k = 0; k < size; k++) cell[k] += own[k];
    }
    const auto consider = [&](const double* part, i64 kind, i64 code) {
        const double found = gain_of_both(part, all, width, l2, least);
        if (found > best.gain) best = {found, (i32)(column << 17 | (i32)(kind << 16 | code))};
    };
    for (i64 code = 0; code < (category ? card : 1); code++) consider(cells + code * size, 1, code);
    if (category) return;
    memset(below, 0, sizeof(double) * (size_t)size);
    for (i64 code = 0; code + 1 < card; code++) {
        if (code > 0 && cells[code * size + 2 * width] == 0) continue;  // no row here has it
        for (i64 k = 0; k < size; k++) below[k] += cells[code * size + k];
        consider(below, 0, code);
    }
}

// `rounds` more trees, each grown on a share of the rows by their gradients and added to the scores of all of them.
// A node's value is -rate * gradient / (curvature + l2), at every level. False where memory is lacking.
API(i64, boost_trees)(
    const u16* codes, const i32* labels, const double* weights, i64 n_rows, i64 width, const Growth* growth, i64 first,
    i64 rounds, double rate, double l2, double row_share, double column_share, double least, double* scores,
    i32* splits, double* values
) {
    const i64 d = growth->n_columns, depth = growth->depth, size = 2 * width + 1, nodes = (2 << depth) - 1;
    i64 most = 2;
    for (i64 j = 0; j < d; j++) most = larger(most, growth->cards[j]);
    double* each = (double*)malloc(sizeof(double) * (size_t)(n_rows * size + (most + 1 + nodes) * size));
    i32* rows = (i32*)malloc(sizeof(i32) * (size_t)(2 * n_rows + 2 * nodes + d + 2));
    if (!each || !rows) return free(each), free(rows), 0;
    double *cells = each + n_rows * size, *below = cells + most * size, *sums = below + size;
    i32 *aside = rows + n_rows, *begins = aside + n_rows, *ends = begins + nodes, *chosen = ends + nodes;
    for (i64 t = 0; t < rounds; t++) {
        i32* split = splits + t * nodes;
        double* value = values + t * nodes * width;
        const u64 round = (u64)(first + t), seed = (u64)growth->seed;
        i64 n = 0;
        for (i64 i = 0; i < n_rows; i++) {
            const double weight = weights ? weights[i] : 1.0;
            differentiate(scores + i * width, labels[i], weight, width, each + i * size);
            each[i * size + 2 * width] = weight;
            if (row_share >= 1 || chance(seed, round, 0, (u64)i) < row_share) rows[n++] = (i32)i;
        }
        for (i64 x = 0; x < nodes; x++) split[x] = -1;
        memset(value, 0, sizeof(double) * (size_t)(nodes * width));
        memset(sums, 0, sizeof(double) * (size_t)(nodes * size));
        for (i64 i = 0; i < n; i++)
            for (i64 k = 0; k < size; k++) sums[k] += each[(i64)rows[i] * size + k];
        begins[0] = 0, ends[0] = (i32)n;
        for (i64 level = 0; level <= depth; level++) {
            i64 n_chosen = 0;
            for (i64 j = 0; j < d; j++)
                if (growth->cards[j] > 1 && chance(seed, round, (u64)level + 1, (u64)j) < column_share) chosen[n_chosen++] = (i32)j;
            for (i64 x = (1 << level) - 1; x < (2 << level) - 1; x++) {
                if (x > 0 && split[(x - 1) / 2] < 0) continue;
                const double* all = sums + x * size;
                for (i64 k = 0; k < width; k++) value[x * width + k] = -rate * all[k] / (all[width + k] + l2);
                if (level == depth || all[2 * width] < 2 * least) continue;
                const i64 lo = begins[x], hi = ends[x];
                Best best = {gain(all, width, l2) + 1e-9, -1};
                for (i64 c = 0; c < n_chosen; c++) {
                    const i32 j = chosen[c];
                    try_column(
                        codes + j * n_rows, rows + lo, hi - lo, each, width, growth->cards[j], growth->categories[j], j,
                        all, l2, least, cells, below, best
                    );
                }
                if (best.split < 0) continue;
                split[x] = best.split;
                const u16* own = codes + (i64)(best.split >> 17) * n_rows;
                double *left = sums + (2 * x + 1) * size, *right = left + size;
                i64 at = lo, n_aside = 0;
                for (i64 i = lo; i < hi; i++) {
                    const i32 row = rows[i];
                    if (!holds(best.split, own[row])) {
                        aside[n_aside++] = row;
                        continue;
                    }
                    rows[at++] = row;
                    for (i64 k = 0; k < size; k++) left[k] += each[(i64)row * size + k];
                }
                for (i64 k = 0; k < size; k++) right[k] = all[k] - left[k];
                memcpy(rows + at, aside, sizeof(i32) * (size_t)n_aside);
                begins[2 * x + 1] = (i32)lo, ends[2 * x + 1] = begins[2 * x + 2] = (i32)at, ends[2 * x + 2] = (i32)hi;
            }
        }
        for (i64 i = 0; i < n_rows; i++) {
            const i64 x = leaf_of(split, codes, n_rows, i);
            for (i64 k = 0; k < width; k++) scores[i * width + k] += value[x * width + k];
        }
    }
    free(each), free(rows);
    return 1;
}

// The nodes where rows begin..end leave a tree, level by level: the rows do not wait for one another.
enum { TOGETHER = 256 };
INLINE void find_leaves(const i32* split, i64 depth, const u16* codes, i64 n_rows, i64 begin, i64 end, i32* at) {
    memset(at, 0, sizeof(i32) * (size_t)(end - begin));
    for (i64 level = 0; level < depth; level++)
        for (i64 i = begin; i < end; i++) {
            const i32 x = at[i - begin], own = split[x];
            const u16 code = codes[(i64)(own < 0 ? 0 : own >> 17) * n_rows + i];
            const i32 below = 2 * x + 2 - holds(own, code);
            at[i - begin] = own < 0 || code == UNSEEN ? x : below;
        }
}

// What trees add to the scores of rows lo..hi; given losses, the log loss of all these rows after each tree too.
API(void, add_trees)(
    const u16* codes, i64 n_rows, i64 lo, i64 hi, i64 width, i64 depth, const i32* splits, const double* values, i64 n_trees,
    const i32* labels, const double* weights, double* scores, double* losses
) {
    const i64 nodes = (2 << depth) - 1;
    i32 at[TOGETHER];
    for (i64 begin = lo; begin < hi; begin += TOGETHER) {
        const i64 end = smaller(begin + TOGETHER, hi);
        for (i64 t = 0; t < n_trees; t++) {
            const double* value = values + t * nodes * width;
            find_leaves(splits + t * nodes, depth, codes, n_rows, begin, end, at);
            for (i64 i = begin; i < end; i++) {
                double* own = scores + i * width;
                for (i64 k = 0; k < width; k++) own[k] += value[at[i - begin] * width + k];
                if (!losses) continue;
                double top = width == 1 ? 0 : own[0], sum = 0;
                for (i64 k = 0; k < width; k++) top = larger(top, own[k]);
                if (width == 1) sum = exp_of(-top);
                for (i64 k = 0; k < width; k++) sum += exp_of(own[k] - top);
                const double mine = width == 1 ? (labels[i] == 1 ? own[0] : 0) : own[labels[i]];
                losses[t] += (weights ? weights[i] : 1.0) * (top + log_of(sum) - mine);
            }
        }
    }
}

// By how much each test on a row's way through the trees moves its scores, added up by column: rows x columns x width;
// what the roots say is added to `base`, once.
API(void, trace_trees)(
    const u16* codes, i64 n_rows, i64 n_columns, i64 width, i64 depth, const i32* splits, const double* values, i64 n_trees,
    double* base, double* moves
) {
    const i64 nodes = (2 << depth) - 1;
    for (i64 t = 0; t < n_trees; t++) {
        const i32* split = splits + t * nodes;
        const double* value = values + t * nodes * width;
        for (i64 k = 0; k < width; k++) base[k] += value[k];
        for (i64 i = 0; i < n_rows; i++)
            for (i64 x = 0, below; (below = descend(split, x, codes, n_rows, i)) >= 0; x = below) {
                double* own = moves + (i * n_columns + (split[x] >> 17)) * width;
                for (i64 k = 0; k < width; k++) own[k] += value[below * width + k] - value[x * width + k];
            }
    }
}
