// Answer: the probability of each class, and the arithmetic that it is the sum of.
import { html, useMemo, useState } from "../vendor/preact.mjs";
import { is_foreign, say } from "../language.mjs";
import { Bar, Odds, Swatch, Table, breakable, figures, odds, percent, shortened, signed, whole } from "../charts.mjs";
import { Button, Choice, Notice } from "../controls.mjs";

const SHOWN = 6; // classes, until all are asked for
const MOST = 60; // and of all
const LINES = 14; // of the arithmetic, until all are asked for
const SILENT = 3; // lines of 0.00, of which more are left out until then
const NUMBERED = 6; // classes of the table in numbers
const NAMED = 6; // unknown columns
const REACH = 1.5; // of the strongest line: how long a bar may be, so that the others are seen beside the sum

// The bars, always on the screen. A class keeps its bar, which slides to its place.
export function Verdict({ app, ghost }) {
  const { answer, label } = app, K = app.model.classes.length, [all, show] = useState(false);
  const fits = K <= SHOWN + 1, n = Math.min(fits || all ? K : SHOWN, MOST);
  const order = K === 2 ? [0, 1] : Array.from(answer.order), shown = order.slice(0, n), rank = new Map(shown.map((k, i) => [k, i]));
  const best = answer.best, before = answer.before, { target } = app.sheet;
  const rest = order.slice(n).reduce((sum, k) => sum + answer.posterior[k], 0);
  const calibrated = before && before.some((p, k) => Math.abs(p - answer.posterior[k]) > 5e-4);
  return html`<section class=${`verdict${ghost ? " previewed" : ""}${all ? " all" : ""}`} aria-labelledby="verdict-head">
    ${target && !app.data.title.includes(target) ? html`<p class="verdict-of" dir="auto">${shortened(target, 60)}</p>` : null}
    <h2 id="verdict-head"><span class="hidden">${say("Answer")}: </span><span class=${`best${label(best).length > 9 ? " long" : ""}`} dir="auto"><${Swatch} k=${best} />${shortened(label(best), 80)}</span> <span class="chance">${percent(answer.posterior[best])}</span></h2>
    <div class="posterior" role="list" style=${`--n:${shown.length};--name:${Math.min(28, 1.2 * Math.max(5, ...shown.map((k) => label(k).length)))}ch`}>${[...shown].sort((a, b) => a - b).map((k) => html`<div role="listitem" class=${`class-row${k === best ? " is-best" : ""}`} key=${k} style=${`--rank:${rank.get(k)}`}>
      <span class="class-name" dir="auto" title=${label(k).length > 14 ? shortened(label(k), 400) : undefined}>${shortened(label(k), 60)}</span>
      <${Bar} k=${k} share=${answer.posterior[k]} before=${calibrated ? before[k] : null} ghost=${ghost ? ghost.posterior[k] : null} />
      <span class="n" title=${String(answer.posterior[k])}>${percent(ghost ? ghost.posterior[k] : answer.posterior[k])}</span></div>`)}</div>
    ${K > SHOWN + 1 ? html`<p class="verdict-rest">${n < K ? say("{n} other classes: {p}", { n: whole(K - n), p: percent(rest) }) : null} <${Button} class="link" on=${() => show(!all)} pressed=${all}>${all ? say("show fewer") : say("show all")}<//></p>` : null}
    <p class="verdict-note">${ghost ? html`<b>${ghost.text}</b>` : app.mistake ? html`<span class="warn">${heard(app.mistake)}</span>` : note(app, calibrated)}</p></section>`;
}

function note(app, calibrated) {
  const [a, b] = app.pair, { posterior } = app.answer, each = Math.log(posterior[a]) - Math.log(posterior[b]);
  if (a === b) return "";
  const bet = Object.keys(app.row).length === 0 ? say("Nothing is known yet.") : say("{odds} for {a} against {b}", { odds: odds(each), a: shortened(app.label(a), 40), b: shortened(app.label(b), 40) });
  return calibrated ? html`${bet} <span class="legend"><i class="before"></i>${say("before calibration")}</span>` : bet;
}

// Lines of the arithmetic: {name, value, adds: log odds of the pair, logs, factor}.

function difference(logs, [a, b]) {
  return logs[a] === logs[b] ? 0 : logs[a] - logs[b];
}

export function lines_of(answer, pair) {
  return answer.factors.map((factor, place) => ({ ...factor, first: place === 0 })).filter((factor) => factor.logs).map((factor) => ({ ...factor, adds: difference(factor.logs, pair) }));
}

// What the answer would be without a line, and whether that is exact.
export function without(app, line) {
  const { model, row, answer } = app;
  if (line.column !== null && line.of === null) {
    const left = { ...row };
    delete left[line.name];
    return model.score(left).posterior;
  }
  const joint = Array.from(answer.joint || answer.logs, (each, k) => (line.logs[k] === -Infinity ? 0 : each - line.logs[k]));
  const top = Math.max(...joint), powers = joint.map((each) => Math.exp(each - top)), sum = powers.reduce((all, each) => all + each, 0);
  return powers.map((each) => each / sum);
}

function called(line) {
  return line.column === null ? say(line.name) : line.name;
}

// What the sheet says of a line, which is what Python says of it, in the words of the reader. English here: no catalogue is
// known yet when a module begins.
// say("prior") say("at the mean") say("share") say("shift") say("all") say("trees before any test") say("missing") say("absent")
// say("together") say("averaged") say("no value can be a parent") say("no words") say("left out") say("left out: weight 0")
// say("never seen") say("stop words, or cut by the limits") say("never seen, or cut by the limits") say("naive product")
// say("has one value only") say("follows from the columns above") say("integrated out") say("left out: it hardly varies")
// say("left out, here and in the other weights") say("counts as the mean") say("adds nothing") say("never seen: left out")
// say("in each of the products below") say("too rare to be a parent") say("summed out: what it could be sums to 1")
const PHRASES = [say("{why}: left out: {words}"), say("weight {w}"), say("summed over {names}, below"), say("{n} absent"), say("mean of {n}"), say("{why}: no parent"), say("{why}: it says nothing"), say("as parent of the others: {shares}"), say("{name} is a number, and {value} is none"), say("{name} is a count, and {value} is none"), say("{name} is a text, and {value} is none")];

export function heard(text) {
  if (!is_foreign() || !text) return text;
  const whole = say(text);
  if (whole !== text) return whole;
  for (const phrase of PHRASES) {
    const names = [...phrase.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const found = new RegExp(`^${phrase.replace(/\{\w+\}/g, "(.*)")}$`, "su").exec(text);
    if (found) return say(phrase, Object.fromEntries(names.map((name, i) => [name, name === "why" ? heard(found[i + 1]) : found[i + 1]])));
  }
  return text;
}

// A number that was measured is not read to its last digit.
function valued(app, { column, of, name, value }) {
  const given = column === null || of !== null ? undefined : app.row[name];
  if (is_foreign() && given === undefined) {
    const unknown = app.model.columns.filter((each) => app.row[each.name] === undefined).map((each) => `${each.name} missing`);
    const [own, ...others] = value.split(" | ");
    return [heard(own), ...others.map((each) => each.split(", ").map((one) => (unknown.includes(one) ? `${one.slice(0, -7)}${say("missing")}` : one)).join(", "))].join(" | ");
  }
  return typeof given === "number" && value === String(given) ? figures(given, 5) : value;
}

function Lines({ app, lines, most, pair }) {
  const [at, move] = useState(0);
  const show = (line) => () => {
    const posterior = without(app, line), k = app.answer.best;
    const early = app.answer.before && (line.column === null || line.of !== null);
    const values = { name: shortened(called(line), 40), class: shortened(app.label(k), 40), p: percent(posterior[k]) };
    app.preview({ posterior, text: early ? say("without {name}, and before calibration: {class} {p}", values) : say("without {name}: {class} {p}", values) });
  };
  const hide = () => app.preview(null);
  const keys = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(Math.max(at + step, 0), lines.length - 1);
    move(next);
    event.currentTarget.parentElement.children[next].focus();
  };
  return html`<tbody onMouseLeave=${hide}>${lines.map((line, i) => html`<tr key=${`${line.column} ${line.of} ${line.name} ${line.value}`} tabindex=${i === Math.min(at, lines.length - 1) ? 0 : -1} onMouseEnter=${show(line)} onFocus=${(event) => { move(i); show(line)(event); }} onBlur=${hide} onKeyDown=${keys}>
    <th scope="row" dir="auto" class=${line.of === null ? null : "part"}>${breakable(shortened(called(line), 80))}</th>
    <td class="value" dir="auto" title=${valued(app, line) === line.value ? undefined : line.value}>${shortened(valued(app, line), 60)}</td>
    <td class="odds-cell"><${Odds} value=${line.adds} most=${most} pair=${pair} /></td>
    <td class="n">${signed(line.adds)}</td></tr>`)}</tbody>`;
}

function Arithmetic({ app }) {
  const { answer, pair, label, model } = app, K = model.classes.length, [all, show] = useState(false), [by, sort] = useState("size");
  const lines = useMemo(() => lines_of(answer, pair), [answer, pair[0], pair[1]]);
  if (pair[0] === pair[1]) return html`<p>${say("There is one class only.")}</p>`;
  const prior = lines.filter((line) => line.first), others = lines.filter((line) => !line.first); // what no single column says is among the others
  const size = (line) => (Number.isNaN(line.adds) ? 0 : Math.abs(line.adds));
  const telling = others.filter((line) => !(Math.abs(line.adds) < 0.005)).length, silent = by === "size" && others.length - telling > SILENT;
  const most_lines = silent ? Math.min(telling, LINES) : LINES, cut = silent || others.length > LINES + 1, sorted = by === "size" || (cut && !all) ? [...others].sort((x, y) => size(y) - size(x)) : others;
  const shown = all || !cut ? sorted : sorted.slice(0, most_lines), hidden = sorted.slice(shown.length);
  const joint = answer.joint || answer.logs, total = difference(joint, pair), rest = hidden.reduce((sum, line) => sum + line.adds, 0);
  const apart = total - lines.reduce((sum, line) => sum + line.adds, 0);
  const final = difference(answer.logs, pair), strongest = Math.max(1, ...lines.map(size).filter(Number.isFinite));
  const most = Math.max(strongest, Math.min(REACH * strongest, Math.max(...[total, final, rest].map(Math.abs).filter(Number.isFinite), 0)));
  const left = answer.factors.filter((factor) => !factor.logs && factor.of === null && factor.column !== null);
  const unknown = left.filter((factor) => app.row[factor.name] === undefined), seen = left.filter((factor) => app.row[factor.name] !== undefined);
  const names = { a: shortened(label(pair[0]), 40), b: shortened(label(pair[1]), 40) };
  return html`<div class="arithmetic">
    <div class=${`pair${K > 2 ? " many" : ""}`}><p class="how">${say("Each line adds its log odds, to the right for {a}, to the left for {b}. What the answer would be without a line is shown while you point at it.", names)}</p>${K > 2 ? html`<${Choice} label=${say("the one class")} value=${pair[0]} on=${(k) => app.compare(k, k === pair[1] ? pair[0] : pair[1])} options=${classes(app)}>${say("between")} <//><${Choice} label=${say("the other class")} value=${pair[1]} on=${(k) => app.compare(k === pair[0] ? pair[1] : pair[0], k)} options=${classes(app)}>${say("and")} <//>${app.chosen ? html`<${Button} class="link" on=${() => app.compare(null)}>${say("the best and the next")}<//>` : null}` : null}
      ${others.length > 2 ? html`${K > 2 ? html`<span class="spacer"></span>` : null}<${Choice} label=${say("Order of the lines")} value=${by} on=${sort} options=${[{ value: "size", label: say("strongest first") }, { value: "table", label: say("as in the table") }]} />` : null}</div>
    <div class="scroll" tabindex="0" role="region" aria-label=${say("arithmetic of the answer")}><table class="sums">
      <caption class="hidden">${say("Log odds of {a} against {b}", names)}</caption>
      <thead><tr><th scope="col">${say("what")}</th><th scope="col"><span class="hidden">${say("value")}</span></th><th scope="col" class="sides"><span dir="auto">${names.b}</span><span dir="auto">${names.a}</span></th><th scope="col" class="n">${say("log odds")}</th></tr></thead>
      <${Lines} app=${app} lines=${[...prior, ...shown]} most=${most} pair=${pair} />
      <tfoot>${hidden.length ? html`<tr class="rest"><th scope="row" colspan="2">${say("{n} weaker lines", { n: whole(hidden.length) })} <${Button} class="link" on=${() => show(true)}>${say("show all")}<//></th><td class="odds-cell"><${Odds} value=${rest} most=${most} pair=${pair} /></td><td class="n">${signed(rest)}</td></tr>`
        : all && cut ? html`<tr class="rest"><th scope="row" colspan="4"><${Button} class="link" on=${() => show(false)}>${say("show fewer")}<//></th></tr>` : null}
        ${Math.abs(apart) > 1e-6 ? html`<tr class="rest"><th scope="row" colspan="2">${say("what is of no single column")}</th><td class="odds-cell"><${Odds} value=${apart} most=${most} pair=${pair} /></td><td class="n">${signed(apart)}</td></tr>` : null}
        <tr class="total"><th scope="row">${say("sum")}</th><td class="value">${odds(total)}</td><td class="odds-cell"><${Odds} value=${total} most=${most} pair=${pair} /></td><td class="n">${signed(total)}</td></tr>
        ${answer.before ? html`<tr class="total after"><th scope="row">${say("after calibration")}</th><td class="value">${odds(final)}</td><td class="odds-cell"><${Odds} value=${final} most=${most} pair=${pair} /></td><td class="n">${signed(final)}</td></tr>` : null}</tfoot></table></div>
    ${seen.length ? html`<p class="how">${seen.map((factor) => `${shortened(factor.name, 40)}${model.columns[factor.column].kind === "text" ? "" : ` ${shortened(factor.value, 40)}`}: ${heard(factor.note)}`).join("; ")}.</p>` : null}
    ${unknown.length ? html`<p class="how">${say("Unknown, and left out: {names}.", { names: unknown.slice(0, NAMED).map((factor) => shortened(factor.name, 40)).join(", ") + (unknown.length > NAMED ? ` ${say("and {n} more", { n: unknown.length - NAMED })}` : "") })}</p>` : null}
    <${Numbers} app=${app} lines=${[...prior, ...others]} />
  </div>`;
}

function classes(app) {
  return Array.from(app.answer.order, (k) => ({ value: k, label: app.label(k) }));
}

// The same in numbers, for each class; drawn once it is opened.
function Numbers({ app, lines }) {
  const [open, set] = useState(false), { answer, label, model } = app, some = Array.from(answer.order.slice(0, NUMBERED));
  const rows = () => [
    ...lines.slice(0, 500).map((line) => [shortened(called(line), 60), shortened(valued(app, line), 40), ...some.map((k) => figures(line.logs[k], 7))]),
    ...(answer.joint ? [[say("sum"), "", ...some.map((k) => figures(answer.joint[k], 7))]] : []),
    ...(answer.before ? [[say("before calibration"), "", ...some.map((k) => String(answer.before[k]))]] : []),
    [say("probability"), "", ...some.map((k) => String(answer.posterior[k]))],
  ];
  return html`<details class="quiet" onToggle=${(event) => set(event.currentTarget.open)}><summary>${say("In numbers, for each class")}</summary>
    ${open ? html`<p class="how">${say("What each line adds to the log joint of a class; the probability is exp of the sum, divided by that of all classes. These are the numbers of model.explain in Python.")}${model.classes.length > some.length ? ` ${say("The {n} most probable classes are shown.", { n: some.length })}` : ""}</p>
      <${Table} heads=${[say("what"), say("value"), ...some.map((k) => shortened(label(k), 40))]} numbers=${some.map((_, j) => j + 2)} rows=${rows()} label=${say("the answer in numbers")} />` : null}</details>`;
}

function Why({ app }) {
  return html`${app.mistake ? html`<${Notice}>${heard(app.mistake)}<//>` : null}<${Arithmetic} app=${app} />`;
}

export const view = { id: "answer", title: "Why this answer", missing: () => null, component: Why };
