// Rows of a Bayesian network, each with its own missing cells: these are summed out exactly, row by row.
//
// All is in logarithms, so that nothing underflows. Of a row, tables are read where its known cells point; a table with
// missing members (a *factor*) is left as it lies and read with strides. Missing nodes are then summed out one by one,
// the one that makes the smallest table next. Going back over those sums gives the posterior of every table's cells: it
// is the derivative of the row's log probability by the logarithm of the cell.
#pragma once
#include "common.hpp"
#include "math.hpp"

enum { AXES = 32 };  // no table of so many nodes fits the scratch, as nodes of one state are never summed out
enum Outcome { SUMMED, WIDE, IMPOSSIBLE };
// Cells of a sum that are worked on together, so that their exponentials are taken several at a time; in groups of four
// to the end, for what is left over would take as long one by one.
enum { CELLS = 64, FULL = 4 };

// All tables end to end, and of each family where its members are and their strides. Behind the tables, up to `size`,
// is scratch space for the sums.
struct Tables {
    const i64 *cards, *offsets, *starts, *family, *strides;
    double* cells;
    i64 n_nodes, base, size;
};

struct Factor {
    i64 begin, n_axes, sum;  // where its cells start; the sum that it went into, -1 before
    i64 nodes[AXES], steps[AXES];
};

struct Sum {
    i64 node, first, last, result;  // its factors in the list, and the factor that it made
};

// Room to note one row's factors and sums. There are at most as many factors as nodes, and each sum takes at least one
// away and makes one: twice as many in all. (One more of each, in which a table is looked at.)
struct Room {
    Factor* factors;
    Sum* sums;
    i64 *listed, *missing;        // factors by sum
    i64 *jumps, *places, *again;  // of the factors of one sum
    double *costs, *terms;        // what it costs to sum a missing node out; the terms of CELLS cells
    u8 *needed, *free, *with_target;
    i64 n_factors, n_sums, n_listed, n_missing;
    void* block;
};

static bool make_room(const Tables& t, Room& room) {
    const i64 m = t.n_nodes + 1, twice = 2 * m;
    i64 most = 1;
    size_t bytes = 0;
    for (i64 v = 0; v < t.n_nodes; v++) most = larger(most, t.cards[v]);
    room.block = NULL;
    const auto take = [&](auto*& p, i64 n) {
        if (room.block) p = (decltype(p + 0))((char*)room.block + bytes);
        bytes += (size_t)n * sizeof *p;
    };
    for (int pass = 0; pass < 2; pass++) {  // how much it is in all, and then where each lies
        take(room.factors, twice), take(room.sums, m), take(room.listed, twice), take(room.missing, m);
        take(room.jumps, twice * (AXES + 1)), take(room.places, twice), take(room.again, twice);
        take(room.costs, m), take(room.terms, most * CELLS + FULL);
        take(room.needed, m), take(room.free, m), take(room.with_target, m);
        if (pass == 0 && !(room.block = calloc(bytes, 1))) return false;
        bytes = 0;
    }
    memset(room.needed, 1, (size_t)m);
    return true;
}

INLINE bool has_axis(const Factor& factor, i64 v) {
    for (i64 a = 0; a < factor.n_axes; a++)
        if (factor.nodes[a] == v) return true;
    return false;
}

// Put down the axes of the table that summing v out would make: all that share a table with it. Returns its cells.
static double join_axes(i64 v, const Tables& t, const Room& room, Factor& made) {
    double size = 1.0;
    made.n_axes = 0;
    for (i64 f = 0; f < room.n_factors; f++) {
        const Factor& factor = room.factors[f];
        if (factor.sum >= 0 || !has_axis(factor, v)) continue;
        for (i64 a = 0; a < factor.n_axes; a++) {
            const i64 other = factor.nodes[a];
            if (other == v || has_axis(made, other)) continue;
            made.nodes[made.n_axes++] = other;
            if (made.n_axes == AXES) return HUGE_VAL;
            size *= (double)t.cards[other];
        }
    }
    return size;
}

