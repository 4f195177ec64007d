// The page: opens the model, keeps the one question that all views share, and lays the views out.
//
// A view is `export const view = { id, title, missing: (app) => null | "why it is not here", component }` in views/*.mjs; its
// component is given {app}:
//   app.model            the opened sheet (sheet.mjs); app.sheet its document; app.data all that the page carries
//   app.row              the question: a plain object by column name, without missing values
//   app.answer           model.explain(app.row); app.mistake: why the row cannot be answered, or null
//   app.ask(row, {replace, gesture})     another question. Steps of one gesture (a drag) are one step of Undo
//   app.set(name, value, {replace, gesture})     the same question with another value; null is missing
//   app.undo() app.redo() app.reset() app.can.undo app.can.redo
//   app.pair             [a, b]: the two classes that are compared, the best and the next unless chosen by app.compare(a, b)
//   app.locked           Set of the names of columns that suggestions leave alone; app.lock(name, on) locks, or without `on` toggles
//   app.preview(null | {posterior, text})    what the answer would be, drawn over the bars of the answer
//   app.passages         [{column, pieces: [[text, log odds of the pair or null]]}] of the texts of the row
//   app.rows app.about app.evaluation app.check ({passed, of, failed}, once it was made)
//   app.server           null, or {url, …, post(path, body) -> Promise}: body is an object or bytes
//   app.home             the same; of a page with the sums of the model what answers in its place, {state, post, changed()}; or null
//   app.colour(k) app.label(k) app.say(text, values) app.go(id) app.announce(text)
import { html, render, useCallback, useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "./vendor/preact.mjs";
import { open } from "./sheet.mjs";
import { compare, forgetful, open_sums } from "./estimates.mjs";
import { spell } from "./posterior.mjs";
import { ask, begin, decode, encode, normal, redo, undo } from "./state.mjs";
import { learn, say } from "./language.mjs";
import { Patterns, colour, percent, shortened, whole } from "./charts.mjs";
import { Icon, useLater } from "./controls.mjs";
import { Ask } from "./views/ask.mjs";
import { Verdict, view as answer } from "./views/answer.mjs";
import { view as nomogram } from "./views/nomogram.mjs";
import { view as change } from "./views/change.mjs";
import { question_columns, view as network } from "./views/network.mjs";
import { view as believe } from "./views/believe.mjs";
import { view as columns } from "./views/columns.mjs";
import { view as forget } from "./views/forget.mjs";
import { view as two } from "./views/two.mjs";

// say("Why this answer") say("Nomogram") say("What would change it") say("Network") say("Believe it?") say("Columns")
// say("Forget") say("Two models")
const VIEWS = [answer, nomogram, change, network, believe, columns, forget, two];
const QUIET = 250; // milliseconds without a change, after which what is off the screen follows
const BURST = 40, SELDOM = 500; // changes of the address without a pause, and the pause between all others
const FADE = 32; // pixels at the end of the names of the views, where they vanish
const SPOKEN = 700; // and after which the answer is read out

export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Questions to the server at home.
function served(server) {
  if (!server) return null;
  const post = async (path, body) => {
    const bytes = body instanceof Uint8Array;
    const answer = await fetch(server.url + path, { method: "POST", credentials: "same-origin", headers: { "content-type": bytes ? "application/octet-stream" : "application/json" }, body: bytes ? body : JSON.stringify(body) }).catch(() => {
      throw new Error(say("The server has ended: start ingenuo open again."));
    });
    const found = await answer.json().catch(() => ({ error: say("The server answered {code} without a word.", { code: answer.status }) }));
    if (!answer.ok) throw new Error(found.error);
    return found;
  };
  return { ...server, post };
}

function reduce(state, [what, ...given]) {
  return { ask, undo, redo }[what](state, ...given);
}

// The question in the address. A page within another one has no address of its own.
function useAddress(row, columns, given, dispatch) {
  const latest = useRef(null), written = useRef(null);
  const text = useMemo(() => encode(row, columns), [row]);
  latest.current = text === null ? null : text || (given ? "=" : "");
  const times = useRef([]);
  const write = useCallback(() => {
    if (latest.current === null || `#${latest.current}` === (location.hash || "#")) return;
    times.current = [...times.current.slice(-BURST), performance.now()];
    try {
      history.replaceState(history.state, "", `${location.pathname}${location.search}#${latest.current}`);
      written.current = location.hash;
    } catch {
      written.current = null;
    }
  }, []);
  // At once, unless that was often in the last half minute, in which browsers allow it a hundred times.
  useLayoutEffect(() => {
    const [first] = times.current, often = times.current.length > BURST && performance.now() - first < 30_000;
    const timer = setTimeout(write, often ? SELDOM : 0); // after the answer: browsers take milliseconds for it
    return () => clearTimeout(timer);
  }, [text]);
  useEffect(() => {
    const follow = () => {
      if (location.hash === written.current) return;
      const found = decode(location.hash, columns);
      if (found) dispatch(["ask", found]);
      else write();
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
}

// 32 rows that Python answered, answered here.
function useCheck(model) {
  const [found, set] = useState(null);
  useEffect(() => {
    const timer = model && setTimeout(() => set(model.check()), 60);
    return () => clearTimeout(timer);
  }, [model]);
  return found;
}

// A page with the sums of its model forgets as the server at home does. What is left is another model, of which all is shown.
function Page({ data, model }) {
  const [done, set] = useState([]), first = useRef(null), turn = useRef(0), asked = useRef(data.question), last = done.at(-1);
  const { sums } = data.sheet, about = data.about || {};
  const apply = (next) => {
    turn.current += 1;
    set(next);
  };
  const alone = sums ? {
    turn: turn.current,
    state: { changes: done.length, learned: last ? last.now.learned : about.rows ?? null, save_to: null },
    changed: () => undefined,
    async post(path, { rows, classes, question, apply: for_good }) {
      if (path === "/v1/undo") return apply(done.slice(0, -1));
      first.current ??= forgetful(model.document, open_sums(model.document.sums), open);
      const before = last ? last.now : first.current, now = before.forget(rows[0], before.model.classes.indexOf(classes[0]));
      const embedded = last ? last.rows : data.rows, place = (k) => (k === null ? null : now.kept.indexOf(k));
      if (for_good) apply([...done, { now, rows: embedded && { ...embedded, labels: embedded.labels.map(place) } }]);
      return compare(before, now, rows[0], question);
    },
  } : null;
  const shown = last ? { ...data, rows: last.rows, about: { ...about, rows: last.now.learned } } : data;
  return html`<${App} key=${turn.current} data=${{ ...shown, question: asked.current }} model=${last ? last.now.model : model} alone=${alone} keep=${asked} />`;
}

function Badge({ check, forgotten }) {
  if (forgotten) return html`<p class="badge"><span class="badge-text">${forgotten === 1 ? say("1 row forgotten on this page") : say("{n} rows forgotten on this page", { n: whole(forgotten) })}</span></p>`;
  if (!check) return html`<p class="badge"><span class="badge-text">${say("checking …")}</span></p>`;
  const good = check.of > 0 && check.passed === check.of;
  return html`<p class=${`badge ${good ? "good" : "bad"}`} title=${good ? say("Each posterior that Python computed for these rows is computed here again, and has the same bits.") : undefined}>
    <${Icon} name=${good ? "check" : "alert"} /><span class="badge-text">${good ? say("equal to Python, {passed} of {of} check rows", check) : say("not equal to Python: {passed} of {of} check rows", check)}</span></p>`;
}

function App({ data, model, alone, keep }) {
  const { columns, classes } = model;
  const asked = useMemo(() => [...columns, ...question_columns(model.document)], []);
  const [state, dispatch] = useReducer(reduce, null, () => begin((location.hash && decode(location.hash, asked)) || data.question || {}));
  const [chosen, choose] = useState(null), [locked, set_locked] = useState(() => new Set()), [ghost, preview] = useState(null), [spoken, announce] = useState("");
  const forgotten = alone ? alone.state.changes : 0, check = useCheck(forgotten ? null : model), server = useMemo(() => served(data.server), []);
  useAddress(state.row, asked, data.question, dispatch);

  keep.current = state.row;
  const row = state.row, answered = useRef(null), texts = columns.some((column) => column.kind === "text");
  const mistake = useMemo(() => model.mistake(row), [row]);
  const found = useMemo(() => (answered.current && mistake ? answered.current : (answered.current = model.explain(mistake ? {} : row))), [row]);
  const [best, next] = found.order;
  const pair = chosen || [best, next ?? best];

  const fixed = useMemo(() => {
    const now = () => performance.now();
    return {
      model, data, server, home: server ? { ...server, changed: () => location.reload() } : alone, preview, announce, say, colour,
      sheet: model.document, rows: data.rows || null, about: data.about || {}, evaluation: data.evaluation || null,
      label: (k) => spell(classes[k]),
      undo: () => dispatch(["undo"]), redo: () => dispatch(["redo"]),
      ask: (wanted, options = {}) => dispatch(["ask", wanted, { ...options, now: now() }]),
      reset: () => dispatch(["ask", {}, { now: now() }]),
      compare: (a, b) => choose(a === null || a === undefined ? null : [a, b]),
      lock: (name, on) => set_locked((before) => {
        const after = new Set(before);
        if (on === undefined ? !before.has(name) : on) after.add(name);
        else after.delete(name);
        return after;
      }),
      go(id, behavior = matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth") {
        const section = document.getElementById(id);
        if (!section) return;
        section.scrollIntoView({ behavior, block: "start" });
        section.focus({ preventScroll: true });
      },
    };
  }, []);
  // Asked twice between two drawings, the second question must not undo the first.
  const latest = useRef(row);
  latest.current = row;
  const set = useCallback((name, value, options) => {
    latest.current = normal({ ...latest.current, [name]: value });
    fixed.ask(latest.current, options);
  }, []);
  const can = useMemo(() => ({ undo: state.past.length > 0, redo: state.future.length > 0 }), [state.past.length > 0, state.future.length > 0]);
  const app = useMemo(() => {
    let passages = null;
    return { ...fixed, set, row, mistake, answer: found, pair, chosen: chosen !== null, locked, can, check, get passages() {
      return (passages ??= texts && !mistake ? model.passages(row, pair[0], pair[1]) : []);
    } };
  }, [row, pair[0], pair[1], chosen, locked, can, check]);

  useEffect(() => {
    const keys = (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.target.closest("input:not([type=radio]):not([type=range]), textarea, select")) return;
      const key = event.key.toLowerCase();
      if (key !== "z" && key !== "y") return;
      event.preventDefault();
      dispatch([key === "y" || event.shiftKey ? "redo" : "undo"]);
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  useEffect(() => preview(null), [row]);
  useEffect(() => void (alone && alone.turn && fixed.go("forget", "instant")), []);

  const [here, absent] = useMemo(() => {
    const views = model.document.kind === "Network" ? [network, ...VIEWS.filter((view) => view !== network)] : VIEWS;
    const all = views.map((view) => ({ view, why: view.missing(app) }));
    return [all.filter(({ why }) => why === null).map(({ view }) => view), all.filter(({ why }) => why !== null)];
  }, []);
  return html`<a class="skip" href="#views" onClick=${(event) => { event.preventDefault(); document.getElementById("views").focus(); }}>${say("Skip to what the answer is made of")}</a>
    <${Patterns} classes=${classes.length} />
    <header class="top"><h1 dir="auto" title=${data.title.length > 60 ? data.title : undefined}>${data.title}</h1><p class="facts">${facts(data, model)}</p><${Badge} check=${check} forgotten=${forgotten} /></header>
    ${check && check.passed < check.of ? html`<p class="warning alarm" role="alert">${say("This page does not answer as the model in Python does: of {of} rows that Python answered, {wrong} are answered otherwise here. The page was changed, or this browser computes otherwise. Do not rely on its answers.", { of: check.of, wrong: check.of - check.passed })}</p>` : null}
    <main id="main" class=${`layout${texts ? " texts" : ""}`}>
      <div class="console"><${Verdict} app=${app} ghost=${ghost} /><${Ask} app=${app} /></div>
      <div class="views" id="views" tabindex="-1">
        <${Contents} views=${here} app=${app} />
        ${here.map((view, i) => html`<${Section} key=${view.id} view=${view} app=${app} turn=${i} at_once=${Boolean(alone && alone.turn)} />`)}
        <${Given} />
        ${absent.length ? html`<details class="quiet absent"><summary>${say("Not on this page")}</summary><dl>${absent.map(({ view, why }) => html`<dt>${say(view.title)}</dt><dd>${why}</dd>`)}</dl></details>` : null}
      </div>
    </main>
    <footer><p>${say("Answers are computed in this page; nothing that is asked leaves it.")} ${say("Made with ingenuo.")}</p></footer>
    <${Spoken} answer=${found} app=${app} more=${spoken} />`;
}

function facts(data, model) {
  const rows = (data.about || {}).rows, { kind } = model.document;
  return [data.title.includes(kind) ? null : kind, rows ? (rows === 1 ? say("1 row") : say("{n} rows", { n: whole(rows) })) : null, model.columns.length === 1 ? say("1 column") : say("{n} columns", { n: whole(model.columns.length) }), model.classes.length === 1 ? say("1 class") : say("{n} classes", { n: whole(model.classes.length) })].filter(Boolean).join(" · ");
}

// The answer for those who hear it, once it stayed the same for a while.
function Spoken({ answer: found, app, more }) {
  const text = say("Answer: {class}, {p}", { class: shortened(app.label(found.best), 100), p: percent(found.posterior[found.best]) });
  return html`<div class="hidden" role="status" aria-live="polite">${useLater(more || text, SPOKEN)}</div>`;
}

// The names of the sections; that of the one on the screen is marked.
function Contents({ views, app }) {
  const [current, set] = useState(views.length ? views[0].id : null), fixed = useMemo(() => [...(given || document.getElementById("given") || { children: [] }).children].map((each) => ({ id: each.id, title: each.querySelector("h2").textContent })), []);
  const all = [...views.map(({ id, title }) => ({ id, title: say(title) })), ...fixed];
  useEffect(() => {
    const seen = new Set(), watch = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.isIntersecting ? seen.add(entry.target.id) : seen.delete(entry.target.id);
      const first = all.find(({ id }) => seen.has(id));
      if (first) set(first.id);
    }, { rootMargin: "-18% 0px -62% 0px" });
    all.forEach(({ id }) => document.getElementById(id) && watch.observe(document.getElementById(id)));
    return () => watch.disconnect();
  }, [all.length]);
  // The row of names scrolls sideways where it is narrow; its marked name is kept on the screen.
  const list = useRef(null);
  useEffect(() => {
    const own = list.current, link = own && own.querySelector("[aria-current]");
    if (!link) return;
    const links = [...own.querySelectorAll("a")], at = (each) => each.offsetLeft - links[0].offsetLeft, end = own.clientWidth - FADE;
    const first = links.find((each) => at(link) + link.offsetWidth - at(each) <= end) || link;
    own.scrollLeft = at(links.at(-1)) + links.at(-1).offsetWidth <= end ? 0 : at(first);
  }, [current]);
  if (all.length < 2) return null;
  const follow = (id) => (event) => {
    event.preventDefault();
    app.go(id);
  };
  return html`<nav class="contents" aria-label=${say("Views")}><ul ref=${list}>${all.map(({ id, title }) => html`<li><a href=${`#${id}`} aria-current=${id === current ? "true" : undefined} onClick=${follow(id)}>${shortened(title, 40)}</a></li>`)}</ul></nav>`;
}

// A view. The arithmetic follows at once, what else is on the screen after the answer was drawn, and what is off it when
// there is time.
function Section({ view, app, turn, at_once }) {
  const [near, set_near] = useState(false), [shown, show] = useState(at_once ? app : null), element = useRef(null);
  useEffect(() => {
    const watch = new IntersectionObserver(([entry]) => set_near(entry.isIntersecting), { rootMargin: "200px" });
    watch.observe(element.current);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    if (shown === app || turn === 0) return undefined;
    const timer = setTimeout(() => show(app), near ? 1 : QUIET + 30 * turn);
    return () => clearTimeout(timer);
  }, [app, near]);
  const current = turn === 0 ? app : shown;
  const body = useMemo(() => (current ? html`<${view.component} app=${current} />` : null), [current]);
  return html`<section class="view" id=${view.id} tabindex="-1" aria-labelledby=${`${view.id}-head`} ref=${element}><h2 id=${`${view.id}-head`}>${say(view.title)}</h2>${body}</section>`;
}

// What does not change was written into the page by Python, and is moved here.
let given = null;

function Given() {
  const here = useRef(null);
  useEffect(() => {
    given ??= document.getElementById("given");
    if (given && given.children.length) here.current.append(given);
  }, []);
  return html`<div ref=${here}></div>`;
}

async function start() {
  const root = document.getElementById("app"), main = document.getElementById("main");
  try {
    const data = await unpacked(document.getElementById("data").textContent);
    learn(data.words);
    const model = open(data.sheet);
    root.textContent = "";
    render(html`<${Page} data=${data} model=${model} />`, root);
    document.documentElement.dataset.ready = "true";
  } catch (error) {
    const text = document.createElement("p");
    text.className = "warning";
    text.setAttribute("role", "alert");
    text.textContent = say("The model on this page cannot be opened: {error}.", { error: String((error && error.message) || error).replace(/\.$/, "") });
    (main || root).replaceChildren(text);
  }
}

if (typeof document !== "undefined") start();
