// Categorical codes: how often categories meet classes and one another, and what they say of a row.
//
// A code is the place of its category; below zero it is missing. Counting and adding both begin with *slots*: column j
// has one for -1, one for each category and one, the last, for all else.
#pragma once
#include "common.hpp"
#include "math.hpp"

// Columns of any integer types and strides; where `rowwise`, those of a matrix whose rows lie in one piece each.
struct Columns {
    const u64* addresses;
    const i64 *types, *strides;
    const u32 *offsets, *tops;  // of each column the first slot, and how many lie behind it
    i64 n_rows, n_columns, rowwise;
};

// Slots of a block: in 2 kB of codes in one piece, or of columns that are read side by side.
enum { SLOTS = 4096, ROWWISE_SLOTS = 512, MOST_ROWS = 1024, MOST_STREAMS = 16 };
// How many bytes ahead a matrix is fetched while a block is worked on, which else is done by turns (1.4 times as long).
enum { AHEAD = 4096 };

// The slots of a block of rows and columns: of row i and column j at i * by_row + j * by_column.
struct Block {
    u32 slots[SLOTS];
    u32 offsets[ROWWISE_SLOTS], tops[ROWWISE_SLOTS];  // of the columns, again for each row
    i64 first, by_row, by_column;
};

typedef u32 Word __attribute__((aligned(1), may_alias));
template <class T> INLINE T read(const T* p) {
    T x;
    memcpy(&x, p, sizeof x);
    return x;
}

// slots[j] = offset + min(code + 1, top), what is negative being large; returns whether there is a code below zero.
// `each`: every code has an offset and a top of its own. Here codes of 32 bits, unsigned, or of 64 in two words: they are
// large unless the upper word is zero, or the code is -1.
template <bool each, int WORDS>
INLINE bool find_wide_slots(const Word* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    u32 all = 0;
    for (i64 j = 0; j < n; j++) {
        const u32 place = codes[WORDS * j] + 1, upper = WORDS == 2 ? codes[2 * j + 1] : 0;
        all |= upper;
        slots[j] = offsets[each * j] + smaller(upper == (place ? 0u : ~0u) ? place : ~0u, tops[each * j]);
    }
    return (i32)all < 0;
}
template <bool each, class T> INLINE bool find_slots(const T* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    if (sizeof(T) == 8) return find_wide_slots<each, 2>((const Word*)codes, offsets, tops, n, slots);
    if ((T)-1 > (T)0 && sizeof(T) == 4) return find_wide_slots<each, 1>((const Word*)codes, offsets, tops, n, slots);
    T all = 0;
    for (i64 j = 0; j < n; j++) {
        const T code = read(codes + j);
        all |= code;
        slots[j] = offsets[each * j] + smaller((u32)code + 1, tops[each * j]);
    }
    return all < 0;
}

// The next columns of a block, and how many rows it has.
static i64 begin_columns(const Columns& c, i64 first, Block& block) {
    const i64 m = smaller<i64>(c.rowwise ? ROWWISE_SLOTS : MOST_STREAMS, c.n_columns - first);
    if (c.rowwise && block.first != first)
        for (i64 j = 0; j < ROWWISE_SLOTS / m * m; j++) {
            block.offsets[j] = c.offsets[first + j % m];
            block.tops[j] = c.tops[first + j % m];
        }
    block.first = first;
    return m;
}
INLINE i64 rows_of_block(const Columns& c, i64 m) {
    return smaller<i64>((c.rowwise ? ROWWISE_SLOTS : SLOTS) / m, MOST_ROWS);
}

// Fill the block from row lo and column first; returns whether a code is below zero.
static bool fill_block(const Columns& c, i64 lo, i64 n, i64 first, i64 m, Block& block) {
    bool negative = false;
    block.by_row = c.rowwise ? m : 1;
    block.by_column = c.rowwise ? 1 : n;
    for (i64 j = 0; j < (c.rowwise ? 1 : m); j++) {
        const i64 stride = c.strides[first + j];
        const char* start = (const char*)(uintptr_t)c.addresses[first + j] + lo * stride;
        with_integers(c.types[first + j], start, [&](auto* codes) {
            const i64 size = sizeof *codes;
            u32* slots = block.slots + j * n;
            if (c.rowwise && stride == m * size) {
                negative |= find_slots<true>(codes, block.offsets, block.tops, n * m, slots);
            } else if (c.rowwise) {
                for (i64 i = 0; i < n; i++) {
                    auto* row = (decltype(codes))(start + i * stride);
                    negative |= find_slots<true>(row, block.offsets, block.tops, m, slots + i * m);
                }
            } else if (stride == size) {
                negative |= find_slots<false>(codes, c.offsets + first + j, c.tops + first + j, n, slots);
            } else {
                for (i64 i = 0; i < n; i++) {
                    auto* code = (decltype(codes))(start + i * stride);
                    negative |= find_slots<false>(code, c.offsets + first + j, c.tops + first + j, 1, slots + i);
                }
            }
        });
    }
    return negative;
}

