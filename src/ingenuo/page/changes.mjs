// What would change the answer: the fewest columns, and in each the value nearest to the present one that suffices.
//
// The log joint is a sum over columns, so what a value adds to a class's lead over each rival (its gain) is known by itself.
// With two classes the fewest columns are the largest gains, added until the deficit is passed; with more classes every
// rival must be passed, and sets of columns are tried until none smaller can be left. What columns do not add up is tried
// value by value. Every suggestion has been asked of the model itself before it is made.
import { IMPOSSIBLE, first_maximum } from "./posterior.mjs";
import { changed, effect_of, nodes_of, on_step, posterior_by, presence_of, present, reach, readable_step, shape } from "./effects.mjs";

const NODES = 100_000; // of sets of columns that are tried
const LEAVES = 40; // sets that are looked at, of those that suffice
const GRID = 64; // values of a number where columns do not add up
const PAIRS = 3_000; // of values, where columns do not add up
const SINGLE_WORDS = 400, PAIRED_WORDS = 30; // words of a text that are taken out one by one, and two by two
const SLICE = 40; // answers between two pauses

// The other classes, the nearest first.
export function targets(model, row) {
  const { posterior, best, joint } = model.score(row);
  const by = (a, b) => posterior[b] - posterior[a] || (joint ? joint[b] - joint[a] : 0) || a - b;
  return model.classes.map((_, k) => k).filter((k) => k !== best).sort(by);
}

