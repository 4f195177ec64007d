// The laws of what would change an answer, by brute force: jobs come as JSON, broken laws go out.
const { open } = await import(new URL("sheet.mjs", process.argv[2]));
const { changes, targets } = await import(new URL("changes.mjs", process.argv[2]));
const { effect_of, nomogram, probability_by, share_of, shape } = await import(new URL("effects.mjs", process.argv[2]));

const given = (model, row, place) => row[model.columns[place].name] ?? null;
const put = (model, row, values) => {
  const found = { ...row };
  for (const [place, value] of values) found[model.columns[place].name] = value;
  return found;
};

function* choose(places, m, from = 0) {
  if (m === 0) return yield [];
  for (let i = from; i < places.length; i++) for (const rest of choose(places, m - 1, i + 1)) yield [places[i], ...rest];
}
function* fill(model, places, values, i = 0) {
  if (i === places.length) return yield [];
  for (const value of values(places[i])) for (const rest of fill(model, places, values, i + 1)) yield [[places[i], value], ...rest];
}

// The fewest columns that must be changed, over all values that are given; null where none do.
function fewest_by_force(model, row, target, free, values, most = free.length) {
  for (let m = 1; m <= most; m++)
    for (const places of choose(free, m))
      for (const moves of fill(model, places, values)) if (model.score(put(model, row, moves)).best === target) return m;
  return null;
}

const free_of = (model, locked) => model.columns.map((_, place) => place).filter((place) => !locked.includes(model.columns[place].name));

// What holds of every answer: suggestions suffice, change what they say, so many columns, and nothing that is locked.
function* sound(model, row, result, locked) {
  for (const { moves, row: made, posterior, best } of result.suggestions) {
    if (model.score(made).best !== result.target || best !== result.target) yield "a suggestion does not suffice";
    if (moves.length !== result.fewest) yield "a suggestion has more columns than the fewest";
    if (moves.some(({ name }) => locked.includes(name))) yield "a locked column is changed";
    if (new Set(moves.map(({ place }) => place)).size !== moves.length) yield "a column is changed twice";
    const other = model.columns.filter(({ name }) => String(made[name] ?? null) !== String(row[name] ?? null)).map(({ name }) => name);
    if (other.some((name) => !moves.some((move) => move.name === name))) yield "another column has changed";
    if (posterior.some((p, k) => p !== model.score(made).posterior[k])) yield "its probability is another one";
  }
}