// Visit n cells of the table that a sum makes: visit(c) is called with each factor's place, which is that of the cell
// where the summed node is 0. `turn` is where the walk stands along the axes.
template <class F>
INLINE void walk(const Tables& t, const Factor& result, i64 n_factors, const i64* jumps, i64* places, i64* turn, i64 n, F visit) {
    for (i64 c = 0; c < n; c++) {
        visit(c);
        for (i64 a = result.n_axes - 1; a >= 0; a--) {
            turn[a]++;
            for (i64 j = 0; j < n_factors; j++) places[j] += jumps[j * (AXES + 1) + a];
            if (turn[a] < t.cards[result.nodes[a]]) break;
            for (i64 j = 0; j < n_factors; j++) places[j] -= jumps[j * (AXES + 1) + a] * turn[a];
            turn[a] = 0;
        }
    }
}

// Carry out one sum; or, given counts, go back over it and share the counts of what it made among what went into it.
static void sum_out(const Sum& sum, const Tables& t, Room& room, double* counts) {
    const Factor& result = room.factors[sum.result];
    const i64 card = t.cards[sum.node], n_factors = sum.last - sum.first, axes = result.n_axes;
    i64 *jumps = room.jumps, *places = room.places, turn[AXES] = {}, before[AXES], size = 1;
    double* terms = room.terms;
    for (i64 j = 0; j < n_factors; j++) {
        const Factor& factor = room.factors[room.listed[sum.first + j]];
        i64* own = jumps + j * (AXES + 1);  // along the new table's axes, and along the summed node
        for (i64 a = 0; a <= axes; a++) own[a] = 0;
        places[j] = factor.begin;
        for (i64 a = 0; a < factor.n_axes; a++) {
            if (factor.nodes[a] == sum.node) own[axes] = factor.steps[a];
            for (i64 b = 0; b < axes; b++)
                if (result.nodes[b] == factor.nodes[a]) own[b] = factor.steps[a];
        }
    }
    for (i64 a = 0; a < axes; a++) size *= t.cards[result.nodes[a]];
    for (i64 first = 0, n; first < size; first += n) {
        n = smaller<i64>(CELLS, size - first);
        const i64 full = (card * n + FULL - 1) / FULL * FULL;
        double* cells = t.cells + result.begin + first;
        if (counts) {
            memcpy(room.again, places, (size_t)n_factors * 8);
            memcpy(before, turn, sizeof before);
        }
        walk(t, result, n_factors, jumps, places, turn, n, [&](i64 c) {
            for (i64 x = 0; x < card; x++) {
                double term = 0.0;
                for (i64 j = 0; j < n_factors; j++) term += t.cells[places[j] + x * jumps[j * (AXES + 1) + axes]];
                terms[x * n + c] = term;
            }
        });
        double shift[CELLS], total[CELLS];
        if (counts) {
            for (i64 c = 0; c < n; c++) shift[c] = cells[c];
        } else {
            for (i64 c = 0; c < n; c++) shift[c] = terms[c];
            for (i64 x = 1; x < card; x++)
                for (i64 c = 0; c < n; c++) shift[c] = larger(shift[c], terms[x * n + c]);
        }
        // Where all is impossible: exp(-inf - 0) = 0, and the logarithm of that is -inf again.
        for (i64 c = 0; c < n; c++) shift[c] = shift[c] == -HUGE_VAL ? 0.0 : shift[c], total[c] = 0.0;
        for (i64 x = 0; x < card; x++)
            for (i64 c = 0; c < n; c++) terms[x * n + c] -= shift[c];
        for (i64 e = 0; e < full; e++) terms[e] = exp_of(terms[e]);
        if (counts) {
            const double* shared = counts + result.begin + first;
            walk(t, result, n_factors, jumps, room.again, before, n, [&](i64 c) {
                for (i64 x = 0; shared[c] > 0.0 && x < card; x++)
                    for (i64 j = 0; j < n_factors; j++)
                        counts[room.again[j] + x * jumps[j * (AXES + 1) + axes]] += shared[c] * terms[x * n + c];
            });
        } else {
            for (i64 x = 0; x < card; x++)
                for (i64 c = 0; c < n; c++) total[c] += terms[x * n + c];
            for (i64 c = 0; c < n; c++) cells[c] = shift[c] + log_of(total[c]);
        }
    }
}

