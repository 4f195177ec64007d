// The words and n-grams of a text column: what each adds to the log joint, as families/words.py counts it.
//
// Added in this order: for each different word, in the order of first occurrence (words, then pairs of words, …), its
// count times its value for the classes that have it; then Σ count · weight times the constant of the class, plus
// Σ count · base. Of a set, what a text without any word adds; and where shares may be 0, what is impossible.
import { Letters, Reader, grams } from "./tokens.mjs";
import { exp, log1p } from "./math.mjs";
import { bucket_of, follow, hash_word } from "./hashes.mjs";

const letters_of = new WeakMap(); // of each document's tables
const LISTED = 8; // words that say nothing, which are named
const LEAST = -1e300; // an impossible word is as strong as this
const CERTAIN = 50; // log odds that a word is shown with where a class excludes it

function letters(document) {
  if (!letters_of.has(document.reader)) letters_of.set(document.reader, new Letters(document.reader));
  return letters_of.get(document.reader);
}

// Words of which each is written as how many letters it has in common with the one before it, and the others.
function unpack_words({ text, between }) {
  let before = "";
  return text === "" ? [] : text.split(between).map((each) => (before = before.slice(0, each.charCodeAt(0) - 48) + each.slice(1)));
}

// Where the groups of so many begin, and where the last ends.
function starts_of(sizes) {
  const starts = new Int32Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++) starts[i + 1] = starts[i] + sizes[i];
  return starts;
}

// The vocabulary: the number of each word, and of the n-grams that end with it.
class Vocabulary {
  constructor({ words, levels }) {
    this.words = unpack_words(words);
    this.places = new Map(this.words.map((word, i) => [word, i]));
    this.levels = [];
    for (let first = this.words.length, size = first, i = 0; i < levels.length; i++) {
      const starts = starts_of(levels[i].sizes), lasts = Int32Array.from(levels[i].lasts);
      for (let above = 0; above < size; above++)
        for (let j = starts[above] + 1; j < starts[above + 1]; j++) lasts[j] += lasts[j - 1];
      this.levels.push({ starts, lasts, first, above: first - size });
      first += size = lasts.length;
    }
  }

  word(word) {
    return this.places.get(word) ?? -1;
  }

  // The n-gram that this one and the word behind it are; -1 where there is none.
  next(level, node, last) {
    if (node < 0 || last < 0) return -1;
    const { starts, lasts, first, above } = this.levels[level];
    let low = starts[node - above], high = starts[node - above + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lasts[middle] < last) low = middle + 1;
      else high = middle;
    }
    return low < starts[node - above + 1] && lasts[low] === last ? first + low : -1;
  }
}

// The same where words are not known by their names: an n-gram is the number of its bucket among those that are listed.
class Buckets {
  constructor({ buckets, listed }) {
    this.bits = buckets;
    this.places = new Map();
    let at = 0;
    listed.forEach((gap, i) => this.places.set((at += gap), i));
  }
}

// Reads a text: gives each word or n-gram that it has, by its number, with the numbers of its tokens.
class Features {
  constructor(node, ctx) {
    this.reader = new Reader(node.read, letters(ctx.document));
    this.settings = node.read;
    this.hashed = node.buckets > 0;
    this.known = this.hashed ? new Buckets(node) : new Vocabulary(node);
    this.stops = new Set(node.read.stops || []);
    this.affect = new Map(Object.entries(node.read.lexicon || {}).flatMap(([name, words]) => words.map((word) => [word, name])));
    this.prefix = node.read.negation ? node.read.negation.prefix : "";
  }

  bare(word) {
    return this.prefix && word.startsWith(this.prefix) ? word.slice(this.prefix.length) : word;
  }
  is_stop(word) {
    return this.stops.size > 0 && this.stops.has(this.bare(word));
  }
  // The class of the lexicon that a word counts for besides; null where there is none.
  also(word) {
    const bare = this.bare(word), own = this.affect.get(bare);
    if (own === undefined) return null;
    return bare === word ? own : this.settings.opposite[own] ?? null;
  }
  // The number of a word: its place, or its bucket.
  number(word) {
    return this.hashed ? bucket_of(hash_word(word), this.known.bits) : this.known.word(word);
  }

  // The words of a text, where each begins and ends in it, and which of them are no stop words.
  cut(given) {
    const text = this.reader.mended(given), { words, places } = this.reader.cut(text), kept = [];
    words.forEach((word, token) => this.is_stop(word) || kept.push(token));
    return { text, words, places, kept };
  }

