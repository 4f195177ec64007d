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
    const u8* data;
    const i64* ends;
    const u8* begin(i64 i) const { return data + (i ? ends[i - 1] : 0); }
    i64 size(i64 i) const { return ends[i] - (i ? ends[i - 1] : 0); }
};

API(void, hash_words)(const u8* data, const i64* ends, i64 n, u64* hashes) {
    const WordList words = {data, ends};
    for (i64 i = 0; i < n; i++) hashes[i] = hash_bytes(words.begin(i), words.size(i)).hash;
}
// Of n-grams, from their parts.
API(void, hash_grams)(const u64* above, const u64* words, const i32* parents, const i32* lasts, i64 n, u64* hashes) {
    for (i64 i = 0; i < n; i++) hashes[i] = follow(above[parents[i]], words[lasts[i]]);
}
// Words in another order, or some of them.
API(void, write_words)(const u8* data, const i64* ends, const i64* order, i64 n, u8* written, i64* new_ends) {
    const WordList words = {data, ends};
    i64 at = 0;
    for (i64 i = 0; i < n; i++) {
        const i64 size = words.size(order[i]);
        memcpy(written + at, words.begin(order[i]), size);
        new_ends[i] = at += size;
    }
}

// Go through two ascending lists, from i to n and from j to m: order(i, j) is below, at or above zero as i comes before, is,
// or comes after j. Each place among both is given to write(place, i or -1, j or -1); returns how many there are.
template <class Order, class Write> INLINE i64 merge(i64 i, i64 n, i64 j, i64 m, Order&& order, Write&& write) {
    i64 place = 0;
    for (; i < n && j < m; place++) {
        const i64 sign = order(i, j);
        write(place, sign <= 0 ? i : -1, sign >= 0 ? j : -1);
        i += sign <= 0;
        j += sign >= 0;
    }
    for (; i < n; i++) write(place++, i, (i64)-1);
    for (; j < m; j++) write(place++, (i64)-1, j);
    return place;
}
INLINE i64 compare_hashes(u64 a, u64 b) { return a < b ? -1 : a > b; }

// Two lists are united in parts, of hashes between the same bounds, so that threads can do them. First find where the
// words of either go within the part; returns how many there are in it. Then, knowing where the part begins, write them.
API(i64, place_words)(const u64* hash_a, const u8* data_a, const i64* ends_a, i64 a, i64 a_end, const u64* hash_b, const u8* data_b,
                      const i64* ends_b, i64 b, i64 b_end, i32* place_a, i32* place_b) {
    const WordList one = {data_a, ends_a}, two = {data_b, ends_b};
    return merge(a, a_end, b, b_end, [&](i64 i, i64 j) {
        const i64 sign = compare_hashes(hash_a[i], hash_b[j]);
        return sign ? sign : compare_bytes(one.begin(i), one.size(i), two.begin(j), two.size(j));
    }, [&](i64 place, i64 i, i64 j) {
        if (i >= 0) place_a[i] = (i32)place;
        if (j >= 0) place_b[j] = (i32)place;
    });
}
// The same for the n-grams of a level, given where their parts went.
API(i64, place_grams)(const u64* hash_a, const i32* parents_a, const i32* lasts_a, const i32* above_a, const i32* words_a, i64 a,
                      i64 a_end, const u64* hash_b, const i32* parents_b, const i32* lasts_b, const i32* above_b,
                      const i32* words_b, i64 b, i64 b_end, i32* place_a, i32* place_b) {
    return merge(a, a_end, b, b_end, [&](i64 i, i64 j) {
        if (const i64 sign = compare_hashes(hash_a[i], hash_b[j])) return sign;
        const i64 sign = (i64)above_a[parents_a[i]] - above_b[parents_b[j]];
        return sign ? sign : (i64)words_a[lasts_a[i]] - words_b[lasts_b[j]];
    }, [&](i64 place, i64 i, i64 j) {
        if (i >= 0) place_a[i] = (i32)place;
        if (j >= 0) place_b[j] = (i32)place;
    });
}
// Write the hashes of a part and the sizes of its words, or its n-grams, and where they are among all nodes; with the
// place of the part in the level, and of the level.
API(void, write_sizes)(const u64* hashes, const i64* ends, i64 i, i64 end, i64 part, i32* places, i64* nodes, u64* to, i64* sizes) {
    for (; i < end; i++) {
        const i64 place = nodes[i] = places[i] += (i32)part;
        to[place] = hashes[i];
        sizes[place] = ends[i] - (i ? ends[i - 1] : 0);
    }
}
API(void, write_bytes)(const u8* data, const i64* ends, i64 i, i64 end, const i32* places, u8* to, const i64* new_ends) {
    const WordList words = {data, ends};
    for (; i < end; i++) memcpy(to + new_ends[places[i]] - words.size(i), words.begin(i), words.size(i));
}
API(void, write_grams)(const u64* hashes, const i32* parents, const i32* lasts, const i32* above, const i32* words, i64 i, i64 end,
                       i64 part, i64 level, i32* places, i64* nodes, u64* to, i32* to_parents, i32* to_lasts) {
    for (; i < end; i++) {
        const i64 place = places[i] += (i32)part;
        nodes[i] = place + level;
        to[place] = hashes[i];
        to_parents[place] = above[parents[i]];
        to_lasts[place] = words[lasts[i]];
    }
}

