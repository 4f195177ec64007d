// Boosted trees: each row goes from the root of each tree to a leaf, or to where a value that was never seen ends the way, and
// what stands there is added, tree after tree (cpp/trees.hpp).
import { is_missing, place } from "./posterior.mjs";

const ENDS = -1; // the code of what was never seen

// How many points a number is above, and one more; the place of a value, and one more; 0 is missing.
function code_of(value, { points, values, missing, rest }) {
  if (is_missing(value)) return missing;
  if (points === null) {
    const found = place(values, value);
    return found < 0 ? rest : found + 1;
  }
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low + 1;
}

// Where each tree begins, and of each split the first of its two children.
function grow({ nodes, splits }) {
  const roots = [], below = new Int32Array(splits.length);
  let first = 0;
  for (const size of nodes) {
    let next = first + 1;
    for (let x = first; x < first + size; x++) {
      if (splits[x] < 0) continue;
      below[x] = next;
      next += 2;
    }
    roots.push(first);
    first += size;
  }
  return { roots, below };
}

// A split is column << 17 | kind << 16 | code: the test is code <= that one (kind 0) or code == that one (kind 1).
const column_of = (split) => split >> 17;
const holds = (split, code) => ((split >> 16) & 1 ? code === (split & 65535) : code <= (split & 65535));

function trees({ columns, coding, nodes, splits, values }, ctx) {
  const { roots, below } = grow({ nodes, splits }), K = ctx.K, width = values.length ? values[0].length : 1;
  const codes_of = (row) => coding.map((each) => code_of(row[each.column], each));
  // use(node above, node below, column) for each step of a row's way; gives where it ends.
  const walk = (root, codes, use) => {
    let x = root;
    while (splits[x] >= 0) {
      const column = column_of(splits[x]), code = codes[column];
      if (code === ENDS) break;
      const next = below[x] + (holds(splits[x], code) ? 0 : 1);
      if (use) use(x, next, column);
      x = next;
    }
    return x;
  };
  const by_class = (own) => (width === 1 ? Float64Array.of(0, own[0]) : own);
  return {
    columns,
    additive: false,
    add(row, out) {
      const codes = codes_of(row);
      for (const root of roots) {
        const own = values[walk(root, codes)];
        for (let k = 0; k < width; k++) out[K - width + k] += own[k];
      }
    },
    // What the tests of each column move, from the root of each tree to where the row's way ends.
    factors(row) {
      const codes = codes_of(row), base = new Float64Array(width), moves = coding.map(() => new Float64Array(width));
      for (const root of roots) {
        for (let k = 0; k < width; k++) base[k] += values[root][k];
        walk(root, codes, (x, next, column) => {
          for (let k = 0; k < width; k++) moves[column][k] += values[next][k] - values[x][k];
        });
      }
      const first = { column: null, of: null, name: "trees before any test", value: "", logs: by_class(base), note: null };
      return [first, ...coding.map(({ column }, j) => {
        const value = is_missing(row[column]) ? "missing" : String(row[column]);
        return { column, of: null, name: ctx.columns[column].name, value, logs: by_class(moves[j]), note: null };
      })];
    },
  };
}

export const terms = { trees };
