// Vocabularies as arrays: words and n-grams in canonical order, hashed, united, and their cells added.
//
// The order of words is that of their hashes, and of equal hashes that of their bytes; the order of n-grams is that of
// their hashes, and of equal ones that of their parts. So two sets of them are united in one pass over both.
#pragma once
#include "common.hpp"
#include "math.hpp"
#include "text.hpp"

// Words one after the other; ends[-1] is never read.
struct WordList {
    const u64* hashes;
    const u8* data;
    const i64* ends;
    i64 n;
    const u8* begin(i64 i) const { return data + (i ? ends[i - 1] : 0); }
    i64 size(i64 i) const { return ends[i] - (i ? ends[i - 1] : 0); }
};

API(void, hash_words)(const u8* data, const i64* ends, i64 n, u64* hashes) {
    const WordList words = {nullptr, data, ends, n};
    for (i64 i = 0; i < n; i++) hashes[i] = hash_bytes(words.begin(i), words.size(i)).hash;
}
// Of n-grams, from their parts.
API(void, hash_grams)(const u64* above, const u64* words, const i32* parents, const i32* lasts, i64 n, u64* hashes) {
    for (i64 i = 0; i < n; i++) hashes[i] = follow(above[parents[i]], words[lasts[i]]);
}
// Words in another order, or some of them.
API(void, write_words)(const u8* data, const i64* ends, const i64* order, i64 n, u8* written, i64* new_ends) {
    const WordList words = {nullptr, data, ends, n};
    i64 at = 0;
    for (i64 i = 0; i < n; i++) {
        const i64 size = words.size(order[i]);
        memcpy(written + at, words.begin(order[i]), size);
        new_ends[i] = at += size;
    }
}

// Go through two ascending lists: order(i, j) is below, at or above zero as i comes before, is, or comes after j. Each
// place among both is given to write(place, i or -1, j or -1); returns how many there are.
template <class Order, class Write> INLINE i64 merge(i64 n, i64 m, Order&& order, Write&& write) {
    i64 i = 0, j = 0, place = 0;
    for (; i < n || j < m; place++) {
        const i64 sign = j >= m ? -1 : i >= n ? 1 : order(i, j);
        write(place, sign <= 0 ? i : -1, sign >= 0 ? j : -1);
        i += sign <= 0;
        j += sign >= 0;
    }
    return place;
}
INLINE i64 compare_hashes(u64 a, u64 b) { return a < b ? -1 : a > b; }

// The words of both, with room for all, and where those of either are among them; returns how many there are.
API(i64, unite_words)(const u64* hash_a, const u8* data_a, const i64* ends_a, i64 n, const u64* hash_b, const u8* data_b,
                      const i64* ends_b, i64 m, i32* place_a, i32* place_b, u64* hashes, u8* data, i64* ends) {
    const WordList a = {hash_a, data_a, ends_a, n}, b = {hash_b, data_b, ends_b, m};
    i64 at = 0;
    return merge(n, m, [&](i64 i, i64 j) {
        const i64 sign = compare_hashes(hash_a[i], hash_b[j]);
        return sign ? sign : compare_bytes(a.begin(i), a.size(i), b.begin(j), b.size(j));
    }, [&](i64 place, i64 i, i64 j) {
        const WordList& from = i >= 0 ? a : b;
        const i64 own = i >= 0 ? i : j, size = from.size(own);
        memcpy(data + at, from.begin(own), size);
        ends[place] = at += size;
        hashes[place] = from.hashes[own];
        if (i >= 0) place_a[i] = (i32)place;
        if (j >= 0) place_b[j] = (i32)place;
    });
}

struct GramList {
    const u64* hashes;
    const i32 *parents, *lasts;
    const i32 *above, *words;  // where their parts went
    i32 parent(i64 i) const { return above[parents[i]]; }
    i32 last(i64 i) const { return words[lasts[i]]; }
};
// The same for the n-grams of a level, given where their parts went.
API(i64, unite_grams)(const u64* hash_a, const i32* parents_a, const i32* lasts_a, i64 n, const u64* hash_b, const i32* parents_b,
                      const i32* lasts_b, i64 m, const i32* above_a, const i32* above_b, const i32* words_a, const i32* words_b,
                      i32* place_a, i32* place_b, u64* hashes, i32* parents, i32* lasts) {
    const GramList a = {hash_a, parents_a, lasts_a, above_a, words_a}, b = {hash_b, parents_b, lasts_b, above_b, words_b};
    return merge(n, m, [&](i64 i, i64 j) {
        if (const i64 sign = compare_hashes(hash_a[i], hash_b[j])) return sign;
        const i64 sign = (i64)a.parent(i) - b.parent(j);
        return sign ? sign : (i64)a.last(i) - b.last(j);
    }, [&](i64 place, i64 i, i64 j) {
        const GramList& from = i >= 0 ? a : b;
        const i64 own = i >= 0 ? i : j;
        hashes[place] = from.hashes[own];
        parents[place] = from.parent(own);
        lasts[place] = from.last(own);
        if (i >= 0) place_a[i] = (i32)place;
        if (j >= 0) place_b[j] = (i32)place;
    });
}

