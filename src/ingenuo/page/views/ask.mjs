// Ask: the question. A control for each column, all of which may be unknown; what the model never saw is accepted and said
// to be left out.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.mjs";
import { say } from "../language.mjs";
import { Odds, breakable, figures, shortened, whole } from "../charts.mjs";
import { Button, Choice, Combobox, Icon, NumberField, Radios, Slider, Stepper, TextField, memo } from "../controls.mjs";
import { spell } from "../posterior.mjs";
import { command, python } from "../state.mjs";
import { heard } from "./answer.mjs";

const CHIPS = 7; // values up to which a category is a group of chips
const CHIP_LETTERS = 90; // that they may have together
const MANY = 12; // columns from which on they can be searched
const BY_EFFECT = 30; // and from which on those with the largest effect come first
const STEP = 100; // columns that are drawn at once
const STRONG = 2; // log odds that fill the small bar of a column
const PATIENCE = 400; // milliseconds to find out what columns can do

function options_of(column) {
  return column.values.map((value) => ({ value, label: spell(value) }));
}

// Whether a column of numbers has whole ones only.
function is_whole(column) {
  return column.whole ?? (column.values ? Array.from(column.values).every(Number.isInteger) : false);
}

const Field = memo(function Field({ app_set, column, label, value, adds, note, a, b, pieces, alone }) {
  const options = useMemo(() => (column.kind === "category" ? options_of(column) : []), [column]);
  const marks = useMemo(() => Array.from(column.means || [], (mean, k) => ({ at: mean, k, title: say("mean of {class}: {mean}", { class: label(k), mean: figures(mean) }) })), [column]);
  const name = shortened(column.name, 200), on = (gesture) => (given) => app_set(column.name, given, gesture ? { gesture: `${gesture} ${column.name}` } : {});
  const known = value === null || column.kind !== "category" || options.some((option) => Object.is(option.value, value));
  const chips = options.length > 0 && options.length <= CHIPS && options.reduce((all, option) => all + option.label.length, 0) <= CHIP_LETTERS;
  return html`<div class=${`field ${column.kind}${value === null ? " unset" : ""}${alone ? " alone" : ""}`} role="group" aria-label=${name}>
    <div class="field-head"><span class="field-name" dir="auto" title=${column.name.length > 30 ? shortened(column.name, 2000) : undefined}>${breakable(name)}</span>
      <${Odds} value=${adds} most=${STRONG} pair=${[a, b]} />
      ${column.kind !== "count" && !chips ? html`<${Button} class="clear" icon="close" label=${say("make {name} unknown", { name })} disabled=${value === null} on=${() => app_set(column.name, null)} />` : null}</div>
    ${column.kind === "number" ? html`<div class="field-body"><${Slider} label=${say("{name}, slider", { name })} value=${value} low=${column.low ?? -1} high=${column.high ?? 1} whole=${is_whole(column)} marks=${marks} on=${on("slide")} />
        <${NumberField} label=${name} value=${value} placeholder=${say("unknown")} on=${on("type")} /></div>`
    : column.kind === "count" ? html`<${Stepper} label=${name} value=${value} on=${on("count")} />`
    : column.kind === "text" ? html`<${TextField} label=${name} value=${value} pieces=${pieces || (value ? [[value, null]] : [])} pair=${[a, b]} placeholder=${say("Write or paste a text here.")} on=${on("write")} />`
    : chips ? html`<${Radios} label=${name} value=${value} unknown=${true} options=${known ? options : [...options, { value, label: spell(value) }]} on=${on()} />`
    : html`<${Combobox} label=${name} value=${value} placeholder=${say("unknown")} options=${options} on=${on()} />`}
    ${note ? html`<p class="note">${note}</p>` : null}</div>`;
});