// Fetch what will be row i + some of a matrix, of which the loops have a stretch ahead.
INLINE void fetch_ahead(const Columns& c, i64 i) {
    if (c.rowwise) {
        const u64 at = c.addresses[0] + (u64)(i * c.strides[0]) + AHEAD;
        for (i64 b = 0; b < c.strides[0]; b += 64) __builtin_prefetch((const void*)(uintptr_t)(at + (u64)b));
    }
}

// cells[slot]++ for each slot, four read at a time.
INLINE void count_slots(const u32* slots, i64 n, u32* cells) {
    i64 j = 0;
    for (; j + 4 <= n; j += 4) {
        const u32 p = slots[j], q = slots[j + 1], r = slots[j + 2], s = slots[j + 3];
        cells[p]++, cells[q]++, cells[r]++, cells[s]++;
    }
    for (; j < n; j++) cells[slots[j]]++;
}

// counts, lanes x slots of the labels x slots of the codes. The labels are a column like others, so that rows without a
// class have their slots too. Lanes (a power of two) are taken in turn, else a frequent cell of a small table waits for
// its own last store (5 cycles) at every row.
API(void, tally_codes)(const Columns* columns, const void* labels, i64 type, i64 lanes, i64 n_classes, i64 n_slots,
                       u32* __restrict counts) {
    const Columns c = *columns;
    const i64 n_rows = c.n_rows, n_columns = c.n_columns;
    const u32 none = 0, beyond = (u32)(n_classes - 1), lane = (u32)(n_classes * n_slots);
    Block block;
    block.first = -1;
    u32 starts[MOST_ROWS];
    for (i64 first = 0, m; first < n_columns; first += m) {
        m = begin_columns(c, first, block);
        for (i64 lo = 0, n; lo < n_rows; lo += n) {
            n = smaller(rows_of_block(c, m), n_rows - lo);
            fill_block(c, lo, n, first, m, block);
            with_integers(type, labels, [&](auto* p) { find_slots<false>(p + lo, &none, &beyond, n, starts); });
            for (i64 i = 0; i < n; i++) starts[i] = starts[i] * (u32)n_slots + ((u32)i & (u32)(lanes - 1)) * lane;
            for (i64 i = 0; c.rowwise && i < n; i++) {
                fetch_ahead(c, lo + i);
                count_slots(block.slots + i * m, m, counts + starts[i]);
            }
            for (i64 j = 0; !c.rowwise && j < m; j++) {
                u32* slots = block.slots + j * n;
                for (i64 i = 0; i < n; i++) slots[i] += starts[i];
                count_slots(slots, n, counts);
            }
        }
    }
}

// Add the table's rows of a block, column by column, to COUNT classes of each row of out. A table may be read up to a
// whole vector's end, which is WIDTH numbers from a row's start at most.
enum { WIDTH = 8 };
template <int COUNT, int ROWS>
INLINE void add_terms(const u32* slots, i64 by_row, i64 by_column, i64 m, const double* table, i64 classes, double* out) {
    enum { V = (COUNT + LANES - 1) / LANES };
    Vector sums[ROWS][V] = {};
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < COUNT; k += LANES)
            if (k + LANES <= COUNT) sums[r][k / LANES] = load(out + r * classes + k);
            else for (int l = 0; k + l < COUNT; l++) sums[r][k / LANES][l] = out[r * classes + k + l];
    for (i64 j = 0; j < m; j++, slots += by_column)
        for (int r = 0; r < ROWS; r++) {
            const double* terms = table + (i64)slots[r * by_row] * classes;
            for (int v = 0; v < V; v++) sums[r][v] += load(terms + v * LANES);
        }
    for (int r = 0; r < ROWS; r++)
        for (int k = 0; k < COUNT; k += LANES)
            if (k + LANES <= COUNT) store(out + r * classes + k, sums[r][k / LANES]);
            else for (int l = 0; k + l < COUNT; l++) out[r * classes + k + l] = sums[r][k / LANES][l];
}
template <int COUNT>
static void add_rows(const Columns& c, const Block& block, i64 lo, i64 n, i64 m, const double* table, i64 classes, double* out) {
    const i64 by_row = block.by_row, by_column = block.by_column;
    i64 i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (int r = 0; r < LANES; r++) fetch_ahead(c, lo + i + r);
        add_terms<COUNT, LANES>(block.slots + i * by_row, by_row, by_column, m, table, classes, out + i * classes);
    }
    for (; i < n; i++) add_terms<COUNT, 1>(block.slots + i * by_row, by_row, by_column, m, table, classes, out + i * classes);
}

