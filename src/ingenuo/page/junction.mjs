// Exact inference in a network: tables are gathered along a junction tree, and what each clique says is sent back.
//
// As networks/inference.py does it: products of plain probabilities, each message divided by its largest cell; where one
// falls below the smallest double that is exact, all is done again with logarithms.
import { exp, log } from "./math.mjs";

const SMALLEST = 2.2250738585072014e-308; // a product below it has lost bits
const MORE = 64; // of nodes: with so many, the order by links is not tried beside the order by size

// The nodes in the order in which to sum them out, each with those beside it then. Next is the node whose table is the
// smallest, or whose neighbours need the fewest new links.
function order_nodes(beside, weights, by_links) {
  const near = beside.map((own) => new Set(own)), left = new Set(near.keys()), order = [];
  const cost = (v) => {
    let size = weights[v], links = 0;
    for (const u of near[v]) size += weights[u];
    if (by_links) for (const u of near[v]) for (const w of near[v]) links += u < w && !near[u].has(w);
    return by_links ? links + size * 1e-6 : size;
  };
  const costs = near.map((_, v) => cost(v));
  while (left.size) {
    let v = -1;
    for (const u of left) if (v < 0 || costs[u] < costs[v]) v = u;
    const around = [...near[v]], changed = new Set(around);
    order.push([v, around]);
    left.delete(v);
    for (const u of around) near[u].delete(v);
    for (const u of around)
      for (const w of around)
        if (u !== w && !near[u].has(w)) {
          near[u].add(w);
          if (by_links) for (const x of near[u]) changed.add(x);
        }
    for (const u of changed) costs[u] = cost(u);
  }
  return order;
}

// Of each node in the order the set that its sum runs over, without those that lie in another; and the set that is above.
function cliques_of(order) {
  const turn = new Map(order.map(([v], at) => [v, at])), sets = [], above = [], home = new Map();
  for (const [v, around] of [...order].reverse()) {
    const next = around.length ? around.reduce((a, b) => (turn.get(a) < turn.get(b) ? a : b)) : null;
    const clique = next === null ? -1 : home.get(next);
    if (next !== null && sets[clique].size === around.length && around.every((each) => sets[clique].has(each))) {
      sets[clique].add(v);
      home.set(v, clique);
    } else {
      home.set(v, sets.length);
      sets.push(new Set([v, ...around]));
      above.push(clique);
    }
  }
  return { sets: sets.map((each) => [...each].sort((a, b) => a - b)), above, home, turn };
}

// The place in a table over some members of each cell of a table over more of them.
function places_in(members, cards, part, steps) {
  const size = members.reduce((cells, v) => cells * cards[v], 1), found = new Int32Array(size);
  const jump = members.map((v) => (part.includes(v) ? steps[part.indexOf(v)] : 0)), turn = members.map(() => 0);
  for (let i = 0, at = 0; i < size; i++) {
    found[i] = at;
    for (let a = members.length - 1; a >= 0; a--) {
      at += jump[a];
      if (++turn[a] < cards[members[a]]) break;
      at -= jump[a] * turn[a];
      turn[a] = 0;
    }
  }
  return found;
}

function steps_of(members, cards) {
  const steps = new Array(members.length);
  let step = 1;
  for (let a = members.length - 1; a >= 0; a--) {
    steps[a] = step;
    step *= cards[members[a]];
  }
  return steps;
}

// The tree of a network's tables: cliques, those above first, and the product of each one's tables. Of a network with
// more cells than the most there is only their number.
export function junction_tree(parents, cards, tables, most) {
  const beside = cards.map(() => new Set());
  parents.forEach((up, v) => {
    const family = [...up, v];
    for (const a of family) for (const b of family) if (a !== b) beside[a].add(b);
  });
  const weights = cards.map((card) => Math.log(card)); // only compared: its bits do not matter
  const size = (members) => members.reduce((cells, v) => cells * cards[v], 1);
  const cells_of = (each) => each.sets.reduce((sum, members) => sum + size(members), 0);
  let best = cliques_of(order_nodes(beside, weights, false));
  if (cards.length <= MORE || cells_of(best) > most) {
    const other = cliques_of(order_nodes(beside, weights, true));
    if (cells_of(other) < cells_of(best)) best = other;
  }
  const { sets, above, home, turn } = best, cells = cells_of(best);
  if (cells > most) return { cells };
  const cliques = sets.map((members, c) => {
    const over = above[c] < 0 ? [] : sets[above[c]], shared = members.filter((v) => over.includes(v));
    const steps = steps_of(shared, cards);
    return {
      members,
      above: above[c],
      shared: size(shared),
      own: places_in(members, cards, shared, steps),
      theirs: above[c] < 0 ? null : places_in(over, cards, shared, steps),
      tables: [],
    };
  });
  parents.forEach((up, v) => {
    const family = [...up, v], clique = cliques[home.get(family.reduce((a, b) => (turn.get(a) < turn.get(b) ? a : b)))];
    clique.tables.push({ cells: tables[v], places: places_in(clique.members, cards, family, steps_of(family, cards)) });
  });
  // Of each node the smallest clique that has it, and each cell's state there.
  const homes = cards.map((_, v) => {
    const own = cliques.filter((each) => each.members.includes(v)).reduce((a, b) => (b.own.length < a.own.length ? b : a));
    return { clique: cliques.indexOf(own), places: places_in(own.members, cards, [v], [1]) };
  });
  return { cells, cards, cliques, homes, products: new Map() };
}

