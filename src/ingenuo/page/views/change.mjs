// What would change it: the fewest columns whose change gives another answer, and the nearest values that do.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.mjs";
import { Swatch, breakable, colour, figures, linear, paint, percent, shortened, whole } from "../charts.mjs";
import { Button, Choice, Radios } from "../controls.mjs";
import { reach } from "../effects.mjs";
import { search, targets } from "../changes.mjs";

const CHIPS = 5; // classes that stand side by side
const FIRST = 6; // suggestions, until more are asked for
const SLICE = 12; // milliseconds of work between two drawings
const QUIET = 140; // and without a change before the search begins again
const WORDS = 12; // of a text that are named

// The search, in slices, so that the page stays quick: {result, busy}.
function useSearch(app, target) {
  const [found, set] = useState({ result: null, key: null }), { model, row, locked } = app;
  useEffect(() => {
    if (target === null || app.mistake) return undefined;
    const steps = search(model, row, { target, locked, most: 24 });
    let timer = null;
    const work = () => {
      const end = performance.now() + SLICE;
      do {
        const { done, value } = steps.next();
        if (done) return set({ result: value, key: row });
      } while (performance.now() < end);
      timer = setTimeout(work);
    };
    timer = setTimeout(work, found.result ? QUIET : 0);
    return () => clearTimeout(timer);
  }, [model, row, target, locked, app.mistake]);
  const current = found.key === row && found.result && found.result.target === target;
  return { result: found.result, busy: !current };
}

function value_text(value, kind, say) {
  if (value === null) return say("unknown");
  return typeof value === "number" && kind !== "category" ? figures(value, 7) : shortened(String(value), 60) || "“”";
}

// Where a number goes, on its range.
function Way({ app, move, k }) {
  const column = app.model.columns[move.place], range = reach(column);
  if (!range || move.kind === "category" || typeof move.to !== "number") return null;
  const low = Math.min(range.low, move.to, move.from ?? move.to), high = Math.max(range.high, move.to, move.from ?? move.to), x = linear([low, high], [5, 115]);
  const to = x(move.to), from = move.from === null ? null : x(Number(move.from));
  return html`<svg class="change-way" width="120" height="14" aria-hidden="true"><line x1="2" x2="118" y1="7" y2="7" />
    ${from === null ? null : html`<line class="gone" x1=${from} x2=${to} y1="7" y2="7" style=${`stroke:${colour(k)}`} /><circle class="from" cx=${from} cy="7" r="3" />`}
    <circle cx=${to} cy="7" r="4.5" style=${`fill:${colour(k)}`} /></svg>`;
}

function Move({ app, move, k }) {
  const { say } = app;
  if (move.words) {
    const listed = move.words.slice(0, WORDS), rest = move.words.length - listed.length;
    return html`<span class="change-move"><span class="change-name" dir="auto">${shortened(move.name, 60)}</span><span class="change-words">${say(move.words.length === 1 ? "without the word" : "without the words")} ${listed.map((word) => html`<del>${shortened(word, 40)}</del> `)}${rest > 0 ? say("and {n} more", { n: rest }) : null}</span></span>`;
  }
  return html`<span class="change-move"><span class="change-name" dir="auto" title=${move.name.length > 40 ? shortened(move.name, 400) : undefined}>${breakable(shortened(move.name, 60))}</span>
    <span class="change-values"><span class="change-from">${value_text(move.from, move.kind, say)}</span> <span aria-hidden="true">→</span><span class="hidden"> ${say("to")} </span> <b dir="auto">${value_text(move.to, move.kind, say)}</b></span><${Way} app=${app} move=${move} k=${k} /></span>`;
}

// A suggestion that was taken is gone: who has no mouse goes on from the head of the view.
function stay() {
  document.getElementById("change").focus({ preventScroll: true });
}

function lock_text(name, app) {
  return app.say("Leave {name} as it is", { name: shortened(name, 80) });
}

