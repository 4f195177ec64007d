// Trees of n-grams: building them, sharing out probability, scoring and drawing sequences.
//
// The continuations of node i are first[i] .. first[i + 1], sorted by their last word; 0 is the empty context, node
// w + 1 the word w. The suffix of a node is the one without its first word. See kernels/ngrams.py.
#pragma once
#include "common.hpp"
#include "math.hpp"

struct Tree {
    const i32 *first, *last;
};

// How probability is shared out among K classes.
struct Chances {
    const double *own, *rest, *base;
    i64 direct, unknown, K;  // `unknown`: the place of the unknown word in the base, its last
};

// The first place in low..high that is not before what is looked for.
template <class F> INLINE i64 find_first(i64 low, i64 high, F before) {
    while (low < high) {
        const i64 middle = (low + high) / 2;
        if (before(middle)) low = middle + 1;
        else high = middle;
    }
    return low;
}
INLINE i64 find_word(const i32* last, i64 low, i64 high, i64 word) {
    return find_first(low, high, [=](i64 place) { return last[place] < word; });
}

// The node of the context and the word after it; -1 where there is none.
INLINE i64 find_child(const Tree& tree, i64 context, i64 word) {
    if (word < 0 || context < 0) return -1;
    const i64 low = tree.first[context], high = tree.first[context + 1];
    if (context == 0) return word < high - low ? word + 1 : -1;
    const i64 place = find_word(tree.last, low, high, word);
    return place < high && tree.last[place] == word ? place : -1;
}

// Fill in the suffixes of the continuations of the contexts start..stop; -1 if all are there, else one that is not.
// The suffix of (context, w) is (suffix of the context, w). Both lists of words ascend, so each search starts where the
// last one ended.
API(i64, link_suffixes)(const i32* first, const i32* last, i64 start, i64 stop, i32* suffix) {
    for (i64 context = start; context < stop; context++) {
        const i64 below = suffix[context], high = first[below + 1];
        i64 low = first[below];
        for (i64 node = first[context]; node < first[context + 1]; node++) {
            low = below == 0 ? last[node] + 1 : find_word(last, low, high, last[node]);
            if (below > 0 && (low == high || last[low] != last[node])) return node;
            suffix[node] = (i32)low;
        }
    }
    return -1;
}

// own = max(v - discount, 0) / (sum v + added), rest = (added + sum min(v, discount)) / (sum v + added), of class k of K.
// Added is what is imagined in every context. A context that was never seen, and in which nothing is imagined, leaves all to
// the one below.
API(void, share_contexts)(const i32* first, const double* values, i64 start, i64 stop, double discount, double imagined,
                          i64 k, i64 K, double* own, double* rest) {
    for (i64 context = start; context < stop; context++) {
        double total = 0.0, spared = 0.0;
        for (i64 node = first[context]; node < first[context + 1]; node++) {
            total += values[node];
            spared += smaller(values[node], discount);
        }
        total += imagined;
        rest[context * K + k] = total > 0 ? (imagined + spared) / total : 1.0;
        for (i64 node = first[context]; total > 0 && node < first[context + 1]; node++)
            own[node * K + k] = larger(values[node] - discount, 0.0) / total;
    }
}

// The contexts after some words: history[L] is the node of the last L words, -1 where it is not there, L = 0..length.
// nodes[L + 1] is that of those and the next word, and values its probability in every class.
struct Walk {
    i64 length, *history, *nodes;
};

// Where an n-gram is absent, so is every longer one that ends with it.
static void follow_word(const Tree& tree, const Chances& chances, i64 order, i64 word, Walk& walk, double* values) {
    const i64 K = chances.K;
    bool there = true;
    for (i64 L = 0; L <= walk.length; L++) {
        walk.nodes[L + 1] = there ? find_child(tree, walk.history[L], word) : -1;
        there = walk.nodes[L + 1] >= 0;
    }
    for (i64 k = 0; k < K; k++) values[k] = chances.base[word >= 0 ? word : chances.unknown];
    for (i64 L = chances.direct ? walk.length : 0; L <= walk.length && walk.history[L] >= 0; L++) {
        const double* rest = chances.rest + walk.history[L] * K;
        const i64 node = walk.nodes[L + 1];
        for (i64 k = 0; k < K; k++) values[k] *= rest[k];
        for (i64 k = 0; node >= 0 && k < K; k++) values[k] += chances.own[node * K + k];
    }
}

INLINE void advance(i64 order, Walk& walk) {
    walk.length = smaller(walk.length + 1, order - 1);
    for (i64 L = 1; L <= walk.length; L++) walk.history[L] = walk.nodes[L];
}

// Add the logarithms of the probabilities of the sequences low..high, and with an end word (not -1) of that as well; none
// is taken for less than the floor. Or the probability of each word goes to out, and to `found`, words x 2 x order,
// the nodes of its contexts, and of these with the word, -1 where there is none. `room` is for 2 order + 1 nodes, `values`
// for n_values numbers, at least K: as many logarithms are taken at a time.
API(void, score_sequences)(const i32* first, const i32* last, const Chances* shares, i64 order, const i64* start, i64 n_start,
                           i64 end, const i32* words, const i64* ends, i64 low, i64 high, double floor, i64* room,
                           double* values, i64 n_values, double* out, i64* found) {
    const Tree tree = {first, last};
    const Chances& chances = *shares;
    const i64 K = chances.K;
    const bool each = found;
    for (i64 row = low; row < high; row++) {
        Walk walk = {n_start - 1, room, room + order};
        memcpy(walk.history, start, (size_t)n_start * sizeof *start);
        const i64 from = row > 0 ? ends[row - 1] : 0, to = ends[row] + (end >= 0);
        for (i64 place = from, n; place < to; place += n) {
            n = smaller(n_values / K, to - place);
            for (i64 i = 0; i < n; i++) {
                const i64 word = place + i < ends[row] ? words[place + i] : end;
                follow_word(tree, chances, order, word, walk, values + i * K);
                for (i64 L = 0; each && L < order; L++) {
                    i64* nodes = found + (place + i) * 2 * order + L;
                    nodes[0] = L <= walk.length ? walk.history[L] : -1;
                    nodes[order] = L <= walk.length ? walk.nodes[L + 1] : -1;
                }
                advance(order, walk);
            }
            for (i64 e = 0; each && e < n * K; e++) out[place * K + e] = values[e];
            for (i64 e = 0; !each && e < n * K; e++) values[e] = larger(log_of(values[e]), floor);
            for (i64 i = 0; !each && i < n; i++)
                for (i64 k = 0; k < K; k++) out[row * K + k] += values[i * K + k];
        }
    }
}