static void (*const ADD_ROWS[WIDTH])(const Columns&, const Block&, i64, i64, i64, const double*, i64, double*) = {
    add_rows<1>, add_rows<2>, add_rows<3>, add_rows<4>, add_rows<5>, add_rows<6>, add_rows<7>, add_rows<8>};

// out[i, k] += table[slot of row i and column j, k], one column after another. Returns whether a code is below zero.
API(i64, add_codes)(const Columns* columns, const double* table, i64 classes, double* out) {
    const Columns c = *columns;
    const i64 n_rows = c.n_rows, n_columns = c.n_columns;
    Block block;
    block.first = -1;
    bool negative = false;
    const i64 rows = rows_of_block(c, begin_columns(c, 0, block));
    for (i64 lo = 0, n; lo < n_rows; lo += n) {
        n = smaller(rows, n_rows - lo);
        for (i64 first = 0, m; first < n_columns; first += m) {
            m = begin_columns(c, first, block);
            negative |= fill_block(c, lo, n, first, m, block);
            for (i64 k = 0; k < classes; k += WIDTH) {
                const i64 count = smaller<i64>(classes - k, WIDTH);
                ADD_ROWS[count - 1](c, block, lo, n, m, table + k, classes, out + lo * classes + k);
            }
        }
    }
    return negative;
}

// Contingency tables. The columns on one side (a class and an attribute, or a node and its parents) are joined into one
// cell for each row, which then meets one column after another. What is missing is counted in a row and a column of its
// own and left behind, so that the loop has no branches.

// out = above * card + code, or `missing` where either is below zero.
INLINE void join_codes(const i64* above, const i32* codes, i64 n, i64 card, i64 missing, u32* out) {
    for (i64 i = 0; i < n; i++) out[i] = (u32)(above[i] < 0 || codes[i] < 0 ? missing : above[i] * card + codes[i]);
}

// tables[offsets[c] + (code + 1) * width + cell] += the row's weight (1, where these are whole numbers), for each of COUNT
// columns (of all, which have n_rows each): several at a time, so that a table's increments do not wait for one another.
template <int COUNT, class T>
INLINE void count_columns(const u32* cells, const i32* codes, i64 n_rows, i64 n, const i64* columns, const double* weights,
                          i64 width, const i64* offsets, T* tables) {
    const bool whole = (T)0.5 == 0;
    const i32* own[COUNT];
    T* at[COUNT];
    for (int c = 0; c < COUNT; c++) own[c] = codes + columns[c] * n_rows, at[c] = tables + offsets[c] + width;
    for (i64 i = 0; i < n; i++) {
        const i64 cell = cells[i];
        const T weight = whole ? (T)1 : (T)weights[i];
        for (int c = 0; c < COUNT; c++) at[c][own[c][i] * width + cell] += weight;
    }
}

// log Gamma(x) of a positive x: Stirling's series, which from 10 on is right to the last places of a double.
INLINE double log_gamma_of(double x) {
    double product = 1.0;
    for (; x < 10.0; x += 1.0) product *= x;
    const double square = 1.0 / (x * x), tail = 1.0 / 1680 - square * (1.0 / 1188 - square * (691.0 / 360360));
    const double series = (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square * tail))) / x;
    return (x - 0.5) * log_of(x) - x + 0.9189385332046727 + series - log_of(product);
}

// What a table says of a node with `states` states; it is (card + 1) x (configurations * states + 1).
// With a prior of 0 the term is the greatest log likelihood, sum N log N over the cells - sum N log N over the
// configurations; with a prior of alpha per cell it is the logarithm of the Dirichlet-multinomial, where
// log Gamma(alpha + N) - log Gamma(alpha) stands in place of N log N. The weight is that of the rows counted.
template <class T>
INLINE void score_table(const T* table, i64 width, i64 card, i64 states, double alpha, double* term, double* weight) {
    const double above = alpha * (double)states;
    const double start = alpha > 0 ? log_gamma_of(alpha) : 0.0, above_start = alpha > 0 ? log_gamma_of(above) : 0.0;
    double sum = 0.0, total = 0.0;
    for (i64 code = 1; code <= card; code++)
        for (i64 first = 0; first < width - 1; first += states) {
            double together = 0.0;
            for (i64 cell = first; cell < first + states; cell++) {
                const double count = (double)table[code * width + cell];
                if (count > 0) {
                    together += count;
                    sum += alpha > 0 ? log_gamma_of(alpha + count) - start : count * log_of(count);
                }
            }
            if (together > 0) {
                total += together;
                sum -= alpha > 0 ? log_gamma_of(above + together) - above_start : together * log_of(together);
            }
        }
    *term = sum;
    *weight = total;
}

