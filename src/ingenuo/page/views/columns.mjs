// Columns: how each looks in every class, with the present value marked; sorted by how much it says of the class.
import { html, useEffect, useMemo, useRef, useState } from "../vendor/preact.mjs";
import { Axis, COLOURS, Figure, Swatch, area, colour, figures, linear, paint, path, percent, shortened, signed, useDrag, whole } from "../charts.mjs";
import { Button, Choice } from "../controls.mjs";
import { spell } from "../posterior.mjs";
import { distribution, information, on_step, reach, strongest_words } from "../effects.mjs";

const PAGE = 24; // columns that are laid out, until more are asked for
const VALUES = 8; // of a category that are drawn
const BARS = 4; // classes that have bars side by side; of more, shades
const LEGEND = 10; // classes of which there are more are drawn of the answer's first
const SLICE = 10; // milliseconds of work between two drawings
const HEIGHT = 142, WORDS = 8;
const pictures = new WeakMap(); // of each model: place -> its distribution, and how much it says

function picture(model, place) {
  if (!pictures.has(model)) pictures.set(model, new Map());
  const kept = pictures.get(model);
  if (!kept.has(place)) {
    const found = distribution(model, place);
    kept.set(place, { ...found, bits: information(model, found) });
  }
  return kept.get(place);
}

// How much each column says, worked out while nothing else is to do; null until all is known.
function useOrder(model) {
  const [order, set] = useState(null);
  useEffect(() => {
    let place = 0, timer = null;
    const n = model.columns.length, slow = !model.additive && n > 80; // each picture asks the model 49 times
    if (slow) return undefined;
    const work = () => {
      const end = performance.now() + SLICE;
      while (place < n && performance.now() < end) picture(model, place++);
      if (place < n) timer = setTimeout(work);
      else set(model.columns.map((_, j) => j).sort((a, b) => picture(model, b).bits - picture(model, a).bits || a - b));
    };
    timer = setTimeout(work);
    return () => clearTimeout(timer);
  }, [model]);
  return order;
}

// The classes that are drawn: all of a few, else the answer's first.
function drawn_classes(app, most) {
  const K = app.model.classes.length;
  return K <= most ? Array.from({ length: K }, (_, k) => k) : Array.from(app.answer.order).slice(0, most).sort((a, b) => a - b);
}

const now = (app, place) => app.row[app.model.columns[place].name] ?? null;
const name_of = (found, i) => spell((found.names || found.values)[i]);
const is_now = (value, given) => given !== null && String(value) === String(given);
const short_percent = (p) => (p >= 0.0995 ? `${Math.round(100 * p)}%` : p >= 0.00095 ? `${(100 * p).toFixed(1)}%` : p > 0 ? "< 0.1%" : "0%");

// A bar in the colour, and stripes, of a class.
function Part({ k, width }) {
  const { class: name, style } = paint(k);
  return html`<i class=${name} style=${`${style};width:${width}%`}></i>`;
}

// The colour of a class, the stronger the more probable.
function Shade({ k, share }) {
  const { class: name, style } = paint(k);
  return html`<i class=${name} style=${`${style};opacity:${share.toFixed(3)}`}></i>`;
}

// Lines from the ninth class on, whose colours come again, are broken.
const dashes = (k) => ["none", "6 3", "2 3", "9 3 2 3"][Math.floor(k / COLOURS) % 4];