  // use(number, its tokens from .. to among those that are kept, name) for each feature: of a class of the lexicon, or of
  // characters, the name is given, and `to` is 0: it is of the token `from` alone.
  each({ words, kept }, use) {
    const { characters, ngrams } = this.settings;
    const named = (name, token) => use(this.number(name), token, 0, name);
    if (characters) return words.forEach((word, token) => grams(word, characters, (gram) => named(gram, token)));
    if (this.affect.size)
      words.forEach((word, token) => {
        const name = this.also(word);
        if (name !== null) named(name, token);
      });
    if (this.hashed) this.each_hashed(kept.map((token) => hash_word(words[token])), ngrams, use);
    else this.each_known(kept.map((token) => this.known.word(words[token])), ngrams, use);
  }
  each_known(lasts, [fewest, most], use) {
    const nodes = lasts.slice();
    for (let n = 1; n <= most; n++)
      for (let at = 0; at + n <= lasts.length; at++) {
        if (n > 1) nodes[at] = this.known.next(n - 2, nodes[at], lasts[at + n - 1]);
        if (n >= fewest) use(nodes[at], at, at + n);
      }
  }
  each_hashed(lasts, [fewest, most], use) {
    const hashes = lasts.slice();
    for (let n = 1; n <= most; n++)
      for (let at = 0; at + n <= lasts.length; at++) {
        if (n > 1) hashes[at] = follow(hashes[at], lasts[at + n - 1]);
        if (n >= fewest) use(bucket_of(hashes[at], this.known.bits), at, at + n);
      }
  }
}

// Spaces before and after characters can be seen.
const visible = (text) => (text.startsWith(" ") || text.endsWith(" ") ? text.replaceAll(" ", "␣") : text);

class Words {
  constructor(node, ctx) {
    Object.assign(this, node);
    this.K = ctx.K;
    this.called = ctx.columns[node.column].name;
    this.features = new Features(node, ctx);
    this.starts = starts_of(node.counts);
    this.last = { text: null };
  }

  // The place of a feature in the arrays: of buckets, those that are not listed share the last.
  node(number) {
    return this.buckets ? this.features.known.places.get(number) ?? this.counts.length - 1 : number;
  }
  is_used(number) {
    return number >= 0 && (this.used === null || this.used[this.node(number)] !== 0);
  }
  weight(node) {
    return this.weights === null ? 1 : this.weights[node];
  }

  // The words of a row that are used, in the order of first occurrence: {node, times}. Those of the last text are kept.
  count(row) {
    const text = row[this.column];
    if (typeof text !== "string") return [];
    if (this.last.text === text) return this.last.found;
    const found = [], seen = new Map();
    this.features.each(this.features.cut(text), (number) => {
      if (!this.is_used(number)) return;
      const at = seen.get(number);
      if (at === undefined) {
        seen.set(number, found.length);
        found.push({ number, node: this.node(number), times: 1 });
      } else if (!this.once) found[at].times += 1;
    });
    this.last = { text, found };
    return found;
  }

  add(row, out, floor) {
    if (typeof row[this.column] !== "string") return;
    const found = this.count(row), { starts, codes, values, base, constant } = this;
    const own = this.norm === null ? out : new Float64Array(out.length);
    let total = 0, level = 0, squares = 0;
    for (const { node, times } of found) {
      const weight = this.weight(node) * times;
      total += weight;
      squares += weight * weight;
      if (base !== null) level += times * base[node];
      for (let c = starts[node]; c < starts[node + 1]; c++) own[codes[c]] += times * values[c];
    }
    for (let k = 0; k < own.length; k++) own[k] += total * constant[k] + level;
    if (this.norm !== null) {
      const size = Math.sqrt(squares > 0 ? squares : 1);
      for (let k = 0; k < out.length; k++) out[k] += own[k] / size;
    }
    if (this.absent !== null) for (let k = 0; k < out.length; k++) out[k] += this.absent[k];
    for (const missing of [this.lacking(found), this.uncertain(found)])
      for (let k = 0; k < missing.length; k++) if (missing[k] > 0) out[k] += missing[k] * (floor === undefined ? -Infinity : floor);
  }
  // How many words each class has that are impossible in it; and how many it lacks that all its documents have.
  lacking(found) {
    if (this.strict === null) return [];
    const result = new Float64Array(this.K);
    for (const { node, times } of found) {
      if (!this.strict[node]) continue;
      for (let k = 0; k < this.K; k++) result[k] += times;
      for (let c = this.starts[node]; c < this.starts[node + 1]; c++) result[this.codes[c]] -= times;
    }
    return result;
  }
  uncertain(found) {
    if (this.certain === null) return [];
    const result = Float64Array.from(this.n_certain);
    for (const { node } of found) for (let c = this.starts[node]; c < this.starts[node + 1]; c++) result[this.codes[c]] -= this.certain[c];
    return result;
  }

