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
const MET = 5000; // words whose hashes, or n-grams of characters, are kept for the next text
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

// The same where words are not known by their names but by buckets: those that are listed come first, then all the others.
class Buckets {
  constructor({ buckets, listed, counts }) {
    this.bits = buckets;
    this.others = counts.length - 1; // what these are like
    this.places = new Map();
    let bucket = 0;
    listed.forEach((gap, i) => this.places.set((bucket += gap), i));
  }

  of(hash) {
    const bucket = bucket_of(hash, this.bits);
    return this.places.get(bucket) ?? this.others + bucket;
  }
  word(word) {
    return this.of(hash_word(word));
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
    this.last = { given: null };
    this.met = new Map(); // words, and what of them need not be found again: a text is mostly that of before
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

  // The words of a text, where each begins and ends in it, and which of them are no stop words.
  cut(given) {
    if (this.last.given === given) return this.last;
    const text = this.reader.mended(given), { words, places } = this.reader.cut(text), kept = [];
    words.forEach((word, token) => this.is_stop(word) || kept.push(token));
    return (this.last = { given, text, words, places, kept });
  }

  // use(number, its tokens from .. to among those that are kept, name) for each feature: of a class of the lexicon, or of
  // characters, the name is given, and `to` is 0: it is of the token `from` alone.
  each({ words, kept }, use) {
    if (this.settings.characters) {
      words.forEach((word, token) => {
        const { names, numbers } = this.meet(word, () => this.characters_of(word));
        for (let i = 0; i < names.length; i++) use(numbers[i], token, 0, names[i]);
      });
      return;
    }
    if (this.affect.size)
      words.forEach((word, token) => {
        const name = this.also(word);
        if (name !== null) use(this.known.word(name), token, 0, name);
      });
    if (this.hashed) this.each_hashed(kept.map((token) => this.meet(words[token], () => hash_word(words[token]))), use);
    else this.each_known(kept.map((token) => this.known.word(words[token])), use);
  }
  meet(word, make) {
    let found = this.met.get(word);
    if (found !== undefined) return found;
    if (this.met.size >= MET) this.met.clear();
    this.met.set(word, (found = make()));
    return found;
  }
  characters_of(word) {
    const names = [];
    grams(word, this.settings.characters, (gram) => names.push(gram));
    return { names, numbers: names.map((name) => this.known.word(name)) };
  }
  each_known(lasts, use) {
    const nodes = lasts.slice(), [fewest, most] = this.settings.ngrams;
    for (let n = 1; n <= most; n++)
      for (let at = 0; at + n <= lasts.length; at++) {
        if (n > 1) nodes[at] = this.known.next(n - 2, nodes[at], lasts[at + n - 1]);
        if (n >= fewest) use(nodes[at], at, at + n);
      }
  }
  each_hashed(lasts, use) {
    const hashes = lasts.slice(), [fewest, most] = this.settings.ngrams;
    for (let n = 1; n <= most; n++)
      for (let at = 0; at + n <= lasts.length; at++) {
        if (n > 1) hashes[at] = follow(hashes[at], lasts[at + n - 1]);
        if (n >= fewest) use(this.known.of(hashes[at]), at, at + n);
      }
  }
}

class Words {
  constructor(node, ctx) {
    Object.assign(this, node);
    this.K = ctx.K;
    this.called = ctx.columns[node.column].name;
    this.features = new Features(node, ctx);
    this.starts = starts_of(node.counts);
    this.codes = Int32Array.from(node.codes);
    this.places = new Int32Array(node.counts.length); // of features among those that were found; all 0 but for a moment
    this.others = new Map();
    this.last = { text: null };
  }

  // Where a feature is in the arrays: the buckets that are not listed share the last place.
  node(number) {
    return number < this.counts.length ? number : this.counts.length - 1;
  }
  is_used(number) {
    return number >= 0 && (this.used === null || this.used[this.node(number)] !== 0);
  }
  weight(node) {
    return this.weights === null ? 1 : this.weights[node];
  }

