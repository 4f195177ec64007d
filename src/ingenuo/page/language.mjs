// Every word that a reader sees goes through `say`, so that a catalogue can bring another language.
//   say("{n} of {m} rows", { n: 3, m: 14 })   ->  "3 of 14 rows"
// The key of a catalogue is the English text with its braces.
const catalogue = new Map();

export function learn(words) {
  for (const [english, other] of Object.entries(words || {})) catalogue.set(english, other);
}

export const is_foreign = () => catalogue.size > 0;

export function say(text, values) {
  const found = catalogue.get(text) ?? text;
  return values ? found.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : found;
}
