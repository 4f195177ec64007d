// Forget: what a row has left behind in a model, shown by taking it away. The sums are exact, so the model is then as if it
// had never seen the row; the server that holds them does it, on trial first.
import { html, useEffect, useState } from "../vendor/preact.mjs";
import { row_object } from "./believe.mjs";

const percent = (p) => (p > 0 && p < 0.0005 ? "< 0.1%" : p < 1 && p >= 0.9995 ? "> 99.9%" : `${(100 * p).toFixed(1)}%`);
const seven = (x) => (typeof x === "number" ? Number(x.toPrecision(7)).toString().replace("-", "−") : String(x));

// Two posteriors, side by side, by the classes of both.
export function Sides({ app, sides, names }) {
  const { say } = app, failed = sides.find((side) => side.error);
  if (failed) return html`<p class="warning">${failed.error}</p>`;
  const labels = [...new Set(sides.flatMap((side) => side.classes.map(String)))];
  const share = (side, label) => {
    const at = side.classes.findIndex((each) => String(each) === label);
    return at < 0 ? null : side.posterior[at];
  };
  const most = labels.map((label) => Math.max(...sides.map((side) => share(side, label) ?? 0)));
  const order = labels.map((_, i) => i).sort((a, b) => most[b] - most[a]).slice(0, 12);
  const colour = (label) => {
    const at = app.model.classes.findIndex((each) => String(each) === label);
    return at < 0 ? "var(--soft)" : app.colour(at);
  };
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${names.join(", ")}><table class="sheet sides">
    <thead><tr><th scope="col">${say("class")}</th>${names.map((name) => html`<th scope="col" colspan="2">${name}</th>`)}<th scope="col" class="n">${say("change")}</th></tr></thead>
    <tbody>${order.map((i) => {
      const both = sides.map((side) => share(side, labels[i])), change = both[0] === null || both[1] === null ? null : both[1] - both[0];
      return html`<tr><th scope="row">${labels[i]}</th>${both.map((p) => html`<td class="sides-bar" aria-hidden="true"><i style=${`width:${100 * (p ?? 0)}%;background:${colour(labels[i])}`}></i></td><td class="n">${p === null ? "–" : percent(p)}</td>`)}
        <td class="n">${change === null ? "–" : change === 0 ? "=" : `${change > 0 ? "+" : "−"}${Math.abs(change) < 0.0005 ? Math.abs(change).toExponential(1) : Math.abs(change).toFixed(3)}`}</td></tr>`;
    })}</tbody></table>
    ${labels.length > order.length ? html`<p class="how">${say("{n} less probable classes are not shown.", { n: labels.length - order.length })}</p>` : null}</div>`;
}

export const SIDES = `
.sides-bar{min-width:clamp(3rem,12vw,9rem);padding-right:.4rem!important;vertical-align:middle!important}
.sides-bar i{display:block;height:.8rem;min-width:1px;border-radius:.2rem;transition:width .25s ease}
@media (prefers-reduced-motion:reduce){.sides-bar i{transition:none}}`;

// After a change everything on the page is of another model: it is fetched again, with the question in its address.
export function reload() {
  location.reload();
}

// What was changed so far, and what can be done with that.
export function Changed({ app, state, failed }) {
  const { say } = app, [saved, set] = useState(null);
  const ask = (path, after) => () => app.server.post(path, {}).then(after, (error) => failed(error.message));
  return html`<p class="forget-state">${state.changes
    ? html`<span>${state.changes === 1 ? say("The model was changed once since it was opened.") : say("The model was changed {n} times since it was opened.", { n: state.changes })}</span> <button type="button" onClick=${ask("/v1/undo", reload)}>${say("Undo the last")}</button>`
    : html`<span>${say("The model is as it was opened.")}</span>`}
    ${state.learned === null || state.learned === undefined ? null : html` <span>${say("It knows {n} rows.", { n: state.learned.toLocaleString("en") })}</span>`}
    ${state.save_to ? html` <button type="button" onClick=${ask("/v1/save", (found) => set(say("Saved to {file} ({n} bytes).", { file: found.saved, n: found.bytes.toLocaleString("en") })))}>${say("Save to {file}", { file: state.save_to })}</button>` : null}
    ${" "}<a href="/v1/model.ingenuo" download="model.ingenuo">${say("Download the model")}</a>
    <span role="status">${saved ? ` ${saved}` : ""}</span></p>`;
}

function Forget({ app }) {
  const { say } = app, rows = app.rows, state = app.server.state, K = app.model.classes.length;
  const [what, choose_what] = useState("forget"), [number, choose_number] = useState(""), [label, choose_label] = useState(null);
  const [found, set_found] = useState(null), [error, set_error] = useState(null), [busy, set_busy] = useState(false);
  const picked = rows && number !== "" ? Math.min(Math.max(1, Math.trunc(Number(number))), rows.values.length) - 1 : null;
  const row = picked === null ? app.row : row_object(rows, picked), own = picked === null ? null : rows.labels[picked];
  const at = label !== null ? label : own !== null && own >= 0 ? own : app.answer.order[0];
  const cannot = (state.cannot || {})[what === "forget" ? "forget" : "partial_fit"];
  useEffect(() => { set_found(null); set_error(null); }, [what, JSON.stringify(row), at, app.model]);
  const ask = (apply) => {
    set_busy(true);
    const body = { rows: [row], classes: [app.model.classes[at]], question: app.row, apply };
    app.server.post(what === "forget" ? "/v1/forget" : "/v1/learn", body).then(
      (answer) => { set_busy(false); set_error(null); set_found(answer); if (apply) reload(); },
      (failure) => { set_busy(false); set_found(null); set_error(failure.message); });
  };
  const cells = Object.entries(row);
  const number_of = (n) => (n === null ? "–" : n.toLocaleString("en"));
  return html`<div class="forget"><style>${SIDES}${STYLE}</style>
    <p class="how">${say("A model of sums can take a row away exactly: it is then as if it had never seen it. Nothing is changed before you say so, and the file of the model stays as it is.")}
      ${what === "forget" && !state.fingerprints ? html` ${say("Its sums cannot always show whether a row was learned: only take away one that was.")}` : null}</p>
    <${Changed} app=${app} state=${state} failed=${set_error} />
    <fieldset><legend>${say("Which row")}</legend>
      <div class="forget-choice">
        <label><input type="radio" name="forget-what" checked=${what === "forget"} onChange=${() => choose_what("forget")} /> ${say("forget")}</label>
        <label><input type="radio" name="forget-what" checked=${what === "learn"} onChange=${() => choose_what("learn")} /> ${say("learn")}</label>
        ${rows ? html`<label>${say("row (empty: the question)")} <input type="number" min="1" max=${rows.values.length} value=${number} onInput=${(event) => { choose_number(event.currentTarget.value); choose_label(null); }} /></label>` : html`<span>${say("the question")}</span>`}
        <label>${say("of class")} <select value=${at} onChange=${(event) => choose_label(Number(event.currentTarget.value))}>${Array.from({ length: K }, (_, k) => html`<option value=${k}>${app.label(k)}</option>`)}</select></label>
      </div>
      <p class="forget-row">${cells.length ? cells.slice(0, 30).map(([name, value]) => html`<span class="forget-cell"><b>${name}</b> ${String(value).length > 80 ? `${String(value).slice(0, 79)}…` : String(value)}</span>`) : say("Nothing is known of this row.")}${cells.length > 30 ? html`<span class="forget-cell">${say("and {n} more", { n: cells.length - 30 })}</span>` : null}</p>
      ${cannot ? html`<p class="warning">${cannot}</p>` : html`<p class="forget-choice">
        <button type="button" disabled=${busy} onClick=${() => ask(false)}>${what === "forget" ? say("What would forgetting it change?") : say("What would learning it change?")}</button>
        ${found ? html`<button type="button" class="primary" disabled=${busy} onClick=${() => ask(true)}>${what === "forget" ? say("Forget it") : say("Learn it")}</button>` : null}</p>`}
    </fieldset>
    <div role="status">${error ? html`<p class="warning">${error}</p>` : null}</div>
    ${found ? html`<div>
      <p>${say("Rows of the model: {before} before, {after} after.", { before: number_of(found.learned[0]), after: number_of(found.learned[1]) })}</p>
      ${found.question ? html`<h3>${say("The answer to the question")}</h3><${Sides} app=${app} sides=${found.question} names=${[say("before"), say("after")]} />` : null}
      ${picked === null ? null : html`<h3>${say("The answer to the row itself")}</h3><${Sides} app=${app} sides=${found.rows[0]} names=${[say("before"), say("after")]} />`}
      <h3>${say("Every fraction that it touches")}</h3>
      ${found.fractions.length ? html`<div class="scroll" tabindex="0" role="region" aria-label=${say("fractions before and after")}><table class="sheet">
        <thead><tr><th scope="col">${say("column")}</th><th scope="col">${say("value")}</th><th scope="col">${say("class")}</th><th scope="col">${say("before")}</th><th scope="col">${say("after")}</th></tr></thead>
        <tbody>${found.fractions.map((each) => html`<tr><th scope="row">${each.column}</th><td>${each.value}</td><td>${each.class}</td><td>${side(each.before)}</td><td>${side(each.after)}</td></tr>`)}</tbody>
      </table></div>${found.more ? html`<p class="how">${say("and {n} more", { n: found.more.toLocaleString("en") })}</p>` : null}` : html`<p>${say("None: what is known of this row is nothing to the model.")}</p>`}
    </div>` : null}
  </div>`;
}

// A fraction as a person writes it, with its value.
function side(term) {
  if (term === null) return "–";
  const [how, value] = term;
  return how ? html`<span class="forget-how">${how}</span> <span class="forget-value">= ${seven(value)}</span>` : seven(value);
}

const STYLE = `
.forget fieldset{border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem 1rem;margin:1rem 0;min-width:0}
.forget-choice{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;max-width:none}
.forget-choice input[type=number]{width:6rem}
.forget-row{display:flex;flex-wrap:wrap;gap:.35rem;max-width:none}.forget-cell{background:var(--shade);border:1px solid var(--line);border-radius:.3rem;padding:.05rem .45rem;overflow-wrap:anywhere}
.forget-cell b{font-weight:400;color:var(--soft)}.forget-state{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;max-width:none}
.forget-how{font-variant-numeric:tabular-nums}.forget-value{color:var(--soft);white-space:nowrap;font-variant-numeric:tabular-nums}`;

export const view = {
  id: "forget",
  title: "Forget",
  missing: (app) => (app.server ? null : app.say("Forgetting needs the exact sums of the model, which this page does not carry: use ingenuo open MODEL.")),
  component: Forget,
};
