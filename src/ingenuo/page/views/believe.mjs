// Believe it? How often the answers are right when they are that sure, from which probability on an answer is the cheapest,
// and which classes are taken for which, by the rows that the page embeds.
import { html, useEffect, useMemo, useState } from "../vendor/preact.mjs";
import { Axis, Figure, figures, linear, path, percent, shortened, whole } from "../charts.mjs";
import { Button, Choice } from "../controls.mjs";

const BINS = 10;
const STEPS = 100; // of the threshold
const REPLICATES = 200;
const SEED = 20;
const Z = 1.959963984540054; // of a normal distribution, 95% of which is within
const SLICE = 12; // milliseconds of work between two frames
const LISTED = 25; // rows of a cell
const CELLS = 12; // columns of a row that are shown
const MATRIX = 20; // classes whose confusions are a table
const ACROSS = 6; // classes whose names stand side by side above it; those of more stand upright
const PAIRS = 30;

// The interval of a share that was seen k of n times (Wilson).
export function wilson(k, n) {
  if (!n) return [0, 1];
  const p = k / n, z = (Z * Z) / n, centre = (p + z / 2) / (1 + z), half = (Z / (1 + z)) * Math.sqrt((p * (1 - p)) / n + z / (4 * n));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}

// Numbers from 0 to 1 that are the same for the same seed.
export function random(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// The bin of a probability: above m/M up to (m + 1)/M, and 0 in the first, as in evaluation/reliability.py.
function bin_of(p) {
  let at = Math.min(BINS - 1, Math.floor(p * BINS));
  while (at > 0 && p <= at / BINS) at -= 1;
  while (p > (at + 1) / BINS) at += 1;
  return at;
}

// Of answers with their probability: bins of equal width, each with its rows, mean probability, and share that is right.
export function reliability(sure, right) {
  const bins = Array.from({ length: BINS }, () => ({ n: 0, sure: 0, right: 0 }));
  sure.forEach((p, i) => {
    const bin = bins[bin_of(p)];
    bin.n += 1;
    bin.sure += p;
    bin.right += right[i] ? 1 : 0;
  });
  const found = bins.map((bin, at) => {
    const [low, high] = wilson(bin.right, bin.n);
    return { ...bin, from: at / BINS, to: (at + 1) / BINS, mean: bin.n ? bin.sure / bin.n : null, share: bin.n ? bin.right / bin.n : null, low, high };
  });
  const error = found.reduce((sum, bin) => sum + (bin.n ? Math.abs(bin.sure - bin.right) : 0), 0) / Math.max(sure.length, 1);
  return { bins: found, error };
}

// How many rows of a class, and of the others, are at or above each threshold: of all rows, and of rows drawn again with return.
export function above(shares, truths) {
  const n = shares.length, place = shares.map((p) => Math.min(STEPS, Math.floor(p * STEPS + 1e-9)));
  const count = (draw) => {
    const yes = new Float64Array(STEPS + 2), no = new Float64Array(STEPS + 2);
    for (let i = 0; i < n; i++) {
      const row = draw(i);
      (truths[row] ? yes : no)[place[row]] += 1;
    }
    for (let g = STEPS - 1; g >= 0; g--) {
      yes[g] += yes[g + 1];
      no[g] += no[g + 1];
    }
    return { yes, no };
  };
  const next = random(SEED);
  return { n, all: count((i) => i), drawn: Array.from({ length: REPLICATES }, () => count(() => Math.floor(next() * n))) };
}

// What an answer costs on average at each threshold; the cost of a cell: [true no, true yes][answered no, answered yes].
export function curve({ yes, no }, n, costs) {
  return Float64Array.from({ length: STEPS + 1 }, (_, g) => {
    const kept = yes[g] * costs[1][1] + no[g] * costs[0][1];
    return (kept + (yes[0] - yes[g]) * costs[1][0] + (no[0] - no[g]) * costs[0][0]) / n;
  });
}

// The threshold of the least cost; of several in a row the middle one.
export function cheapest(costs) {
  const least = Math.min(...costs), near = 1e-12 * (1 + Math.abs(least));
  let best = [0, -1], from = -1;
  for (let g = 0; g <= STEPS + 1; g++) {
    const is_least = g <= STEPS && costs[g] <= least + near;
    if (is_least && from < 0) from = g;
    if (!is_least && from >= 0) {
      if (g - 1 - from > best[1] - best[0]) best = [from, g - 1];
      from = -1;
    }
  }
  return Math.round((best[0] + best[1]) / 2);
}

export function quantile(sorted, share) {
  const at = share * (sorted.length - 1), low = Math.floor(at), high = Math.ceil(at);
  return sorted[low] + (sorted[high] - sorted[low]) * (at - low);
}

// The curve of costs with its interval at each threshold, and the cheapest threshold with its own.
export function judge_costs(counts, costs) {
  const own = curve(counts.all, counts.n, costs), drawn = counts.drawn.map((each) => curve(each, counts.n, costs));
  const low = new Float64Array(STEPS + 1), high = new Float64Array(STEPS + 1);
  for (let g = 0; g <= STEPS; g++) {
    const values = drawn.map((each) => each[g]).sort((a, b) => a - b);
    low[g] = quantile(values, 0.025);
    high[g] = quantile(values, 0.975);
  }
  const best = cheapest(own), bests = drawn.map(cheapest).sort((a, b) => a - b);
  return { own, low, high, best: best / STEPS, from: quantile(bests, 0.025) / STEPS, to: quantile(bests, 0.975) / STEPS };
}

// By what threshold the costs would be least, were the probabilities right; null where no threshold is.
export function by_costs(costs) {
  const wrong_yes = costs[0][1] - costs[0][0], wrong_no = costs[1][0] - costs[1][1];
  return wrong_yes >= 0 && wrong_no >= 0 && wrong_yes + wrong_no > 0 ? wrong_yes / (wrong_yes + wrong_no) : null;
}

export function row_object(rows, i) {
  return Object.fromEntries(rows.columns.map((name, j) => [name, rows.values[i][j]]).filter(([, value]) => value !== null && value !== undefined));
}

function first_best(shares) {
  return shares.reduce((best, share, k) => (share > shares[best] ? k : best), 0);
}

// What a report has of its evaluation: answers without their rows.
export function given_answers({ labels, posteriors }) {
  return labels.map((truth, row) => ({ row, truth, best: first_best(posteriors[row]), shares: posteriors[row] }));
}

// The answers to the rows that have a class, some at a time so that the page stays awake.
function useAnswers(app) {
  const [state, set] = useState({ done: 0, answers: null });
  useEffect(() => {
    if (!app.rows) {
      set({ done: 0, answers: given_answers(app.evaluation) });
      return undefined;
    }
    const rows = app.rows, n = rows.values.length, answers = [];
    let at = 0, alive = true;
    const step = () => {
      const until = performance.now() + SLICE;
      while (at < n && performance.now() < until) {
        if (rows.labels[at] !== null) {
          const found = app.model.score(row_object(rows, at));
          answers.push({ row: at, truth: rows.labels[at], best: found.best, shares: found.posterior });
        }
        at += 1;
      }
      if (!alive) return;
      set({ done: at, answers: at < n ? null : answers });
      if (at < n) setTimeout(step, 0);
    };
    step();
    return () => { alive = false; };
  }, [app.model, app.rows]);
  return state;
}

const three = (x) => (x !== null && Math.abs(x) < 1e5 && (x === 0 || Math.abs(x) >= 0.0005) ? x.toFixed(3).replace("-", "−") : figures(x, 3));

// Pictures.

function Sureness({ app, bins, colour, what }) {
  const { say } = app, most = Math.max(...bins.map((bin) => bin.n), 1), there = bins.filter((bin) => bin.n);
  const table = {
    heads: [say("between"), say("rows"), say("mean probability"), say("share that is right"), say("95% interval")],
    rows: there.map((bin) => [`${bin.from.toFixed(1)} – ${bin.to.toFixed(1)}`, whole(bin.n), three(bin.mean), three(bin.share), `${three(bin.low)} – ${three(bin.high)}`]),
    numbers: [1, 2, 3, 4],
  };
  const draw = (full) => {
    const width = Math.min(full, 520), left = 46, bars = 40, height = Math.min(width, 400), base = height - bars - 46;
    const x = linear([0, 1], [left, width - 12]), y = linear([0, 1], [base, 12]), foot = base + bars + 8;
    return html`<svg width=${width} height=${height + 8} class="believe-chart" aria-hidden="true">
      ${[0.2, 0.4, 0.6, 0.8, 1].map((p) => html`<line class="believe-grid" x1=${left} x2=${width - 12} y1=${y(p)} y2=${y(p)} />`)}
      <${Axis} scale=${y} side="left" at=${left} from=${base} to=${12} /><${Axis} scale=${x} side="bottom" at=${foot} from=${left} to=${width - 12} label=${what} />
      <line x1=${x(0)} y1=${y(0)} x2=${x(1)} y2=${y(1)} class="believe-diagonal" />
      ${there.map((bin) => html`<rect x=${x(bin.from) + 1} width=${x(0.1) - x(0) - 2} y=${foot - (bars * bin.n) / most} height=${(bars * bin.n) / most} class="believe-rows" />`)}
      ${there.map((bin) => html`<g style=${`color:${colour}`}><title>${say("{n} rows: {share} right of {mean} said", { n: whole(bin.n), share: percent(bin.share), mean: percent(bin.mean) })}</title>
        <line x1=${x(bin.mean)} x2=${x(bin.mean)} y1=${y(bin.low)} y2=${y(bin.high)} class="believe-interval" />
        <circle cx=${x(bin.mean)} cy=${y(bin.share)} r=${3.5 + 4 * Math.sqrt(bin.n / most)} class="believe-dot" /></g>`)}
    </svg>`;
  };
  return html`<${Figure} title=${say("How often it is right, over how sure it is")} table=${table} class="believe-figure">${draw}<//>`;
}

function Costs({ app, found, threshold, colour }) {
  const { say } = app, at = Math.round(threshold * STEPS), places = Array.from({ length: 11 }, (_, i) => (i * STEPS) / 10);
  const table = {
    heads: [say("threshold"), say("cost of a row"), say("95% interval")],
    rows: places.map((g) => [(g / STEPS).toFixed(1), three(found.own[g]), `${three(found.low[g])} – ${three(found.high[g])}`]),
    numbers: [1, 2],
  };
  const draw = (full) => {
    const width = Math.min(full, 520), left = 56, base = 210, right = width - 12;
    const low = Math.min(0, ...found.low), high = Math.max(...found.high, low + 1e-9), x = linear([0, 1], [left, right]), y = linear([low, high], [base, 12]);
    const points = (values) => Array.from(values, (cost, g) => [x(g / STEPS), y(cost)]);
    return html`<svg width=${width} height=${base + 48} class="believe-chart" aria-hidden="true" style=${`color:${colour}`}>
      <rect x=${x(found.from)} width=${Math.max(x(found.to) - x(found.from), 2)} y=${12} height=${base - 12} class="believe-range" />
      ${y.ticks(4).map((cost) => html`<line class="believe-grid" x1=${left} x2=${right} y1=${y(cost)} y2=${y(cost)} />`)}
      <${Axis} scale=${y} side="left" at=${left} n=${4} from=${base} to=${12} /><${Axis} scale=${x} side="bottom" at=${base} from=${left} to=${right} label=${say("threshold")} />
      <path d=${`${path(points(found.high))}${path(points(found.low).reverse()).replace("M", "L")}Z`} class="believe-band" />
      <path d=${path(points(found.own))} class="believe-curve" />
      <line x1=${x(found.best)} x2=${x(found.best)} y1=${12} y2=${base} class="believe-best" />
      <line x1=${x(threshold)} x2=${x(threshold)} y1=${12} y2=${base} class="believe-here" />
      <circle cx=${x(threshold)} cy=${y(found.own[at])} r="5" class="believe-dot" />
    </svg>`;
  };
  return html`<${Figure} title=${say("What an answer costs on average, over the threshold")} table=${table} class="believe-figure">${draw}<//>`;
}

// Parts of the view.

function Sure({ app, answers }) {
  const { say } = app, K = app.model.classes.length;
  const [which, choose] = useState(-1);
  const found = useMemo(() => {
    const sure = answers.map((each) => each.shares[which < 0 ? each.best : which]);
    return reliability(sure, answers.map((each) => each.truth === (which < 0 ? each.best : which)));
  }, [answers, which]);
  const what = which < 0 ? say("probability of the answer") : say("probability of {class}", { class: app.label(which) });
  const options = [{ value: -1, label: say("its answers") }, ...Array.from({ length: K }, (_, k) => ({ value: k, label: say("the probability of {class}", { class: app.label(k) }) }))];
  return html`<section class="believe-part" aria-labelledby="believe-sure">
    <h3 id="believe-sure">${say("Are the probabilities right?")}</h3>
    <p class="how">${say("Of the answers that were given with 80%, 80% should be right: then the points lie on the dotted line. Below it the model is too sure. Each point has its 95% interval; the bars beneath are the rows.")}</p>
    <p class="believe-controls"><${Choice} label=${say("what is judged")} options=${options} value=${which} on=${choose}>${say("Judge")} <//></p>
    <${Sureness} app=${app} bins=${found.bins} colour=${which < 0 ? "var(--ink)" : app.colour(which)} what=${what} />
    <p>${say("What it says and how often that is so differ by {error} on average (ECE).", { error: percent(found.error) })}</p>
  </section>`;
}

function Threshold({ app, answers, chosen, choose, threshold, move }) {
  const { say } = app, K = app.model.classes.length, label = app.label(chosen);
  const [costs, set_costs] = useState([[0, 1], [1, 0]]);
  const counts = useMemo(() => above(answers.map((each) => each.shares[chosen]), answers.map((each) => each.truth === chosen)), [answers, chosen]);
  const found = useMemo(() => judge_costs(counts, costs), [counts, costs]);
  const at = Math.round(threshold * STEPS), { yes, no } = counts.all;
  const no_label = K === 2 ? app.label(1 - chosen) : say("not {class}", { class: label });
  const change = (truth, answer) => (event) => {
    const value = Number(event.currentTarget.value);
    if (event.currentTarget.value !== "" && Number.isFinite(value) && Math.abs(value) <= 1e9) set_costs(costs.map((line, t) => line.map((c, a) => (t === truth && a === answer ? value : c))));
  };
  const named = [no_label, label], ideal = by_costs(costs);
  const seen = [[no[0] - no[at], no[at]], [yes[0] - yes[at], yes[at]]];
  return html`<section class="believe-part" aria-labelledby="believe-threshold">
    <h3 id="believe-threshold">${say("From which probability on?")}</h3>
    <p class="how">${say("Say what each mistake costs. The curve is what an answer costs on average, by the rows, if {class} is answered from that probability on; the band is its 95% interval, and the shaded range where the cheapest threshold may be.", { class: label })}</p>
    <p class="believe-controls">
      <${Choice} label=${say("class that is answered")} options=${Array.from({ length: K }, (_, k) => ({ value: k, label: app.label(k) }))} value=${chosen} on=${choose}>${say("Answer")} <//>
      <label class="believe-slider">${say("from")} <input type="range" min="0" max=${STEPS} value=${at} aria-valuetext=${percent(threshold)} onInput=${(event) => move(Number(event.currentTarget.value) / STEPS)} /> <output>${threshold.toFixed(2)}</output></label>
      <${Button} on=${() => move(found.best)}>${say("Take the cheapest, {threshold}", { threshold: found.best.toFixed(2) })}<//>
    </p>
    <div class="believe-both">
      <div><${Costs} app=${app} found=${found} threshold=${threshold} colour=${app.colour(chosen)} /></div>
      <div>
        <div class="scroll" tabindex="0" role="region" aria-label=${say("costs and rows")}><table class="sheet believe-costs">
          <thead><tr><th scope="col">${say("true")}</th>${named.map((name) => html`<th scope="col"><span>${say("answered {class}", { class: shortened(name, 40) })}</span></th>`)}</tr></thead>
          <tbody>${[0, 1].map((truth) => html`<tr><th scope="row"><span>${shortened(named[truth], 40)}</span></th>${[0, 1].map((answer) => html`<td>
            <input type="number" step="any" value=${costs[truth][answer]} aria-label=${say("cost of {truth} answered {answer}", { truth: named[truth], answer: named[answer] })} onChange=${change(truth, answer)} />
            <small>${seen[truth][answer] === 1 ? say("1 row") : say("{n} rows", { n: whole(seen[truth][answer]) })}</small></td>`)}</tr>`)}</tbody>
        </table></div>
        <p aria-live="polite">${say("At {threshold} a row costs {cost} ({low} to {high}).", { threshold: threshold.toFixed(2), cost: three(found.own[at]), low: three(found.low[at]), high: three(found.high[at]) })}
          ${" "}${say("The cheapest threshold is {best} ({from} to {to}): {cost}.", { best: found.best.toFixed(2), from: found.from.toFixed(2), to: found.to.toFixed(2), cost: three(found.own[Math.round(found.best * STEPS)]) })}</p>
        ${ideal === null ? null : html`<p class="how">${say("Were the probabilities right, it would be {ideal} at these costs.", { ideal: ideal.toFixed(2) })}</p>`}
      </div>
    </div>
  </section>`;
}

function Confusion({ app, answers, answer_of, threshold_says }) {
  const { say } = app, K = app.model.classes.length, [cell, open] = useState(null);
  const { counts, unseen } = useMemo(() => {
    const found = new Map();
    let strange = 0;
    answers.forEach((each) => {
      if (each.truth < 0) strange += 1;
      const key = `${each.truth} ${answer_of(each)}`;
      if (!found.has(key)) found.set(key, []);
      found.get(key).push(each);
    });
    return { counts: found, unseen: strange };
  }, [answers, answer_of]);
  const of = (truth, answer) => counts.get(`${truth} ${answer}`) || [];
  const name = (k) => (k < 0 ? say("a class it does not know") : app.label(k));
  const truths = [...Array(K).keys(), ...(unseen ? [-1] : [])];
  const right = truths.reduce((sum, k) => sum + (k < 0 ? 0 : of(k, k).length), 0), [low, high] = wilson(right, answers.length);
  const is_open = (truth, answer) => cell !== null && cell[0] === truth && cell[1] === answer;
  const button = (truth, answer, n) => html`<button type="button" class="believe-cell" aria-pressed=${is_open(truth, answer)} disabled=${n === 0 || !app.rows}
    aria-label=${say("{n} rows of {truth} answered {answer}", { n, truth: name(truth), answer: name(answer) })} onClick=${() => open(is_open(truth, answer) ? null : [truth, answer])}>${n === 0 && truth !== answer ? html`<span class="believe-none">·</span>` : whole(n)}</button>`;
  return html`<section class="believe-part" aria-labelledby="believe-confusion">
    <h3 id="believe-confusion">${say("What is taken for what?")}</h3>
    <p class="how">${say("{right} of {n} rows are right: {share} ({low} to {high}).", { right: whole(right), n: whole(answers.length), share: percent(right / answers.length), low: percent(low), high: percent(high) })}
      ${" "}${threshold_says} ${app.rows ? say("Click a number to see its rows, and a row to ask it.") : say("The rows themselves are not in this page.")}</p>
    <div class="scroll" tabindex="0" role="region" aria-label=${say("confusions")}>${K <= MATRIX ? html`<table class=${`sheet believe-matrix${K > ACROSS ? " dense" : ""}`}>
      <thead><tr><th scope="col">${say("true")} \\ ${say("answered")}</th>${Array.from({ length: K }, (_, k) => html`<th scope="col" class="n"><span title=${shortened(name(k), 400)}>${shortened(name(k), 60)}</span></th>`)}</tr></thead>
      <tbody>${truths.map((truth) => {
        const all = Array.from({ length: K }, (_, k) => of(truth, k).length), most = Math.max(all.reduce((a, b) => a + b, 0), 1);
        return html`<tr><th scope="row"><span title=${shortened(name(truth), 400)}>${shortened(name(truth), 60)}</span></th>${all.map((n, k) => html`<td class=${truth === k ? "n believe-right" : "n"} style=${`--share:${(n / most).toFixed(3)};--own:${app.colour(truth < 0 ? k : truth)}`}>${button(truth, k, n)}</td>`)}</tr>`;
      })}</tbody></table>` : html`<table class="sheet">
      <thead><tr><th scope="col">${say("true")}</th><th scope="col">${say("answered")}</th><th scope="col" class="n">${say("rows")}</th></tr></thead>
      <tbody>${[...counts].map(([key, rows]) => [...key.split(" ").map(Number), rows.length]).filter(([a, b]) => a !== b).sort((a, b) => b[2] - a[2]).slice(0, PAIRS)
        .map(([truth, answer, n]) => html`<tr><th scope="row">${name(truth)}</th><td>${name(answer)}</td><td class="n">${button(truth, answer, n)}</td></tr>`)}</tbody></table>`}</div>
    ${cell === null ? null : html`<${Rows} app=${app} found=${of(...cell)} answer=${cell[1]} title=${say("{truth}, answered {answer}", { truth: name(cell[0]), answer: name(cell[1]) })} />`}
  </section>`;
}

function Rows({ app, found, answer, title }) {
  const { say } = app, rows = app.rows, columns = rows.columns.slice(0, CELLS);
  const order = useMemo(() => found.slice().sort((a, b) => b.shares[answer] - a.shares[answer]).slice(0, LISTED), [found, answer]);
  const shown = (value) => (value === null || value === undefined ? "?" : shortened(value));
  return html`<div class="believe-rows-of"><h4>${title}</h4>
    <div class="scroll" tabindex="0" role="region" aria-label=${title}><table class="sheet">
      <thead><tr><th scope="col">${say("row")}</th><th scope="col" class="n">${say("sure")}</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${order.map((each) => html`<tr><th scope="row"><${Button} class="link believe-ask" on=${() => app.ask(row_object(rows, each.row))}>${say("Ask {n}", { n: each.row + 1 })}<//></th>
        <td class="n">${percent(each.shares[answer])}</td>${columns.map((_, j) => html`<td>${shown(rows.values[each.row][j])}</td>`)}</tr>`)}</tbody>
    </table></div>
    ${found.length > order.length ? html`<p class="how">${say("The {n} that are most sure, of {all}.", { n: order.length, all: whole(found.length) })}</p>` : null}
  </div>`;
}

function Believe({ app }) {
  const { say } = app, K = app.model.classes.length, { done, answers } = useAnswers(app);
  const rarest = useMemo(() => rare((app.rows || app.evaluation).labels, K), [app.rows]);
  const [chosen, choose] = useState(rarest), [threshold, move] = useState(K === 2 ? 0.5 : null);
  const at = threshold === null ? 0.5 : threshold;
  // Of two classes the threshold decides; of more, the most probable is the answer unless the threshold was moved.
  const answer_of = useMemo(() => (each) => {
    if (threshold === null || (K === 2 && threshold === 0.5)) return each.best;
    if (each.shares[chosen] >= threshold) return chosen;
    let best = chosen === 0 ? 1 : 0;
    for (let k = 0; k < K; k++) if (k !== chosen && each.shares[k] > each.shares[best]) best = k;
    return best;
  }, [threshold, chosen, K]);
  if (answers === null) return html`<p role="status">${say("{done} of {n} rows are answered …", { done: whole(done), n: whole(app.rows ? app.rows.values.length : 0) })}</p>`;
  if (!answers.length) return html`<p>${say("No row has a class, so that there is nothing to judge by.")}</p>`;
  const moved = threshold !== null && threshold !== 0.5;
  const says = moved ? say("{class} is answered from {threshold} on.", { class: app.label(chosen), threshold: threshold.toFixed(2) }) : "";
  return html`<div class="believe"><style>${STYLE}</style>
    <p class="how">${say("Judged by {note}. Rows that the model learned make it look better than it is.", { note: (app.rows || app.evaluation).note })}</p>
    <${Sure} app=${app} answers=${answers} />
    ${K > 1 ? html`<${Threshold} app=${app} answers=${answers} chosen=${chosen} choose=${choose} threshold=${at} move=${move} />` : null}
    <${Confusion} app=${app} answers=${answers} answer_of=${answer_of} threshold_says=${says} />
  </div>`;
}

// The class of fewest rows, of those that have some.
function rare(labels, K) {
  const counts = new Array(K).fill(0);
  labels.forEach((k) => { if (k !== null && k >= 0) counts[k] += 1; });
  let found = counts.length - 1;
  counts.forEach((n, k) => { if (n > 0 && (counts[found] === 0 || n < counts[found])) found = k; });
  return found;
}

const STYLE = `
.believe-part{margin:0 0 2.5rem}
.believe-both{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));gap:.5rem 2rem;align-items:start}
.believe-grid{stroke:var(--line);opacity:.7}.believe-diagonal{stroke:var(--soft);stroke-dasharray:2 4}.believe-rows{fill:var(--soft);opacity:.35}
.believe-interval{stroke:currentColor;stroke-width:2}.believe-dot{fill:currentColor;stroke:var(--paper);stroke-width:1.5}
.believe-band{fill:currentColor;opacity:.16}.believe-curve{fill:none;stroke:currentColor;stroke-width:2}
.believe-range{fill:var(--soft);opacity:.12}.believe-best{stroke:var(--soft);stroke-dasharray:5 4}.believe-here{stroke:currentColor;stroke-width:1.5}
.believe-controls{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;max-width:none}
.believe-slider{display:inline-flex;align-items:center;gap:.5rem;flex:1 1 14rem;max-width:26rem}.believe-slider input{flex:1;min-width:6rem}
.believe-slider output{font-variant-numeric:tabular-nums}
.believe-costs th span,.believe-matrix th span{display:inline-block;max-width:11rem;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;vertical-align:bottom}.believe-costs thead th span{white-space:normal}
.believe-matrix.dense thead .n{vertical-align:bottom!important;padding:.25rem .15rem .35rem;text-align:center}.believe-matrix.dense thead .n span{writing-mode:vertical-rl;transform:rotate(180deg);max-width:none;max-height:11rem;font-weight:400}
.believe-matrix.dense .believe-cell{min-width:1.95rem;padding:.2rem .1rem;text-align:center}.believe-matrix.dense th[scope=row]{padding-right:.6rem}.believe-none{color:var(--edge)}
.believe-costs input{width:5.5rem;text-align:right;font-variant-numeric:tabular-nums}.believe-costs small{display:block;color:var(--soft)}
.believe-matrix td{padding:2px}.believe-matrix th,.believe-rows-of td,.believe-rows-of th{vertical-align:middle!important}.believe-cell{font:inherit;font-variant-numeric:tabular-nums;display:block;width:100%;min-width:3rem;min-height:1.9rem;padding:.25rem .5rem;text-align:right;border:1px solid transparent;border-radius:.3rem;color:var(--ink);cursor:pointer;
background:color-mix(in srgb,var(--own,var(--soft)) calc(var(--share,0)*32%),transparent)}
.believe-right .believe-cell{font-weight:600}.believe-cell:disabled{color:inherit;border-color:transparent;cursor:default}.believe-cell[aria-pressed=true]{border-color:var(--ink)}
.believe-ask,.believe-rows-of td{white-space:nowrap}`;

export const view = {
  id: "believe",
  title: "Believe it?",
  missing: (app) => {
    if (!app.rows && app.evaluation && app.evaluation.labels) return null;
    if (!app.rows) return app.say("To judge the answers by rows whose class is known, make the page with --rows FILE.");
    return app.rows.labels.some((k) => k !== null) ? null : app.say("The rows of this page have no class, so that the answers cannot be judged by them.");
  },
  component: Believe,
};
