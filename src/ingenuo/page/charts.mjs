// What all views draw with. Colours of classes, numbers as text, scales and axes in hand-written SVG, bars, tables.
//
//   colour(k), fill(k)          CSS colour of class k; what SVG fills it with (stripes from the ninth class on)
//   paint(k)                    {class, style} of an HTML bar in the colour (and stripes) of class k
//   percent(p), signed(x), figures(x, digits), whole(n), odds(x)   numbers as text, with a real minus
//   shortened(text, most), breakable(text)     names that fit
//   share_of(log_odds)          the probability of the first of two classes
//   ticks(low, high, n)         round numbers in a range
//   linear([a, b], [p, q])      a scale: f(x), f.invert(p), f.ticks(n)
//   path(points), area(upper, base)    `d` of a line through [x, y]…, and down to a base
//   useWidth()                  [ref, width]: the width of an element in pixels, so that text in SVG is never scaled
//   useDrag(move, done)         props of an element that is dragged: move(event, "begin" | "move")
//   <Axis scale at side="bottom" ticks format label from to />
//   <Figure title caption table={heads, rows, numbers} interactive class>${(width) => svg}<//>   a chart that is also a table
//   <Table heads rows numbers=[places of columns of numbers] caption />
//   <Swatch k app />            the small square before the name of a class
//   <Bar k share before ghost />   one bar of a probability, from 0 to 1, that slides
//   <Odds value most app pair />   one bar of log odds around a middle: to the right for pair[0], to the left for pair[1]
import { html, useCallback, useRef, useState } from "./vendor/preact.mjs";
import { say } from "./language.mjs";

export const COLOURS = 8;

export function colour(k) {
  return `var(--k${k % COLOURS})`;
}

export function fill(k) {
  return k < COLOURS ? colour(k) : `url(#paint-${k % (4 * COLOURS)})`;
}

export function paint(k) {
  return { class: `paint paint-${Math.floor(k / COLOURS) % 4}`, style: `--c:${colour(k)}` };
}

// The stripes that `fill` names, once in a page.
export function Patterns({ classes }) {
  const striped = Array.from({ length: Math.min(classes, 4 * COLOURS) }, (_, k) => k).filter((k) => k >= COLOURS);
  const lines = ["", "M-1,1 l2,-2 M0,8 l8,-8 M7,9 l2,-2", "M0,4 h8", "M4,0 v8"];
  return html`<svg class="hidden" aria-hidden="true" width="0" height="0"><defs>${striped.map((k) => html`<pattern id=${`paint-${k}`} width="8" height="8" patternUnits="userSpaceOnUse">
    <rect width="8" height="8" style=${`fill:${colour(k)}`} /><path d=${lines[Math.floor(k / COLOURS)]} style="stroke:var(--paper)" stroke-width="2" /></pattern>`)}</defs></svg>`;
}

// Numbers as text.

export function percent(p) {
  if (!(p >= 0)) return "–";
  if (p > 0 && p < 0.0005) return "< 0.1%";
  return p < 1 && p >= 0.9995 ? "> 99.9%" : `${(100 * p).toFixed(1)}%`;
}

export function figures(x, digits = 4) {
  if (x === null || Number.isNaN(x)) return "–";
  if (Math.abs(x) === Infinity) return x < 0 ? "−∞" : "∞";
  const text = Math.abs(x) >= 1e15 || (x !== 0 && Math.abs(x) < 1e-5) ? x.toExponential(digits - 1) : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

export function signed(x, digits = 2) {
  if (x === null || Number.isNaN(x)) return "–";
  const size = Math.abs(x), text = size === Infinity ? "∞" : size >= 1e6 ? size.toExponential(2) : size.toFixed(digits);
  return Number(text) === 0 ? text : (x < 0 ? "−" : "+") + text;
}

export function whole(n) {
  return n.toLocaleString("en");
}

// Log odds as a bet: "3.2 to 1".
export function odds(x) {
  if (Number.isNaN(x)) return "–";
  const size = Math.abs(x), times = Math.exp(size);
  const text = size === Infinity ? "∞" : times >= 1e6 ? `10${raised(Math.round(size / Math.LN10))}` : times >= 100 ? whole(Math.round(times)) : String(Number(times.toPrecision(3)));
  return x >= 0 ? say("{n} to 1", { n: text }) : say("1 to {n}", { n: text });
}

// A number as a power: 43 becomes ⁴³.
const raised = (n) => String(n).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

export function share_of(log_odds) {
  return 1 / (1 + Math.exp(-log_odds));
}

export function shortened(text, most = 60) {
  const letters = String(text);
  return letters.length > most ? `${letters.slice(0, most - 1)}…` : letters;
}

// A name that may be broken after what joins its words, which a browser does not know.
export function breakable(text) {
  return text.split(/(?<=[_./\\:-])(?=[^_./\\:-])/u).flatMap((part, i) => (i ? [html`<wbr />`, part] : [part]));
}

// Scales.

export function ticks(low, high, n = 5) {
  if (!(high > low) || !Number.isFinite(high - low)) return [low];
  const rough = (high - low) / n, power = 10 ** Math.floor(Math.log10(rough)), ratio = rough / power;
  const step = power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10), found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}

export function linear([a, b], [p, q]) {
  const slope = b === a ? 0 : (q - p) / (b - a), scale = (x) => p + (x - a) * slope;
  scale.invert = (y) => (slope === 0 ? a : a + (y - p) / slope);
  scale.ticks = (n) => ticks(Math.min(a, b), Math.max(a, b), n);
  return scale;
}

