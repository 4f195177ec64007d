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
    i64 n_rows, n_columns;
    bool rowwise;
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

template <class T> INLINE T read(const T* p) {
    T x;
    memcpy(&x, p, sizeof x);
    return x;
}

// slots[j] = offset + min(code + 1, top), what is negative being large; returns whether there is a code below zero.
// `each`: every code has an offset and a top of its own.
template <bool each, class T> INLINE bool find_slots(const T* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    T all = 0;
    for (i64 j = 0; j < n; j++) {
        const T code = read(codes + j);
        all |= code;
        slots[j] = offsets[each * j] + smaller((u32)code + 1, tops[each * j]);
    }
    return all < 0;
}

// Codes of 64 bits in two halves: where the upper half of code + 1 is not zero, the lower half becomes large.
typedef u64 Longs __attribute__((vector_size(8 * LANES), aligned(8), may_alias));
typedef u32 Words __attribute__((vector_size(8 * LANES), aligned(4), may_alias));
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (Words){__VA_ARGS__})
#endif
#if defined(__AVX2__)
#define EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define ODD 1, 3, 5, 7, 9, 11, 13, 15
#else
#define EVEN 0, 2, 4, 6
#define ODD 1, 3, 5, 7
#endif
template <bool each>
INLINE bool find_slots(const u64* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    Longs any = {};
    i64 j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        Longs a, b;
        memcpy(&a, codes + j, sizeof a);
        memcpy(&b, codes + j + LANES, sizeof b);
        any |= a | b;
        a += 1, b += 1;
        const Words low = PICK((Words)a, (Words)b, EVEN), high = PICK((Words)a, (Words)b, ODD);
        const Words place = low | (Words)(high != 0), first = each ? *(const Words*)(offsets + j) : (Words){} + *offsets;
        const Words top = each ? *(const Words*)(tops + j) : (Words){} + *tops;
        *(Words*)(slots + j) = first + (place < top ? place : top);
    }
    u64 all = 0;
    for (int k = 0; k < LANES; k++) all |= any[k];
    for (; j < n; j++) {
        const u64 code = read(codes + j);
        all |= code;
        slots[j] = offsets[each * j] + (u32)smaller<u64>(code + 1, tops[each * j]);
    }
    return (i64)all < 0;
}
#undef PICK
#undef EVEN
#undef ODD
template <bool each>
INLINE bool find_slots(const i64* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    return find_slots<each>((const u64*)codes, offsets, tops, n, slots);
}
template <bool each>
INLINE bool find_slots(const u32* codes, const u32* offsets, const u32* tops, i64 n, u32* slots) {
    for (i64 j = 0; j < n; j++)
        slots[j] = offsets[each * j] + (u32)smaller<u64>((u64)read(codes + j) + 1, tops[each * j]);
    return false;
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

// counts, lanes x slots of the labels x slots of the codes. The labels are a column like others, so that rows without a
// class have their slots too. Lanes (a power of two) are taken in turn, else a frequent cell of a small table waits for
// its own last store (5 cycles) at every row.
API(void, tally_codes)(const u64* addresses, const i64* types, const i64* strides, const u32* offsets, const u32* tops,
                       i64 n_rows, i64 n_columns, i64 rowwise, const void* labels, i64 type, i64 lanes, i64 n_classes,
                       i64 n_slots, u32* __restrict counts) {
    const Columns c = {addresses, types, strides, offsets, tops, n_rows, n_columns, rowwise != 0};
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
                u32* cells = counts + starts[i];
                const u32* slots = block.slots + i * m;
                fetch_ahead(c, lo + i);
                i64 j = 0;
                for (; j + 4 <= m; j += 4) {
                    const u32 p = slots[j], q = slots[j + 1], r = slots[j + 2], s = slots[j + 3];
                    cells[p]++, cells[q]++, cells[r]++, cells[s]++;
                }
                for (; j < m; j++) cells[slots[j]]++;
            }
            for (i64 j = 0; !c.rowwise && j < m; j++) {
                u32* slots = block.slots + j * n;
                for (i64 i = 0; i < n; i++) slots[i] += starts[i];
                i64 i = 0;
                for (; i + 4 <= n; i += 4) {
                    const u32 p = slots[i], q = slots[i + 1], r = slots[i + 2], s = slots[i + 3];
                    counts[p]++, counts[q]++, counts[r]++, counts[s]++;
                }
                for (; i < n; i++) counts[slots[i]]++;
            }
        }
    }
}

// Add the table's rows of a block, column by column, to `count` classes of each row of out; the table may be read up to
// WIDTH numbers from any row's start.
enum { WIDTH = 8 };
template <int V, int ROWS>
INLINE void add_terms(const Block& block, i64 i, i64 m, const double* table, i64 classes, i64 count, double* out) {
    double buffer[ROWS][V * LANES] = {};
    Vector sums[ROWS][V];
    for (int r = 0; r < ROWS; r++) {
        for (i64 k = 0; k < count; k++) buffer[r][k] = out[r * classes + k];
        for (int v = 0; v < V; v++) sums[r][v] = load(buffer[r] + v * LANES);
    }
    const u32* slots = block.slots + i * block.by_row;
    for (i64 j = 0; j < m; j++, slots += block.by_column)
        for (int r = 0; r < ROWS; r++) {
            const double* terms = table + (i64)slots[r * block.by_row] * classes;
            for (int v = 0; v < V; v++) sums[r][v] += load(terms + v * LANES);
        }
    for (int r = 0; r < ROWS; r++) {
        for (int v = 0; v < V; v++) store(buffer[r] + v * LANES, sums[r][v]);
        for (i64 k = 0; k < count; k++) out[r * classes + k] = buffer[r][k];
    }
}
template <int V>
INLINE void add_rows(const Block& block, i64 n, i64 m, const double* table, i64 classes, i64 count, double* out) {
    i64 i = 0;
    for (; i + LANES <= n; i += LANES) add_terms<V, LANES>(block, i, m, table, classes, count, out + i * classes);
    for (; i < n; i++) add_terms<V, 1>(block, i, m, table, classes, count, out + i * classes);
}

// out[i, k] += table[slot of row i and column j, k], one column after another. Returns whether a code is below zero.
API(i64, add_codes)(const u64* addresses, const i64* types, const i64* strides, const u32* offsets, const u32* tops,
                    i64 n_rows, i64 n_columns, i64 rowwise, const double* table, i64 classes, double* out) {
    const Columns c = {addresses, types, strides, offsets, tops, n_rows, n_columns, rowwise != 0};
    Block block;
    block.first = -1;
    bool negative = false;
    const i64 rows = rows_of_block(c, begin_columns(c, 0, block));
    for (i64 lo = 0, n; lo < n_rows; lo += n) {
        n = smaller(rows, n_rows - lo);
        for (i64 i = 0; i < n; i++) fetch_ahead(c, lo + i);
        for (i64 first = 0, m; first < n_columns; first += m) {
            m = begin_columns(c, first, block);
            negative |= fill_block(c, lo, n, first, m, block);
            for (i64 k = 0; k < classes; k += WIDTH) {
                const i64 count = smaller<i64>(classes - k, WIDTH);
                double* into = out + lo * classes + k;
                if (count <= 4) add_rows<4 / LANES>(block, n, m, table + k, classes, count, into);
                else add_rows<WIDTH / LANES>(block, n, m, table + k, classes, count, into);
            }
        }
    }
    return negative;
}
