// Networks: rows answered as Python answers them, to the last bit (the order of sums is in networks/sheet.py), and the
// exact posteriors of all nodes at once for the page.
import { exp, log } from "./math.mjs";
import { answer_by, place } from "./posterior.mjs";
import { junction_tree, propagate } from "./junction.mjs";

export const MOST_CELLS = 200000; // of a junction tree that is asked in a page
const MOST_AXES = 32; // of a table on the way
const TINY = 1e-300; // stands for an entry of 0 where a row is impossible for every class

// The larger of two numbers as C++ has it.
const larger = (a, b) => (a < b ? b : a);

// Rows as codes of states.

function text_of(value) {
  return typeof value === "boolean" ? (value ? "True" : "False") : String(value);
}

const folded = (text) => text.toUpperCase().toLowerCase();

// The state that is the same as a value, or written the same but for capitals and one reading; else -1.
export function match_text(states, value) {
  const text = text_of(value), texts = states.map(text_of);
  const exact = states.findIndex((state, at) => typeof state === typeof value && texts[at] === text);
  if (exact >= 0) return exact;
  const same = texts.indexOf(text);
  if (same >= 0) return same;
  const near = texts.flatMap((each, at) => (folded(each) === folded(text) ? [at] : []));
  return near.length === 1 ? near[0] : -1;
}