const LAWS = {
  // Of categories, and of counts up to `most`: no smaller set of columns will do, and where one will, one is found.
  *fewest(model, row, { locked, target, most }) {
    const result = changes(model, row, { target, locked }), free = free_of(model, locked);
    yield* sound(model, row, result, locked);
    const values = (place) => (model.columns[place].kind === "count" ? Array.from({ length: Math.ceil(model.columns[place].high) + 1 }, (_, i) => i) : model.columns[place].values);
    const by_force = fewest_by_force(model, row, target, free, values, most);
    if (result.fewest !== by_force && !(by_force === null && most < free.length)) yield `fewest ${result.fewest}, by force ${by_force}, limit ${result.limit}`;
    if (result.fewest === 1) {
      const alone = free.filter((place) => values(place).some((value) => model.score(put(model, row, [[place, value]])).best === target));
      const found = new Set(changes(model, row, { target, locked, most: 1000 }).suggestions.map(({ moves }) => moves[0].place));
      if (alone.some((place) => !found.has(place)) || found.size !== alone.length) yield "not every column that suffices alone is found";
      for (const { moves } of result.suggestions) {
        const [{ place, to, others }] = moves, every = [to, ...others];
        const good = values(place).filter((value) => String(value) !== String(given(model, row, place)) && model.score(put(model, row, [[place, value]])).best === target);
        if (model.columns[place].kind === "category" && (every.length !== good.length || good.some((value) => !every.includes(value)))) yield "not every value that suffices is named";
      }
    }
  },
  // Of numbers: the edge suffices, and nothing between the present value and the edge does; every column that has a value
  // that suffices is found.
  *nearest(model, row, { locked, target }) {
    const result = changes(model, row, { target, locked, most: 1000 });
    yield* sound(model, row, result, locked);
    const best = (place, value) => model.score(put(model, row, [[place, value]])).best;
    const grid = (low, high, n) => Array.from({ length: n + 1 }, (_, i) => low + ((high - low) * i) / n);
    if (result.fewest === 1)
      for (const { moves } of result.suggestions) {
        const [{ place, kind, from, to, edge, step }] = moves;
        if (kind !== "number" || from === null) continue;
        if (best(place, edge) !== target) yield `the edge ${edge} of ${model.columns[place].name} does not suffice`;
        const out = Math.sign(to - from), { low, high } = model.columns[place], hair = (high - low) * 1e-9;
        if (Math.abs(to - from) < Math.abs(edge - from) - hair) yield "the value is nearer than the edge";
        if (!model.columns[place].whole && step && Math.abs(to - edge) > 3 * step) yield "the value is far from the edge";
        if (Math.abs(edge - from) > 3 * hair && best(place, edge - out * hair) === target && !shape(model, place).isolated.length) yield `nearer than the edge of ${model.columns[place].name} suffices too`;
        // From the present value as far as the edge on both sides nothing suffices.
        const far = Math.abs(edge - from) - hair;
        if (far <= 0) continue;
        for (const x of [...grid(from - far, from + far, 300), ...shape(model, place).isolated.filter((one) => Math.abs(one - from) < far)])
          if (x >= low && x <= high && (!model.columns[place].whole || Number.isInteger(x)) && best(place, x) === target) yield `${x} of ${model.columns[place].name} suffices, nearer than ${edge}`;
      }
    const found = new Set(result.fewest === 1 ? result.suggestions.map(({ moves }) => moves[0].place) : []);
    for (const place of free_of(model, locked)) {
      const { low, high, kind, values } = model.columns[place];
      const tried = kind === "category" ? values : !(high > low) ? [] : shape(model, place).between ? grid(low, high, 400) : shape(model, place).isolated.filter((x) => x >= low && x <= high);
      if (!found.has(place) && tried.some((value) => best(place, value) === target)) yield `${model.columns[place].name} suffices alone, and is not found`;
    }
    // Of two classes no set with one column less suffices, each at the best of a grid.
    if (model.classes.length === 2 && result.fewest > 1) {
      const rival = 1 - target, gains = free_of(model, locked).map((place) => {
        const of = effect_of(model, place), { low, high, kind, values } = model.columns[place], old = given(model, row, place);
        const lead = (value) => (of(value)[target] - of(value)[rival]);
        const now = old === null ? 0 : lead(old), tried = kind === "category" ? values : high > low && shape(model, place).between ? grid(low, high, 500) : shape(model, place).isolated;
        return Math.max(0, ...tried.map((value) => lead(value) - now));
      });
      gains.sort((a, b) => b - a);
      const sum = gains.slice(0, result.fewest - 1).reduce((all, gain) => all + gain, 0), { joint } = model.score(row);
      if (!model.calibrated && joint.every(Number.isFinite) && joint[target] - joint[rival] + sum > 1e-6) yield `${result.fewest - 1} columns would suffice`;
    }
  },
  // Of a text: no smaller set of its words will do.
  *words(model, row, { target }) {
    const result = changes(model, row, { target }), [column] = model.columns, words = [...new Set(row[column.name].toLowerCase().split(" "))];
    yield* sound(model, row, result, []);
    const without = (gone) => row[column.name].split(" ").filter((word) => !gone.includes(word.toLowerCase())).join(" ");
    let by_force = null;
    for (let m = 1; m <= words.length && by_force === null; m++)
      for (const gone of choose(words, m)) if (model.score({ [column.name]: without(gone) }).best === target) by_force = m;
    const found = result.fewest === null ? null : result.suggestions[0].moves[0].words.length;
    if (found !== by_force && !(result.limit === "words" && found > by_force)) yield `${found} words, by force ${by_force}`;
  },
  // The points of a nomogram add up to the answer.
  *points(model, row, { yes, no }) {
    const shown = nomogram(model, row, yes, no), sum = shown.scales.reduce((all, scale) => all + scale.points, 0) + shown.other;
    if (Number.isFinite(shown.total) && Math.abs(sum - shown.total) > 1e-6 * (1 + Math.abs(sum))) yield `points ${sum}, total ${shown.total}`;
    const at = probability_by(model, row, shown), { posterior } = model.score(row);
    if (at && Math.abs(at(shown.total) - share_of(posterior, yes, no)) > 1e-9) yield `probability ${at(shown.total)}, answer ${share_of(posterior, yes, no)}`;
    if (!at && Number.isFinite(shown.total)) yield "no scale of probability";
  },
};

let text = "";
for await (const piece of process.stdin.setEncoding("utf8")) text += piece;
const broken = [], counts = { cases: 0, found: 0, several: 0 };
for (const { name, sheet, rows, laws, locked = [], most = 99 } of JSON.parse(text)) {
  const model = open(sheet);
  for (const row of rows)
    for (const law of laws)
      for (const target of law === "points" ? [0] : targets(model, row)) {
        counts.cases += 1;
        const own = { locked, target, most, yes: model.classes.length - 1, no: 0 };
        if (law !== "points") {
          const { fewest } = changes(model, row, own);
          counts.found += fewest !== null;
          counts.several += fewest > 1;
        }
        for (const what of LAWS[law](model, row, own)) broken.push(`${name} ${law} ${JSON.stringify(row)} → ${model.classes[target]}: ${what}`);
      }
}
process.stdout.write(JSON.stringify({ broken, ...counts }));