// What each column adds now, and what is said of it.
function effects(app) {
  const adds = new Map(), notes = new Map(), [a, b] = app.pair;
  for (const factor of app.answer.factors) {
    const place = factor.of ?? factor.column;
    if (place === null) continue;
    if (factor.logs) {
      const each = factor.logs[a] === factor.logs[b] ? 0 : factor.logs[a] - factor.logs[b];
      adds.set(place, (adds.get(place) ?? 0) + each);
    } else if (factor.note && factor.of === null && app.row[app.model.columns[place].name] !== undefined) notes.set(place, heard(factor.note));
  }
  return { adds, notes };
}

// How far each column alone can move the answer: the places of columns, the strongest first.
function by_effect(model) {
  const start = performance.now(), nothing = model.score({}).posterior, places = model.columns.map((_, place) => place);
  const far = model.columns.map((column) => {
    if (column.kind === "text") return Infinity;
    if (performance.now() - start > PATIENCE) return 0;
    const values = column.kind === "category" ? column.values.slice(0, 8) : column.kind === "count" ? [1] : [...Array.from(column.means || []).slice(0, 6), column.low, column.high].filter(Number.isFinite);
    return values.reduce((most, value) => {
      const { posterior } = model.score({ [column.name]: value });
      return Math.max(most, posterior.reduce((sum, p, k) => sum + Math.abs(p - nothing[k]), 0));
    }, 0);
  });
  return places.sort((x, y) => far[y] - far[x] || x - y);
}

// A row as the model imagines one: of a class drawn by its share, the values that this class has.
export function imagined(model, random = Math.random) {
  const draw = (weights) => {
    let left = random() * weights.reduce((sum, each) => sum + each, 0);
    return Math.max(0, weights.findIndex((each) => (left -= each) < 0));
  };
  const k = draw(Array.from(model.document.priors || model.classes, (each) => (typeof each === "number" ? each : 1))), row = {};
  model.columns.forEach((column, place) => {
    if (column.kind === "number" && column.means) {
      const spread = (column.high - column.low) / 8, x = column.means[k] + spread * (random() + random() - 1);
      row[column.name] = Number(x.toPrecision(3));
    } else if ((column.kind === "category" || column.kind === "number") && column.values && column.values.length) {
      const values = Array.from(column.values).slice(0, 200), logs = values.map((value) => (model.additive ? model.effect(place, value)[k] : 0)), top = Math.max(...logs);
      row[column.name] = values[Number.isFinite(top) ? draw(logs.map((each) => Math.exp(each - top))) : 0];
    }
  });
  return row;
}

function example(app) {
  const { rows, model } = app;
  if (!rows || !rows.values.length) return imagined(model);
  const cells = rows.values[Math.floor(Math.random() * rows.values.length)];
  return Object.fromEntries(rows.columns.map((name, j) => [name, cells[j]]));
}

// The question elsewhere.
function Copy({ app }) {
  const [done, set] = useState(null), menu = useRef(null), columns = app.model.columns;
  const file = app.about.file || "model.ingenuo";
  const forms = [[say("as a command"), command(app.row, columns, file)], [say("as Python"), python(app.row, columns)], ...(location.protocol === "about:" ? [] : [[say("as a link"), null]])];
  const copy = async (name, text) => {
    const given = text ?? location.href;
    try {
      await navigator.clipboard.writeText(given);
      set(name);
      app.announce(say("copied"));
      setTimeout(() => { set(null); app.announce(""); }, 2500);
    } catch {
      set(null);
    }
  };
  useEffect(() => {
    const close = (event) => {
      if (menu.current && menu.current.open && (event.key === "Escape" || (event.type === "pointerdown" && !menu.current.contains(event.target)))) menu.current.open = false;
    };
    addEventListener("keydown", close);
    addEventListener("pointerdown", close);
    return () => { removeEventListener("keydown", close); removeEventListener("pointerdown", close); };
  }, []);
  return html`<details class="menu" ref=${menu}><summary aria-label=${say("Copy the question")} title=${say("Copy the question")}><${Icon} name="copy" /></summary><div class="sheet-below">${forms.map(([name, text]) => html`<div class="form"><${Button} icon=${done === name ? "check" : "copy"} on=${() => copy(name, text)}>${name}<//>${text === null ? null : html`<code tabindex="0" role="region" aria-label=${name}>${shortened(text, 600)}</code>`}</div>`)}</div></details>`;
}