// The tables of the columns with the cells (above, node), zeros before; counts without weights, else doubles. Where there are
// to be terms, each table has a prior, a term and a total.
API(void, count_tables)(const i64* above, const i32* codes, i64 n_rows, i64 node, i64 states, const i64* columns,
                        const i64* cards, i64 m, const double* weights, i64 width, const i64* offsets, void* all,
                        const double* priors, double* terms, double* totals) {
    u32 cells[SLOTS];
    with_sums(weights != nullptr, all, [&](auto* tables) {
        for (i64 lo = 0, n; lo < n_rows; lo += n) {
            n = smaller<i64>(SLOTS, n_rows - lo);
            const double* own = weights ? weights + lo : nullptr;
            join_codes(above + lo, codes + node * n_rows + lo, n, states, width - 1, cells);
            i64 k = 0;
            for (; k + 4 <= m; k += 4)
                count_columns<4>(cells, codes + lo, n_rows, n, columns + k, own, width, offsets + k, tables);
            for (; k < m; k++)
                count_columns<1>(cells, codes + lo, n_rows, n, columns + k, own, width, offsets + k, tables);
        }
        for (i64 k = 0; priors && k < m; k++)
            score_table(tables + offsets[k], width, cards[k], states, priors[k], terms + k, totals + k);
    });
}

// sums[k] += the table's number k of each of n rows.
INLINE void add_listed(const double* table, const i64* rows, i64 n, i64 K, double* sums) {
    add_up<4>(0, n, K, sums, [=](i64 j) { return Term{1.0, table + rows[j] * K}; });
}

// out[i, k] = log of the mean over the parents p that may be one of P(k, x_p) prod_j P(x_j | k, x_p).
//
// roots[root_at[p] + x_p, k] is log P(k, x_p); pairs[pair_at[p, j] + x_p * sizes[j] + x_j, k] is log P(x_j | k, x_p).
// A row none of whose values may be a parent gets the naive product, whose tables are naive[root_at[j] + x_j, k], the
// row n_naive - 1 being the prior. `rows` is room for d places, `terms` for (d + 2) K numbers.
API(void, average_parents)(const i32* codes, i64 n, i64 d, const double* roots, const i64* root_at, const double* pairs,
                           const i64* pair_at, const i64* sizes, const u8* usable, const double* naive, i64 n_naive,
                           i64 K, i64* rows, double* terms, double* out) {
    double *largest = terms + d * K, *total = largest + K;
    for (i64 i = 0; i < n; i++, codes += d, out += K) {
        i64 models = 0, known = 0;
        for (i64 p = 0; p < d; p++) {
            const i64 x = codes[p];
            if (x < 0 || !usable[root_at[p] + x]) continue;
            double* term = terms + models++ * K;
            memcpy(term, roots + (root_at[p] + x) * K, (size_t)K * sizeof *term);
            i64 listed = 0;
            for (i64 j = 0; j < d; j++) {
                rows[listed] = pair_at[p * d + j] + x * sizes[j] + codes[j];
                listed += codes[j] >= 0 && j != p;
            }
            add_listed(pairs, rows, listed, K, term);
        }
        if (models == 0) {
            memcpy(out, naive + (n_naive - 1) * K, (size_t)K * sizeof *out);
            for (i64 j = 0; j < d; j++)
                if (codes[j] >= 0) rows[known++] = root_at[j] + codes[j];
            add_listed(naive, rows, known, K, out);
            continue;
        }
        for (i64 k = 0; k < K; k++) {
            largest[k] = -HUGE_VAL, total[k] = 0.0;
            for (i64 p = 0; p < models; p++) largest[k] = larger(largest[k], terms[p * K + k]);
        }
        // A class that no parent admits: exp(-inf - 0) = 0, and the log of it is -inf again.
        for (i64 p = 0; p < models; p++)
            for (i64 k = 0; k < K; k++) terms[p * K + k] -= largest[k] == -HUGE_VAL ? 0.0 : largest[k];
        for (i64 e = 0; e < models * K; e++) terms[e] = exp_of(terms[e]);
        for (i64 p = 0; p < models; p++)
            for (i64 k = 0; k < K; k++) total[k] += terms[p * K + k];
        for (i64 k = 0; k < K; k++) total[k] = log_of(total[k] / (double)models);
        for (i64 k = 0; k < K; k++) out[k] = total[k] + (largest[k] == -HUGE_VAL ? 0.0 : largest[k]);
    }
}
