// Nomogram: a scale of points for each column, on which its value can be dragged; the points add up to the answer.
//
//     log odds = base + total / unit       (effects.mjs)
//
// Both are of the model that answers, so that the total is its answer to the last digit that is shown.
import { html, useCallback, useMemo, useRef, useState } from "../vendor/preact.mjs";
import { Axis, Figure, Swatch, figures, fill, linear, path, percent, shortened, signed, ticks as round, useDrag } from "../charts.mjs";
import { Button, Choice, Notice } from "../controls.mjs";
import { spell } from "../posterior.mjs";
import { levels, nomogram, on_step, probability_by, reach, share_of, value_scales } from "../effects.mjs";

const DRAWN = 12; // columns, until more are asked for
const EDGE = 20; // pixels beside the scales, which hold half a handle
const WIDE = 620; // pixels from which on names stand beside the scales
const LINE = 15, TALL = 104; // of a label, and of a curve that turns
const LEVELS = { category: [1, -1, 2, -2], text: [1, -1, 2, -2, 3, -3], number: [1], count: [1] };
const TURN = 2; // points by which a curve may turn and still be drawn as a line

const widths = new Map();
let context = null;

function text_width(text, bold) {
  const key = bold ? `b${text}` : text;
  if (!widths.has(key)) {
    if (context === null) context = document.createElement("canvas").getContext("2d");
    if (widths.size > 5000) widths.clear();
    context.font = `${bold ? "600 13px" : "400 12px"} system-ui, sans-serif`;
    widths.set(key, context.measureText(text).width);
  }
  return widths.get(key);
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
const points_text = (points) => (Number.isFinite(points) ? String(Math.round(points)).replace("-", "−") : points > 0 ? "∞" : points < 0 ? "−∞" : "?");

// Text that is no wider than so many pixels.
function fitted(text, room, bold) {
  let shown = shortened(text, 80);
  while (shown.length > 4 && text_width(shown, bold) > room) shown = `${shown.slice(0, -2)}…`;
  return shown;
}

// Of two classes the second, as the positive one. Of more, those that the answer is between; of an empty question the largest.
function pair_of(app) {
  if (app.chosen || (app.model.classes.length > 2 && Object.keys(app.row).length)) return app.pair;
  const { priors } = app.sheet, order = Array.from(priors, (_, k) => k).sort((a, b) => priors[b] - priors[a] || a - b);
  return priors.length === 2 ? [1, 0] : order.slice(0, 2);
}

// Where everything stands.

function fits(taken, x, width) {
  if (taken.some(([a, b]) => x - width / 2 - 4 < b && a < x + width / 2 + 4)) return false;
  taken.push([x - width / 2 - 4, x + width / 2 + 4]);
  return true;
}

function turns(points) {
  let rise = 0, fall = 0, least = Infinity, most = -Infinity;
  for (const [, p] of points) {
    least = Math.min(least, p);
    most = Math.max(most, p);
    rise = Math.max(rise, p - least);
    fall = Math.max(fall, most - p);
  }
  return Math.min(rise, fall) > TURN;
}

const same = (tick, value) => value !== null && String(tick.value) === String(value);

// One column from y on.
function layout(scale, y, across, unit, wide, width, gutter) {
  const of = (effect) => (effect - scale.least) * unit, x = (points) => across(clamp(Number.isNaN(points) ? scale.missing : points, across.low, across.high));
  const ticks = scale.ticks.map((tick) => ({ ...tick, points: of(tick.effect), x: x(of(tick.effect)) })).filter((tick) => !Number.isNaN(tick.points));
  const curve = scale.curve.map(([value, effect]) => [value, of(effect)]);
  const found = { scale, ticks, curve, x, labels: [], head: y + 12, turning: turns(curve) };
  const top = y + (wide ? 0 : 20);
  if (found.turning) {
    const [upper, lower] = [top + 22, top + 22 + TALL], ends = [curve[0][0], curve.at(-1)[0]];
    found.height = linear(ends, [lower, upper]);
    found.line = (upper + lower) / 2;
    const bases = [];
    for (const tick of ticks) {
      // On the side of the mark that the curve leaves free.
      const size = text_width(tick.label), right = tick.x + size + 14 < width, ahead = curve.find(([value]) => value > tick.value), rising = !ahead || ahead[1] >= tick.points;
      const base = found.height(tick.value) + (rising === right ? 13 : -4);
      if (bases.some((other) => Math.abs(other - base) < 12)) continue;
      bases.push(base);
      found.labels.push({ tick, text: tick.label, x: tick.x + (right ? 8 : -8), y: base, anchor: right ? "start" : "end" });
    }
    return { ...found, bottom: lower + 20 };
  }
  const taken = new Map(), placed = [], middle = (across.from + across.to) / 2;
  const chosen = (tick) => same(tick, scale.value) || tick.here;
  // What is chosen has its label in any case; then those farthest out.
  const order = [...ticks].sort((a, b) => Number(Boolean(chosen(b))) - Number(Boolean(chosen(a))) || Math.abs(b.x - middle) - Math.abs(a.x - middle));
  for (const tick of order) {
    const bold = chosen(tick), times = tick.here > 1 ? ` ×${tick.here}` : "", end = Number.isFinite(tick.points) ? "" : tick.points > 0 ? " ∞" : " −∞";
    const text = `${shortened(tick.label, wide ? 26 : 16) || "“”"}${times}${end}`, size = text_width(text, bold), at = clamp(tick.x, size / 2 + (wide ? gutter - 24 : 2), width - size / 2 - 2);
    const level = LEVELS[scale.kind].find((each) => {
      if (!taken.has(each)) taken.set(each, []);
      return fits(taken.get(each), at, size);
    });
    if (level) placed.push({ tick, level, text, x: at, bold });
  }
  const above = Math.max(scale.kind === "number" || scale.kind === "count" ? 1.2 : 0, ...placed.map(({ level }) => -level)), below = Math.max(1, ...placed.map(({ level }) => level));
  found.line = top + 14 + above * LINE;
  found.labels = placed.map(({ level, ...each }) => ({ ...each, y: found.line + (level > 0 ? 6 : 4) + level * LINE + (level > 0 ? 2 : -2), thread: Math.abs(level) > 1, anchor: "middle", below: level > 0 }));
  return { ...found, bottom: found.line + 14 + below * LINE };
}

// Values along a scale.

// The point of a curve at a place of the pointer: the nearest of all, or by points alone on a line.
function value_at(row, px, py) {
  const { scale, ticks, curve, x, turning, height } = row;
  if (scale.kind !== "number" || scale.discrete || !curve.length) {
    let best = null;
    for (const tick of ticks) if (best === null || Math.abs(tick.x - px) < Math.abs(best.x - px)) best = tick;
    return best ? best.value : null;
  }
  let best = curve[0], least = Infinity;
  for (const each of curve) {
    const apart = turning ? Math.hypot(x(each[1]) - px, height(each[0]) - py) : Math.abs(x(each[1]) - px);
    if (apart < least) [least, best] = [apart, each];
  }
  const lone = ticks.find((tick) => tick.alone && Math.abs(tick.x - px) < 6 && (!turning || Math.abs(height(tick.value) - py) < 6));
  return lone ? lone.value : best[0];
}

function tidy(app, place, value) {
  const range = reach(app.model.columns[place]);
  if (typeof value !== "number" || !range) return value;
  return range.whole ? Math.round(value) : on_step(value, 10 ** Math.floor(Math.log10((range.high - range.low) / 150)));
}

// The next tick from where the column stands, along the scale; on a curve that turns, along the values.
function next_tick(row, way) {
  const { scale, ticks, turning } = row, sorted = ticks.filter((tick) => Number.isFinite(tick.points)).sort((a, b) => (turning ? a.value - b.value : a.points - b.points || String(a.label).localeCompare(String(b.label))));
  if (!sorted.length) return null;
  if (way === "first") return sorted[0];
  if (way === "last") return sorted.at(-1);
  const here = sorted.findIndex((tick) => same(tick, scale.value));
  if (here >= 0) return sorted[clamp(here + way, 0, sorted.length - 1)];
  const by = (tick) => (turning && scale.value !== null ? tick.value - scale.value : tick.points - scale.points);
  return way > 0 ? sorted.find((tick) => by(tick) > 1e-9) ?? sorted.at(-1) : sorted.findLast((tick) => by(tick) < -1e-9) ?? sorted[0];
}

function shown_value(scale, app, most = 24) {
  if (scale.value === null) return app.say("unknown");
  const tick = scale.ticks.find((each) => same(each, scale.value));
  if (!tick && scale.kind === "category") return app.say("{value}: never seen", { value: shortened(spell(scale.value), most) });
  return typeof scale.value === "number" && !scale.words ? figures(scale.value, 6) : shortened(tick ? tick.label : String(scale.value), most);
}

function Row({ app, row, colours, wide, width, gutter }) {
  const { say } = app, { scale, labels, ticks, curve, line, x, turning, height } = row, { kind, value, place } = scale, unset = value === null;
  const text = kind === "text", at = clamp(x(scale.points), x(-1e9), x(1e9)), svg = useRef(null), drags = useRef(0);
  const y = !turning ? line : unset ? height(curve[0][0]) + 16 : clamp(height(Number(value)), height(curve.at(-1)[0]), height(curve[0][0]));
  const drag = useDrag((event, phase) => {
    if (phase === "begin") drags.current += 1; // each drag is one step of Undo
    const own = event.currentTarget.ownerSVGElement, box = own.getBoundingClientRect(), grown = box.width / own.viewBox.baseVal.width;
    event.preventDefault();
    if (svg.current) svg.current.focus({ preventScroll: true });
    const found = value_at(row, (event.clientX - box.left) / grown, (event.clientY - box.top) / grown);
    app.set(scale.name, found === null ? null : tidy(app, place, found), { gesture: `nomogram ${place} ${drags.current}` });
  });
  const keys = (event) => {
    const ways = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, Home: "first", End: "last" };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Delete" || event.key === "Backspace") app.set(scale.name, null);
    else if (event.key in ways) {
      const tick = next_tick(row, ways[event.key]);
      if (tick) app.set(scale.name, tick.value, { gesture: `nomogram ${place} keys` });
    } else return;
    event.preventDefault();
  };
  const label = shown_value(scale, app), says = scale.points > scale.missing + 1e-9 ? 0 : scale.points < scale.missing - 1e-9 ? 1 : -1;
  const ends = [...ticks.map((tick) => tick.x), x(scale.missing), ...curve.map(([, p]) => x(p)), ...(text ? [at] : [])];
  const outside = Number.isFinite(scale.points) && (x(scale.points) !== x.raw(scale.points)) ? (scale.points > 0 ? " ›" : "‹ ") : "";
  const spoken = `${unset ? say("unknown") : label}, ${say("{n} points", { n: points_text(scale.points) })}`;
  const said = fitted(text ? (unset ? say("no text") : say("{n} points", { n: points_text(scale.points) })) : label, wide ? gutter - 14 : width * 0.45, false);
  const name = fitted(scale.name, wide ? gutter - 14 : width - text_width(said) - 16, true);
  return html`<g class=${`nomogram-row${unset ? " unset" : ""}`}>
    <text class="name" x="0" y=${wide ? line - 1 : row.head}>${name}${name === scale.name ? null : html`<title>${shortened(scale.name, 400)}</title>`}</text>
    <text class="value" x=${wide ? 0 : width} y=${wide ? line + 14 : row.head} text-anchor=${wide ? "start" : "end"}>${said}</text>
    ${turning ? html`<path class="line" d=${path(curve.map(([v, p]) => [x(p), height(v)]))} />` : html`<line class="line" x1=${Math.min(...ends)} x2=${Math.max(...ends)} y1=${line} y2=${line} />`}
    ${labels.filter(({ x: tx, y: ty }) => !turning || unset || Math.abs(ty - (y - 13)) > 12 || Math.abs(tx - at) > 34).map(({ tick, text: written, x: tx, y: ty, anchor, thread, below, bold }) => html`<g>${thread ? html`<line class="thread" x1=${tick.x} x2=${tx} y1=${line} y2=${below ? ty - 10 : ty + 3} />` : null}
      <text class=${`tick${bold ? " bold" : ""}`} x=${tx} y=${ty} text-anchor=${anchor} onClick=${text ? null : () => app.set(scale.name, tick.value)}>${written}</text></g>`)}
    ${ticks.map((tick) => html`<circle class=${`mark${tick.here ? " here" : ""}`} cx=${tick.x} cy=${turning ? height(tick.value) : line} r=${tick.here ? 4 : 2.5} />`)}
    <circle class="missing" cx=${x(scale.missing)} cy=${turning ? height(curve[0][0]) + 16 : line} r="4.5"><title>${say("where nothing is known of it")}</title></circle>
    ${text ? (unset ? null : html`<path class="sum" style=${`fill:${says < 0 ? "var(--soft)" : colours[says]}`} d=${`M${at},${line - 6}l6,6l-6,6l-6,-6z`}><title>${spoken}</title></path>`)
    : html`<g class="track" ...${drag}>
        <rect class="hit" x=${Math.min(...ends) - 14} y=${turning ? height(curve.at(-1)[0]) - 10 : line - 13} width=${Math.max(...ends) - Math.min(...ends) + 28} height=${turning ? TALL + 36 : 26} />
        <g class="handle" ref=${svg} role="slider" tabindex="0" aria-label=${shortened(scale.name, 200)} aria-valuemin="0" aria-valuemax=${Math.round(scale.points_most)} aria-valuenow=${Number.isFinite(scale.points) ? Math.round(scale.points) : 0} aria-valuetext=${spoken} style=${`transform:translate(${at}px,${y}px)`} onKeyDown=${keys}>
          <circle class="ring" r="14" /><circle class="knob" r="8" style=${unset ? "" : `fill:${says < 0 ? "var(--soft)" : colours[says]}`} />
          ${kind === "category" || unset || scale.discrete ? null : html`<text class="bubble" y="-13" text-anchor=${at > width - 40 ? "end" : "middle"}>${outside === "‹ " ? outside : ""}${typeof value === "number" ? figures(value, 5) : label}${outside === " ›" ? outside : ""}</text>`}</g></g>`}
  </g>`;
}