const at = (x) => Math.round(x * 100) / 100;

export function path(points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${at(x)},${at(y)}`).join("");
}

export function area(points, base) {
  return points.length ? `${path(points)}L${at(points.at(-1)[0])},${at(base)}L${at(points[0][0])},${at(base)}Z` : "";
}

// Elements.

export function useWidth(first = 0) {
  const [width, set] = useState(first), watched = useRef(null);
  const ref = useCallback((element) => {
    if (watched.current) watched.current.disconnect();
    if (!element) return;
    set(Math.round(element.clientWidth));
    watched.current = new ResizeObserver(() => set(Math.round(element.clientWidth)));
    watched.current.observe(element);
  }, []);
  return [ref, width];
}

export function useDrag(move, done) {
  const on = useRef(false);
  return {
    onPointerDown(event) {
      if (event.button !== 0) return;
      on.current = true;
      event.currentTarget.setPointerCapture(event.pointerId);
      move(event, "begin");
    },
    onPointerMove(event) {
      if (on.current) move(event, "move");
    },
    onPointerUp(event) {
      if (on.current && done) done(event);
      on.current = false;
    },
    onPointerCancel(event) {
      if (on.current && done) done(event);
      on.current = false;
    },
  };
}

export function Axis({ scale, at: place = 0, side = "bottom", ticks: own, n = 5, format = figures, label, from, to }) {
  const marks = own || scale.ticks(n), across = side === "bottom" || side === "top", sign = side === "bottom" || side === "right" ? 1 : -1;
  const ends = [from, to].map((each) => (each === undefined ? null : each));
  return html`<g class="axis" aria-hidden="true">
    ${ends[0] === null ? null : across ? html`<line x1=${ends[0]} x2=${ends[1]} y1=${place} y2=${place} />` : html`<line y1=${ends[0]} y2=${ends[1]} x1=${place} x2=${place} />`}
    ${marks.map((mark) => across
      ? html`<g transform=${`translate(${at(scale(mark))},${place})`}><line y2=${5 * sign} /><text y=${sign > 0 ? 18 : -9} text-anchor="middle">${format(mark)}</text></g>`
      : html`<g transform=${`translate(${place},${at(scale(mark))})`}><line x2=${5 * sign} /><text x=${9 * sign} dy=".35em" text-anchor=${sign > 0 ? "start" : "end"}>${format(mark)}</text></g>`)}
    ${label && ends[0] !== null && across ? html`<text class="axis-name" x=${(ends[0] + ends[1]) / 2} y=${place + sign * 36} text-anchor="middle">${label}</text>` : null}
  </g>`;
}

export function Table({ heads, rows, numbers = [], caption, label }) {
  const of = (j) => (numbers.includes(j) ? "n" : null);
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label || caption || heads.join(", ")}><table class="sheet">${caption ? html`<caption>${caption}</caption>` : null}
    <thead><tr>${heads.map((head, j) => html`<th scope="col" class=${of(j)}>${head}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, j) => (j ? html`<td class=${of(j)}>${cell}</td>` : html`<th scope="row" class=${of(j)}>${cell}</th>`))}</tr>`)}</tbody>
  </table></div>`;
}

export function Figure({ title, caption, table, interactive = false, children, class: name = "" }) {
  const [ref, width] = useWidth(), [open, set] = useState(false), draw = Array.isArray(children) ? children[0] : children;
  return html`<figure class=${`chart ${name}`} role=${interactive ? "group" : "img"} aria-label=${title} ref=${ref}>${width > 0 ? draw(width) : null}</figure>
    ${caption ? html`<p class="caption">${caption}</p>` : null}
    ${table ? html`<details class="quiet" onToggle=${(event) => set(event.currentTarget.open)}><summary>${say("As a table")}</summary>${open ? html`<${Table} ...${table} label=${title} />` : null}</details>` : null}`;
}

export function Swatch({ k }) {
  const { class: name, style } = paint(k);
  return html`<i class=${`swatch ${name}`} style=${style} aria-hidden="true"></i>`;
}

// A probability. `before` is a mark (what it was before calibration), `ghost` an outline (what it would be).
export function Bar({ k, share, before = null, ghost = null }) {
  const { class: name, style } = paint(k);
  return html`<span class="bar" aria-hidden="true"><i class=${name} style=${`${style};transform:scaleX(${share})`}></i>
    ${ghost === null ? null : html`<b class="ghost" style=${`${style};width:${100 * ghost}%`}></b>`}
    ${before === null ? null : html`<b class="before" style=${`left:${100 * before}%`}></b>`}</span>`;
}

// Log odds around a middle. What is beyond the largest, or infinite, fills its side and fades at its end.
export function Odds({ value, most, pair }) {
  if (value === null || Number.isNaN(value)) return html`<span class="odds" aria-hidden="true"></span>`;
  const k = value < 0 ? pair[1] : pair[0], far = Math.abs(value) > most, size = most > 0 ? Math.min(Math.abs(value) / most, 1) : far ? 1 : 0;
  const { class: name, style } = paint(k);
  return html`<span class="odds" aria-hidden="true"><i class=${`${name} ${value < 0 ? "less" : "more"}${far ? " over" : ""}`} style=${`${style};transform:scaleX(${size})`}></i></span>`;
}
