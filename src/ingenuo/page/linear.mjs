// Terms and scorers of columns that are multiplied: discriminants, least squares, linear models of numbers and of features.
//
// Every sum is taken from left to right, as cpp/scores.hpp and cpp/solver.hpp take it.
import { log } from "./math.mjs";
import { IMPOSSIBLE, is_missing, place, posterior, within } from "./posterior.mjs";

const SINGULAR = 1e-11; // of a column that is a combination of others, rounding leaves about 1e-14
const LOG_2PI = 1.8378770664093453;
const TINIEST = 2.2250738585072014e-308;

const called = (x) => (Number.isNaN(x) ? "missing" : String(x));

function dot(a, b) {
  let sum = 0;
  for (let j = 0; j < a.length; j++) sum += a[j] * b[j];
  return sum;
}

// Features: what a design makes of the columns (models/design.py).

// Straight lines between knots, level beyond them; what is missing has the score 0.
function score(x, { knots, scores, slopes }) {
  const last = knots.length - 1, inside = x < knots[0] ? knots[0] : x > knots[last] ? knots[last] : x;
  let low = 0, high = knots.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (knots[middle] <= x) low = middle + 1;
    else high = middle;
  }
  const at = Math.max(low - 1, 0), z = slopes[at] * (inside - knots[at]) + scores[at];
  return Number.isNaN(z) ? 0 : z;
}

const FARTHEST = 8; // deviations from the mean

// The features of a row, at most so far from 0: `owners` has the column of each.
function design(nodes, farthest) {
  const owners = nodes.flatMap((node) => Array.from({ length: Number(node.number) + node.values.length + Number(node.missing) }, () => node.column));
  const within_reach = (z, most) => (z > most ? most : z < -most ? -most : z);
  const of = (row) => {
    const out = new Float64Array(owners.length);
    let at = 0;
    for (const node of nodes) {
      const value = row[node.column];
      if (node.number) {
        const z = node.knots.length ? score(value, node) : within_reach((value - node.centre) / node.scale, FARTHEST);
        out[at] = Number.isNaN(z) ? 0 : within_reach(z, farthest);
        at += 1;
      }
      const found = node.values.length ? place(node.values, value) : -1;
      if (found >= 0) out[at + found] = 1;
      at += node.values.length;
      if (node.missing) {
        if (is_missing(value)) out[at] = 1;
        at += 1;
      }
    }
    return out;
  };
  return { of, owners };
}

// A covariance of some columns, S = D L L' D with D the deviations; what others before it determine is left out. `whiten`
// turns x into L^-1 D^-1 x, first put onto the range of S where that is singular.
class Part {
  constructor(lower, at) {
    const d = at.length, cell = (i, j) => lower[(at[i] * (at[i] + 1)) / 2 + at[j]];
    this.d = d;
    this.L = Array.from({ length: d }, (_, i) => new Float64Array(i + 1));
    const column = new Float64Array(d);
    this.scale = Float64Array.from(at, (_, j) => Math.sqrt(cell(j, j)));
    this.free = new Array(d).fill(false);
    this.fixed = new Array(d).fill(false);
    this.across = [];
    const { L, scale, free } = this;
    for (let i = 0; i < d; i++) {
      this.fixed[i] = scale[i] === 0;
      if (this.fixed[i]) scale[i] = 1;
      for (let j = 0; j < i; j++) L[i][j] = cell(i, j) / scale[i] / scale[j];
      L[i][i] = this.fixed[i] ? 0 : 1;
    }
    for (let j = 0; j < d; j++) {
      free[j] = L[j][j] > SINGULAR;
      const pivot = Math.sqrt(L[j][j]);
      for (let i = j; i < d; i++) column[i] = L[i][j] = free[j] ? (i === j ? pivot : L[i][j] / pivot) : 0;
      if (!free[j]) {
        if (!this.fixed[j]) this.across.push(this.beside(j));
        continue;
      }
      for (let i = j + 1; i < d; i++) {
        const row = L[i], own = column[i];
        for (let l = j + 1; l <= i; l++) row[l] -= own * column[l];
      }
    }
  }

