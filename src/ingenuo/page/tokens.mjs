// Texts are cut into words as Python cuts them: what a letter is and what its lower case, the tables of the sheet say, not
// the browser, whose Unicode is of another year. Of regular expressions only what both languages do alike is on a sheet.
const LETTER = 1, DIGIT = 2, SPACE = 4, CASED = 8, SKIPPED = 16, END = 0x110000;
const NAMED = { letters: LETTER, digits: DIGIT, spaces: SPACE };
const BEYOND_ASCII = /[^\0-\x7f]/;

// The tables of a sheet (text/tokens.py, reader_tables) and what is made of them, once.
export class Letters {
  constructor(tables) {
    this.flags = new Uint8Array(END + 1);
    for (const [name, flag] of [["letters", LETTER], ["digits", DIGIT], ["spaces", SPACE], ["cased", CASED], ["skipped", SKIPPED]])
      for (let i = 0, at = 0; i < tables[name].length; i += 2) {
        at += tables[name][i];
        for (const end = at + tables[name][i + 1]; at < end; at++) this.flags[at] |= flag;
      }
    this.lowered = new Map(Object.entries(tables.longer));
    for (let i = 0, code = 0; i < tables.lower.length; i += 4) {
      const [ahead, count, step, shift] = tables.lower.slice(i, i + 4);
      code += ahead;
      for (let n = 0; n < count; n++, code += step) this.lowered.set(String.fromCodePoint(code), String.fromCodePoint(code + shift));
      code -= step;
    }
    this.classes = new Map();
  }

  has(code, flag) {
    return (this.flags[code] & flag) !== 0;
  }

  // As Python's str.lower().
  lower(text) {
    if (!BEYOND_ASCII.test(text)) return text.toLowerCase();
    return text.replace(/[A-Z]+|[^\0-\x7f]/gu, (found, at) => {
      if (found < "\x80") return found.toLowerCase();
      if (found === "Σ") return this.ends_word(text, at) ? "ς" : "σ";
      return this.lowered.get(found) ?? found;
    });
  }

  // Whether a capital sigma ends its word: a character with a case before it and none after it, each the next that the
  // rule does not skip.
  ends_word(text, at) {
    let before = at - 1;
    for (; before >= 0; before--) {
      if ((text.charCodeAt(before) & 0xfc00) === 0xdc00 && before > 0 && (text.charCodeAt(before - 1) & 0xfc00) === 0xd800) before -= 1;
      if (!this.has(text.codePointAt(before), SKIPPED)) break;
    }
    if (before < 0 || !this.has(text.codePointAt(before), CASED)) return false;
    for (let after = at + 1, code; after < text.length; after += code > 0xffff ? 2 : 1) {
      code = text.codePointAt(after);
      if (!this.has(code, SKIPPED)) return !this.has(code, CASED);
    }
    return true;
  }

  // Where each run of characters with a flag (or of others) begins and ends, in turn.
  runs(text, flag, others) {
    const found = [];
    let inside = false;
    for (let at = 0, code; at < text.length; at += code > 0xffff ? 2 : 1) {
      code = text.charCodeAt(at);
      if ((code & 0xfc00) === 0xd800) code = text.codePointAt(at);
      const wanted = others ? !this.has(code, flag) && code !== 0 : this.has(code, flag);
      if (wanted !== inside) found.push(at);
      inside = wanted;
    }
    if (inside) found.push(text.length);
    return found;
  }

  // The characters of a class of a regular expression, as what stands in brackets.
  members(name) {
    if (!this.classes.has(name)) {
      const others = name.startsWith("not "), flag = NAMED[others ? name.slice(4) : name], ranges = [];
      for (let code = 0, begin = -1; code <= END; code++) {
        const wanted = code < END && this.has(code, flag) !== others;
        if (wanted && begin < 0) begin = code;
        if (wanted || begin < 0) continue;
        ranges.push(`\\u{${begin.toString(16)}}-\\u{${(code - 1).toString(16)}}`);
        begin = -1;
      }
      this.classes.set(name, ranges.join(""));
    }
    return this.classes.get(name);
  }
}