// A category: a row for each value, which sets it; back to back for two classes, bars for a few, shades for many.
function Values({ app, place, found, label }) {
  const { say } = app, K = app.model.classes.length, given = now(app, place), column = app.model.columns[place], [all, show] = useState(false);
  const size = (each) => each.reduce((sum, one) => sum + one, 0), order = found.values.map((_, i) => i);
  const few = found.values.length <= VALUES + 1 || all, kept = few ? order : [...order].sort((a, b) => size(found.of[b]) - size(found.of[a])).slice(0, VALUES).sort((a, b) => a - b);
  const at = order.find((i) => is_now(found.values[i], given));
  const shown = at === undefined || kept.includes(at) ? kept : [...kept, at], classes = app.model.classes.map((_, k) => k), legend = drawn_classes(app, LEGEND);
  const most = Math.max(1e-12, ...shown.map((i) => Math.max(...found.of[i]))), two = K === 2 && found.kind !== "alone";
  const unseen = given !== null && at === undefined;
  const set = (value, pressed) => app.set(column.name, pressed ? null : value);
  return html`<div class="columns-values" role="group" aria-label=${label}>
    ${two ? html`<p class="columns-sides" aria-hidden="true"><span><${Swatch} k=${0} />${shortened(app.label(0), 14)}</span><span><${Swatch} k=${1} />${shortened(app.label(1), 14)}</span></p>` : null}
    ${shown.map((i) => {
      const each = found.of[i], pressed = i === at, spoken = classes.slice(0, 6).map((k) => `${app.label(k)} ${percent(each[k])}`).join(", ");
      return html`<button type="button" class=${`columns-value${two ? " two" : ""}`} aria-pressed=${String(pressed)} aria-label=${shortened(`${name_of(found, i)}: ${spoken}`, 300)} title=${shortened(`${name_of(found, i)}: ${spoken}`, 300)} onClick=${() => set(found.values[i], pressed)}>
        <span class="columns-label" dir="auto">${shortened(name_of(found, i), 40) || "“”"}</span>
        ${found.kind === "alone" ? html`<span class="columns-stack">${classes.map((k) => html`<${Part} k=${k} width=${100 * each[k]} />`)}</span>`
        : two ? html`<span class="columns-left"><small>${short_percent(each[0])}</small><${Part} k=${0} width=${(100 * each[0]) / most} /></span><span class="columns-right"><${Part} k=${1} width=${(100 * each[1]) / most} /><small>${short_percent(each[1])}</small></span>`
        : K <= BARS ? html`<span class="columns-bars">${classes.map((k) => html`<${Part} k=${k} width=${(100 * each[k]) / most} />`)}</span>`
        : html`<span class="columns-shades">${legend.map((k) => html`<span><${Shade} k=${k} share=${each[k] / most} /></span>`)}</span>`}</button>`;
    })}
    ${found.values.length > shown.length || all ? html`<${Button} class="link" on=${() => show(!all)}>${all ? say("show fewer") : say("and {n} more", { n: found.values.length - shown.length })}<//>` : null}
    ${unseen ? html`<p class="caption">${say("{value}: never seen", { value: shortened(spell(given), 40) })}</p>` : null}</div>`;
}

// A number: a curve for each class, over which the present value can be drawn.
function Curves({ app, place, found, width }) {
  const { say } = app, column = app.model.columns[place], range = reach(column) || { low: found.values[0], high: found.values.at(-1) }, given = now(app, place), alone = found.kind === "alone";
  const left = alone ? 40 : 6, right = width - 6, bottom = HEIGHT - 24, top = 20, x = linear([range.low, range.high], [left, right]), classes = drawn_classes(app, LEGEND), [a, b] = app.pair, many = classes.length > 4;
  const most = alone ? 1 : Math.max(1e-300, ...found.of.map((each) => Math.max(...classes.map((k) => (Number.isFinite(each[k]) ? each[k] : 0))))), tall = found.states && found.states.length ? 0.7 : 1;
  const y = linear([0, most], [bottom, bottom - (bottom - top) * tall]), states = found.states || [], highest = Math.max(1e-12, ...(found.of_states || []).map((each) => Math.max(...classes.map((k) => each[k]))));
  const step = range.whole ? 1 : 10 ** Math.floor(Math.log10((range.high - range.low) / 100)), inside = given === null ? null : Math.min(Math.max(x(Number(given)), left), right);
  const tidy = (value) => {
    const lone = states.find((each) => Math.abs(x(each) - x(value)) < 5);
    return lone ?? on_step(Math.min(Math.max(value, range.low), range.high), step);
  };
  const drags = useRef(0); // each drag is one step of Undo
  const set = (value) => app.set(column.name, tidy(value), { gesture: `columns ${place} ${drags.current}` });
  const drag = useDrag((event, phase) => {
    if (phase === "begin") drags.current += 1;
    set(x.invert(event.clientX - event.currentTarget.getBoundingClientRect().left));
  });
  const keys = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = given === null ? (range.low + range.high) / 2 : Number(given), far = event.shiftKey ? 1 : 5;
    const to = { ArrowRight: middle + far * step, ArrowUp: middle + far * step, ArrowLeft: middle - far * step, ArrowDown: middle - far * step, Home: range.low, End: range.high, PageUp: middle + 20 * step, PageDown: middle - 20 * step };
    if (event.key === "Delete" || event.key === "Backspace") app.set(column.name, null);
    else if (event.key in to) app.set(column.name, on_step(Math.min(Math.max(to[event.key], range.low), range.high), step), { gesture: `columns ${place} keys` });
    else return;
    event.preventDefault();
  };
  const point = (k) => found.values.map((value, i) => [x(value), y(Number.isFinite(found.of[i][k]) ? found.of[i][k] : 0)]);
  const strong = (k) => !many || k === a || k === b;
  const at = given === null ? null : nearest(found, Number(given));
  return html`<svg class="columns-curves" width=${width} height=${HEIGHT} role="slider" tabindex="0" aria-label=${shortened(column.name, 200)} aria-valuemin=${range.low} aria-valuemax=${range.high} aria-valuenow=${given === null ? undefined : Number(given)} aria-valuetext=${given === null ? say("unknown") : figures(Number(given), 6)} onKeyDown=${keys} ...${drag}>
    <rect class="columns-hit" width=${width} height=${HEIGHT} />
    ${alone ? [0, 0.5, 1].map((share) => html`<g class="axis" transform=${`translate(0,${y(share)})`}><line x1=${left} x2=${right} class="columns-grid" /><text x=${left - 5} dy=".35em" text-anchor="end">${`${100 * share}%`}</text></g>`) : null}
    ${classes.map((k) => html`<g style=${`--c:${colour(k)}`} class=${strong(k) ? null : "faint"}>${alone || many ? null : html`<path class="columns-area" d=${area(point(k), bottom)} />`}<path class="columns-line" style=${`stroke-dasharray:${dashes(k)}`} d=${path(point(k))} /></g>`)}
    ${states.map((value, i) => classes.map((k, j) => {
      const px = x(value) + 4 * (j - (classes.length - 1) / 2), py = bottom - ((bottom - top) * found.of_states[i][k]) / highest;
      return html`<g style=${`--c:${colour(k)}`} class=${strong(k) ? null : "faint"}><line class="columns-state" x1=${px} x2=${px} y1=${bottom} y2=${py} /><circle class="columns-head" cx=${px} cy=${py} r="2.5" /></g>`;
    }))}
    <${Axis} scale=${x} at=${bottom} from=${left} to=${right} n=${Math.max(2, Math.floor(width / 60))} />
    ${inside === null ? null : html`<g class="columns-now" style=${`transform:translateX(${inside}px)`}><line y1=${top - 8} y2=${bottom} /><text y=${top - 10} text-anchor=${inside > width - 30 ? "end" : inside < 30 ? "start" : "middle"}>${figures(Number(given), 6)}</text></g>
      ${at && !states.includes(Number(given)) ? classes.filter(strong).map((k) => html`<circle class="columns-dot" cx=${inside} cy=${y(at[k])} r="4" style=${`fill:${colour(k)}`} />`) : null}`}
  </svg>`;
}

function nearest(found, value) {
  let best = null, least = Infinity;
  found.values.forEach((each, i) => {
    const apart = Math.abs(each - value);
    if (apart < least) [least, best] = [apart, found.of[i]];
  });
  return best && best.every(Number.isFinite) ? best : null;
}

// A text: the words that speak most for either class of the pair.
function Words({ app, place }) {
  const { say, model } = app, [a, b] = app.pair, most_of = model.columns.length === 1 ? 2 * WORDS : WORDS, found = useMemo(() => (a === b ? [] : strongest_words(model, place, a, b, most_of)), [model, place, a, b]);
  if (!found.length) return html`<p class="caption">${say("Words are not listed here: see the arithmetic of the answer.")}</p>`;
  const most = Math.max(...found.map(({ effect }) => Math.abs(effect))), here = new Set(app.answer.factors.filter((factor) => factor.of === place && factor.logs).map(({ name }) => name));
  return html`<p class="columns-sides"><span><${Swatch} k=${b} />${shortened(app.label(b), 14)}</span><span><${Swatch} k=${a} />${shortened(app.label(a), 14)}</span></p>
    <div class="columns-words">${found.map(({ word, effect }) => html`<span class=${`columns-value two${here.has(word) ? " here" : ""}`}><span class="columns-label" dir="auto">${shortened(word, 30)}</span>
      <span class="columns-left">${effect < 0 ? html`<${Part} k=${b} width=${(-100 * effect) / most} />` : null}</span><span class="columns-right">${effect > 0 ? html`<${Part} k=${a} width=${(100 * effect) / most} />` : null}</span></span>`)}</div>`;
}

function table_of(app, place, found) {
  const { say } = app, classes = app.model.classes.map((_, k) => k).slice(0, 24);
  if (found.kind === "words") {
    const [a, b] = app.pair;
    return { heads: [say("word"), say("log odds")], numbers: [1], rows: a === b ? [] : strongest_words(app.model, place, a, b, 40).map(({ word, effect }) => [word, signed(effect, 3)]) };
  }
  const lined = found.kind === "density" || found.lined, some = (i, n) => !lined || i % Math.max(1, Math.ceil(n / 25)) === 0, form = found.kind === "density" ? (p) => figures(p, 3) : percent;
  const states = (found.states || []).map((value, i) => [figures(value, 6), ...classes.map((k) => percent(found.of_states[i][k]))]);
  const rows = found.values.flatMap((value, i) => (some(i, found.values.length) ? [[lined ? figures(value, 4) : name_of(found, i), ...classes.map((k) => form(found.of[i][k]))]] : []));
  return { heads: [found.kind === "density" ? say("value: density") : found.kind === "alone" ? say("value: probability with this value alone") : say("value: share of the class")].concat(classes.map((k) => app.label(k))), numbers: classes.map((_, i) => i + 1), rows: [...states, ...rows] };
}

function Card({ app, place, most, all_alone }) {
  const { say, model } = app, column = model.columns[place], element = useRef(null), [near, set] = useState(false);
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => entry.isIntersecting && set(true), { rootMargin: "400px" });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  const found = near ? picture(model, place) : null, given = now(app, place);
  const table = useMemo(() => (found ? { ...table_of(app, place, found) } : null), [found, found && found.kind === "words" ? app.pair.join() : ""]);
  const label = found && (found.kind === "alone" ? say("{name}: the answer with this value alone", { name: column.name }) : say("{name} in each class", { name: column.name }));
  const curved = found && (found.kind === "density" || (found.kind === "alone" && found.lined)), shares = found && !curved && found.kind !== "words";
  return html`<article class=${`columns-card${column.kind === "text" ? " texts" : ""}`} ref=${element}>
    <h3 dir="auto" title=${column.name.length > 40 ? shortened(column.name, 400) : undefined}>${shortened(column.name, 60)}</h3>
    ${found && Number.isFinite(found.bits) && found.values.length + (found.states || []).length > 1 ? html`<p class="columns-bits" title=${say("how much it says of the class, as far as this picture shows it")}><span class="columns-meter" aria-hidden="true"><i style=${`width:${most > 0 ? (100 * found.bits) / most : 0}%`}></i></span>${found.kind === "alone" && !found.shares ? null : say("{n} bits", { n: found.bits < 0.0005 ? "0" : figures(found.bits, 2) })}${given === null ? null : html` · <${Button} class="link" label=${say("Make {name} unknown", { name: column.name })} on=${() => app.set(column.name, null)}>${say("clear")}<//>`}</p>` : null}
    ${found && found.kind === "alone" && !all_alone ? html`<p class="caption columns-what">${say("the answer with this value alone")}</p>` : null}
    ${!found ? html`<div class="columns-waits"></div>`
    : found.kind !== "words" && found.values.length < 2 && !(found.states || []).length ? html`<p class="caption">${found.values.length ? say("It has one value only.") : say("The model does not say where its values lie.")}</p>`
    : curved ? html`<${Figure} title=${label} table=${table} interactive=${true}>${(width) => html`<${Curves} app=${app} place=${place} found=${found} width=${width} />`}<//>`
    : html`${shares ? html`<${Values} app=${app} place=${place} found=${found} label=${label} />` : html`<${Words} app=${app} place=${place} />`}<${Figure} title=${label} table=${table} class="columns-none">${() => null}<//>`}
  </article>`;
}

function Legend({ app }) {
  const classes = drawn_classes(app, LEGEND), K = app.model.classes.length;
  return html`<ul class="columns-legend" aria-label=${app.say("Classes")}>${classes.map((k) => html`<li><${Swatch} k=${k} />${shortened(app.label(k), 30)}</li>`)}${K > classes.length ? html`<li class="caption">${app.say("of {n} classes, the answer's first", { n: whole(K) })}</li>` : null}</ul>`;
}

function Columns({ app }) {
  const { say, model } = app, order = useOrder(model), [by, sort] = useState("information"), [find, seek] = useState(""), [n, more] = useState(PAGE);
  const wanted = find.trim().toLowerCase(), sorted = useMemo(() => {
    const table = model.columns.map((_, j) => j);
    if (by === "name") return table.sort((a, b) => model.columns[a].name.localeCompare(model.columns[b].name));
    return by === "information" && order ? order : table;
  }, [by, order, model]);
  const found = sorted.filter((place) => wanted === "" || model.columns[place].name.toLowerCase().includes(wanted)), shown = found.slice(0, n);
  const most = order ? Math.max(0, ...order.map((place) => picture(model, place).bits).filter(Number.isFinite)) : 0;
  const kinds = order ? order.map((place) => picture(model, place).kind) : [], alone = !model.additive || (kinds.length > 0 && kinds.every((kind) => kind === "alone"));
  const texts = model.columns.every(({ kind }) => kind === "text");
  return html`<div class="columns"><style>${STYLE}</style>
    <p class="how">${texts ? say("The words that speak most for the two classes that are compared, with what one occurrence adds to the log odds.") : alone ? say("What the answer would be if nothing but this one value were known.") : say("How the values of each column are spread within each class. Press a value, or draw across a curve, to set it in the question.")}</p>
    <div class="columns-tools">${texts ? null : html`<${Legend} app=${app} />`}<span class="spacer"></span>
      ${model.columns.length > 8 ? html`<input type="search" aria-label=${say("Find a column")} placeholder=${say("Find a column")} value=${find} onInput=${(event) => seek(event.currentTarget.value)} />` : null}
      ${model.columns.length > 1 ? html`<${Choice} label=${say("order of the columns")} options=${[["information", say("what says most first")], ["table", say("as in the table")], ["name", say("by name")]].map(([value, label]) => ({ value, label }))} value=${by} on=${sort} />` : null}</div>
    <div class="columns-grid-of">${shown.map((place) => html`<${Card} key=${place} app=${app} place=${place} most=${most} all_alone=${alone} />`)}</div>
    ${found.length ? null : html`<p class="how">${say("No column is called so.")}</p>`}
    ${found.length > shown.length ? html`<${Button} on=${() => more(n + 2 * PAGE)}>${say("Show {n} more of {m}", { n: Math.min(2 * PAGE, found.length - n), m: whole(found.length) })}<//>` : null}</div>`;
}

const STYLE = `
.columns-tools,.columns-legend{display:flex;flex-wrap:wrap;gap:.4rem 1rem;align-items:center;margin:.6rem 0}.columns-legend{list-style:none;padding:0;margin:0;font-size:.92rem}.columns-legend li{max-width:16rem;overflow-wrap:anywhere}
.columns-grid-of{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:.4rem 2.2rem;margin-bottom:1rem}
.columns-card{min-width:0;padding:.7rem 0 .5rem;border-top:1px solid var(--line)}.columns-card.texts{grid-column:1/-1;max-width:52rem}.columns-card h3{margin:0;font-size:1rem;overflow-wrap:anywhere}
.columns-card figure{margin:.35rem 0 0}.columns-card details{font-size:.85rem}.columns-none{height:0;margin:0!important}
.columns-bits{display:flex;min-height:1.5rem;align-items:center;gap:.45rem;margin:.1rem 0;color:var(--soft);font-size:.85rem;font-variant-numeric:tabular-nums}
.columns-meter{display:inline-block;width:4rem;height:.35rem;border-radius:1rem;background:var(--track)}.columns-meter i{display:block;height:100%;border-radius:1rem;background:var(--soft)}
.columns-what{margin:.1rem 0}.columns-waits{height:${HEIGHT + 40}px}
.columns-curves{display:block;cursor:crosshair;touch-action:pan-y}.columns-hit{fill:transparent}
.columns-line{fill:none;stroke:var(--c);stroke-width:2}.columns-area{fill:var(--c);fill-opacity:.13}.columns-curves .faint{opacity:.28}
.columns-state{stroke:var(--c);stroke-width:2.5}.columns-head{fill:var(--c)}.columns-grid{stroke:var(--line)!important}
.columns-now line{stroke:var(--ink);stroke-width:1.25;stroke-dasharray:3 3}.columns-now text{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.columns-dot{stroke:var(--paper);stroke-width:1.75}.columns-now{transition:transform .16s ease-out}.columns-curves:active .columns-now{transition:none}
.columns-values,.columns-words{display:grid;gap:1px;margin:.3rem 0}
.columns-value{display:grid;grid-template-columns:minmax(4rem,1fr) minmax(0,2.2fr);gap:.6rem;align-items:center;width:100%;min-height:1.75rem;padding:.1rem .4rem;margin:0 -.4rem;border:0;border-radius:.3rem;background:none;text-align:left;font-size:.92rem;font-variant-numeric:tabular-nums}
button.columns-value{width:calc(100% + .8rem)}.columns-value.two{grid-template-columns:minmax(3.6rem,1fr) minmax(0,1.3fr) minmax(0,1.3fr);gap:0}.columns-value.two .columns-label{padding-right:.5rem}
.columns-value[aria-pressed=true],.columns-value.here{background:var(--track);font-weight:600}
.columns-label{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}.columns-value small{font-size:.78rem;color:var(--soft);font-weight:400;padding:0 .3rem;white-space:nowrap}
.columns-left,.columns-right{display:flex;align-items:center;height:.85rem}.columns-left{justify-content:flex-end;border-right:1px solid var(--edge)}
.columns-value i{display:block;min-width:1px;height:100%;transition:width .25s}.columns-left i{border-radius:.15rem 0 0 .15rem}.columns-right i{border-radius:0 .15rem .15rem 0}
.columns-left i,.columns-right i{max-width:calc(100% - 2.9rem)}.columns-words .columns-left i,.columns-words .columns-right i{max-width:100%}
.columns-bars{display:grid;gap:1px;padding:.2rem 0}.columns-bars i{height:.35rem;border-radius:0 .15rem .15rem 0}
.columns-stack,.columns-shades{display:flex;height:.95rem;gap:1px}.columns-stack{border-radius:.2rem;overflow:hidden}.columns-shades span{flex:1;min-width:2px;background:var(--track)}
.columns-sides{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin:.3rem 0 0 calc(27.7% + .1rem);font-size:.82rem;color:var(--soft);max-width:none}.columns-sides span:first-child{text-align:right}
@media (max-width:40rem){.columns-curves{max-width:100%}}`;

export const view = { id: "columns", title: "Columns", missing: (app) => (app.model.columns.length ? null : app.say("The model has no columns.")), component: Columns };