  // The direction in which a column that follows from those before it is off them.
  beside(j) {
    const { L, scale, free, d } = this, q = new Float64Array(d);
    let most = 1 / scale[j];
    for (let l = j - 1; l >= 0; l--) {
      if (!free[l]) continue;
      let b = L[j][l];
      for (let i = l + 1; i < j; i++) b -= L[i][l] * q[i];
      q[l] = b / L[l][l];
    }
    for (let l = 0; l < j; l++) {
      q[l] = -q[l] / scale[l];
      if (most < Math.abs(q[l])) most = Math.abs(q[l]);
    }
    q[j] = 1 / scale[j];
    for (let l = 0; l <= j; l++) q[l] /= most;
    for (const other of this.across) {
      const along = dot(q, other);
      for (let l = 0; l < d; l++) q[l] -= along * other[l];
    }
    const length = Math.sqrt(dot(q, q));
    return q.map((each) => each / length);
  }

  whiten(x) {
    const z = Float64Array.from(x);
    for (const q of this.across) {
      const along = dot(z, q);
      for (let j = 0; j < this.d; j++) z[j] -= along * q[j];
    }
    for (let j = 0; j < this.d; j++) {
      const row = this.L[j];
      let own = z[j] / this.scale[j];
      for (let l = 0; l < j; l++) own -= row[l] * z[l];
      z[j] = this.free[j] ? own / row[j] : 0;
    }
    return z;
  }

  // The x whose product with any other is that of z with the other, whitened.
  unwhiten(z) {
    const x = Float64Array.from(z, (each, j) => (this.free[j] ? each : 0));
    for (let j = this.d - 1; j >= 0; j--) {
      if (!this.free[j]) continue;
      for (let i = j + 1; i < this.d; i++) x[j] -= this.L[i][j] * x[i];
      x[j] /= this.L[j][j];
    }
    for (let j = 0; j < this.d; j++) x[j] /= this.scale[j];
    for (const q of [...this.across].reverse()) {
      const along = dot(x, q);
      for (let j = 0; j < this.d; j++) x[j] -= along * q[j];
    }
    return x;
  }

  log_determinant() {
    let sum = 0;
    for (let j = 0; j < this.d; j++) if (this.free[j]) sum += log(this.L[j][j] * this.scale[j]);
    return sum;
  }
}

// The parts of covariances that rows with these columns need, and the places of the classes in them; the last one is kept.
function parts_of(covariances, placed) {
  let before = "", found = null;
  return (x) => {
    const at = [];
    x.forEach((each, j) => Number.isNaN(each) || at.push(j));
    const key = at.join();
    if (found === null || key !== before) {
      const every = Array.from(covariances, (lower) => new Part(lower, at));
      const of_class = (k) => every[every.length > 1 ? k : 0];
      found = { at, of_class, placed: placed.map((each, k) => of_class(k).whiten(at.map((j) => each[j]))) };
      before = key;
    }
    return found;
  };
}

const is_whole = (x) => x.every((each) => !Number.isNaN(each));
const values_at = (row, columns) => Float64Array.from(columns, (column) => row[column]);