export function Ask({ app }) {
  const { model, row } = app, { columns } = model, n = columns.length;
  const [wanted, search] = useState(""), [order, sort] = useState(n > BY_EFFECT ? "effect" : "table"), [most, show] = useState(STEP);
  const sorted = useMemo(() => (order === "effect" ? by_effect(model) : columns.map((_, place) => place)), [order]);
  const folded = wanted.trim().toLowerCase();
  const matching = useMemo(() => (folded ? sorted.filter((place) => columns[place].name.toLowerCase().includes(folded)) : order === "set" ? sorted.filter((place) => row[columns[place].name] !== undefined) : sorted), [sorted, folded, order === "set" && row]);
  const { adds, notes } = useMemo(() => effects(app), [app]);
  const set_of = useMemo(() => app.set, []), [pieces, colour] = useState(() => new Map());
  // Words are coloured once the answer was drawn: of a long text that takes longer than the answer.
  useEffect(() => colour(new Map(app.passages.map((each) => [each.column, each.pieces]))), [app.answer, app.pair[0], app.pair[1]]);
  const has_example = (app.rows && app.rows.values.length > 0) || columns.some((column) => column.kind !== "text" && (column.means || (column.values && column.values.length)));
  const known = Object.keys(row).length;
  return html`<section class="ask" id="ask" aria-labelledby="ask-head">
    <div class="ask-head"><h2 id="ask-head">${say("Question")}</h2><span class="tools">
      ${has_example ? html`<${Button} icon="dice" label=${app.rows ? say("Take one of the rows") : say("Imagine a row")} on=${() => app.ask(example(app))} />` : null}
      <${Button} icon="undo" label=${say("Undo")} disabled=${!app.can.undo} on=${app.undo} />
      <${Button} icon="redo" label=${say("Redo")} disabled=${!app.can.redo} on=${app.redo} />
      <${Button} icon="reset" label=${say("Reset: everything unknown")} disabled=${known === 0} on=${app.reset} />
      <${Copy} app=${app} /></span></div>
    ${n > MANY ? html`<div class="ask-find"><input type="search" aria-label=${say("Find a column")} placeholder=${say("Find a column")} value=${wanted} onInput=${(event) => { search(event.currentTarget.value); show(STEP); }} />
      <${Choice} label=${say("Order of the columns")} value=${order} on=${sort} options=${[{ value: "effect", label: say("by effect") }, { value: "table", label: say("as in the table") }, { value: "set", label: say("those that are known") }]} /></div>` : null}
    <div class="fields">${matching.slice(0, most).map((place) => html`<${Field} key=${place} app_set=${set_of} column=${columns[place]} label=${app.label} value=${row[columns[place].name] ?? null} adds=${adds.get(place) ?? null} note=${notes.get(place) ?? null} a=${app.pair[0]} b=${app.pair[1]} pieces=${pieces.get(place)} alone=${n === 1} />`)}
      ${matching.length > most ? html`<p><${Button} on=${() => show(most + STEP)}>${say("Show more of {n} columns", { n: whole(matching.length) })}<//></p>` : null}
      ${matching.length ? null : html`<p class="how">${folded ? say("No column is called so.") : say("Nothing is known yet.")}</p>`}</div>
    <dl class="printed">${columns.filter(({ name }) => row[name] !== undefined).map(({ name }) => html`<div><dt>${name}</dt><dd>${spell(row[name])}</dd></div>`)}</dl>
  </section>`;
}
