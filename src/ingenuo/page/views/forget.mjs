// Forget: what a row has left behind in a model, shown by taking it away. The sums are exact, so the model is then as if it
// had never seen the row; the server that holds them does it, or the page where it has them, on trial first.
import { html, useEffect, useState } from "../vendor/preact.mjs";
import { Bar, Table, figures, percent, shortened, signed, whole } from "../charts.mjs";
import { Button, Choice, Notice, Radios } from "../controls.mjs";
import { row_object } from "./believe.mjs";

const SHOWN = 12; // classes
const CELLS = 30; // of a row

// Two posteriors, side by side, by the classes of both.
export function Sides({ app, sides, names, last }) {
  const { say } = app, failed = sides.find((side) => side.error);
  if (failed) return html`<${Notice}>${failed.error}<//>`;
  const labels = [...new Set(sides.flatMap((side) => side.classes.map(String)))], known = app.model.classes.map(String);
  const share = (side, label) => {
    const at = side.classes.findIndex((each) => String(each) === label);
    return at < 0 ? null : side.posterior[at];
  };
  const most = labels.map((label) => Math.max(...sides.map((side) => share(side, label) ?? 0)));
  const order = labels.map((_, i) => i).sort((a, b) => most[b] - most[a] || a - b).slice(0, SHOWN);
  const place = (label) => (known.includes(label) ? known.indexOf(label) : known.length + labels.indexOf(label));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${names.join(", ")}><table class="sheet sides">
    <thead><tr><th scope="col">${say("class")}</th>${names.map((name) => html`<th scope="col" colspan="2">${shortened(name, 40)}</th>`)}<th scope="col" class="n">${last || say("change")}</th></tr></thead>
    <tbody>${order.map((i) => {
      const both = sides.map((side) => share(side, labels[i])), change = both[0] === null || both[1] === null ? null : both[1] - both[0];
      return html`<tr><th scope="row">${shortened(labels[i])}</th>${both.map((p) => html`<td class="sides-bar"><${Bar} k=${place(labels[i])} share=${p ?? 0} /></td><td class="n">${p === null ? "–" : percent(p)}</td>`)}
        <td class="n">${change === null ? "–" : change === 0 ? "=" : Math.abs(change) < 0.0005 ? `${change < 0 ? "−" : "+"}${figures(Math.abs(change), 2)}` : signed(change, 3)}</td></tr>`;
    })}</tbody></table></div>
    ${labels.length > order.length ? html`<p class="how">${say("{n} less probable classes are not shown.", { n: labels.length - order.length })}</p>` : null}`;
}

export const SIDES = `.sides-bar{min-width:clamp(2.5rem,12vw,9rem);vertical-align:middle!important}.sides th[colspan]{max-width:9rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.sides th,.sides td{overflow-wrap:normal!important}`;

// What was changed so far, and what can be done with that.
export function Changed({ app, state, failed }) {
  const { say } = app, [saved, set] = useState(null);
  const ask = (path, after) => () => app.home.post(path, {}).then(after, (error) => failed(error.message));
  const save = ask("/v1/save", (found) => set(say("Saved to {file} ({n} bytes).", { file: found.saved, n: whole(found.bytes) })));
  return html`<p class="forget-state">
    <span>${state.changes === 0 ? say("The model is as it was opened.") : state.changes === 1 ? say("The model was changed once since it was opened.") : say("The model was changed {n} times since it was opened.", { n: state.changes })}</span>
    ${state.changes ? html`<${Button} icon="undo" on=${ask("/v1/undo", app.home.changed)}>${say("Undo the last")}<//>` : null}
    ${typeof state.learned === "number" ? html`<span>${say("It knows {n} rows.", { n: whole(state.learned) })}</span>` : null}
    ${state.save_to ? html`<${Button} on=${save}>${say("Save to {file}", { file: state.save_to })}<//>` : null}
    ${app.server ? html`<a href="/v1/model.ingenuo" download="model.ingenuo">${say("Download the model")}</a>` : html`<span>${say("This page cannot save the model: for that, use ingenuo open MODEL -o FILE.")}</span>`}
    <span role="status">${saved}</span></p>`;
}

function Forget({ app }) {
  const { say } = app, rows = app.rows, { state } = app.home, K = app.model.classes.length;
  const [what, choose_what] = useState("forget"), [number, choose_number] = useState(""), [label, choose_label] = useState(null);
  const [found, set_found] = useState(null), [error, set_error] = useState(null), [busy, set_busy] = useState(false);
  const picked = rows && number !== "" ? Math.min(Math.max(1, Math.trunc(Number(number)) || 1), rows.values.length) - 1 : null;
  const row = picked === null ? app.row : row_object(rows, picked), own = picked === null ? null : rows.labels[picked];
  const at = label !== null ? label : own !== null && own >= 0 ? own : app.answer.order[0];
  const cannot = (state.cannot || {})[what === "forget" ? "forget" : "partial_fit"], forgets = what === "forget";
  useEffect(() => { set_found(null); set_error(null); }, [what, JSON.stringify(row), at, app.model]);
  const ask = (apply) => {
    set_busy(true);
    const body = { rows: [row], classes: [app.model.classes[at]], question: app.row, apply };
    app.home.post(forgets ? "/v1/forget" : "/v1/learn", body).then(
      (answer) => { set_busy(false); set_error(null); set_found(answer); if (apply) app.home.changed(); },
      (failure) => { set_busy(false); set_found(null); set_error(failure.message); });
  };
  const cells = Object.entries(row), count = (n) => (n === null ? "–" : whole(n));
  const fractions = found && {
    heads: [say("column"), say("value"), say("class"), say("before"), say("after")],
    rows: found.fractions.map((each) => [each.column, each.value, each.class, side(each.before), side(each.after)]),
    label: say("fractions before and after"),
  };
  return html`<div class="forget"><style>${SIDES}${STYLE}</style>
    <p class="how">${say("A model of sums can take a row away exactly: it is then as if it had never seen it. Nothing is changed before you say so, and the file of the model stays as it is.")}
      ${forgets && !state.fingerprints ? html` ${say("Its sums cannot always show whether a row was learned: only take away one that was.")}` : null}</p>
    <${Changed} app=${app} state=${state} failed=${set_error} />
    <fieldset><legend>${say("Which row")}</legend>
      <div class="forget-choice">
        ${app.server ? html`<${Radios} label=${say("what to do")} options=${[{ value: "forget", label: say("forget") }, { value: "learn", label: say("learn") }]} value=${what} on=${choose_what} />` : null}
        ${rows ? html`<label class="forget-number">${say("row")} <input type="number" min="1" max=${rows.values.length} placeholder=${say("the question")} value=${number} onInput=${(event) => { choose_number(event.currentTarget.value); choose_label(null); }} /></label>` : html`<span>${say("the question")}</span>`}
        <${Choice} label=${say("class of the row")} options=${Array.from({ length: K }, (_, k) => ({ value: k, label: app.label(k) }))} value=${at} on=${choose_label}>${say("of class")} <//>
      </div>
      <p class="forget-row">${cells.length ? cells.slice(0, CELLS).map(([name, value]) => html`<span class="forget-cell"><b>${name}</b> ${shortened(value, 80)}</span>`) : say("Nothing is known of this row.")}${cells.length > CELLS ? html`<span class="forget-cell">${say("and {n} more", { n: cells.length - CELLS })}</span>` : null}</p>
      ${cannot ? html`<${Notice}>${cannot}<//>` : html`<p class="forget-choice">
        <${Button} disabled=${busy} on=${() => ask(false)}>${forgets ? say("What would forgetting it change?") : say("What would learning it change?")}<//>
        ${found ? html`<${Button} class="primary" disabled=${busy} on=${() => ask(true)}>${forgets ? say("Forget it") : say("Learn it")}<//>` : null}</p>`}
    </fieldset>
    ${error ? html`<${Notice}>${error}<//>` : null}
    ${found ? html`<div>
      <p role="status">${say("Rows of the model: {before} before, {after} after.", { before: count(found.learned[0]), after: count(found.learned[1]) })}</p>
      ${found.question ? html`<h3>${say("The answer to the question")}</h3><${Sides} app=${app} sides=${found.question} names=${[say("before"), say("after")]} />` : null}
      ${picked === null ? null : html`<h3>${say("The answer to the row itself")}</h3><${Sides} app=${app} sides=${found.rows[0]} names=${[say("before"), say("after")]} />`}
      <h3>${say("Every fraction that it touches")}</h3>
      ${found.fractions.length ? html`<${Table} ...${fractions} />` : html`<p>${say("None: what is known of this row is nothing to the model.")}</p>`}
      ${found.more ? html`<p class="how">${say("and {n} more", { n: whole(found.more) })}</p>` : null}
    </div>` : null}
  </div>`;
}

// A fraction as a person writes it, with its value.
function side(term) {
  if (term === null) return "–";
  const [how, value] = term, shown = typeof value === "number" ? figures(value, 7) : value;
  return how ? html`<span class="forget-how">${how}</span> <span class="forget-value">= ${shown}</span>` : shown;
}

const STYLE = `
.forget fieldset{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem 1rem;margin:1rem 0;min-width:0}
.forget-choice{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;max-width:none}
.forget-number input{width:8.5rem}
.forget-row{display:flex;flex-wrap:wrap;gap:.35rem;max-width:none}.forget-cell{background:var(--shade);border:1px solid var(--line);border-radius:.3rem;padding:.05rem .45rem;overflow-wrap:anywhere}
.forget-cell b{font-weight:400;color:var(--soft)}.forget-state{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;max-width:none}
.forget .sheet td,.forget .sheet th{overflow-wrap:normal}.forget-how{font-variant-numeric:tabular-nums}.forget-value{color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}`;

export const view = {
  id: "forget",
  title: "Forget",
  missing: (app) => {
    if (!app.home) return app.say("Forgetting needs the exact sums of the model, which this page does not carry: export it with --sums, or use ingenuo open MODEL.");
    const { cannot = {} } = app.home.state;
    return cannot.forget && cannot.partial_fit ? `${cannot.forget.charAt(0).toUpperCase()}${cannot.forget.slice(1)}.` : null;
  },
  component: Forget,
};