// Gaussians of several columns together (families/covariance.py).
function gaussians({ centre, offsets, roots, placed, peaks, covariances }) {
  const K = peaks.length, d = centre.length, rank = placed[0].length;
  const parts = covariances ? parts_of(covariances, offsets) : null;
  // The columns of a root go four at a time, and end where the longest of them does.
  const ends = Array.from(roots, (root) => {
    const own = new Array(rank).fill(0);
    for (let j = 0; j < d; j++) for (let c = 0; c < rank; c++) if (root[j][c] !== 0) own[c] = j + 1;
    return own.map((_, c) => Math.max(...own.slice(c - (c % 4), c - (c % 4) + 4)));
  });
  const whole = (x, out) => {
    roots.forEach((root, number) => {
      const sums = new Float64Array(K), [first, last] = roots.length > 1 ? [number, number + 1] : [0, K];
      for (let c = 0; c < rank; c++) {
        let image = 0;
        for (let j = 0; j < ends[number][c]; j++) image += (x[j] - centre[j]) * root[j][c];
        for (let k = first; k < last; k++) {
          const apart = image - placed[k][c];
          sums[k] += apart * apart;
        }
      }
      for (let k = first; k < last; k++) out[k] += peaks[k] - 0.5 * sums[k];
    });
  };
  const add = (x, out) => {
    if (is_whole(x)) return whole(x, out);
    const { at, of_class, placed: own } = parts(x);
    let z = null;
    for (let k = 0; k < K; k++) {
      const part = of_class(k);
      if (z === null || covariances.length > 1) z = part.whiten(at.map((j) => x[j] - centre[j]));
      let sum = 0;
      for (let j = 0; j < at.length; j++) {
        const apart = z[j] - own[k][j];
        sum += apart * apart;
      }
      const free = part.free.filter(Boolean).length, peak = -0.5 * (free * LOG_2PI + 2 * part.log_determinant());
      out[k] += peak - 0.5 * sum;
    }
  };
  // Of rows that lack columns, -|z_k|²/2 + z_k·z.
  const add_line = (x, out) => {
    const { at, of_class, placed: own } = parts(x), z = of_class(0).whiten(at.map((j) => x[j] - centre[j]));
    for (let k = 0; k < K; k++) {
      let sum = -0.5 * dot(own[k], own[k]);
      for (let j = 0; j < at.length; j++) sum += z[j] * own[k][j];
      out[k] += sum;
    }
  };
  // f(x_j | the columns above) of each class: by the chain rule their product is the joint density.
  const chain = (x) => {
    const { at, of_class, placed: own } = parts(x), found = new Array(d).fill(null), y = at.map((j) => x[j] - centre[j]);
    const each = Array.from({ length: K }, (_, k) => of_class(k).whiten(y));
    const first = of_class(0);
    at.forEach((j, place_) => {
      if (!first.free[place_]) {
        found[j] = { logs: null, note: first.fixed[place_] ? "has one value only" : "follows from the columns above" };
        return;
      }
      const logs = Float64Array.from(each, (z, k) => {
        const part = of_class(k), deviation = Math.max(part.L[place_][place_] * part.scale[place_], TINIEST), apart = z[place_] - own[k][place_];
        return -log(deviation) - 0.5 * LOG_2PI - 0.5 * Math.min(apart * apart, 1e300);
      });
      found[j] = { logs, note: null };
    });
    return found;
  };
  return { add, add_line, chain };
}

function distances(node, ctx) {
  const own = gaussians(node), { columns } = node;
  return {
    columns,
    additive: false,
    add: (row, out) => own.add(values_at(row, columns), out),
    add_line: (row, out) => own.add_line(values_at(row, columns), out),
    factors(row) {
      const x = values_at(row, columns), there = own.chain(x);
      return columns.map((column, j) => {
        const { logs, note } = there[j] ?? { logs: null, note: "integrated out" };
        return { column, of: null, name: ctx.columns[column].name, value: called(x[j]), logs, note };
      });
    },
  };
}

// Lines: share_k + Σ w_kj (x_j - centre_j).
function add_lines(x, centre, weights, constants, out) {
  for (let k = 0; k < out.length; k++) {
    let sum = constants[k];
    for (let j = 0; j < x.length; j++) sum += (x[j] - centre[j]) * weights[k][j];
    out[k] += sum;
  }
}