function Suggestion({ app, suggestion, target }) {
  const { say } = app, { moves, row, posterior } = suggestion, p = posterior[target], [only] = moves, bar = paint(target);
  const preview = () => app.preview({ posterior, text: say("if {changes}", { changes: moves.map((move) => (move.words ? say("{name} had fewer words", { name: shortened(move.name, 30) }) : `${shortened(move.name, 30)} = ${value_text(move.to, move.kind, say)}`)).join(", ") }) });
  const ask = (wanted, text) => {
    stay();
    app.ask(wanted);
    app.announce(say("Asked: {what}", { what: text }));
  };
  const spoken = moves.map((move) => (move.words ? say("take {words} out of {name}", { words: move.words.slice(0, WORDS).join(", "), name: move.name }) : say("{name}: {from} to {to}", { name: move.name, from: value_text(move.from, move.kind, say), to: value_text(move.to, move.kind, say) }))).join("; ");
  return html`<li class=${`change-item${moves.length > 1 ? " change-several" : ""}`}><button type="button" class="change-ask" aria-label=${shortened(`${spoken}. ${app.label(target)}, ${percent(p)}`, 600)} onClick=${() => ask(row, spoken)} onPointerEnter=${preview} onPointerLeave=${() => app.preview(null)} onFocus=${preview} onBlur=${() => app.preview(null)}>
      <span class="change-moves">${moves.map((move) => html`<${Move} app=${app} move=${move} k=${target} />`)}</span>
      <span class="change-answer"><span class="bar" aria-hidden="true"><i class=${bar.class} style=${`${bar.style};transform:scaleX(${p})`}></i></span><span class="n">${percent(p)}</span></span></button>
    ${moves.length === 1 && only.others.length ? html`<p class="change-others">${say("or")} ${only.others.slice(0, 8).map((value) => html`<${Button} class="link" on=${() => ask({ ...row, [only.name]: value }, `${only.name}: ${value}`)}>${shortened(String(value), 40)}<//>`)}${only.others.length > 8 ? ` ${say("and {n} more", { n: only.others.length - 8 })}` : null}</p>` : null}
    ${app.model.columns.length < 2 ? null : html`<span class="change-locks">${moves.length > 1 ? `${say("lock")}: ` : null}${moves.map(({ name }, i) => html`<${Button} class="link" label=${lock_text(name, app)} on=${() => { stay(); app.lock(name, true); }}>${moves.length > 1 ? shortened(name, 24) : say("lock")}<//>${i < moves.length - 1 ? ", " : null}`)}</span>`}</li>`;
}

function head_text(result, app, target) {
  const { say } = app, n = result.fewest, to = shortened(app.label(target), 60);
  if (n === null && app.model.columns.every(({ kind }) => kind === "text")) return say("No words can be taken out that make it {class}.", { class: to });
  if (n === null && !app.model.additive) return result.limit === null ? say("No one column makes it {class}, and no two.", { class: to }) : say("No value of one column makes it {class}, and none of the pairs that were tried.", { class: to });
  if (n === null) return app.locked.size ? say("No change of the columns that are not locked makes it {class}.", { class: to }) : say("No change makes it {class}, as far as numbers stay where nearly all are.", { class: to });
  if (n === 1) return result.suggestions.length === 1 ? say("One column is enough:") : say("Each of these alone is enough:");
  if (result.limit === "tried" && result.least < n) return say("These {n} columns together are enough; fewer than {least} are not.", { n, least: result.least });
  if (result.limit === "calibrator" || result.limit === "values") return say("These {n} columns together are enough:", { n });
  if (n === 2) return say("No column alone is enough. These two together are:");
  return say("No {fewer} columns are enough. These {n} together are:", { fewer: n - 1, n });
}

function limit_text(result, app) {
  const { say, model } = app, parts = [];
  if (result.limit === "calibrator") parts.push(say("The calibration may put classes into another order, so fewer columns cannot be ruled out; what is suggested was checked on the calibrated answer."));
  if (result.limit === "tried") parts.push(say("There are too many sets of columns to try them all."));
  if (result.limit === "words") parts.push(say("Words count together with their neighbours, so fewer words cannot be ruled out."));
  if (!model.additive) parts.push(model.columns.every(({ kind }) => kind === "category") && result.limit === null ? say("The columns of this model do not add up, so all their values were tried: alone, and then in pairs.") : say("The columns of this model do not add up, so values were tried one by one: all of each category, of each number 65 between its ends; and pairs of a dozen each."));
  return parts.join(" ");
}

function Locks({ app }) {
  const { say, model, locked } = app, [find, set] = useState(""), many = model.columns.length > 24;
  const wanted = find.trim().toLowerCase(), shown = model.columns.filter(({ name }) => wanted === "" || name.toLowerCase().includes(wanted)).slice(0, many && wanted === "" ? 24 : 120);
  return html`<details class="quiet change-lock"><summary>${locked.size ? say("Locked columns: {n}", { n: whole(locked.size) }) : say("Lock columns")}</summary>
    <p class="how">${say("Locked columns stay as they are in every suggestion: what cannot be changed, as an age.")}</p>
    ${many ? html`<input type="search" aria-label=${say("Find a column")} placeholder=${say("Find a column")} value=${find} onInput=${(event) => set(event.currentTarget.value)} />` : null}
    <span class="chips">${[...new Set([...model.columns.filter(({ name }) => locked.has(name)), ...shown])].map(({ name }) => html`<label class="change-check"><input type="checkbox" checked=${locked.has(name)} onChange=${(event) => app.lock(name, event.currentTarget.checked)} /><span dir="auto">${shortened(name, 40)}</span></label>`)}</span>
    ${locked.size ? html`<p><${Button} class="link" on=${() => [...locked].forEach((name) => app.lock(name, false))}>${say("unlock all")}<//></p>` : null}</details>`;
}