// The cells of two bags over united nodes (where the nodes of either are: ascending) and classes (the new code of each).
// Each cell, and the place in either that it comes from (-1: none), is given to write; returns how many there are.
template <class Write>
INLINE i64 join(const i64* place_a, const i64* starts_a, const i32* codes_a, const i64* class_a, i64 n, const i64* place_b,
                const i64* starts_b, const i32* codes_b, const i64* class_b, i64 m, i64 nodes, i64* starts, i32* codes, Write&& write) {
    i64 cells = 0, a = 0, b = 0;
    starts[0] = 0;
    for (i64 f = 0; f < nodes; f++) {
        i64 i = 0, i_end = 0, j = 0, j_end = 0;
        if (a < n && place_a[a] == f) i = starts_a[a], i_end = starts_a[a + 1], a++;
        if (b < m && place_b[b] == f) j = starts_b[b], j_end = starts_b[b + 1], b++;
        const auto code_a = [&](i64 c) { return class_a ? class_a[codes_a[c]] : codes_a[c]; };
        const auto code_b = [&](i64 c) { return class_b ? class_b[codes_b[c]] : codes_b[c]; };
        cells += merge(i_end - i, j_end - j, [&](i64 x, i64 y) { return code_a(i + x) - code_b(j + y); },
            [&](i64 place, i64 x, i64 y) {
                codes[cells + place] = (i32)(x >= 0 ? code_a(i + x) : code_b(j + y));
                write(cells + place, x >= 0 ? i + x : -1, y >= 0 ? j + y : -1);
            });
        starts[f + 1] = cells;
    }
    return cells;
}
API(i64, join_cells)(const i64* place_a, const i64* starts_a, const i32* codes_a, const i64* class_a, i64 n, const i64* place_b,
                     const i64* starts_b, const i32* codes_b, const i64* class_b, i64 m, i64 nodes, i64* starts, i32* codes,
                     i64* from_a, i64* from_b) {
    return join(place_a, starts_a, codes_a, class_a, n, place_b, starts_b, codes_b, class_b, m, nodes, starts, codes,
                [&](i64 cell, i64 i, i64 j) { from_a[cell] = i; from_b[cell] = j; });
}
// The same for what two threads have counted, over the same classes, with the sums of both: integers, or doubles.
template <class T>
static i64 add_cells_of(const i64* place_a, const i64* starts_a, const i32* codes_a, const T* values_a, i64 n, const i64* place_b,
                        const i64* starts_b, const i32* codes_b, const T* values_b, i64 m, i64 nodes, i64 columns, i64* starts,
                        i32* codes, T* values) {
    return join(place_a, starts_a, codes_a, nullptr, n, place_b, starts_b, codes_b, nullptr, m, nodes, starts, codes,
                [&](i64 cell, i64 i, i64 j) {
                    for (i64 c = 0; c < columns; c++) {
                        T& value = values[cell * columns + c];
                        value = i >= 0 ? values_a[i * columns + c] : values_b[j * columns + c];
                        if (i >= 0 && j >= 0) value += values_b[j * columns + c];
                    }
                });
}
API(i64, add_cells)(const i64* place_a, const i64* starts_a, const i32* codes_a, const void* values_a, i64 n, const i64* place_b,
                    const i64* starts_b, const i32* codes_b, const void* values_b, i64 m, i64 nodes, i64 columns, i64 real,
                    i64* starts, i32* codes, void* values) {
    const auto add = [&](auto* typed) {
        auto *a = typed, *b = typed;
        a = (decltype(typed))values_a, b = (decltype(typed))values_b;
        return add_cells_of(place_a, starts_a, codes_a, a, n, place_b, starts_b, codes_b, b, m, nodes, columns, starts, codes, typed);
    };
    return real ? add((double*)values) : add((i64*)values);
}

// What leaving each document out leaves of each word in its class, for entries (row, node, how often). A word that no
// other document has is gone (unless fixed): it does not count, and the row's words of that kind do.
API(void, leave_words_out)(const i32* rows, const i32* nodes, const i32* counts, i64 n, const i32* labels, const double* weights,
                           const i64* starts, const i32* codes, const double* values, const double* totals, double slack, i64 fixed,
                           double* kept, double* rest, double* tokens, double* gone, double* words) {
    for (i64 e = 0; e < n; e++) {
        const i64 row = rows[e], node = nodes[e];
        const double x = counts[e], taken = weights[row] * x;
        double own = 0.0;
        for (i64 cell = starts[node]; cell < starts[node + 1]; cell++)
            if (codes[cell] == labels[row]) { own = values[cell]; break; }
        tokens[row] += x;
        const bool lost = !fixed && totals[node] - taken <= slack * totals[node];
        gone[row] += lost ? x : 0.0;
        words[row] += lost;
        kept[e] = lost ? 0.0 : x;
        rest[e] = larger(own - taken, 0.0);
    }
}