// A discriminant whose classes are compared by lines, or one of features. Its joint is the density: all that classes have
// in common is in it too.
function discriminant(node, ctx) {
  const { start, term, lines } = node, K = start.length;
  const featured = node.design === null ? null : design(node.design, FARTHEST);
  const own = featured === null ? ctx.term(term) : null, density = featured === null ? null : gaussians({ ...term, covariances: null });
  const at_least = (x, floor) => (floor === undefined || x >= floor ? x : floor);
  const tempered = (add, floor) => {
    const out = new Float64Array(K);
    add(out);
    for (let k = 0; k < K; k++) out[k] = out[k] * node.temperature + at_least(start[k], floor);
    return out;
  };
  const joint = (row, floor) => {
    if (featured !== null) return tempered((out) => density.add(featured.of(row), out), floor);
    const out = Float64Array.from(start, (each) => at_least(each, floor));
    own.add(row, out);
    return out;
  };
  const compared = (row) => {
    if (lines === null) return joint(row);
    const add = (x, out) => add_lines(x, term.centre, lines.weights, lines.constants, out);
    if (featured !== null) return tempered((out) => add(featured.of(row), out));
    const x = values_at(row, term.columns), out = Float64Array.from(start);
    if (is_whole(x)) add(x, out);
    else own.add_line(row, out);
    return out;
  };
  return {
    terms: own === null ? [] : [own],
    additive: false,
    joint,
    answer(row) {
      let found = compared(row);
      if (posterior(found, true) === null) found = within(joint(row, IMPOSSIBLE));
      return { joint: joint(row), posterior: posterior(found, true), logs: posterior(found, false), before: null };
    },
    factors(row) {
      const prior = { column: null, of: null, name: "prior", value: "", logs: Float64Array.from(start), note: null };
      return featured === null ? [prior, ...own.factors(row)] : [prior, ...factors_of_features(node, featured, row, ctx)];
    },
  };
}

// Of features: the density at the mean, and -t/2 z_i (Σ⁻¹ z)_i of the features of each column; they add up.
function factors_of_features({ columns, term, temperature, design: nodes }, featured, row, ctx) {
  const { roots, peaks, offsets } = term, K = peaks.length, x = featured.of(row);
  const by_column = new Map(nodes.map(({ column }) => [column, new Float64Array(K)]));
  for (let k = 0; k < K; k++) {
    const root = roots[roots.length > 1 ? k : 0], z = x.map((each, j) => each - offsets[k][j]);
    const image = new Float64Array(root.length ? root[0].length : 0);
    root.forEach((own, j) => {
      for (let c = 0; c < image.length; c++) image[c] += z[j] * own[c];
    });
    featured.owners.forEach((column, i) => (by_column.get(column)[k] += -0.5 * temperature * z[i] * dot(root[i], image)));
  }
  const mean = { column: null, of: null, name: "at the mean", value: "", logs: Float64Array.from(peaks, (each) => temperature * each), note: null };
  return [mean, ...columns.map((column) => {
    const logs = by_column.get(column) ?? null, value = is_missing(row[column]) ? "missing" : String(row[column]);
    return { column, of: null, name: ctx.columns[column].name, value, logs, note: logs === null ? "left out: it hardly varies" : null };
  })];
}

// Least squares: lines that are no log odds. What is below 0 is cut off, and the rest divided by its sum.
function least_squares({ columns, centre, weights, shares, pulls, covariances }, ctx) {
  const K = shares.length, parts = parts_of(covariances, pulls);
  const joint = (row) => {
    const x = values_at(row, columns), out = new Float64Array(K);
    if (is_whole(x)) add_lines(x, centre, weights, shares, out);
    else {
      const { at, of_class, placed } = parts(x), z = of_class(0).whiten(at.map((j) => x[j] - centre[j]));
      for (let k = 0; k < K; k++) {
        let sum = shares[k];
        for (let j = 0; j < at.length; j++) sum += z[j] * placed[k][j];
        out[k] += sum;
      }
    }
    return out.map((each) => (Number.isNaN(each) ? 0 : each === Infinity ? 1e300 : each === -Infinity ? -1e300 : each));
  };
  return {
    terms: [],
    additive: false,
    sums: true, // what columns add are shares, not logarithms
    joint,
    answer(row) {
      const found = joint(row), above = found.map((each) => (each > 0 ? each : 0));
      let total = 0;
      for (const each of above) total += each;
      const shared = total > 0 ? above.map((each) => each / total) : Float64Array.from(shares);
      return { joint: found, posterior: shared, logs: shared.map(log), before: null };
    },
    factors(row) {
      const x = values_at(row, columns), { at, of_class, placed } = parts(x);
      const lines = is_whole(x) ? weights : placed.map((z) => of_class(0).unwhiten(z)), place_of = new Map(at.map((j, i) => [j, i]));
      const constant = { column: null, of: null, name: "share", value: "", logs: Float64Array.from(shares), note: null };
      return [constant, ...columns.map((column, j) => {
        const given = { column, of: null, name: ctx.columns[column].name, value: called(x[j]) };
        if (!place_of.has(j)) return { ...given, logs: null, note: "left out, here and in the other weights" };
        return { ...given, logs: Float64Array.from(lines, (own) => own[place_of.get(j)] * (x[j] - centre[j])), note: null };
      })];
    },
  };
}

