// Two models: the same question to both. The second one comes from a page, a sheet or, at home, a model file that is dropped
// here; it is answered in the browser, like the first. Adding two models up needs their sums, and so the server.
import { html, useMemo, useState } from "../vendor/preact.mjs";
import { Odds, Table, shortened, signed } from "../charts.mjs";
import { Button, Notice } from "../controls.mjs";
import { open } from "../sheet.mjs";
import { Changed, SIDES, Sides } from "./forget.mjs";

const LARGEST = 64e6; // bytes of a file
const UNPACKED = 200e6; // bytes of a sheet that was packed
const TERMS = 24;

// The text of bytes that were packed by gzip, no longer than it should be.
async function unpacked(bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader(), decoder = new TextDecoder(), parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > UNPACKED) throw new Error("the data of this page is too large");
    parts.push(decoder.decode(value, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

// The sheet in a file: a page that was exported, or a sheet as JSON.
export async function sheet_of(bytes) {
  const text = new TextDecoder().decode(bytes);
  if (text.trimStart().startsWith("{")) {
    const found = JSON.parse(text);
    return found.sheet || found;
  }
  const packed = /<script\b[^>]*\bid="?data"?[^>]*>([^<]*)<\/script>/.exec(text);
  if (!packed) throw new Error("this is no page of a model and no sheet");
  const raw = atob(packed[1].trim()), data = Uint8Array.from(raw, (letter) => letter.charCodeAt(0));
  const found = JSON.parse(await unpacked(data));
  if (!found || !found.sheet) throw new Error("this page has no sheet of a model");
  return found.sheet;
}

// The lines of both explanations side by side: what each adds to the log odds of one class against another.
export function differences(first, second, places) {
  const lines = new Map();
  [first, second].forEach((model, side) => {
    const [a, b] = places[side];
    model.factors.forEach((factor) => {
      const key = JSON.stringify([factor.column === null ? null : factor.name, factor.column === null ? "" : factor.of === null ? "" : factor.value]);
      const odds = factor.logs === null ? 0 : odds_of(factor.logs[a], factor.logs[b]);
      if (!lines.has(key)) lines.set(key, { name: factor.name, values: [null, null], odds: [null, null], speaks: false });
      const line = lines.get(key);
      line.speaks ||= factor.logs !== null;
      line.values[side] = factor.value;
      line.odds[side] = (line.odds[side] ?? 0) + odds;
    });
  });
  const found = [...lines.values()].filter((line) => line.speaks).map((line) => ({ ...line, difference: (line.odds[1] ?? 0) - (line.odds[0] ?? 0) }));
  const size = (line) => (Number.isNaN(line.difference) ? Infinity : Math.abs(line.difference));
  return found.sort((x, y) => size(y) - size(x));
}

function odds_of(a, b) {
  return a === b ? 0 : a - b;
}

function Two({ app }) {
  const { say } = app, [second, set_second] = useState(null), [error, set_error] = useState(null), [busy, set_busy] = useState(false), [sum, set_sum] = useState(null);
  const [over, set_over] = useState(false);
  const fail = (failure) => { set_busy(false); set_error(failure.message || String(failure)); };
  const take = async (file) => {
    set_error(null);
    set_sum(null);
    if (!file) return;
    set_busy(true);
    try {
      if (file.size > LARGEST) throw new Error(say("{file} is larger than {n} MB", { file: file.name, n: LARGEST / 1e6 }));
      const bytes = new Uint8Array(await file.arrayBuffer());
      const is_model = new TextDecoder().decode(bytes.subarray(8, 64)).includes('"format":"ingenuo"');
      if (is_model && !app.server) throw new Error(say("This is a model file, which a page alone does not read: use ingenuo open, or drop a page or a sheet of it."));
      const sheet = is_model ? (await app.server.post("/v1/second", bytes)).sheet : await sheet_of(bytes);
      const model = open(sheet), check = model.check();
      set_second({ model, check, name: file.name, here: is_model });
    } catch (failure) {
      set_second(null);
      fail(failure);
    }
    set_busy(false);
  };
  const merge = (apply) => {
    set_busy(true);
    app.server.post("/v1/merge", { question: app.row, apply }).then((found) => { set_busy(false); set_error(null); set_sum(found); if (apply) app.home.changed(); }, fail);
  };
  return html`<div class="two"><style>${SIDES}${STYLE}</style>
    <p class="how">${say("The same question to this model and to another: what each answers, and where they part.")}</p>
    ${app.server && app.server.state.changes ? html`<${Changed} app=${app} state=${app.server.state} failed=${set_error} />` : null}
    <label class=${over ? "two-drop over" : "two-drop"} onDragOver=${(event) => { event.preventDefault(); set_over(true); }} onDragLeave=${() => set_over(false)}
      onDrop=${(event) => { event.preventDefault(); set_over(false); take(event.dataTransfer.files[0]); }}>
      <span>${app.server ? say("Drop another model here: its file, or a page or sheet that was exported of it; or choose it:") : say("Drop a page or sheet here that was exported of another model; or choose it:")}</span>
      <input type="file" onChange=${(event) => take(event.currentTarget.files[0])} /></label>
    <div role="status">${busy ? html`<p>${say("It is read …")}</p>` : null}${error ? html`<${Notice}>${error}<//>` : null}</div>
    ${second ? html`<${Beside} app=${app} second=${second} />` : null}
    ${second ? (app.server && app.server.state.cannot.merge ? html`<p class="how">${app.server.state.cannot.merge}</p>` : app.server && second.here ? html`<section><h3>${say("Both together")}</h3>
      <p class="how">${say("Models of sums add up: the sum is the model that would have learned all the rows of both.")}</p>
      <p><${Button} disabled=${busy} on=${() => merge(false)}>${say("What would the sum answer?")}<//> ${sum ? html`<${Button} class="primary" disabled=${busy} on=${() => merge(true)}>${say("Go on with the sum")}<//>` : null}</p>
      ${sum ? html`${sum.notes.map((note) => html`<p>${note}</p>`)}${sum.question ? html`<${Sides} app=${app} sides=${sum.question} names=${[say("this model"), say("the sum")]} />` : null}` : null}</section>`
      : html`<p class="how">${say("Adding the two up needs their sums: open one by ingenuo open, and drop the file of the other.")}</p>`) : null}
  </div>`;
}

function Beside({ app, second }) {
  const { say } = app, row = app.row, theirs = second.model;
  const found = useMemo(() => {
    const names = new Set(theirs.columns.map((column) => column.name)), own = new Set(app.model.columns.map((column) => column.name));
    const asked = Object.fromEntries(Object.entries(row).filter(([name]) => names.has(name)));
    const alone = [app.model.columns.filter((column) => !names.has(column.name)), theirs.columns.filter((column) => !own.has(column.name))];
    const problem = theirs.mistake(asked);
    return { explained: problem ? null : theirs.explain(asked), problem, alone };
  }, [theirs, app.model, row]);
  if (found.problem) return html`<${Notice}>${found.problem}<//>`;
  const first = app.answer, labels = theirs.classes.map(String), place = (k) => labels.indexOf(String(app.model.classes[k]));
  const [best, next] = [first.order[0], first.order[1] ?? first.order[0]], their_pair = [place(best), place(next)];
  const shared = their_pair.every((k) => k >= 0) && best !== next;
  const lines = shared ? differences(first, found.explained, [[best, next], their_pair]) : [];
  const sides = [{ classes: app.model.classes, posterior: first.posterior }, { classes: theirs.classes, posterior: found.explained.posterior }];
  const names = [say("this model"), second.name];
  const shown = lines.slice(0, TERMS), most = Math.max(0, ...shown.map((line) => (Number.isFinite(line.difference) ? Math.abs(line.difference) : 0)));
  const table = {
    heads: [say("column"), say("value"), ...names.map((name) => shortened(name, 40)), say("difference"), ""],
    rows: shown.map((line) => [line.name, shortened(line.values[0] ?? line.values[1] ?? ""), signed(line.odds[0], 3), signed(line.odds[1], 3), signed(line.difference, 3), html`<${Odds} value=${line.difference} most=${most} pair=${[best, next]} />`]),
    numbers: [2, 3, 4],
    label: say("terms of both models"),
  };
  return html`<div>
    <p>${say("{name}: {kind} of {target}, {n} columns; {passed} of {of} check rows are as Python answered them.", { name: second.name, kind: theirs.document.kind, target: theirs.document.target ?? "–", n: theirs.columns.length, passed: second.check.passed, of: second.check.of })}</p>
    ${second.check.passed < second.check.of ? html`<${Notice}>${say("Its sheet was changed since Python wrote it: do not believe its answers.")}<//>` : null}
    ${found.alone.map((columns, side) => (columns.length ? html`<p class="how">${say("Known to {name} alone: {columns}.", { name: names[side], columns: listed(columns.map((column) => column.name), say) })}</p>` : null))}
    <${Sides} app=${app} sides=${sides} names=${names} last=${say("difference")} />
    ${shared ? html`<h3>${say("Where they part")}</h3>
      <p class="how">${say("What each column adds to the log odds of {best} against {next}, and by how much the second model differs.", { best: app.label(best), next: app.label(next) })}</p>
      <${Table} ...${table} />
      ${lines.length > TERMS ? html`<p class="how">${say("and {n} more that differ less", { n: lines.length - TERMS })}</p>` : null}`
    : html`<p class="how">${say("The second model does not know the classes between which this one decides, so that their terms are not compared.")}</p>`}
  </div>`;
}

function listed(names, say) {
  return names.slice(0, 8).join(", ") + (names.length > 8 ? ` ${say("and {n} more", { n: names.length - 8 })}` : "");
}

const STYLE = `
.two .sheet td,.two .sheet th{overflow-wrap:normal}
.two-drop{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:center;border:2px dashed var(--line);border-radius:.6rem;padding:1rem;margin:1rem 0;cursor:pointer}
.two-drop.over{border-color:var(--link);background:var(--shade)}.two-drop input{max-width:100%}`;

export const view = { id: "two", title: "Two models", missing: () => null, component: Two };