class Underflow extends Error {}

// Plain numbers or logarithms: what stands for 0 and 1, products, quotients and sums.
const PLAIN = {
  name: "plain",
  zero: 0,
  one: 1,
  enter: (x) => x,
  leave: (x) => x,
  scale: log,
  times(a, b) {
    const found = a * b;
    if (found < SMALLEST && a > 0 && b > 0) throw new Underflow();
    return found;
  },
  over(a, b) {
    const found = a / b;
    if (found < SMALLEST && a > 0) throw new Underflow();
    return found;
  },
  sum_into(table, places, size) {
    const out = new Float64Array(size);
    for (let i = 0; i < table.length; i++) out[places[i]] += table[i];
    return out;
  },
};
const LOGARITHMS = {
  name: "logarithms",
  zero: -Infinity,
  one: 0,
  enter: log,
  leave: exp,
  scale: (x) => x,
  times: (a, b) => a + b,
  over: (a, b) => a - b,
  sum_into(table, places, size) {
    const most = new Float64Array(size).fill(-Infinity), out = new Float64Array(size);
    for (let i = 0; i < table.length; i++) if (table[i] > most[places[i]]) most[places[i]] = table[i];
    for (let i = 0; i < table.length; i++) if (table[i] > -Infinity) out[places[i]] += exp(table[i] - most[places[i]]);
    return out.map((each, at) => (most[at] === -Infinity ? -Infinity : log(each) + most[at]));
  },
};

// The product of each clique's tables, which no evidence changes.
function products_of(tree, by) {
  if (!tree.products.has(by.name))
    tree.products.set(
      by.name,
      tree.cliques.map(({ own, tables }) => {
        const out = new Float64Array(own.length).fill(by.one);
        for (const { cells, places } of tables) {
          const entered = cells.map(by.enter);
          for (let i = 0; i < out.length; i++) out[i] = by.times(out[i], entered[places[i]]);
        }
        return out;
      }),
    );
  return tree.products.get(by.name);
}

// What each node is, given how likely each of its states makes what was seen; and the log probability of that.
export function propagate(tree, likelihoods) {
  try {
    return pass(tree, likelihoods, PLAIN);
  } catch (error) {
    if (!(error instanceof Underflow)) throw error;
    return pass(tree, likelihoods, LOGARITHMS);
  }
}

function pass(tree, likelihoods, by) {
  const { cliques, homes, cards } = tree, nothing = { marginals: null, log_probability: -Infinity };
  const tables = products_of(tree, by).map((table) => table.slice()), messages = [];
  let found = 0;
  for (const [node, given] of likelihoods) {
    const largest = given.reduce((a, b) => Math.max(a, b), 0), { clique, places } = homes[node];
    if (!(largest > 0)) return nothing;
    found += log(largest);
    const entered = given.map((each) => by.enter(each / largest)), table = tables[clique];
    for (let i = 0; i < table.length; i++) table[i] = by.times(table[i], entered[places[i]]);
  }
  const maximum = (table) => table.reduce((a, b) => (b > a ? b : a), by.zero);
  for (let c = cliques.length - 1; c >= 0; c--) {
    const { above, own, shared, theirs } = cliques[c];
    const message = by.sum_into(tables[c], own, shared), largest = maximum(message);
    if (largest === by.zero) return nothing;
    found += by.scale(largest);
    if (above < 0) continue;
    messages[c] = message.map((each) => by.over(each, largest));
    const table = tables[above];
    for (let i = 0; i < table.length; i++) table[i] = by.times(table[i], messages[c][theirs[i]]);
  }
  for (let c = 0; c < cliques.length; c++) {
    const { above, own, shared, theirs } = cliques[c];
    if (above < 0) continue;
    const whole = by.sum_into(tables[above], theirs, shared), table = tables[c];
    const news = whole.map((each, at) => (messages[c][at] === by.zero ? each : by.over(each, messages[c][at]))); // what was impossible stays so
    const largest = maximum(news);
    for (let at = 0; at < news.length; at++) news[at] = largest === by.zero ? news[at] : by.over(news[at], largest);
    for (let i = 0; i < table.length; i++) table[i] = by.times(table[i], news[own[i]]);
  }
  const marginals = homes.map(({ clique, places }, v) => {
    const sums = by.sum_into(tables[clique], places, cards[v]), largest = maximum(sums);
    const shares = sums.map((each) => (by === PLAIN ? each : exp(each - largest)));
    const total = shares.reduce((a, b) => a + b, 0);
    return shares.map((each) => each / total);
  });
  return { marginals, log_probability: found };
}