// Total and probability.

function Totals({ app, shown, at, y, from, to, now, colours, name, wide }) {
  const { say } = app, marks = useMemo(() => (at ? levels(at, shown) : []), [at, shown.unit, shown.base]);
  let [low, high] = marks.length > 1 ? [marks[0][1], marks.at(-1)[1]] : [0, 100];
  if (!shown.scales.some(({ kind }) => kind === "text" || kind === "count") && !shown.other) {
    const most = shown.scales.reduce((sum, scale) => sum + scale.width * shown.unit, 0), [a, b] = [Math.max(0, low), Math.min(most, high)];
    if (a < b) [low, high] = [a, b];
  }
  const scale = linear([low, high], [from, to]), place = clamp(Number.isFinite(shown.total) ? scale(shown.total) : shown.total > 0 ? to : from, from, to), taken = [];
  const beyond = !Number.isFinite(shown.total) || shown.total > high + 1e-9 ? " ›" : shown.total < low - 1e-9 ? "‹ " : "";
  const shares = marks.filter(([, total]) => total >= low - 1e-9 && total <= high + 1e-9).sort((a, b) => Math.abs(b[0] - 0.5) - Math.abs(a[0] - 0.5));
  const written = shares.filter(([p, total]) => fits(taken, scale(total), text_width(`${figures(100 * p)}%`)));
  const end = place > to - 60 ? "end" : place < from + 60 ? "start" : "middle", arrow = (text) => (beyond === "‹ " ? beyond + text : text + beyond);
  const gap = wide ? 54 : 74, lower = y + gap, points = arrow(points_text(shown.total)), left = end === "end" ? -9 : 9;
  return html`<g class="nomogram-totals">
    <text class="name" x="0" y=${wide ? y + 4 : y - 24}>${say("Total points")}</text>${wide ? null : html`<text class="value strong" x=${to + EDGE} y=${y - 24} text-anchor="end">${points}</text>`}
    <${Axis} scale=${scale} at=${y} side="top" from=${from} to=${to} n=${Math.max(3, Math.round((to - from) / 90))} />
    <text class="name" x="0" y=${wide ? lower + 4 : lower - 18}>${name}</text>${wide ? null : html`<text class="value strong" x=${to + EDGE} y=${lower - 18} text-anchor="end">${percent(now)}</text>`}
    <line class="axis-line" x1=${from} x2=${to} y1=${lower} y2=${lower} />
    ${shares.map((each) => html`<g transform=${`translate(${scale(each[1])},${lower})`}><line class="axis-line" y2="5" />${written.includes(each) ? html`<text class="tick" y="19" text-anchor="middle">${`${figures(100 * each[0])}%`}</text>` : null}</g>`)}
    <g class="total" style=${`transform:translateX(${place}px)`}>${wide ? html`<line class="drop" y1=${y} y2=${lower} />` : null}<circle class="knob" cy=${y} r="6" /><circle class="knob" cy=${lower} r="7" style=${`fill:${colours[now >= 0.5 ? 0 : 1]}`} />
      ${wide ? html`<text class="bubble" y=${y + 22} x=${left} text-anchor=${end === "end" ? "end" : "start"}>${points}</text><text class="bubble" y=${y + 42} x=${left} text-anchor=${end === "end" ? "end" : "start"}>${percent(now)}</text>` : null}</g>
  </g>`;
}