// All in one go; `search` can be stopped between two answers.
export function changes(model, row, options) {
  const steps = search(model, row, options);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// {target, best, given, fewest, suggestions, limit, least}: `fewest` columns must be changed; `limit` says what stands
// against "no fewer": null, "calibrator", "tried" (not every set could be tried: `least` is proven), "words", "values".
export function* search(model, row, { target, locked = [], most = 8 }) {
  const task = new Task(model, row, target, new Set(locked));
  const nothing = { target, best: task.best, given: task.best === target, fewest: 0, suggestions: [], limit: null, least: 0 };
  if (nothing.given) return nothing;
  const singles = yield* task.singles();
  if (singles.length) {
    const found = singles.map((move) => task.suggestion([move])).sort((a, b) => a.cost - b.cost);
    return { ...nothing, fewest: 1, least: 1, suggestions: found.slice(0, most), limit: task.limit_of(found) };
  }
  return { ...nothing, ...(model.additive ? yield* task.sets(most) : yield* task.pairs(most)) };
}

// Logs of 0 count as the scorer counts them; of a whole joint there may be many.
const bounded = (x) => (Number.isNaN(x) ? -1e300 : Math.min(Math.max(x, -1e300), 1e300));
const clip = (x) => (Number.isNaN(x) ? IMPOSSIBLE : Math.min(Math.max(x, IMPOSSIBLE), -IMPOSSIBLE));
const tables = new WeakMap(); // of a model: what the values of its columns add, which no question changes

class Task {
  constructor(model, row, target, locked) {
    Object.assign(this, { model, row, target });
    const score = model.score(row);
    this.best = score.best;
    this.free = model.columns.map((_, place) => place).filter((place) => !locked.has(place) && !locked.has(model.columns[place].name));
    this.rivals = model.classes.map((_, k) => k).filter((k) => k !== target);
    this.texts = new Map();
    this.inexact = null; // why fewer cannot be excluded
    if (!model.additive) return;
    const opened = model.opened(row);
    this.joint = Float64Array.from(model.scorer.joint(opened, IMPOSSIBLE), bounded);
    this.of = posterior_by(model, row);
    const node = model.document.scorer, repair = node.calibrate;
    if (repair && repair.kind !== "none" && model.classes.length > 2 && ((repair.curves || []).length || (repair.groups || []).length)) this.inexact = "calibrator";
    const lead = this.rivals.map((k) => this.lead_needed(k));
    this.needs = Float64Array.from(this.rivals, (k, r) => lead[r] - (this.joint[target] - this.joint[k]));
  }

  // By how much the target's joint must be above a rival's: 0 before calibration, which may set it elsewhere.
  lead_needed(rival) {
    if (!this.model.calibrated || !this.of || this.inexact === "calibrator") return 0;
    const wins = (lead) => {
      const joint = new Float64Array(this.model.classes.length).fill(-1e6);
      joint[rival] = 0;
      joint[this.target] = lead;
      const p = this.of(joint);
      return this.target < rival ? p[this.target] >= p[rival] : p[this.target] > p[rival];
    };
    let [low, high] = [-1000, 1000];
    if (wins(low)) return low;
    if (!wins(high)) return high;
    for (let i = 0; i < 80; i++) {
      const middle = (low + high) / 2;
      if (wins(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  // Whether a row is given the target; and whether a joint would be, up to rounding.
  suffices(row) {
    return this.model.score(row).best === this.target;
  }
  would(joint) {
    if (this.model.calibrated && this.of) return first_maximum(this.of(joint)) === this.target;
    return first_maximum(joint) === this.target;
  }

  // What values of a column add, and those that are tried: {of, values, effects}.
  table(place) {
    if (!tables.has(this.model)) tables.set(this.model, new Map());
    const kept = tables.get(this.model);
    if (!kept.has(place)) {
      const of = effect_of(this.model, place), values = this.values(place);
      kept.set(place, { of, values, effects: values.map((value) => of(value).map(clip)) });
    }
    return kept.get(place);
  }
  values(place) {
    const column = this.model.columns[place], range = reach(column);
    if (column.kind === "text") return [];
    if (column.kind === "category") return Array.from(column.values || []);
    if (column.kind === "count") {
      return presence_of(this.model, place) ?? Array.from({ length: range.high + 1 }, (_, i) => i);
    }
    if (!range) return Array.from(column.values || []);
    if (!this.model.additive) return Array.from({ length: GRID + 1 }, (_, i) => on_step(range.low + ((range.high - range.low) * i) / GRID, readable_step(range)));
    const { isolated, between, knots } = shape(this.model, place), own = isolated.filter((x) => x >= range.low && x <= range.high);
    if (range.whole || !between) {
      const steps = range.whole && between ? Array.from({ length: Math.min(2000, Math.floor(range.high) - Math.ceil(range.low) + 1) }, (_, i) => Math.ceil(range.low) + i) : [];
      return [...new Set([...own, ...steps])].sort((a, b) => a - b);
    }
    return [...new Set([...own, ...knots])].sort((a, b) => a - b);
  }
  now(place) {
    return present(this.model, this.row, place);
  }
  effect_now(place) {
    const value = this.now(place);
    return (value === null ? new Float64Array(this.model.classes.length) : this.table(place).of(value)).map(clip);
  }
  joint_with(joint, from, to) {
    return joint.map((each, k) => each + to[k] - from[k]);
  }
  gains(from, to) {
    return Float64Array.from(this.rivals, (k) => to[this.target] - from[this.target] - (to[k] - from[k]));
  }

  // Every column that suffices by itself, with the value nearest to the present one that does.
  *singles() {
    const found = [];
    let asked = 0;
    for (const place of this.free) {
      const move = this.model.columns[place].kind === "text" ? yield* this.text_alone(place) : this.model.additive ? this.alone(place) : yield* this.tried(place);
      if (move) found.push(move);
      if (++asked % SLICE === 0) yield { columns: asked };
    }
    return found;
  }
  alone(place) {
    const { effects } = this.table(place), from = this.effect_now(place);
    if (this.inexact === null) {
      const most = Float64Array.from(this.rivals, () => -Infinity);
      for (const each of effects) this.gains(from, each).forEach((gain, r) => (most[r] = Math.max(most[r], gain)));
      // With two classes the best value decides; with more, no value can do more against each rival than its best.
      if (most.some((gain, r) => gain < this.needs[r] - 1e-9 * (1 + Math.abs(this.needs[r])))) return null;
    }
    return this.nearest(place, this.row, this.joint);
  }

  // The value of a column nearest to the present one that suffices in a row, of which the joint is known; null where none
  // does. Between two values that are tried, the difference of two classes only rises or only falls.
  nearest(place, row, joint) {
    const column = this.model.columns[place], table = this.table(place), old = present(this.model, row, place);
    const from = (old === null ? new Float64Array(joint.length) : table.of(old)).map(clip);
    const would = (effect) => this.would(this.joint_with(joint, from, effect));
    const asks = (value) => this.suffices(changed(this.model, row, [[place, value]]));
    const start = this.now(place);
    if (column.kind === "category") {
      const gain = (at) => Math.min(...this.gains(from, table.effects[at]).map((each, r) => Math.min(each, 1e9) - this.needs[r]));
      const good = table.values.map((_, at) => at).filter((at) => String(table.values[at]) !== String(start) && would(table.effects[at]));
      const passing = good.sort((a, b) => gain(b) - gain(a)).filter((at) => asks(table.values[at])).map((at) => table.values[at]);
      return passing.length ? this.move(place, passing[0], { others: passing.slice(1) }) : null;
    }
    const range = reach(column), middle = start === null || typeof start === "string" ? this.centre(column) : Number(start);
    const away = (x) => Math.abs(x - middle);
    const { between } = column.kind === "number" ? shape(this.model, place) : { between: false };
    if (!between || (range && range.whole)) {
      const good = table.values.filter((x, at) => x !== start && would(table.effects[at])).sort((a, b) => away(a) - away(b));
      const value = good.find(asks);
      return value === undefined ? null : this.move(place, value, { edge: value });
    }
    let nearest = null;
    const offer = (edge, side) => {
      if (nearest === null || away(edge) < away(nearest.edge)) nearest = { edge, side };
    };
    table.values.forEach((x, at) => x !== start && (nearest === null || away(x) < away(nearest.edge)) && would(table.effects[at]) && offer(x, 0));
    const at_value = (x) => would(table.of(x).map(clip));
    const inward = this.centre(column) < middle ? -1 : 1;
    for (const side of [inward, -inward]) {
      const beyond = table.values.filter((x) => side * (x - middle) > 0).sort((a, b) => side * (a - b));
      let last = middle;
      for (const x of beyond) {
        if (nearest !== null && away(last) >= away(nearest.edge)) break;
        const inside = this.first_inside(table, last, x, side, from, joint, at_value);
        if (inside !== null) {
          offer(inside, side);
          break;
        }
        last = x;
      }
    }
    if (start === null && at_value(middle)) offer(middle, 0);
    return nearest === null ? null : this.readable(place, nearest, asks, middle);
  }
  centre({ means, low, high, typical }) {
    if (typeof typical === "number") return typical;
    const priors = this.model.document.priors;
    if (!means || !means.length) return low === undefined ? 0 : (low + high) / 2;
    let sum = 0, all = 0;
    means.forEach((mean, k) => Number.isFinite(mean) && ((sum += priors[k] * mean), (all += priors[k])));
    return all > 0 ? sum / all : (low + high) / 2;
  }

  // The first number behind `a` and up to `b` that suffices. Values that stand by themselves are not within.
  first_inside(table, a, b, side, from, joint, at_value) {
    const size = Math.abs(b - a), end = b - side * Math.min(size * 1e-6, Math.abs(b) * 1e-15 + 1e-300);
    const bisect = (bad, good, test) => {
      for (let i = 0; i < 200; i++) {
        const middle = bad + (good - bad) / 2;
        if (middle === bad || middle === good) break;
        if (test(middle)) good = middle;
        else bad = middle;
      }
      return good;
    };
    const begin = a + side * Math.min(size * 1e-6, Math.abs(a) * 1e-15 + 1e-300);
    if (at_value(begin)) return begin;
    if (at_value(b) && at_value(end)) return bisect(begin, end, at_value);
    if (at_value(end)) return bisect(begin, end, at_value);
    if (this.rivals.length < 2) return null;
    // Against some rivals it may suffice up to a number, against others from one on: between those two, if any.
    let [low, high] = [begin, end];
    for (const [r, k] of this.rivals.entries()) {
      const against = (x) => {
        const to = table.of(x).map(clip);
        return to[this.target] - from[this.target] - (to[k] - from[k]) >= this.needs[r];
      };
      const [first, last] = [against(begin), against(end)];
      if (!first && !last) return null;
      if (!first) {
        const edge = bisect(begin, end, against);
        if (side * (edge - low) > 0) low = edge;
      } else if (!last) {
        const edge = bisect(end, begin, against);
        if (side * (edge - high) < 0) high = edge;
      }
    }
    if (side * (high - low) < 0) return null;
    const inside = low + (high - low) / 2;
    return at_value(inside) ? bisect(begin, inside, at_value) : null;
  }

  // The edge as it is, and the next number behind it with few digits that suffices too.
  readable(place, { edge, side }, asks, middle) {
    const range = reach(this.model.columns[place]), step = range ? readable_step(range) : 0;
    const out = side || (edge < middle ? -1 : 1);
    let sure = edge;
    for (let grow = Math.abs(edge) * 2 ** -52 + 1e-300, i = 0; i < 40 && !asks(sure); i++, grow *= 2) sure = edge + out * grow;
    if (!asks(sure)) return null;
    if (step > 0 && side !== 0)
      for (let far = 0; far < 3; far++) {
        const value = on_step(edge + out * far * step, step, out > 0 ? Math.ceil : Math.floor);
        if (asks(value)) return this.move(place, value, { edge: sure, step });
      }
    return this.move(place, sure, { edge: sure, step: 0 });
  }

  move(place, to, more = {}) {
    const { name, kind } = this.model.columns[place];
    return { place, name, kind, from: this.now(place), to, edge: null, step: null, others: [], words: null, ...more };
  }

  // What a change costs a reader: shares of a range, categories as half of one; what is unknown comes last.
  cost({ place, kind, from, to, words }) {
    const column = this.model.columns[place], range = reach(column);
    if (words) return words.length / 10;
    if (from === null) return 2 + (range ? Math.abs(to - this.centre(column)) / (range.high - range.low) : 0);
    return kind === "category" || !range || typeof from !== "number" ? 0.5 : Math.abs(to - from) / (range.high - range.low);
  }
  suggestion(moves) {
    const row = changed(this.model, this.row, moves.map(({ place, to }) => [place, to])), { posterior, best } = this.model.score(row);
    return { moves, row, posterior, best, cost: moves.reduce((sum, move) => sum + this.cost(move), 0) };
  }
  limit_of(suggestions) {
    return suggestions.some(({ moves }) => moves.some(({ words, sure }) => words && words.length > 1 && !sure)) ? "words" : null;
  }

  // Sets of columns, the smallest first.
  *sets(most) {
    const items = this.items(), R = this.rivals.length, needs = this.needs, tolerance = needs.map((need) => 1e-9 * (1 + Math.abs(need)));
    if (!items.length) return { fewest: null, limit: this.inexact, least: null };
    const best = items.map(({ options }) => Float64Array.from(needs, (_, r) => Math.max(0, ...options.map(({ gains }) => gains[r]))));
    const enough = (sums) => sums.every((sum, r) => sum >= needs[r] - tolerance[r]);
    const all = Float64Array.from(needs, (_, r) => best.reduce((sum, each) => sum + each[r], 0));
    if (!enough(all)) return { fewest: null, limit: this.inexact, least: null };
    let nodes = 0, least = 2, limit = this.inexact;
    for (let m = 2; m <= items.length; m++) {
      // The most that so many columns from the i-th on can add against each rival.
      const tops = Array.from({ length: items.length + 1 }, () => null);
      const lists = Array.from({ length: R }, () => []);
      tops[items.length] = lists.map(() => new Float64Array(m + 1));
      for (let i = items.length - 1; i >= 0; i--)
        tops[i] = lists.map((list, r) => {
          list.push(best[i][r]);
          list.sort((a, b) => b - a);
          if (list.length > m) list.pop();
          const sums = new Float64Array(m + 1);
          for (let n = 1; n <= m; n++) sums[n] = sums[n - 1] + (list[n - 1] ?? 0);
          return sums;
        });
      if (tops[0].some((sums, r) => sums[m] < needs[r] - tolerance[r])) {
        least = m + 1;
        continue;
      }
      const leaves = [];
      const descend = (i, chosen, sums) => {
        if (leaves.length >= LEAVES || nodes >= NODES) return;
        if (chosen.length === m) {
          if (enough(sums)) leaves.push({ chosen: chosen.slice(), slack: Math.min(...sums.map((sum, r) => sum - needs[r])) });
          return;
        }
        for (let next = i; next <= items.length - (m - chosen.length); next++) {
          if (tops[next].some((top, r) => sums[r] + top[m - chosen.length] < needs[r] - tolerance[r])) break;
          for (const option of items[next].options) {
            nodes += 1;
            chosen.push({ place: items[next].place, ...option });
            descend(next + 1, chosen, sums.map((sum, r) => sum + option.gains[r]));
            chosen.pop();
          }
        }
      };
      descend(0, [], new Float64Array(R));
      yield { columns: m };
      leaves.sort((a, b) => b.slack - a.slack);
      const found = [], seen = new Set();
      for (const { chosen } of leaves) {
        const name = chosen.map(({ place }) => place).join();
        if (found.length >= most || seen.has(name)) continue;
        const made = this.drawn_back(chosen);
        if (!made) continue;
        seen.add(name);
        found.push(made);
        yield { columns: m };
      }
      if (nodes >= NODES) limit ??= "tried";
      if (found.length) return { fewest: m, suggestions: found.sort((a, b) => a.cost - b.cost), limit: limit ?? this.limit_of(found), least: limit === "tried" ? least : m };
      if (nodes >= NODES) return { fewest: null, limit, least };
      least = m + 1;
    }
    return { fewest: null, limit, least: null };
  }

  // The columns that can help, those that help most first, each with the values of which no other is better throughout.
  items() {
    const found = [];
    for (const place of this.free) {
      const { kind } = this.model.columns[place], from = this.effect_now(place);
      let options;
      if (kind === "text") options = this.text_options(place);
      else {
        const { values, effects } = this.table(place), now = this.now(place);
        options = values.map((value, at) => ({ value, gains: this.gains(from, effects[at]) })).filter(({ value }) => String(value) !== String(now));
      }
      options = options.filter(({ gains }) => gains.some((gain) => gain > 0));
      if (this.rivals.length === 1) options = options.sort((a, b) => b.gains[0] - a.gains[0]).slice(0, 1);
      else options = options.filter((one, i) => !options.some((other, j) => j !== i && other.gains.every((gain, r) => gain >= one.gains[r]) && (j < i || other.gains.some((gain, r) => gain > one.gains[r]))));
      const worth = ({ gains }) => Math.min(...gains.map((gain, r) => (this.needs[r] > 0 ? gain / this.needs[r] : 1)));
      options.sort((a, b) => worth(b) - worth(a));
      if (options.length) found.push({ place, options, worth: worth(options[0]) });
    }
    return found.sort((a, b) => b.worth - a.worth);
  }

  // A set of values that suffices, each drawn back towards the present one as far as the others allow: words first, then
  // all numbers by the same share of their way, and then each by itself.
  drawn_back(chosen) {
    const values = new Map(chosen.map(({ place, value }) => [place, value])), row = () => changed(this.model, this.row, [...values]);
    if (!this.suffices(row())) return null;
    const words = new Map();
    for (const { place } of chosen)
      if (this.model.columns[place].kind === "text") {
        const taken = this.put_back(place, values.get(place), row());
        values.set(place, taken.text);
        words.set(place, taken);
      }
    const ways = chosen.flatMap(({ place, value }) => {
      const column = this.model.columns[place], now = this.now(place);
      if (column.kind !== "number" || reach(column)?.whole || !shape(this.model, place).between) return [];
      return [{ place, value, start: now === null ? this.centre(column) : Number(now) }];
    });
    const at = (share) => changed(this.model, row(), ways.map(({ place, value, start }) => [place, start + share * (value - start)]));
    if (ways.length) {
      let [bad, good] = [0, 1];
      for (let i = 0; i < 30; i++) {
        const middle = (bad + good) / 2;
        if (this.suffices(at(middle))) good = middle;
        else bad = middle;
      }
      for (const { place, value, start } of ways) values.set(place, start + good * (value - start));
      for (const { place, start } of ways) {
        const value = values.get(place), step = readable_step(reach(this.model.columns[place])), rounded = on_step(value, step, value > start ? Math.ceil : Math.floor);
        if (this.suffices(changed(this.model, row(), [[place, rounded]]))) values.set(place, rounded);
      }
    }
    const moves = new Map();
    for (const { place } of chosen) {
      const { kind } = this.model.columns[place], now = row();
      if (kind === "text") {
        moves.set(place, this.move(place, values.get(place), words.get(place)));
        continue;
      }
      const joint = Float64Array.from(this.model.scorer.joint(this.model.opened(now), IMPOSSIBLE), bounded);
      const found = kind === "category" ? this.nearest(place, now, joint) ?? this.move(place, values.get(place)) : this.nearest_in(place, now, joint);
      if (kind === "category" && found.others.length) found.to = values.get(place);
      values.set(place, found.to);
      moves.set(place, { ...found, others: [] });
    }
    const made = [...moves.values()];
    return this.suffices(changed(this.model, this.row, made.map(({ place, to }) => [place, to]))) ? this.suggestion(made) : null;
  }
  // As `nearest`, or the value as it is where rounding leaves none.
  nearest_in(place, row, joint) {
    const value = present(this.model, row, place), found = this.nearest(place, row, joint);
    if (!found || this.cost(found) > this.cost({ ...found, to: value })) return this.move(place, value, { edge: value });
    return found;
  }

  // Texts: words are taken out.

  // The different words of a text: {word, weight: how much they speak for the target against the best, at: pieces}.
  words(place) {
    if (this.texts.has(place)) return this.texts.get(place);
    const text = this.now(place), found = new Map();
    let pieces = [];
    if (text !== null && this.model.passages) {
      const own = this.model.passages(this.row, this.target, this.best).find(({ column }) => column === place || column === this.model.columns[place].name);
      pieces = own ? own.pieces : [];
    }
    if (!pieces.length && text !== null) pieces = String(text).split(/(\s+)/u).map((piece) => [piece, piece.trim() ? 0 : null]);
    pieces.forEach(([piece, weight], i) => {
      if (weight === null) return;
      const word = piece.toLowerCase(), own = found.get(word) ?? { word: piece, weight: 0, at: [] };
      own.weight += weight;
      own.at.push(i);
      found.set(word, own);
    });
    const result = { pieces: pieces.map(([piece]) => piece), words: [...found.values()].sort((a, b) => a.weight - b.weight) };
    this.texts.set(place, result);
    return result;
  }
  without(place, taken) {
    const { pieces } = this.words(place), gone = new Set(taken.flatMap(({ at }) => at));
    return pieces.filter((_, i) => !gone.has(i)).join("").replace(/ {2,}/g, " ").trim();
  }
  // Whether each word counts by itself, so that the strongest are the fewest.
  apart(place) {
    const [node, ...more] = nodes_of(this.model, place);
    if (!this.model.additive || this.rivals.length > 1 || !node || more.length || node.op !== "words" || node.norm !== null) return false;
    const weighted = (this.model.document.scorer.terms || []).some(({ op, exponent }) => op === "weighted" && exponent);
    const { ngrams, negation, characters } = node.read;
    return !weighted && !characters && !negation && ngrams[1] === 1 && !this.model.document.scorer.calibrate?.scale;
  }
  text_options(place) {
    const { words } = this.words(place), taken = words.filter(({ weight }) => weight < 0);
    if (!taken.length) return [];
    const value = this.without(place, taken), { of } = this.table(place);
    return [{ value, gains: this.gains(this.effect_now(place), of(value).map(clip)) }];
  }
  // The fewest words to take out of a text, by itself.
  *text_alone(place) {
    const { words } = this.words(place), row = (taken) => changed(this.model, this.row, [[place, this.without(place, taken)]]);
    const passes = (taken) => this.suffices(row(taken));
    const made = (taken, sure) => this.move(place, this.without(place, taken), { words: taken.map(({ word }) => word), sure });
    if (!words.length) return null;
    if (this.apart(place)) {
      const taken = [];
      for (const word of words) {
        if (word.weight >= 0) return null;
        taken.push(word);
        if (passes(taken)) return made(taken, true);
      }
      return null;
    }
    // A word may count by its neighbours: each is taken out in turn, and pairs of the strongest.
    const tried = [];
    for (const word of words.slice(0, SINGLE_WORDS)) {
      const found = this.model.score(row([word]));
      if (found.best === this.target) return made([word], true);
      tried.push({ word, odds: Math.log(found.posterior[this.target] + 1e-300) - Math.log(found.posterior[this.best] + 1e-300) });
      if (tried.length % 10 === 0) yield { words: tried.length };
    }
    const order = tried.sort((a, b) => b.odds - a.odds).map(({ word }) => word), few = order.slice(0, PAIRED_WORDS);
    for (let i = 0; i < few.length; i++) {
      for (let j = 0; j < i; j++) if (passes([few[j], few[i]])) return made([few[j], few[i]], words.length <= PAIRED_WORDS);
      yield { words: i };
    }
    const own = this.model.score(this.row), start = Math.log(own.posterior[this.target] + 1e-300) - Math.log(own.posterior[this.best] + 1e-300);
    const helpful = tried.filter(({ odds }) => odds > start).map(({ word }) => word), taken = [];
    for (const word of helpful) {
      taken.push(word);
      yield { words: taken.length };
      if (passes(taken)) return made(this.thinned(taken, passes), false);
    }
    return null;
  }
  thinned(taken, passes) {
    let kept = taken.slice();
    for (const word of taken) {
      const fewer = kept.filter((each) => each !== word);
      if (passes(fewer)) kept = fewer;
    }
    return kept;
  }
  // Of the words that were taken out, those that must be.
  put_back(place, text, row) {
    const taken = this.words(place).words.filter(({ weight }) => weight < 0);
    const passes = (kept) => this.suffices(changed(this.model, row, [[place, this.without(place, kept)]]));
    let first = taken.length;
    if (this.apart(place)) for (first = 1; first < taken.length && !passes(taken.slice(0, first)); first++);
    const kept = this.apart(place) ? taken.slice(0, first) : this.thinned(taken.slice().reverse(), passes);
    return { text: this.without(place, kept), words: kept.map(({ word }) => word), sure: this.apart(place) };
  }

  // Where columns do not add up.

  // Every value of a column, or of a number those on a grid, and then the edge.
  *tried(place) {
    const column = this.model.columns[place], values = this.values(place), start = this.now(place);
    const asks = (value) => this.suffices(changed(this.model, this.row, [[place, value]]));
    const passing = [];
    for (const [i, value] of values.entries()) {
      if (String(value) !== String(start) && asks(value)) passing.push(value);
      if (i % SLICE === SLICE - 1) yield { values: i };
    }
    if (!passing.length) return null;
    if (column.kind === "category") return this.move(place, passing[0], { others: passing.slice(1) });
    const middle = start === null ? this.centre(column) : Number(start);
    passing.sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    const [value] = passing, range = reach(column);
    if (column.kind === "count" || !range || range.whole || start === null) return this.move(place, value, { edge: value });
    let [bad, good] = [value - Math.sign(value - middle) * Math.min(Math.abs(value - middle), (range.high - range.low) / GRID), value];
    for (let i = 0; i < 60; i++) {
      const between = bad + (good - bad) / 2;
      if (between === bad || between === good) break;
      if (asks(between)) good = between;
      else bad = between;
    }
    return this.readable(place, { edge: good, side: Math.sign(good - middle) }, asks, middle) ?? this.move(place, value, { edge: value });
  }
  *pairs(most) {
    const choices = [];
    let asked = 0, all = true; // values, and then pairs, are tried
    for (const place of this.free) {
      if (this.model.columns[place].kind !== "category") all = false;
      if (this.model.columns[place].kind === "text") continue;
      const values = this.values(place), few = values.length > 12 ? values.filter((_, i) => i % Math.ceil(values.length / 12) === 0) : values;
      if (few.length < values.length) all = false;
      for (const value of few) {
        if (String(value) === String(this.now(place))) continue;
        const { posterior } = this.model.score(changed(this.model, this.row, [[place, value]]));
        choices.push({ place, value, p: posterior[this.target] });
        if (++asked % SLICE === 0) yield { values: asked };
      }
    }
    choices.sort((a, b) => b.p - a.p);
    const found = [];
    asked = 0;
    for (let i = 1; i < choices.length && asked < PAIRS && found.length < LEAVES; i++)
      for (let j = 0; j < i && asked < PAIRS; j++) {
        const [a, b] = [choices[j], choices[i]];
        if (a.place === b.place) continue;
        if (++asked % SLICE === 0) yield { pairs: asked };
        if (this.suffices(changed(this.model, this.row, [[a.place, a.value], [b.place, b.value]]))) found.push([a, b]);
      }
    if (asked >= PAIRS) all = false;
    const seen = new Set(), suggestions = [];
    for (const pair of found) {
      const name = pair.map(({ place }) => place).sort((a, b) => a - b).join();
      if (seen.has(name)) continue;
      seen.add(name);
      suggestions.push(this.suggestion(pair.map(({ place, value }) => this.move(place, value))));
    }
    suggestions.sort((a, b) => a.cost - b.cost);
    return { fewest: suggestions.length ? 2 : null, suggestions: suggestions.slice(0, most), limit: all ? null : "values", least: suggestions.length || !all ? 2 : 3 };
  }
}