// The interval of a number: up to the first point, above it up to the next, and so on.
export function interval_of(points, x) {
  let low = 0, high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

// The code of a node's value in a row; -1 where it is missing or never seen. Where what is missing is a state (null), it
// has that code.
export function code_of(node, match, value) {
  if (value === null || value === undefined || Number.isNaN(value)) return node.states.indexOf(null);
  if (node.cuts === null) return match === "text" ? match_text(node.states, value) : place(node.states, value);
  const interval = interval_of(node.cuts, value);
  return match === "text" ? interval : place(node.states, interval);
}

// What a value is called, for the lines of an answer.
function shown(node, value, code) {
  if (code >= 0) return node.names[code];
  return value === null || Number.isNaN(value) ? "missing" : String(value);
}

// Rows with missing nodes, which are summed out.

// The shape of a network, once for all rows.
function shape_of(nodes, parents) {
  const cards = nodes.map((node) => node.states.length), children = nodes.map(() => []);
  parents.forEach((above, node) => above.forEach((up) => children[up].push(node)));
  const families = parents.map((above, node) => {
    const members = [...above, node], steps = new Array(members.length);
    let step = 1;
    for (let a = members.length - 1; a >= 0; a--) {
      steps[a] = step;
      step *= cards[members[a]];
    }
    return { members, steps };
  });
  return { cards, children, families, upwards: order_of(parents, children).reverse() };
}

function order_of(parents, children) {
  const waiting = parents.map((above) => above.length), order = [];
  parents.forEach((above, node) => above.length || order.push(node));
  for (let i = 0; i < order.length; i++) for (const child of children[order[i]]) if (--waiting[child] === 0) order.push(child);
  return order;
}

// The axes of the table that summing v out would make, and how many cells it has.
function join_axes(v, factors, cards) {
  const axes = [];
  let size = 1;
  for (const factor of factors) {
    if (factor.used || !factor.axes.includes(v)) continue;
    for (const other of factor.axes) {
      if (other === v || axes.includes(other)) continue;
      axes.push(other);
      if (axes.length === MOST_AXES) return { axes, size: Infinity };
      size *= cards[other];
    }
  }
  return { axes, size };
}

// One sum: m + log sum exp(t - m) for each cell of the table that it makes.
function sum_out(v, factors, axes, size, cards) {
  const cells = new Float64Array(size), card = cards[v], terms = new Float64Array(card);
  const turn = axes.map(() => 0), places = factors.map((factor) => factor.begin);
  const jumps = factors.map((factor) => axes.map((axis) => (factor.axes.includes(axis) ? factor.steps[factor.axes.indexOf(axis)] : 0)));
  const own = factors.map((factor) => factor.steps[factor.axes.indexOf(v)]);
  const n = factors.length, tables = factors.map((factor) => factor.cells);
  for (let c = 0; c < size; c++) {
    let shift = 0;
    for (let x = 0; x < card; x++) {
      let term = 0;
      for (let j = 0; j < n; j++) term += tables[j][places[j] + x * own[j]];
      terms[x] = term;
      shift = x === 0 ? term : larger(shift, term);
    }
    if (shift === -Infinity) shift = 0;
    let total = 0;
    for (let x = 0; x < card; x++) total += terms[x] === shift ? 1 : exp(terms[x] - shift); // exp(0) is 1
    cells[c] = shift + log(total);
    for (let a = axes.length - 1; a >= 0; a--) {
      turn[a]++;
      for (let j = 0; j < n; j++) places[j] += jumps[j][a];
      if (turn[a] < cards[axes[a]]) break;
      for (let j = 0; j < n; j++) places[j] -= jumps[j][a] * turn[a];
      turn[a] = 0;
    }
  }
  return cells;
}

// The log joint of a row's known codes with each state of the target; null where a table on the way would be too large.
function log_joint({ cards, children, families, upwards }, logs, codes, target, most) {
  const out = new Float64Array(cards[target]), needed = new Array(cards.length).fill(false), factors = [];
  const free = cards.map((card, v) => v === target || (codes[v] < 0 && card > 1));
  // Nodes of which nothing is known, below or in them, sum to 1.
  for (const v of upwards) needed[v] = v === target || !free[v] || children[v].some((child) => needed[child]);
  let shared = 0, end = 0;
  for (let v = 0; v < cards.length; v++) {
    if (!needed[v]) continue;
    const { members, steps } = families[v], factor = { cells: logs[v], begin: 0, axes: [], steps: [], used: false };
    for (let f = 0; f < members.length; f++) {
      if (!free[members[f]]) factor.begin += steps[f] * Math.max(codes[members[f]], 0);
      else {
        factor.axes.push(members[f]);
        factor.steps.push(steps[f]);
      }
    }
    if (factor.axes.length > MOST_AXES) return null;
    if (factor.axes.length === 0) shared += factor.cells[factor.begin];
    else if (factor.axes.length === 1 && factor.axes[0] === target)
      for (let k = 0; k < out.length; k++) out[k] += factor.cells[factor.begin + k * factor.steps[0]];
    else factors.push(factor);
  }
  const missing = [];
  for (let v = 0; v < cards.length; v++) if (needed[v] && free[v] && v !== target) missing.push(v);
  const costs = missing.map((v) => join_axes(v, factors, cards).size);
  while (missing.length) {
    let chosen = 0;
    for (let u = 1; u < missing.length; u++) if (costs[u] < costs[chosen]) chosen = u;
    const v = missing[chosen];
    if (end + costs[chosen] > most) return null;
    missing[chosen] = missing[missing.length - 1];
    costs[chosen] = costs[costs.length - 1];
    missing.pop();
    costs.pop();
    const { axes, size } = join_axes(v, factors, cards);
    const own = factors.filter((factor) => !factor.used && factor.axes.includes(v));
    for (const factor of own) factor.used = true;
    const steps = new Array(axes.length);
    let step = 1;
    for (let a = axes.length - 1; a >= 0; a--) {
      steps[a] = step;
      step *= cards[axes[a]];
    }
    const made = { cells: sum_out(v, own, axes, size, cards), begin: 0, axes, steps, used: false };
    if (axes.length === 0) {
      shared += made.cells[0];
      made.used = true;
    } else if (axes.length === 1 && axes[0] === target) {
      for (let k = 0; k < size; k++) out[k] += made.cells[k];
      made.used = true;
    }
    factors.push(made);
    end += size;
    if (!made.used) missing.forEach((u, at) => axes.includes(u) && (costs[at] = join_axes(u, factors, cards).size));
  }
  for (let k = 0; k < out.length; k++) out[k] += shared;
  return out;
}

// A row too wide for that, by messages along a junction tree, as Python does it: the same but for the last bits.
function wide_joint(network, codes) {
  const found = posteriors(network, codes, { most: Infinity });
  if (found.impossible) return new Float64Array(network.nodes[network.target].states.length).fill(-Infinity);
  return found.marginals[network.target].map((share) => log(share) + found.log_probability);
}

function network(node, ctx) {
  const { nodes, parents, tables, target, match, most } = node;
  const shape = shape_of(nodes, parents), logs = tables.map((table) => table.map(log));
  let floored = null;
  const codes_of = (row) => nodes.map((each, v) => (v === target ? -1 : code_of(each, match, row[each.column])));
  const joint = (row, floor) => {
    if (floor !== undefined) floored = floored || tables.map((table) => table.map((share) => log(share >= TINY ? share : TINY)));
    const codes = codes_of(row), found = log_joint(shape, floor === undefined ? logs : floored, codes, target, most);
    return found || wide_joint({ nodes, parents, tables, target }, codes);
  };
  return {
    additive: false,
    calibrated: false,
    joint,
    answer: (row) => answer_by(joint, row),
    factors: (row) => factors_of(node, shape, logs, codes_of(row), row),
  };
}

// The lines of an answer: a factor for the target and for each other node; those that a missing value joins are summed
// together. They multiply to the joint.
function factors_of({ nodes, parents, target, most }, shape, logs, codes, row) {
  const { cards, children, upwards } = shape, idle = new Set();
  for (const v of upwards) if (v !== target && codes[v] < 0 && children[v].every((child) => idle.has(child))) idle.add(v);
  const others = nodes.map((_, v) => v).filter((v) => v !== target), hidden = new Set(others.filter((v) => codes[v] < 0 && !idle.has(v)));
  let groups = [];
  parents.forEach((above, v) => {
    const touched = [v, ...above].filter((each) => hidden.has(each));
    if (idle.has(v) || !touched.length) return;
    const joined = groups.filter((group) => touched.some((each) => group.missing.has(each)));
    const own = { tables: new Set([v]), missing: new Set(touched) };
    for (const group of joined) {
      group.tables.forEach((each) => own.tables.add(each));
      group.missing.forEach((each) => own.missing.add(each));
    }
    groups = [...groups.filter((group) => !joined.includes(group)), own];
  });
  const names = (set) => [...set].sort((a, b) => a - b).map((v) => nodes[v].name).join(", ");
  const line = (v) => {
    const { name, column } = nodes[v], value = v === target ? null : row[column];
    const found = { column: v === target ? null : column, of: null, name: v === target ? "prior" : name, value: v === target ? "" : shown(nodes[v], value, codes[v]), logs: null, note: null };
    const group = groups.find((each) => each.tables.has(v));
    if (idle.has(v)) return { ...found, note: `summed out: what it could be sums to 1${value === null || Number.isNaN(value) ? "" : " (never seen)"}` };
    if (group) return { ...found, note: `summed over ${names(group.missing)}, below` };
    const { members, steps } = shape.families[v];
    const given = parents[v].filter((up) => up !== target).map((up) => `${nodes[up].name} ${nodes[up].names[codes[up]]}`).join(", ");
    const entries = Float64Array.from({ length: cards[target] }, (_, k) => logs[v][members.reduce((at, each, f) => at + steps[f] * (each === target ? k : Math.max(codes[each], 0)), 0)]);
    return { ...found, value: found.value + (given ? ` | ${given}` : ""), logs: entries };
  };
  const sums = groups.map((group) => {
    // The other tables count as ones, and their nodes as known, so that the product is that of the group alone.
    const own = logs.map((each, v) => (group.tables.has(v) ? each : new Float64Array(each.length)));
    const known = codes.map((code, v) => (v === target || group.tables.has(v) ? code : Math.max(code, 0)));
    const columns = [...group.tables].filter((v) => v !== target).map((v) => nodes[v].column);
    return { column: Math.max(...columns), of: null, name: names(group.tables), value: "together", logs: log_joint(shape, own, known, target, most), note: `Σ over ${names(group.missing)}` };
  });
  return [target, ...others].map(line).concat(sums);
}

// Each attribute in turn the parent of the others beside the class, and the mean of these (AODE).
function averaged({ nodes, roots, root_at, pairs, pair_at, sizes, usable, naive }, ctx) {
  const K = ctx.K, d = nodes.length;
  const codes_of = (row) => nodes.map((each) => code_of(each, "labels", row[each.column]));
  const above = (floor) => (floor === undefined ? (x) => x : (x) => (x >= floor ? x : floor));
  const may_be_parent = (p, x) => x >= 0 && usable[root_at[p] + x] !== 0;
  const with_parent = (p, codes, cell) => {
    const term = Float64Array.from(roots[root_at[p] + codes[p]], cell);
    for (let j = 0; j < d; j++) {
      if (codes[j] < 0 || j === p) continue;
      const own = pairs[pair_at[p][j] + codes[p] * sizes[j] + codes[j]];
      for (let k = 0; k < K; k++) term[k] += cell(own[k]);
    }
    return term;
  };
  const joint = (row, floor) => {
    const codes = codes_of(row), cell = above(floor);
    const terms = codes.flatMap((x, p) => (may_be_parent(p, x) ? [with_parent(p, codes, cell)] : []));
    if (!terms.length) {
      const out = Float64Array.from(naive[naive.length - 1], cell);
      for (let j = 0; j < d; j++) if (codes[j] >= 0) for (let k = 0; k < K; k++) out[k] += cell(naive[root_at[j] + codes[j]][k]);
      return out;
    }
    return Float64Array.from({ length: K }, (_, k) => {
      const largest = terms.reduce((most, term) => larger(most, term[k]), -Infinity), by = largest === -Infinity ? 0 : largest;
      const total = terms.reduce((sum, term) => sum + exp(term[k] - by), 0);
      return log(total / terms.length) + by;
    });
  };
  return {
    additive: false,
    calibrated: false,
    joint,
    answer: (row) => answer_by(joint, row),
    factors(row) {
      const codes = codes_of(row), found = joint(row);
      const prior = { column: null, of: null, name: "prior", value: "", logs: null, note: "in each of the products below" };
      const models = codes.filter((x, p) => may_be_parent(p, x)).length;
      const lines = nodes.map((node, p) => {
        const line = { column: node.column, of: null, name: node.name, value: shown(node, row[node.column], codes[p]), logs: null };
        if (may_be_parent(p, codes[p])) {
          const each = with_parent(p, codes, (x) => x);
          return { ...line, note: `as parent of the others: ${ctx.classes.map((label, k) => `${label} ${exp(each[k]).toPrecision(6)}`).join(", ")}` };
        }
        const missing = line.value === "missing" && codes[p] < 0;
        return { ...line, note: `${missing ? "missing" : codes[p] < 0 ? "never seen" : "too rare to be a parent"}: no parent` };
      });
      const last = Math.max(...nodes.map((node) => node.column));
      return [prior, ...lines, { column: last, of: null, name: "all", value: models ? "averaged" : "no value can be a parent", logs: found, note: models ? `mean of ${models}` : "naive product" }];
    },
  };
}

// A column whose shares, given the class and other columns, lean on those given fewer.
function levels({ node, given, shape, counts, gaps, m, weights }, ctx) {
  const K = shape[0], values = shape[shape.length - 1], size = shape.reduce((a, b) => a * b, 1);
  let deepest = counts;
  if (gaps !== null) {
    deepest = new Float64Array(size);
    for (let i = 0, at = 0; i < gaps.length; i++) deepest[(at += gaps[i])] = counts[i];
  }
  // By level: of each class and states of the first parents, how often there was each value.
  const by_level = [deepest];
  for (let axis = shape.length - 2; axis > 0; axis--) {
    const from = by_level[0], to = new Float64Array(from.length / shape[axis]);
    for (let i = 0, at = 0; i < to.length; i += values)
      for (let u = 0; u < shape[axis]; u++) for (let v = 0; v < values; v++, at++) to[i + v] = u === 0 ? from[at] : to[i + v] + from[at];
    by_level.unshift(to);
  }
  const column = Float64Array.from({ length: values }, (_, v) => {
    let sum = by_level[0][v];
    for (let k = 1; k < K; k++) sum += by_level[0][k * values + v];
    return sum;
  });
  const rows = column.reduce((sum, each) => sum + each);
  const columns = [...given.map((each) => each.column), node.column];
  const read = (row) => [code_of(node, "labels", row[node.column]), given.map((each) => code_of(each, "labels", row[each.column]))];

  // What the value adds to each class; a parent of which nothing is known stops at the level before it.
  const sums_of = (value, above) => {
    const depth = above.findIndex((code) => code < 0), last = depth < 0 ? above.length : depth;
    return Float64Array.from({ length: K }, (_, k) => {
      let share = (column[value] + 1) / (rows + values), context = k, known = 0, sum = 0;
      for (let j = 0; j <= above.length; j++) {
        if (j <= last) {
          if (j) context = context * shape[j] + above[j - 1];
          const start = context * values, own = by_level[j];
          let total = 0;
          for (let v = 0; v < values; v++) total += own[start + v];
          share = (own[start + value] + m[j] * share) / (total + m[j]);
          known = log(share);
        }
        sum = j ? sum + weights[j] * known : weights[0] * known;
      }
      return sum;
    });
  };
  return {
    columns,
    additive: given.length === 0,
    add(row, out) {
      const [value, above] = read(row);
      if (value < 0) return;
      const own = sums_of(value, above);
      for (let k = 0; k < K; k++) out[k] += own[k];
    },
    factors(row) {
      const [value, above] = read(row), line = { column: node.column, of: null, name: node.name, value: shown(node, row[node.column], value) };
      if (value < 0) {
        const why = line.value === "missing" ? "never missing in the rows that were learned" : "never seen";
        return [{ ...line, logs: null, note: `${why}: it says nothing` }];
      }
      const depth = above.findIndex((code) => code < 0), known = given.slice(0, depth < 0 ? given.length : depth);
      const beside = known.map((each, j) => `${each.name} ${each.names[above[j]]}`).join(", ");
      return [{ ...line, value: line.value + (beside ? ` | ${beside}` : ""), logs: sums_of(value, above), note: null }];
    },
  };
}

function back_off({ start, terms: nodes }, ctx) {
  const own = nodes.map((node) => levels(node, ctx));
  const joint = (row, floor) => {
    const out = Float64Array.from(start, (each) => (floor === undefined || each >= floor ? each : floor));
    own.forEach((term) => term.add(row, out));
    return out;
  };
  const prior = { column: null, of: null, name: "prior", value: "", logs: Float64Array.from(start), note: null };
  return {
    terms: own,
    additive: own.every((term) => term.additive),
    calibrated: false,
    joint,
    answer: (row) => answer_by(joint, row),
    factors: (row) => [prior, ...own.flatMap((term) => term.factors(row))],
  };
}

export const terms = { levels };
export const scorers = { network, averaged, "back-off": back_off };

// Posteriors of all nodes.

const trees = new WeakMap(); // of a network: its junction trees, by which nodes are set

// The tree of a network whose nodes in `set` have no parents; {cells} alone where it has more than the most.
export function tree_of(network, set = [], most = MOST_CELLS) {
  if (!trees.has(network)) trees.set(network, new Map());
  const known = trees.get(network), name = [...set].sort((a, b) => a - b).join(" ");
  if (!known.has(name) || (known.get(name).cliques === undefined && known.get(name).cells <= most)) {
    if (known.size > 30) known.clear();
    const parents = network.parents.map((above, v) => (set.includes(v) ? [] : above));
    const cards = network.nodes.map((node) => node.states.length);
    const tables = network.tables.map((table, v) => (set.includes(v) ? new Float64Array(cards[v]).fill(1) : table));
    known.set(name, junction_tree(parents, cards, tables, most));
  }
  return known.get(name);
}

// The posterior of every node, and the probability of the evidence. Evidence is a state's place for each node, -1 where
// nothing is known. Interventions are [node, place of its state] and cut the arcs into the node; soft evidence is
// [node, the likelihood of each of its states]. Of a network that is too wide only {too_wide: its cells} is said.
export function posteriors(network, evidence, { interventions = [], soft = [], most = MOST_CELLS } = {}) {
  const tree = tree_of(network, interventions.map(([node]) => node), most);
  if (tree.cliques === undefined) return { too_wide: tree.cells };
  const point = (node, state) => Float64Array.from(network.nodes[node].states, (_, at) => (at === state ? 1 : 0));
  const likelihoods = new Map(interventions.map(([node, state]) => [node, point(node, state)]));
  const learn = (node, weights) => {
    const before = likelihoods.get(node);
    likelihoods.set(node, before ? before.map((each, at) => each * weights[at]) : Float64Array.from(weights));
  };
  evidence.forEach((state, node) => state >= 0 && learn(node, point(node, state)));
  soft.forEach(([node, weights]) => learn(node, weights));
  const found = propagate(tree, likelihoods);
  return { ...found, probability: exp(found.log_probability), impossible: found.log_probability === -Infinity };
}