// Numbers less their means, times weights; a missing one counts as the mean.
function slopes({ columns, centre, weights }, ctx) {
  const from = (row, j) => {
    const x = row[columns[j]] - centre[j];
    return Number.isNaN(x) ? 0 : x;
  };
  return {
    columns,
    add(row, out) {
      for (let j = 0; j < columns.length; j++) {
        const x = from(row, j);
        for (let k = 0; k < out.length; k++) out[k] += x * weights[j][k];
      }
    },
    factors: (row) =>
      columns.map((column, j) => {
        const missing = Number.isNaN(row[column]), x = from(row, j);
        const logs = missing ? null : Float64Array.from(weights[j], (each) => each * x);
        return { column, of: null, name: ctx.columns[column].name, value: called(row[column]), logs, note: missing ? "counts as the mean" : null };
      }),
  };
}

// The features of a table and products of two of them, times weights: of each class, or of the second of two.
function products({ columns, design: nodes, farthest, left, right, weights }, ctx) {
  const { of, owners } = design(nodes, farthest), first = owners.length, K = ctx.K;
  const width = weights.length ? weights[0].length : K === 2 ? 1 : K;
  const by_class = (own, x) => Float64Array.from({ length: K }, (_, k) => (width === 1 ? (k === 1 ? own[0] * x : 0) : own[k] * x));
  const value_of = (a, t) => (t < first ? a[t] : a[left[t - first]] * a[right[t - first]]);
  return {
    columns,
    additive: left.length === 0,
    add(row, out) {
      const a = of(row), own = new Float64Array(width);
      for (let t = 0; t < weights.length; t++) {
        const x = value_of(a, t);
        if (x !== 0) for (let k = 0; k < width; k++) own[k] += weights[t][k] * x;
      }
      for (let k = 0; k < width; k++) out[K - width + k] += own[k];
    },
    factors(row) {
      const a = of(row), active = new Map(), name = (column) => ctx.columns[column].name;
      const shown = (column) => (is_missing(row[column]) ? "missing" : String(row[column]));
      for (let j = 0; j < first; j++) if (a[j] !== 0) active.set(owners[j], j);
      const found = nodes.map(({ column, number }) => {
        const given = { column, of: null, name: name(column), value: shown(column) }, j = active.get(column);
        if (j !== undefined) return { ...given, logs: by_class(weights[j], a[j]), note: null };
        return { ...given, logs: null, note: number ? "counts as the mean" : is_missing(row[column]) ? "left out" : "adds nothing" };
      });
      for (let t = first; t < weights.length; t++) {
        const x = value_of(a, t);
        if (x === 0) continue;
        const [i, j] = [left[t - first], right[t - first]], [one, two] = [owners[i], owners[j]];
        const both = i === j ? [`${name(one)}²`, `${shown(one)}²`] : [`${name(one)} × ${name(two)}`, `${shown(one)} × ${shown(two)}`];
        found.push({ column: null, of: null, name: both[0], value: both[1], logs: by_class(weights[t], x), note: null, factors: [one, two] });
      }
      return found;
    },
  };
}

// Things that are there where their number is above a limit.
function presence_above({ above, ...node }, ctx) {
  const inner = ctx.term({ ...node, op: "presence" });
  const marked = (row) => {
    const own = row.slice();
    for (const column of node.columns) own[column] = row[column] > above ? 1 : 0;
    return own;
  };
  return {
    columns: node.columns,
    add: (row, out, floor) => inner.add(marked(row), out, floor),
    factors: (row) => inner.factors(marked(row)).map((each) => ({ ...each, value: each.value === "absent" ? "absent" : String(row[each.column]) })),
    lengths: (row) => inner.lengths(marked(row)),
  };
}

export const terms = { distances, slopes, products, "presence above": presence_above };
export const scorers = { discriminant, "least squares": least_squares };