  // What one occurrence adds to the log joint of each class, once more where that it is there is no impossible word.
  values_of(node) {
    const result = new Float64Array(this.K), { strict } = this;
    for (let k = 0; k < this.K; k++) result[k] = this.constant[k] * this.weight(node) + (this.base === null ? 0 : this.base[node]);
    const has = new Uint8Array(this.K);
    for (let c = this.starts[node]; c < this.starts[node + 1]; c++) {
      result[this.codes[c]] += this.values[c];
      has[this.codes[c]] = 1;
    }
    if (strict !== null && strict[node]) for (let k = 0; k < this.K; k++) if (!has[k]) result[k] = -Infinity;
    return result;
  }
  // Of a set: log p and log (1 - p) of a word, from its log odds; where p is 1, the second is left out.
  logs_of(node) {
    const odds = this.values_of(node), sure = new Uint8Array(this.K);
    if (this.certain !== null) for (let c = this.starts[node]; c < this.starts[node + 1]; c++) sure[this.codes[c]] = this.certain[c];
    return {
      present: odds.map((each, k) => (sure[k] || each === -Infinity ? each : -log1p(exp(-each)))),
      absent: odds.map((each, k) => (sure[k] || each === -Infinity ? 0 : -log1p(exp(each)))),
    };
  }
  size(found) {
    if (this.norm === null || !found.length) return 1;
    return Math.sqrt(found.reduce((sum, { node, times }) => sum + (times * this.weight(node)) ** 2, 0));
  }

  // A factor for each word that is used, the strongest first; and one each for those that say nothing.
  factors(row) {
    const given = row[this.column], place = { column: this.column, of: null, name: this.called };
    if (typeof given !== "string") return [{ ...place, value: "missing", logs: null, note: "left out" }];
    const read = this.features.cut(given), { words, kept } = read;
    const names = new Map(), unused = new Set(words.filter((word) => this.features.is_stop(word))), unknown = new Set();
    this.features.each(read, (number, from, to, name) => {
      const shown = () => visible(to ? kept.slice(from, to).map((token) => words[token]).join(" ") : name);
      if (!this.is_used(number)) (number < 0 ? unknown : unused).add(shown());
      else if (!names.has(number)) names.set(number, shown());
    });
    const found = this.count(row), size = this.size(found);
    const strong = found.map(({ number, node, times }) => {
      const each = this.absent === null ? this.values_of(node) : this.logs_of(node).present;
      const logs = each.map((log) => (log * times) / size), clipped = logs.map((log) => Math.max(log, LEAST));
      const factor = { column: this.column, of: this.column, name: names.get(number), value: `×${times}`, logs, note: null };
      return { factor, strength: Math.max(...clipped) - Math.min(...clipped) };
    });
    const result = strong.sort((a, b) => b.strength - a.strength).map(({ factor }) => factor);
    if (this.absent !== null) result.push(this.others_absent(found, place));
    const add = (each, what, why) => {
      const listed = [...each].slice(0, LISTED).join(", ") + (each.size > LISTED ? ", …" : "");
      if (each.size) result.push({ ...place, value: `${each.size} ${what}`, logs: null, note: `${why}: left out: ${listed}` });
    };
    add(unused, "unused", "stop words, or cut by the limits");
    add(unknown, "unknown", this.limited ? "never seen, or cut by the limits" : "never seen");
    return result.length ? result : [{ ...place, value: "no words", logs: null, note: "left out" }];
  }
  // All the words that are not there, together.
  others_absent(found, place) {
    const logs = Float64Array.from(this.absent), n = this.n_used - found.length;
    for (const { node } of found) this.logs_of(node).absent.forEach((log, k) => (logs[k] -= log));
    this.uncertain(found).forEach((missing, k) => {
      if (missing > 0) logs[k] = -Infinity;
    });
    return { ...place, value: `${n} absent`, logs, note: null };
  }

  // The text in pieces, each word with how much it speaks for the one class and against the other; null: not at all.
  passages(row, best, second) {
    if (typeof row[this.column] !== "string") return [{ column: this.column, pieces: [] }];
    const read = this.features.cut(row[this.column]), { text, words, places, kept } = read;
    const shares = new Float64Array(words.length), touched = new Uint8Array(words.length), seen = new Set();
    this.features.each(read, (number, from, to) => {
      if (!this.is_used(number) || (this.once && seen.has(number))) return;
      seen.add(number);
      const adds = this.values_of(this.node(number)), odds = adds[best] - adds[second];
      const weight = Number.isNaN(odds) ? 0 : Math.abs(odds) === Infinity ? Math.sign(odds) * CERTAIN : odds;
      const tokens = to ? kept.slice(from, to) : [from];
      for (const token of tokens) {
        shares[token] += weight / tokens.length;
        touched[token] = 1;
      }
    });
    const size = this.size(this.count(row)), pieces = [];
    let at = 0;
    for (let token = 0; token < words.length; token++) {
      const begin = places[2 * token], end = places[2 * token + 1];
      pieces.push([text.slice(at, begin), null], [text.slice(begin, end), touched[token] ? shares[token] / size : null]);
      at = end;
    }
    pieces.push([text.slice(at), null]);
    return [{ column: this.column, pieces: pieces.filter(([piece]) => piece !== "") }];
  }
}

function words(node, ctx) {
  const own = new Words(node, ctx);
  return {
    columns: [node.column],
    add: (row, out, floor) => own.add(row, out, floor),
    factors: (row) => own.factors(row),
    lengths: (row) => own.count(row).reduce((sum, { times }) => sum + times, 0), // the words that are used
    passages: (row, best, second) => own.passages(row, best, second),
  };
}

export const terms = { words };