// Finds the words of texts by the settings of a column (text/reader.py).
export class Reader {
  constructor(settings, letters) {
    this.settings = settings;
    this.letters = letters;
    const { pattern, negation } = settings;
    this.pattern = pattern && new RegExp(pattern.map((piece, i) => (i % 2 ? letters.members(piece) : piece)).join(""), "gud");
    this.cues = negation && new Set(negation.cues);
    this.closing = negation && new Set(negation.closing);
  }

  // What a column of texts is read as: half a pair of surrogates becomes a question mark where errors are to be replaced.
  mended(text) {
    return this.settings.errors === "replace" ? text.replace(/[\ud800-\udfff]/gu, "?") : text;
  }

  // The words of a text, and where each begins and ends in it.
  cut(text) {
    const { lowercase, negation } = this.settings;
    const shown = lowercase ? this.letters.lower(text) : text;
    const places = this.places(shown), words = [];
    const marks = negation ? this.scopes(shown) : [];
    for (let i = 0, mark = 0; i < places.length; i += 2) {
      while (mark < marks.length && marks[mark] <= places[i]) mark += 1;
      words.push((mark % 2 ? negation.prefix : "") + shown.slice(places[i], places[i + 1]));
    }
    return { words, places: shown.length === text.length ? places : this.places_in(text, places) };
  }

  // Where the words of a text in lower case begin and end, in turn.
  places(shown) {
    const { characters, shortest, group } = this.settings;
    if (characters) return this.letters.runs(shown, SPACE, true);
    const found = [];
    if (this.pattern) {
      for (const { indices } of shown.matchAll(this.pattern)) {
        const place = indices[group];
        if (place && place[0] < place[1]) found.push(...place);
      }
      return found;
    }
    const runs = this.letters.runs(shown, LETTER, false);
    if (shortest < 2) return runs;
    for (let i = 0; i < runs.length; i += 2) {
      const size = runs[i + 1] - runs[i];
      if (size > 2 || (size === 2 && shown.codePointAt(runs[i]) < 0x10000)) found.push(runs[i], runs[i + 1]);
    }
    return found;
  }

  // The same places in a text that has a character whose lower case is longer.
  places_in(text, places) {
    const origins = [], ends = [];
    for (let at = 0; at < text.length; ) {
      const size = text.codePointAt(at) > 0xffff ? 2 : 1, one = text.slice(at, at + size);
      for (let i = 0; i < (this.letters.lowered.get(one) ?? one).length; i++) {
        origins.push(at);
        ends.push(at + size);
      }
      at += size;
    }
    return places.map((place, i) => (i % 2 ? ends[place - 1] : origins[place]));
  }

  // Where the scopes of negations begin and end, in turn: behind a cue, or the t of n't, up to the next punctuation.
  scopes(shown) {
    const { negation } = this.settings, { letters } = this, found = [], runs = letters.runs(shown, LETTER, false);
    let opens_behind = -1, at = 0; // where the t of a contraction begins
    for (let i = 0; i <= runs.length; i += 2) {
      const begin = i < runs.length ? runs[i] : shown.length;
      for (; at < begin; at++) if (found.length % 2 && this.closing.has(shown[at])) found.push(at);
      if (i === runs.length) break;
      const end = (at = runs[i + 1]), run = shown.slice(begin, end), plain = letters.lower(run);
      if (this.cues.has(plain) || begin === opens_behind) {
        if (found.length % 2 === 0) found.push(end);
      } else if (negation.contractions && plain.endsWith("n") && /['’][tT]/y.test(shown.slice(end, end + 2))) {
        const next = shown.codePointAt(end + 2);
        if (next === undefined || !letters.has(next, LETTER)) opens_behind = end + 1;
      }
    }
    return found;
  }
}

// So many characters in a row of a word between spaces, by where they end and then by their lengths; a shorter word is
// there as it is.
export function grams(word, [fewest, most], use) {
  const whole = ` ${word} `, letters = [...whole], n = letters.length;
  const plain = n === whole.length; // no character takes two places
  const part = (from, to) => (plain ? whole.slice(from, to) : letters.slice(from, to).join(""));
  for (let end = 1; end <= n; end++) for (let size = fewest; size <= most && size <= end; size++) use(part(end - size, end));
  if (n < fewest) use(whole);
}