// Running sums of the shares of a context's continuations, which end exactly at 1 - rest, of class k of K.
API(void, sum_shares)(const i32* first, const double* own, const double* rest, i64 n_contexts, i64 k, i64 K, double* out) {
    for (i64 context = 0; context < n_contexts; context++) {
        const i64 low = first[context], high = first[context + 1];
        const double whole = 1.0 - rest[context * K + k];
        double total = 0.0;
        for (i64 node = low; node < high; node++) out[node] = total += own[node * K + k];
        if (!(total > 0)) continue;
        for (i64 node = low; node < high; node++) out[node] *= whole / total;
        i64 node = high - 1;
        for (; own[node * K + k] == 0; node--) out[node] = whole;  // what has no share gets none by rounding
        out[node] = whole;
    }
}

// What is drawn from: running sums of the shares, and of the base, whose last place is the unknown word; and NumPy's generator,
// by its own C function, so that the draws are those of Generator.random().
struct Urn {
    Tree tree;
    const i32* suffix;
    const double *sums, *floor;
    i64 n_floor, direct;
    double (*next)(void*);
    void* generator;
};

// Where a text stands: the longest context that was seen, its length, and the length of the history.
struct State {
    i64 context, length, wanted;
};

INLINE double draw_number(const Urn& urn) { return urn.next(urn.generator); }

// The first place in low..high whose running sum is above the value.
INLINE i64 find_above(const double* sums, i64 low, i64 high, double value) {
    return find_first(low, high, [=](i64 place) { return sums[place] <= value; });
}

// A word after the context (whole: it is all of the history).
static i64 draw_any(const Urn& urn, i64 context, bool whole) {
    while (whole || !urn.direct) {
        const i64 low = urn.tree.first[context], high = urn.tree.first[context + 1];
        const double value = draw_number(urn);
        if (low < high && value < urn.sums[high - 1]) return urn.tree.last[find_above(urn.sums, low, high, value)];
        if (urn.direct || context == 0) break;
        context = urn.suffix[context];
    }
    const double most = urn.floor[urn.n_floor - 1];
    if (most <= 0) return urn.n_floor - 1;
    return smaller(find_above(urn.floor, 0, urn.n_floor, draw_number(urn) * most), urn.n_floor - 1);
}

// A word that is not the unknown one, drawn again until it is not. Where next to nothing but that can follow, the context
// gives way to its suffix.
enum { REFUSALS = 64 };
static i64 draw_known(const Urn& urn, i64 unknown, i64 context, bool whole) {
    for (;;) {
        for (int i = 0; i < REFUSALS; i++) {
            const i64 word = draw_any(urn, context, whole);
            if (word != unknown) return word;
        }
        if (context == 0 && whole) break;
        if (whole) context = urn.suffix[context];
        whole = true;
    }
    const i64 low = urn.tree.first[0], high = urn.tree.first[1];
    return urn.tree.last[find_above(urn.sums, low, high, draw_number(urn) * urn.sums[high - 1])];
}

// Draw words until there are n_words of them, or n_documents, or no room for more; or a document, or a text that gets no
// words, is given up after `longest` draws. `progress` is, before and after: the words that are there, the documents,
// draws in vain, and the state. After a document (in a text of so many words) the state is `next`. Returns 1 when done.
API(i64, draw_words)(const i32* first, const i32* last, const i32* suffix, i64 order, const double* sums,
                     const double* floor, i64 n_floor, i64 direct, i64 unknown, const i64* next, i64 end, i64 n_words,
                     i64 n_documents, i64 longest, double (*generate)(void*), void* generator, i64 room, i64* words,
                     i64* ends, i64* progress) {
    const Urn urn = {{first, last}, suffix, sums, floor, n_floor, direct, generate, generator};
    i64 found = progress[0], done = progress[1], idle = progress[2], drawn = 0;
    State state = {progress[3], progress[4], progress[5]};
    bool more;
    while ((more = (found < n_words || done < n_documents) && idle <= longest) && drawn < room) {
        const i64 word = draw_known(urn, unknown, state.context, state.length == state.wanted);
        idle++;
        if (word == end) {
            if (done < n_documents) ends[done++] = found, idle = 0;
            state = {next[0], next[1], next[2]};
            continue;
        }
        words[drawn++] = word;
        found++;
        if (n_words > 0) idle = 0;
        if (order > 1) {
            if (state.length == order - 1) state.context = suffix[state.context], state.length--;
            i64 node;
            while ((node = find_child(urn.tree, state.context, word)) < 0)
                state.context = suffix[state.context], state.length--;
            state = {node, state.length + 1, smaller(state.wanted + 1, order - 1)};
        }
    }
    const i64 after[] = {found, done, idle, state.context, state.length, state.wanted};
    memcpy(progress, after, sizeof after);
    return !more;
}
