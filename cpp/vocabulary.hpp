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
// into[offsets[rows[i]]:] = data[starts[i]:starts[i] + lengths[i]] for each row i of a piece.
API(void, copy_rows)(const u8* data, const i64* starts, const i64* lengths, i64 n, const i64* rows, const i64* offsets,
                     u8* into) {
    for (i64 i = 0; i < n; i++) memcpy(into + offsets[rows[i]], data + starts[i], (size_t)lengths[i]);
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

// The words of a vocabulary, or (without text) the n-grams of a level: their parts, and where those went among both.
struct Entries {
    const u64* hashes;
    WordList words;
    const i32 *parents, *lasts, *above, *last_words;
};

// Two lists are united in parts, of hashes between the same bounds, so that threads can do them. First find where the
// entries of either go within the part; returns how many there are in it. Then, knowing where the part begins, write them.
API(i64, place_entries)(const Entries* one, i64 a, i64 a_end, const Entries* two, i64 b, i64 b_end, i32* place_a, i32* place_b) {
    const Entries &x = *one, &y = *two;
    return merge(a, a_end, b, b_end, [&](i64 i, i64 j) {
        if (x.hashes[i] != y.hashes[j]) return x.hashes[i] < y.hashes[j] ? (i64)-1 : 1;
        if (x.words.data) return compare_bytes(x.words.begin(i), x.words.size(i), y.words.begin(j), y.words.size(j));
        const i64 sign = (i64)x.above[x.parents[i]] - y.above[y.parents[j]];
        return sign ? sign : (i64)x.last_words[x.lasts[i]] - y.last_words[y.lasts[j]];
    }, [&](i64 place, i64 i, i64 j) {
        if (i >= 0) place_a[i] = (i32)place;
        if (j >= 0) place_b[j] = (i32)place;
    });
}
// Write the hashes of a part and the sizes of its words, or the parts of its n-grams, and where they are among all nodes;
// with the place of the part in the level, and of the level.
API(void, write_entries)(const Entries* entries, i64 i, i64 end, i64 part, i64 level, i32* places, i64* nodes, u64* to,
                         i64* sizes, i32* to_parents, i32* to_lasts) {
    const Entries& e = *entries;
    for (; i < end; i++) {
        const i64 place = places[i] += (i32)part;
        nodes[i] = place + level;
        to[place] = e.hashes[i];
        if (sizes) sizes[place] = e.words.size(i);
        else to_parents[place] = e.above[e.parents[i]], to_lasts[place] = e.last_words[e.lasts[i]];
    }
}

// The cells of a bag over united nodes (where its own are: ascending) and classes (the new code of each; null: as it was).
struct Cells {
    const i64 *nodes, *starts;
    const i32* codes;
    const i64* classes;
    const Sum* sums;
    i64 node, end;  // those to join
    i32 code(i64 cell) const { return (i32)(classes ? classes[codes[cell]] : codes[cell]); }
};
// The cells of two bags, for the nodes from f to f_end, written from a given number on; returns how many there are. Either
// the cell of either bag that each comes from (-1: none) is put down, or the sums of both are: integers, or doubles.
API(i64, join_cells)(const Cells* one, const Cells* two, i64 f, i64 f_end, i64 cell, i64* starts, i32* codes, i64* from_a,
                     i64* from_b, Sum* sums, i64 columns, i64 real) {
    Cells a = *one, b = *two;
    const i64 first = cell;
    for (; f < f_end; f++) {
        i64 i = 0, i_end = 0, j = 0, j_end = 0;
        if (a.node < a.end && a.nodes[a.node] == f) i = a.starts[a.node], i_end = a.starts[++a.node];
        if (b.node < b.end && b.nodes[b.node] == f) j = b.starts[b.node], j_end = b.starts[++b.node];
        starts[f] = cell;
        cell += merge(i, i_end, j, j_end, [&](i64 x, i64 y) { return (i64)a.code(x) - b.code(y); }, [&](i64 place, i64 x, i64 y) {
            const i64 at = cell + place;
            codes[at] = x >= 0 ? a.code(x) : b.code(y);
            if (!sums) from_a[at] = x, from_b[at] = y;
            for (i64 c = 0; sums && c < columns; c++) {
                Sum& sum = sums[at * columns + c];
                sum = x >= 0 ? a.sums[x * columns + c] : b.sums[y * columns + c];
                if (x >= 0 && y >= 0) sum.add(b.sums[y * columns + c], real);
            }
        });
    }
    return cell - first;
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