// Sum the free nodes but the target out of the needed tables. What depends on the target is added to by_class, and
// `shared` becomes the logarithm of all else; `end`, that of the cells in use.
static Outcome sum_out_missing(const i32* row, i64 target, const Tables& t, Room& room, double* by_class, double* shared,
                               i64* end) {
    room.n_factors = room.n_sums = room.n_listed = room.n_missing = 0;
    *shared = 0.0;
    *end = t.base;
    for (i64 v = 0; v < t.n_nodes; v++) {
        if (!room.needed[v]) continue;
        if (room.free[v] && v != target) room.missing[room.n_missing++] = v;
        Factor& factor = room.factors[room.n_factors];
        factor.begin = t.offsets[v], factor.n_axes = 0, factor.sum = -1;
        for (i64 f = t.starts[v]; f < t.starts[v + 1]; f++) {
            const i64 member = t.family[f];
            if (!room.free[member]) {
                factor.begin += t.strides[f] * larger(row[member], 0);
            } else if (factor.n_axes == AXES) {
                return WIDE;
            } else {
                factor.nodes[factor.n_axes] = member;
                factor.steps[factor.n_axes++] = t.strides[f];
            }
        }
        if (factor.n_axes == 0) {
            *shared += t.cells[factor.begin];
        } else if (factor.n_axes == 1 && factor.nodes[0] == target) {
            for (i64 k = 0; k < t.cards[target]; k++) by_class[k] += t.cells[factor.begin + k * factor.steps[0]];
        } else {
            room.n_factors++;
        }
    }
    const auto cost_of = [&](i64 v) { return join_axes(v, t, room, room.factors[room.n_factors]); };
    for (i64 u = 0; u < room.n_missing; u++) room.costs[u] = cost_of(room.missing[u]);
    while (room.n_missing > 0) {
        i64 chosen = 0;
        for (i64 u = 1; u < room.n_missing; u++)
            if (room.costs[u] < room.costs[chosen]) chosen = u;
        const i64 v = room.missing[chosen];
        if ((double)*end + room.costs[chosen] > (double)t.size) return WIDE;
        room.n_missing--;
        room.missing[chosen] = room.missing[room.n_missing], room.costs[chosen] = room.costs[room.n_missing];
        Factor& made = room.factors[room.n_factors];
        Sum& sum = room.sums[room.n_sums];
        join_axes(v, t, room, made);
        sum.node = v, sum.first = room.n_listed, sum.result = room.n_factors;
        for (i64 f = 0; f < room.n_factors; f++) {
            Factor& factor = room.factors[f];
            if (factor.sum >= 0 || !has_axis(factor, v)) continue;
            factor.sum = room.n_sums;
            room.listed[room.n_listed++] = f;
        }
        sum.last = room.n_listed;
        made.begin = *end, made.sum = -1;
        i64 size = 1;
        for (i64 a = made.n_axes - 1; a >= 0; a--) {
            made.steps[a] = size;
            size *= t.cards[made.nodes[a]];
        }
        sum_out(sum, t, room, NULL);
        if (made.n_axes == 0) {
            *shared += t.cells[made.begin];
            made.sum = room.n_sums;
        } else if (made.n_axes == 1 && made.nodes[0] == target) {
            for (i64 k = 0; k < size; k++) by_class[k] += t.cells[made.begin + k];
            made.sum = room.n_sums;
        }
        room.n_factors++;
        room.n_sums++;
        *end += size;
        for (i64 u = 0; made.sum < 0 && u < room.n_missing; u++)
            if (has_axis(made, room.missing[u])) room.costs[u] = cost_of(room.missing[u]);
    }
    return *shared == -HUGE_VAL ? IMPOSSIBLE : SUMMED;
}