  // The features of a row that are used, in the order of first occurrence, with how often each is there and where it was
  // first. Those of the last text are kept.
  count(row) {
    const text = row[this.column];
    if (typeof text !== "string") return [];
    if (this.last.text === text) return this.last.found;
    const found = [], { places, others } = this;
    this.features.each(this.features.cut(text), (number, from, to, name) => {
      if (!this.is_used(number)) return;
      const at = number < places.length ? places[number] : others.get(number) || 0; // 0: it is new
      if (at) found[at - 1].times += this.once ? 0 : 1;
      else {
        found.push({ number, node: this.node(number), times: 1, from, to, name });
        if (number < places.length) places[number] = found.length;
        else others.set(number, found.length);
      }
    });
    for (const { number } of found) if (number < places.length) places[number] = 0;
    others.clear();
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

  // What one occurrence adds to the log joint of each class.
  values_of(node) {
    const result = new Float64Array(this.K), { starts, codes, values } = this, strict = this.strict !== null && this.strict[node];
    const base = this.base === null ? 0 : this.base[node], weight = this.weight(node);
    for (let k = 0; k < this.K; k++) result[k] = strict ? -Infinity : this.constant[k] * weight + base;
    for (let c = starts[node]; c < starts[node + 1]; c++)
      result[codes[c]] = (strict ? this.constant[codes[c]] * weight + base : result[codes[c]]) + values[c];
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
    const called = (from, to, name) => {
      const shown = to === from + 1 ? words[kept[from]] : to ? kept.slice(from, to).map((token) => words[token]).join(" ") : name;
      return shown.startsWith(" ") || shown.endsWith(" ") ? shown.replaceAll(" ", "␣") : shown; // so that they are seen
    };
    const unused = new Set(words.filter((word) => this.features.is_stop(word))), unknown = new Set();
    this.features.each(read, (number, from, to, name) => {
      if (!this.is_used(number)) (number < 0 ? unknown : unused).add(called(from, to, name));
    });
    const found = this.count(row), size = this.size(found);
    const strong = found.map(({ node, times, from, to, name }) => {
      const logs = this.absent === null ? this.values_of(node) : this.logs_of(node).present;
      let most = -Infinity, least = Infinity;
      for (let k = 0; k < logs.length; k++) {
        logs[k] = (logs[k] * times) / size;
        most = Math.max(most, logs[k], LEAST);
        least = Math.min(least, Math.max(logs[k], LEAST));
      }
      const own = { column: this.column, of: this.column, name: called(from, to, name), value: `×${times}`, logs, note: null };
      return { own, strength: most - least };
    });
    const result = strong.sort((a, b) => b.strength - a.strength).map(({ own }) => own);
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
    return { ...place, value: `${n.toLocaleString("en-US")} absent`, logs, note: null };
  }

  // The text in pieces, each word with how much it speaks for the one class and against the other; null: not at all.
  passages(row, best, second) {
    if (typeof row[this.column] !== "string") return [{ column: this.column, pieces: [] }];
    const read = this.features.cut(row[this.column]), { text, words, places, kept } = read;
    const shares = new Float64Array(words.length), touched = new Uint8Array(words.length), odds = new Map();
    for (const { number, node } of this.count(row)) {
      const adds = this.values_of(node), each = adds[best] - adds[second];
      odds.set(number, Number.isNaN(each) ? 0 : Math.abs(each) === Infinity ? Math.sign(each) * CERTAIN : each);
    }
    this.features.each(read, (number, from, to) => {
      const weight = odds.get(number);
      if (weight === undefined) return;
      if (this.once) odds.delete(number);
      for (let at = from; at < (to || from + 1); at++) {
        const token = to ? kept[at] : at;
        shares[token] += weight / (to ? to - from : 1);
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