function Change({ app }) {
  const { model, say, row } = app, order = useMemo(() => (app.mistake ? [] : targets(model, row)), [model, row, app.mistake]);
  const [wanted, want] = useState(null), [all, show] = useState(false), { best, posterior } = app.answer;
  const target = wanted !== null && wanted !== best ? wanted : order.length ? order[0] : null;
  const { result, busy } = useSearch(app, target), shown = result && result.target === target ? result : null;
  const list = useRef(null);
  useEffect(() => show(false), [row, target]);
  if (app.mistake) return html`<p class="how">${say("Mend the question first.")}</p>`;
  if (target === null) return null;
  const near = order.slice(0, CHIPS), far = order.slice(CHIPS), suggestions = shown ? shown.suggestions.slice(0, all ? 24 : FIRST) : [];
  const options = (classes) => classes.map((k) => ({ value: k, label: `${app.label(k)} (${percent(posterior[k])})` }));
  return html`<div class="change"><style>${STYLE}</style>
    <div class="change-head"><span>${say("It is")} <${Swatch} k=${best} /><b dir="auto">${shortened(app.label(best), 60)}</b>. ${say("What would make it")}</span>
      ${order.length === 1 ? html`<span><${Swatch} k=${target} /><b dir="auto">${shortened(app.label(target), 60)}</b>?</span>` : html`<${Radios} label=${say("class that it should be")} options=${options(far.includes(target) ? [...near, target] : near)} value=${target} on=${want} />`}
      ${far.length ? html`<${Choice} label=${say("another class")} options=${[{ value: null, label: say("another class …") }, ...options(far)]} value=${far.includes(target) ? target : null} on=${want} />` : null}</div>
    ${model.columns.length > 1 ? html`<${Locks} app=${app} />` : null}
    <div class="change-found" aria-busy=${String(busy)}>
      ${shown && !shown.given ? html`<p class="change-sentence">${head_text(shown, app, target)}</p>
        <ul class="change-list" ref=${list}>${suggestions.map((each) => html`<${Suggestion} key=${each.moves.map(({ place }) => place).join()} app=${app} suggestion=${each} target=${target} />`)}</ul>
        ${shown.suggestions.length > suggestions.length ? html`<${Button} on=${() => show(true)}>${say("Show {n} more", { n: shown.suggestions.length - suggestions.length })}<//>` : null}
        <p class="caption">${limit_text(shown, app)} ${suggestions.some(({ moves }) => moves.some(({ edge }) => edge !== null)) ? say("Numbers are the nearest to the present ones that suffice, between the ends where nearly all rows are.") : ""} ${shown.fewest === null ? "" : say("This is what the model would say, and not what would happen in the world.")}</p>`
      : html`<p class="how">${say("Looking …")}</p>`}</div></div>`;
}

const STYLE = `
.change-head{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center}.change-head>span,.change-check span{min-width:0;max-width:100%;overflow-wrap:anywhere}.change-check{max-width:100%}.change-found[aria-busy=true]{opacity:.6;transition:opacity .2s .25s}
.change-sentence{font-weight:600;margin:.8rem 0 .4rem}
.change-list{list-style:none;margin:0 0 .6rem;padding:0;display:grid;gap:.5rem;max-width:60rem}
.change{container-type:inline-size}
.change-item{display:grid;grid-template-columns:minmax(0,1fr) 4.5rem;gap:0 .6rem;align-items:center;max-width:none;margin:0}
.change-ask{display:grid;grid-template-columns:minmax(0,1fr) 9.5rem;gap:.3rem 1.2rem;align-items:center;width:100%;text-align:left;padding:.55rem .9rem;border-color:var(--line);border-radius:var(--radius)}
.change-moves{display:grid;gap:.3rem;min-width:0}
.change-move{display:grid;grid-template-columns:minmax(5rem,1fr) minmax(8rem,1fr) 120px;gap:0 1rem;align-items:center}
.change-name{overflow-wrap:anywhere}.change-values{font-variant-numeric:tabular-nums;overflow-wrap:anywhere}.change-from{color:var(--soft)}
.change-words{grid-column:2/-1;overflow-wrap:anywhere}.change-words del{text-decoration-thickness:.12em;text-decoration-color:var(--mark)}
.change-way line{stroke:var(--line);stroke-width:2}.change-way .gone{stroke-width:3}.change-way .from{fill:var(--soft)}
.change-answer{display:grid;grid-template-columns:minmax(0,1fr) 3.6rem;gap:.6rem;align-items:center}.change-answer .bar{height:.7rem}
.change-others{grid-column:1;margin:.1rem 0 .2rem .9rem;color:var(--soft);font-size:.9rem}
.change-locks{grid-column:2;grid-row:1;font-size:.85rem}.change-several .change-locks{grid-column:1/-1;grid-row:auto;margin-left:.9rem;color:var(--soft)}
.change-lock .chips{gap:.2rem 1rem}.change-check{display:inline-flex;gap:.35rem;align-items:center;min-height:1.7rem}
@container (max-width:38rem){.change-ask{grid-template-columns:minmax(0,1fr)}.change-move{grid-template-columns:minmax(0,1fr) 120px}.change-name,.change-words{grid-column:1/-1}.change-item{grid-template-columns:minmax(0,1fr) 2.2rem}.change-several .change-ask{grid-column:1/-1}}`;

function missing(app) {
  const { model, say } = app;
  if (model.classes.length < 2) return say("The model knows one class only.");
  return model.columns.length ? null : say("The model has no columns.");
}

export const view = { id: "change", title: "What would change it", missing, component: Change };