// The cell of a node's table where the known cells of the row point; `strides` may be others than the tables' own.
INLINE i64 cell_of(const Tables& t, const i64* strides, i64 v, const i32* row) {
    i64 cell = t.offsets[v];
    for (i64 f = t.starts[v]; f < t.starts[v + 1]; f++) cell += strides[f] * larger(row[t.family[f]], 0);
    return cell;
}

// Each row's log joint with every class: rows without missing cells in one pass, from tables that have the target's axis
// last (by_class, where its stride is 0), others by sums. Returns 0 where there is no memory.
API(i64, joint_rows)(const Tables* tables, const i32* codes, i64 n, i64 target, const i64* child_starts, const i64* children,
                     const i64* upwards, const double* by_class, const i64* class_strides, double* out, i64* wide) {
    const Tables t = *tables;
    const i64 m = t.n_nodes, n_classes = t.cards[target];
    Room room;
    if (!make_room(t, room)) return 0;
    room.with_target[target] = 1;
    for (i64 c = child_starts[target]; c < child_starts[target + 1]; c++) room.with_target[children[c]] = 1;
    for (i64 i = 0; i < n; i++, codes += m, out += n_classes) {
        bool complete = true;
        for (i64 v = 0; v < m; v++) {
            room.free[v] = v == target || (codes[v] < 0 && t.cards[v] > 1);
            complete &= v == target || !room.free[v];
        }
        double shared = 0.0;
        for (i64 k = 0; k < n_classes; k++) out[k] = 0.0;
        if (complete) {
            for (i64 v = 0; v < m; v++) {
                const double* terms = by_class + cell_of(t, class_strides, v, codes);
                if (!room.with_target[v]) shared += *terms;
                for (i64 k = 0; room.with_target[v] && k < n_classes; k++) out[k] += terms[k];
            }
        } else {
            // Nodes of which nothing is known, below or in them, sum to 1.
            for (i64 u = 0; u < m; u++) {
                const i64 v = upwards[u];
                room.needed[v] = v == target || !room.free[v];
                for (i64 c = child_starts[v]; !room.needed[v] && c < child_starts[v + 1]; c++)
                    room.needed[v] = room.needed[children[c]];
            }
            i64 end;
            wide[i] = sum_out_missing(codes, target, t, room, out, &shared, &end) == WIDE;
            if (wide[i]) shared = 0.0;
        }
        for (i64 k = 0; k < n_classes; k++) out[k] += shared;
    }
    free(room.block);
    return 1;
}

// Add each row's expected counts to `counts`, which lies as the tables and their scratch space do, and find its log
// probability. Returns 0 where there is no memory.
API(i64, count_expected)(const Tables* tables, const i32* codes, i64 n, const double* weights, double* counts, double* logs,
                         i64* wide) {
    const Tables t = *tables;
    const i64 m = t.n_nodes;
    Room room;
    if (!make_room(t, room)) return 0;
    for (i64 i = 0; i < n; i++, codes += m) {
        for (i64 v = 0; v < m; v++) room.free[v] = codes[v] < 0 && t.cards[v] > 1;
        i64 end;
        const Outcome outcome = sum_out_missing(codes, -1, t, room, NULL, logs + i, &end);
        wide[i] = outcome == WIDE;
        if (outcome != SUMMED || weights[i] == 0.0) continue;
        for (i64 v = 0; v < m; v++) {
            bool complete = true;
            for (i64 f = t.starts[v]; f < t.starts[v + 1]; f++) complete &= !room.free[t.family[f]];
            if (complete) counts[cell_of(t, t.strides, v, codes)] += weights[i];
        }
        for (i64 cell = t.base; cell < end; cell++) counts[cell] = 0.0;
        for (i64 s = room.n_sums - 1; s >= 0; s--) {
            const Factor& made = room.factors[room.sums[s].result];
            if (made.n_axes == 0) counts[made.begin] = weights[i];
            sum_out(room.sums[s], t, room, counts);
        }
    }
    free(room.block);
    return 1;
}