// The cells of a bag over united nodes (where its own are: ascending) and classes (the new code of each; null: as it was).
struct Cells {
    const i64* nodes;
    const i64* starts;
    const i32* codes;
    const i64* classes;
    i64 node, end;  // those to join
    i32 code(i64 cell) const { return (i32)(classes ? classes[codes[cell]] : codes[cell]); }
};
// The cells of two bags, for the nodes from f to f_end. They are given, with the cell of either that each comes from (-1:
// none), to write, from a given number on; returns how many there are.
template <class Write> INLINE i64 join(Cells a, Cells b, i64 f, i64 f_end, i64 cell, i64* starts, Write&& write) {
    const i64 first = cell;
    for (; f < f_end; f++) {
        i64 i = 0, i_end = 0, j = 0, j_end = 0;
        if (a.node < a.end && a.nodes[a.node] == f) i = a.starts[a.node], i_end = a.starts[++a.node];
        if (b.node < b.end && b.nodes[b.node] == f) j = b.starts[b.node], j_end = b.starts[++b.node];
        starts[f] = cell;
        cell += merge(i, i_end, j, j_end, [&](i64 x, i64 y) { return (i64)a.code(x) - b.code(y); },
                      [&](i64 place, i64 x, i64 y) { write(cell + place, x >= 0 ? a.code(x) : b.code(y), x, y); });
    }
    return cell - first;
}
API(i64, join_cells)(const i64* nodes_a, const i64* starts_a, const i32* codes_a, const i64* class_a, i64 a, i64 a_end,
                     const i64* nodes_b, const i64* starts_b, const i32* codes_b, const i64* class_b, i64 b, i64 b_end, i64 f,
                     i64 f_end, i64 cell, i64* starts, i32* codes, i64* from_a, i64* from_b) {
    const Cells one = {nodes_a, starts_a, codes_a, class_a, a, a_end}, two = {nodes_b, starts_b, codes_b, class_b, b, b_end};
    return join(one, two, f, f_end, cell, starts, [&](i64 place, i32 code, i64 i, i64 j) {
        codes[place] = code;
        from_a[place] = i;
        from_b[place] = j;
    });
}
// The same for what two threads have counted, over the same classes, with the sums of both: integers, or doubles.
API(i64, add_cells)(const i64* nodes_a, const i64* starts_a, const i32* codes_a, const Sum* sums_a, i64 a, i64 a_end,
                    const i64* nodes_b, const i64* starts_b, const i32* codes_b, const Sum* sums_b, i64 b, i64 b_end, i64 f,
                    i64 f_end, i64 cell, i64* starts, i32* codes, Sum* sums, i64 columns, i64 real) {
    const Cells one = {nodes_a, starts_a, codes_a, nullptr, a, a_end}, two = {nodes_b, starts_b, codes_b, nullptr, b, b_end};
    return join(one, two, f, f_end, cell, starts, [&](i64 place, i32 code, i64 i, i64 j) {
        codes[place] = code;
        for (i64 c = 0; c < columns; c++) {
            Sum& sum = sums[place * columns + c];
            sum = i >= 0 ? sums_a[i * columns + c] : sums_b[j * columns + c];
            if (i >= 0 && j >= 0) sum.add(sums_b[j * columns + c], real);
        }
    });
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