// The picture as a file: a copy in which every colour and font is written out.
function download(svg, title) {
  const copy = svg.cloneNode(true), originals = [svg, ...svg.querySelectorAll("*")], copies = [copy, ...copy.querySelectorAll("*")];
  const kept = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "paint-order", "transform"];
  originals.forEach((element, i) => {
    const style = getComputedStyle(element);
    const text = kept.map((name) => [name, style.getPropertyValue(name)]).filter(([name, value]) => value && value !== "none" && value !== "normal" || name === "fill" || name === "stroke");
    copies[i].removeAttribute("class");
    for (const name of ["role", "tabindex", "aria-valuemin", "aria-valuemax", "aria-valuenow", "aria-valuetext", "aria-label", "aria-hidden"]) if (i) copies[i].removeAttribute(name);
    copies[i].setAttribute("style", text.map(([name, value]) => `${name}:${value}`).join(";"));
    if (element.classList.contains("hit") || element.classList.contains("ring")) copies[i].setAttribute("data-gone", "");
  });
  copy.querySelectorAll("[data-gone]").forEach((each) => each.remove());
  const { width, height } = svg.getBoundingClientRect(), paper = document.createElementNS("http://www.w3.org/2000/svg", "rect"), head = document.createElementNS("http://www.w3.org/2000/svg", "title");
  for (const [name, value] of [["xmlns", "http://www.w3.org/2000/svg"], ["width", width], ["height", height]]) copy.setAttribute(name, value);
  for (const [name, value] of [["width", "100%"], ["height", "100%"], ["fill", getComputedStyle(document.body).backgroundColor]]) paper.setAttribute(name, value);
  head.textContent = title;
  copy.prepend(head, paper);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" }));
  link.download = "nomogram.svg";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function Nomogram({ app }) {
  const { model, say, row } = app, K = model.classes.length, [pair, choose] = useState(() => pair_of(app)), [all, show] = useState(false), figure = useRef(null);
  const [yes, no] = pair, scales = useMemo(() => value_scales(model, yes, no), [model, yes, no]);
  const asked = app.mistake ? {} : row, shown = useMemo(() => nomogram(model, asked, yes, no, scales), [scales, row, app.mistake]);
  const at = useMemo(() => probability_by(model, asked, shown), [shown]), now = share_of(shown.score.posterior, yes, no);
  const every = shown.scales.filter(({ width, kind }) => width > 0 || kind === "text"), drawn = all ? every : every.slice(0, DRAWN);
  const hidden = every.length - drawn.length, title = say("Nomogram: P({a}), against {b}", { a: app.label(yes), b: app.label(no) });
  const colours = [fill(yes), fill(no)], options = model.classes.map((_, k) => ({ value: k, label: app.label(k) }));
  const choices = (which) => options.filter(({ value }) => value !== pair[1 - which]);
  const others = shown.other + every.slice(drawn.length).reduce((sum, scale) => sum + scale.points, 0);
  const table = {
    heads: [say("column"), say("value"), say("points"), say("points if unknown")], numbers: [2, 3],
    rows: [...every.map((scale) => [scale.name, shown_value(scale, app, 60), points_text(scale.points), points_text(scale.missing)]), [say("Total points"), "", points_text(shown.total), ""]],
  };
  const draw = useCallback((width) => html`<${Picture} app=${app} shown=${shown} drawn=${drawn} at=${at} now=${now} width=${width} colours=${colours} yes=${yes} figure=${figure} />`, [app, shown, drawn.length, at]);
  return html`<div class="nomogram"><style>${STYLE}</style>
    <p class="how">${say("Drag a value along its scale, or focus it and press the arrow keys; Delete makes it unknown. The points add up to the answer.")}</p>
    <div class="nomogram-head">
      <${Choice} label=${say("positive class")} options=${choices(0)} value=${yes} on=${(k) => choose([k, no])}>${say("How probable is")} <//>
      <${Choice} label=${say("class against it")} options=${choices(1)} value=${no} on=${(k) => choose([yes, k])}>${say("against")} <//>
      <${Button} on=${() => choose([no, yes])}>${say("Swap")}<//>
      ${K > 2 && !app.pair.every((k) => pair.includes(k)) ? html`<${Button} on=${() => choose(app.pair)}>${say("The answer's two")}<//>` : null}
      <${Button} on=${() => download(figure.current, title)}>${say("Download SVG")}<//>
    </div>
    <p class="nomogram-now"><b>${say("{n} points", { n: points_text(shown.total) })}</b><span aria-hidden="true">→</span><b dir="auto"><${Swatch} k=${yes} />${shortened(app.label(yes), 60)}</b> <b class="n">${percent(now)}</b>
      <span class="how">${K > 2 ? say("of the two; {p} among all {n} classes", { p: percent(shown.score.posterior[yes]), n: K }) : say("log odds {x}", { x: signed(shown.odds, 3) })}</span></p>
    ${app.mistake ? html`<${Notice}>${app.mistake}<//>` : null}
    <${Figure} title=${title} table=${table} interactive=${true} class="nomogram-figure">${draw}<//>
    <p class="caption">${say("○ where nothing is known of a column. Filled: speaks for the class of its colour.")}
      ${!at && Number.isFinite(shown.total) ? ` ${say("The probability does not follow from the points alone, so it has no scale here.")}` : ""}
      ${hidden > 0 ? ` ${say("Columns with at most {most} points between their values are not drawn ({n}); they have {points} points now.", { n: hidden, most: figures(every[drawn.length].width * shown.unit, 3), points: points_text(others - shown.other) })}` : ""}
      ${shown.other ? ` ${say("{points} points are of the length of the texts.", { points: points_text(shown.other) })}` : ""}</p>
    ${every.length > DRAWN ? html`<${Button} on=${() => show(!all)}>${all ? say("Show the {n} widest", { n: DRAWN }) : say("Show all {n} columns", { n: every.length })}<//>` : null}
  </div>`;
}

function Picture({ app, shown, drawn, at, now, width: pixels, colours, yes, figure }) {
  // Letters have 12 units; on a wall, where the page is larger, a unit is more than a pixel.
  const grown = parseFloat(getComputedStyle(document.documentElement).fontSize) / 16 || 1, width = pixels / grown;
  const wide = width >= WIDE, gutter = Math.min(Math.max(96, ...drawn.map(({ name }) => text_width(shortened(name, 60), true) + 16)), width * 0.3), from = wide ? gutter + EDGE : EDGE, to = width - EDGE, ends = [0];
  for (const scale of drawn) ends.push(...(scale.kind === "text" ? scale.ticks.map(({ effect }) => effect * shown.unit).filter(Number.isFinite) : [scale.width * shown.unit]));
  const [low, high] = [Math.min(...ends), Math.max(...ends, 1)], across = linear([low, high], [from, to]);
  Object.assign(across, { low, high, from, to });
  const first = wide ? 26 : 36;
  let y = first + 8;
  const rows = drawn.map((scale) => {
    const row = layout({ ...scale, points_most: scale.width * shown.unit }, y, across, shown.unit, wide, width, gutter);
    row.x.raw = across;
    y = row.bottom + (wide ? 4 : 10);
    return row;
  });
  const total = y + (wide ? 34 : 56), height = total + (wide ? 84 : 104), marks = round(low, high, Math.max(3, Math.round((to - from) / 80)));
  return html`<svg ref=${figure} class="nomogram-svg" width=${pixels} height=${height * grown} viewBox=${`0 0 ${width} ${height}`}>
    <g class="grid" aria-hidden="true">${marks.map((mark) => html`<line x1=${across(mark)} x2=${across(mark)} y1=${first} y2=${y} />`)}</g>
    <text class="name" x="0" y=${wide ? first - 4 : 10}>${app.say("Points")}</text>
    <${Axis} scale=${across} at=${first} side="top" from=${from} to=${to} ticks=${marks} />
    ${rows.map((row) => html`<${Row} key=${row.scale.place} app=${app} row=${row} colours=${colours} wide=${wide} width=${width} gutter=${gutter} />`)}
    <${Totals} app=${app} shown=${shown} at=${at} y=${total} from=${from} to=${to} now=${now} wide=${wide} colours=${colours} name=${fitted(`P(${app.label(yes)})`, wide ? gutter - 8 : width - 90, true)} />
  </svg>`;
}

const STYLE = `
.nomogram-head,.nomogram-now{display:flex;flex-wrap:wrap;gap:.4rem .8rem;align-items:center;margin:.6rem 0}
.nomogram-now b{min-width:0;max-width:100%;overflow-wrap:anywhere}.nomogram-now{font-size:1.05rem;font-variant-numeric:tabular-nums}.nomogram-now .n{font-size:1.3rem}.nomogram-now .how{font-size:.9rem}
.nomogram-svg{display:block;overflow:visible;font-variant-numeric:tabular-nums}
.nomogram-svg text,.nomogram-svg .axis text{font-size:12px}.nomogram-svg text{fill:var(--ink);unicode-bidi:plaintext}.nomogram-svg .name.name{font-weight:600;font-size:13px}.nomogram-svg .value{fill:var(--soft)}
.nomogram-svg .value.strong{fill:var(--ink);font-weight:600}.nomogram-svg .tick{paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round;fill:var(--soft);cursor:pointer}.nomogram-svg .tick.bold{fill:var(--ink);font-weight:600}
.nomogram-svg .grid line{stroke:var(--line);stroke-opacity:.55}.nomogram-svg .thread{stroke:var(--line)}
.nomogram-svg .line,.nomogram-svg .axis-line{stroke:var(--soft);fill:none;stroke-width:1.25}.nomogram-svg .mark{fill:var(--soft)}.nomogram-svg .mark.here{fill:var(--ink)}
.nomogram-svg .missing{fill:var(--paper);stroke:var(--soft);stroke-width:1.25}.nomogram-svg .hit{fill:transparent}
.nomogram-svg .track{cursor:grab;touch-action:pan-y}.nomogram-svg .track:active{cursor:grabbing}
.nomogram-svg .handle,.nomogram-svg .total{outline:none;transition:transform .16s ease-out}.nomogram-svg .track:active .handle{transition:none}
.nomogram-svg .knob{fill:var(--ink);stroke:var(--paper);stroke-width:2}.nomogram-svg .unset .knob{fill:var(--paper);stroke:var(--ink);stroke-width:1.75}
.nomogram-svg .ring{fill:transparent}.nomogram-svg .handle:hover .ring{fill:var(--ink);fill-opacity:.08}.nomogram-svg .handle:focus-visible .ring{fill:none;stroke:var(--link);stroke-width:2.5}
.nomogram-svg .bubble{font-weight:600;paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}.nomogram-svg .drop{stroke:var(--ink);stroke-dasharray:2 3}
@media (prefers-reduced-motion:reduce){.nomogram-svg .handle,.nomogram-svg .total{transition:none}}`;

function missing(app) {
  const { model, say } = app;
  if (model.classes.length < 2) return say("The model knows one class only.");
  if (!model.additive) return say("A value says nothing by itself here: the columns of this model depend on one another, or several models vote.");
  return model.columns.length ? null : say("The model has no columns.");
}

export const view = { id: "nomogram", title: "Nomogram", missing, component: Nomogram };
